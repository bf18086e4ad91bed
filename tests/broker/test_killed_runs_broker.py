"""Commands that were killed and run again, judged by real brokers: what one delivers from the result.

Expected is what it delivers from the directory as it was; for ``salvage``, from what a run that nobody killed wrote.
Directories that are changed in place are drained as the kill left them as well. Of directories with the same content
one is drained.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from broker_drains import drains, failure, queues
from broker_jars import oracle
from golden_cases import GoldenCase
from harmed import changes_of, faults, pagectl, pages_of, spread
from page_damage import damaged, spans

pytestmark = [pytest.mark.broker, pytest.mark.timeout(3600)]
CASES = ("scattered-acks", "holes")
INSTANTS = 4
Command: TypeAlias = Callable[[Path], list[str | Path]]


def compact_in_place(folder: Path) -> list[str | Path]:
    return ["pages", "compact", folder / "data", "--in-place"]


def restore(folder: Path) -> list[str | Path]:
    return ["pages", "restore", folder / "data"]


def compact_out(folder: Path) -> list[str | Path]:
    return ["pages", "compact", folder / "data", "--out", folder / "new"]


def salvage(folder: Path) -> list[str | Path]:
    return ["pages", "salvage", folder / "data", "--out", folder / "new"]


def prepared(command: Command, original: Path, to: Path) -> Path:
    shutil.copytree(original, to)
    if command is restore:
        assert pagectl(*compact_in_place(to)).status == 0
    if command is salvage:
        page = max(pages_of(to / "data"), key=lambda path: len(spans(path)))
        page.write_bytes(damaged(page.read_bytes(), spans(page), "bytes between", 2))
    return to


def put_in_place(command: Command, folder: Path) -> None:
    """Replace the original folder by the new one, if the command wrote to a separate folder."""
    if (folder / "new").exists():
        old = folder / "data" / "paging" if command is salvage else folder / "data"
        shutil.rmtree(old)
        (folder / "new").rename(old)


def results(command: Command, original: Path, to: Path) -> Iterator[Path]:
    """Yield the result of a complete run, then those of runs that were killed at some changes and repeated.

    If the command changes the directory in place, also yield the directory as the kill left it.
    """
    first = prepared(command, original, to / "whole")
    changes = changes_of(command(first), first, to)
    put_in_place(command, first)
    yield first
    for number in spread(changes, INSTANTS):
        folder = prepared(command, original, to / str(number))
        pagectl(*command(folder), extra=faults().changes(folder, number, -signal.SIGKILL))
        if command in (compact_in_place, restore):
            yield Path(shutil.copytree(folder, to / f"{number} killed"))
        if not (folder / "new").exists():
            again = pagectl(*command(folder))
            assert again.status in (0, 1) or "no backup" in again.err, again
        assert not list(folder.glob("new?*"))
        put_in_place(command, folder)
        yield folder


@pytest.mark.parametrize("version", ["2.28.0", "2.56.0"])
@pytest.mark.parametrize("command", [compact_in_place, compact_out, restore, salvage])
def test_a_broker_delivers_the_same(command: Command, version: str, tmp_path: Path) -> None:
    oracle()
    judged: dict[Path, list[Path]] = {}
    for name in CASES:
        original = GoldenCase(version, name).lay_out(tmp_path / name)
        first, *others = results(command, original, tmp_path / f"{name}, changed")
        judged[first if command is salvage else original] = [first, *others]
    told = drains(version, [each for judge, folders in judged.items() for each in (judge, *folders)])
    messages = 0
    for judge, folders in judged.items():
        expected = queues(told[judge])
        messages += sum(len(queue.messages) for queue in expected.values())
        for folder in folders:
            assert failure(told[folder]) is None, (folder, failure(told[folder]))
            assert queues(told[folder]) == expected, folder
    assert messages > 90
