"""The commands that put a copy of a broker's directories in their place."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

from pagectl.terminal.sanitise import one_line

_AND: Final = " &&\n"


class Move(NamedTuple):
    """A file or folder that gets another name."""

    source: Path
    target: Path


def moved_roots(roots: Mapping[str, Path]) -> list[tuple[str, Path, bool]]:
    """Return of each directory of a broker its name in a copy, where it has to be, and whether there is one now."""
    from pagefmt.directory.locate import new_names

    beside = next(iter(roots.values())).parent
    return [(name, roots.get(kind, beside / name), kind in roots) for kind, name in new_names(roots).items()]


def free_ending(paths: Iterable[Path], ending: str) -> str:
    """Return the ending, with a number added if one of the paths with that ending exists."""
    paths = list(paths)
    endings = (ending if number == 1 else f"{ending}-{number}" for number in count(1))
    return next(text for text in endings if not any(os.path.lexists(with_ending(path, text)) for path in paths))


def with_ending(path: Path, ending: str) -> Path:
    """Return a path beside another one, with this ending behind its name."""
    return path.with_name(path.name + ending)


def commands(moves: Iterable[Move]) -> str:
    """Return shell commands, joined by ``&&``, that make all of these moves and print ``done``, or make none.

    ``mv`` moves into a folder that already has the name. So the commands first check that the new names are free, and
    that the sources exist.
    """
    moves = list(moves)
    checks, created, vacated = [], set[Path](), set[Path]()
    for source, target in moves:
        if source not in created and not os.path.lexists(source):
            checks.append(f"[ -e {quoted(source)} ]")
        if target not in vacated:
            checks.append(f"[ ! -e {quoted(target)} ]")
        created.add(target)
        vacated.add(source)
    changes = [f"mv {quoted(source)} {quoted(target)}" for source, target in moves]
    return _AND.join([*checks, *changes, "echo done"])


def quoted(path: Path) -> str:
    """Return a path as a shell takes it."""
    return shlex.quote(str(path))


def print_command(command: str) -> None:
    """Print a command below a step, each part of joined commands on a line of its own."""
    *joined, last = command.split(_AND)
    for part in joined:
        print(f"     {one_line(part)} &&")
    print(f"     {one_line(last)}")


def print_steps(roots: Mapping[str, Path], copy: Path) -> None:
    """Print how a copy takes the place of what it was made of."""
    there = [(name, root) for name, root, is_there in moved_roots(roots) if is_there]
    ending = free_ending((root for _, root in there), ".old")
    moves = [move for name, root in there for move in (Move(root, with_ending(root, ending)), Move(copy / name, root))]
    print("to use the copy:")
    print("  1. stop the broker; what it did after the copy was made is not in the copy")
    print("  2. put the copy in place; 'done' is printed at the end")
    print_command(commands(moves))
    print(f"  3. start the broker; delete the folders that end with {ending} when it delivers")
