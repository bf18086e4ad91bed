"""The commands that put a copy of a broker's directories in their place."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from pagectl.terminal.sanitise import one_line


def moved_roots(roots: Mapping[str, Path]) -> list[tuple[str, Path, bool]]:
    """Return of each directory of a broker its name in a copy, where it has to be, and whether there is one now."""
    from pagefmt.directory.locate import new_names

    beside = next(iter(roots.values())).parent
    return [(name, roots.get(kind, beside / name), kind in roots) for kind, name in new_names(roots).items()]


def moves(roots: Mapping[str, Path], copy: Path, aside: str) -> Iterator[str]:
    """Yield the commands that move each directory aside, under its name with this ending, and the copy in."""
    for name, root, is_there in moved_roots(roots):
        if is_there:
            yield f"mv {quoted(root)} {quoted(root.with_name(root.name + aside))}"
            yield f"mv {quoted(copy / name)} {quoted(root)}"


def quoted(path: Path) -> str:
    """Return a path as a shell takes it."""
    return shlex.quote(str(path))


def print_steps(roots: Mapping[str, Path], copy: Path) -> None:
    """Print how a copy takes the place of what it was made of."""
    print("to use the copy:")
    print("  1. stop the broker; what it did after the copy was made is not in the copy")
    print("  2. put the copy in place")
    for command in moves(roots, copy, ".old"):
        print(f"     {one_line(command)}")
    print("  3. start the broker; delete the folders that end with .old when it delivers")
