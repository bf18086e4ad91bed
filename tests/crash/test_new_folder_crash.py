"""Power failures and faults while commands write a new folder."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from crash_simulator import FailingDisk, RecordingDisk, crash_states, lay_out
from golden_cases import GoldenCase
from replay_scenarios import engine_after, scenarios

from pageengine.data_directory.writing import write_data_directory
from pagefmt.change.compaction.copy_out import copy_out
from pagefmt.change.compaction.planning import make_plan
from pagefmt.change.conversion.apply import convert
from pagefmt.change.conversion.plan import plan_conversion
from pagefmt.change.recovery.recovering import recover
from pagefmt.change.removal.plan import plan_drop
from pagefmt.change.salvage.directory import salvage_directory
from pagefmt.directory.locate import within
from pagefmt.editions import Edition
from pagefmt.storage.file_snapshot import SourceChanged
from pagefmt.storage.writing import PARTIAL_SUFFIX, Disk, TargetRefused, whole_folder
from pagefmt.vectors import load_place

Writer = Callable[[Path, Path, Disk], object]
ARCHIVE = Path(__file__).parents[1] / "recorded" / "replays" / "broker-2.56.0.tar.xz"
CASE = GoldenCase("2.56.0", "scattered-acks")
OLD_CASE = GoldenCase("hornetq-2.4.7", "large")


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace ``os.fsync`` by nothing, because the simulator itself tracks what was synced."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


def compaction(data: Path, target: Path, disk: Disk) -> object:
    return copy_out(make_plan(within(data)), target, disk=disk)


def drop(data: Path, target: Path, disk: Disk) -> object:
    plan = plan_drop(within(data), "scatter")
    return copy_out(plan.pages, target, disk=disk, changed=plan.changes)


def conversion(data: Path, target: Path, disk: Disk) -> object:
    return convert(plan_conversion(within(data), Edition.ARTEMIS_2_56), target, disk=disk)


def old_conversion(data: Path, target: Path, disk: Disk) -> object:
    return conversion(OLD_CASE.data(), target, disk)


def salvage(data: Path, target: Path, disk: Disk) -> object:
    place = within(data)
    return salvage_directory(place, load_place(place), target, disk)


def recovery(data: Path, target: Path, disk: Disk) -> object:
    return recover(within(data), target, disk=disk)


def replay(data: Path, target: Path, disk: Disk) -> object:
    return write_data_directory(engine_after(scenarios(ARCHIVE)["page-basic"], 60), target, disk)


WRITERS = [compaction, drop, conversion, old_conversion, salvage, recovery, replay]


def source(tmp_path: Path) -> Path:
    """Create a data directory with acknowledged messages to compact and a truncated page to salvage."""
    data = CASE.copy(tmp_path / "source")
    page = sorted(data.rglob("*.page"))[0]
    page.write_bytes(page.read_bytes()[:-3])
    return data


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


class Recorded:
    """One run: every operation, and what was there after it."""

    def __init__(self, write: Writer, tmp_path: Path, disk: RecordingDisk) -> None:
        self.write, self.data = write, source(tmp_path)
        self.root = tmp_path / "run"
        self.root.mkdir()
        self.target = self.root / "new"
        self.disk = disk
        write(self.data, self.target, disk)
        self.after = files(self.target)
        assert self.after

    def states(self) -> list[dict[str, bytes]]:
        return [state for _, state in crash_states({}, {str(self.root)}, self.disk.log)]

    def found(self, state: dict[str, bytes]) -> dict[str, bytes]:
        """Return the contents of the target's files in a crash state, by path below the target."""
        prefix = f"{self.target}/"
        return {path.removeprefix(prefix): content for path, content in state.items() if path.startswith(prefix)}


@pytest.mark.parametrize("write", WRITERS)
def test_the_folder_is_whole_or_not_there(write: Writer, tmp_path: Path) -> None:
    run = Recorded(write, tmp_path, RecordingDisk())
    found = [run.found(state) for state in run.states()]
    assert all(each in ({}, run.after) for each in found)
    assert found[-1] == run.after


class UnsyncedFolders(RecordingDisk):
    """A wrong protocol: the folder is renamed before its names are on the disk."""

    def sync_folder(self, path: Path) -> None:
        if not path.name.startswith("run"):
            return
        super().sync_folder(path)


def test_the_simulator_convicts_a_rename_before_the_sync(tmp_path: Path) -> None:
    run = Recorded(replay, tmp_path, UnsyncedFolders())
    assert any(run.found(state) not in ({}, run.after) for state in run.states())


@pytest.mark.parametrize("write", WRITERS)
def test_the_next_run_removes_what_a_killed_one_left(write: Writer, tmp_path: Path) -> None:
    run = Recorded(write, tmp_path, RecordingDisk())
    left = [state for state in run.states() if any(PARTIAL_SUFFIX in path for path in state)]
    for number, state in enumerate(random.Random(5).sample(left, 5)):
        at = tmp_path / f"state-{number}"
        lay_out(state, run.root, at)
        write(run.data, at / "new", Disk())
        assert files(at) == {f"new/{name}": content for name, content in run.after.items()}
        assert not (at / f"new{PARTIAL_SUFFIX}").exists()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
@pytest.mark.parametrize("write", WRITERS)
def test_faults_leave_nothing(write: Writer, code: int, tmp_path: Path) -> None:
    data = source(tmp_path)
    for at in range(1, 400):
        root = tmp_path / f"fault-{at}"
        root.mkdir()
        disk = FailingDisk(at, code, forever=False)
        try:
            write(data, root / "new", disk)
        except (SourceChanged, OSError):
            assert not (root / f"new{PARTIAL_SUFFIX}").exists()
        if not disk.failed:
            return
    raise AssertionError("never came to its end")


def test_one_process_at_a_time_fills_a_folder(tmp_path: Path) -> None:
    target = tmp_path / "new"
    with whole_folder(target) as (partial, _):
        (partial / "mine").write_text("x")
        with pytest.raises(OSError, match="another process"), whole_folder(target):
            raise AssertionError("not reached")
    assert files(target) == {"mine": b"x"}
    with pytest.raises(TargetRefused, match="exists already"), whole_folder(target):
        raise AssertionError("not reached")
