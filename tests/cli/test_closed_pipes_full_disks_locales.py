"""What holds for every command: closed pipes, full disks, any locale, no colour."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from every_call import CALLS, make_world
from pagectl.app import PLUGINS
from program import Answer, call, forked

# The status table's calls that print something by themselves, one for each command; a backup can be dropped only once.
PRINTING = [
    (command, words)
    for command, status, words in CALLS
    if status == 0 and "--to" not in words and command not in ("pages restore", "pages drop-backup")
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_world(tmp_path_factory.mktemp("everywhere"), lambda *words: call(*words).status)


def carried_out(world: dict[str, Path], folder: Path, **how: Any) -> list[tuple[str, Answer]]:
    """(command, answer) of every call; what they write goes to ``folder``."""
    places = world | {"folder": folder}
    folder.mkdir(exist_ok=True)
    return [
        (command, forked(*command.split(), *(word.format(**places) for word in words.split()), cwd=str(folder), **how))
        for command, words in PRINTING
    ]


def complaint(answer: Answer) -> str:
    """The line about what went wrong; remarks come before it."""
    assert "Traceback" not in answer.err and "internal error" not in answer.err, answer
    lines = [line for line in answer.err.splitlines() if line.startswith("pagectl")]
    return lines[-1] if lines else ""


@pytest.mark.parametrize("kind", ["closed", "gone"])
def test_nobody_listens(world: dict[str, Path], kind: str, tmp_path: Path) -> None:
    """A closed pipe ends a command quietly; without any standard output it does its work all the same."""
    for command, answer in carried_out(world, tmp_path, out=kind):
        assert (answer.status, complaint(answer)) == (0, ""), command


def test_a_full_disk_is_no_success(world: dict[str, Path], tmp_path: Path) -> None:
    for command, answer in carried_out(world, tmp_path, out="full"):
        failed = 3 if tuple(command.split()) in PLUGINS else 2
        assert (answer.status, "No space left" in complaint(answer)) == (failed, True), (command, answer)


def test_same_bytes_in_any_locale(world: dict[str, Path], tmp_path: Path) -> None:
    """Into a pipe neither the locale's encoding nor ``NO_COLOR`` changes a byte."""
    folder = tmp_path / "same"
    plain = carried_out(world, folder, out="pipe")
    shutil.rmtree(folder)
    other = carried_out(world, folder, out="pipe", encoding="ascii", extra={"NO_COLOR": "1"})
    for (command, one), (_, two) in zip(plain, other, strict=True):
        assert (one.status, two.status, complaint(two)) == (0, 0, ""), (command, one, two)
        # how full the machine's disk is changes meanwhile, and how old a message is
        assert one.out == two.out or tuple(command.split()) in PLUGINS, command
