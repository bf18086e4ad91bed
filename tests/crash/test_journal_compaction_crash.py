"""Power failures and faults at every operation of a compaction of journals, and of putting it back."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from crash_simulator import FailingDisk, RecordingDisk, UnsyncedDisk, crash_states, lay_out
from made_journals import made_directory, meaning

from pagefmt.change.compaction.backup import BackupError, read_backup, restore
from pagefmt.change.compaction.journals import apply_journals, plan_journals, settle
from pagefmt.change.compaction.planning import roots_of
from pagefmt.directory.locate import within
from pagefmt.errors import PageFmtError
from pagefmt.storage.writing import NEW_SUFFIX, Disk

SEEDS = (11, 24)
EVENTS = 36


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace ``os.fsync`` by nothing, because the simulator itself tracks what was synced."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


def files(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def compacted(root: Path, disk: Disk, backup: bool = True) -> None:
    settle(within(root / "data"), disk)
    apply_journals(plan_journals(within(root / "data")), disk, root / "backup" if backup else None)


def put_back(root: Path, disk: Disk) -> None:
    restore(disk, read_backup(root / "backup", roots_of(within(root / "data"))))


def relative(root: Path) -> dict[str, bytes]:
    return {str(Path(name).relative_to(root)): content for name, content in files(root).items()}


class RecordedRun:
    """What was there before, every operation, what was there after; ``states``: all that a power cut can leave."""

    def __init__(
        self, seed: int, tmp_path: Path, disk: RecordingDisk, *, backup: bool = True, back: bool = False
    ) -> None:
        self.root = tmp_path / "run"
        made_directory(self.root, seed, EVENTS)
        self.original = relative(self.root)
        self.means = meaning(self.root / "data")
        if back:
            compacted(self.root, Disk())
        self.before = files(self.root)
        self.folders = {str(path) for path in [self.root, *self.root.rglob("*")] if path.is_dir()}
        if back:
            put_back(self.root, disk)
        else:
            compacted(self.root, disk, backup)
        self.after = relative(self.root)
        self.log = disk.log

    def states(self, tmp_path: Path) -> Iterator[Path]:
        """Yield a folder with each distinct state after a crash, one at a time."""
        seen = set()
        for _, state in crash_states(self.before, self.folders, self.log):
            key = tuple(sorted((name, hash(content)) for name, content in state.items()))
            if key in seen:
                continue
            seen.add(key)
            at = tmp_path / "state"
            lay_out(state, self.root, at)
            for folder in self.folders:
                (at / Path(folder).relative_to(self.root)).mkdir(parents=True, exist_ok=True)
            yield at
            shutil.rmtree(at)


def without_rests(found: dict[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in found.items() if not name.startswith("backup/list")}


@pytest.mark.parametrize("backup", [True, False], ids=["backup", "no backup"])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_instant_means_the_same_and_is_finished_or_undone(seed: int, backup: bool, tmp_path: Path) -> None:
    run = RecordedRun(seed, tmp_path, RecordingDisk(), backup=backup)
    states = 0
    for at in run.states(tmp_path):
        states += 1
        assert meaning(at / "data") == run.means
        other = tmp_path / "undo"
        shutil.copytree(at, other)
        compacted(at, Disk(), backup)
        assert without_rests(relative(at)) == without_rests(run.after)
        if backup:
            try:
                put_back(other, Disk())
            except BackupError:  # not begun
                settle(within(other / "data"), Disk())
                shutil.rmtree(other / "backup", ignore_errors=True)
            assert {name: what for name, what in relative(other).items() if NEW_SUFFIX not in name} == run.original
        shutil.rmtree(other)
    assert states > 20


@pytest.mark.parametrize("seed", SEEDS)
def test_every_instant_of_putting_back(seed: int, tmp_path: Path) -> None:
    run = RecordedRun(seed, tmp_path, RecordingDisk(), back=True)
    assert run.after == run.original
    original = {name.removeprefix("data/"): content for name, content in run.original.items()}
    states = 0
    for at in run.states(tmp_path):
        states += 1
        assert meaning(at / "data") == run.means
        if (at / "backup" / "list.jsonl").exists():
            put_back(at, Disk())
        assert relative(at / "data") == original
    assert states > 10


def test_the_simulator_convicts_a_disk_that_does_not_sync(tmp_path: Path) -> None:
    run = RecordedRun(SEEDS[0], tmp_path, UnsyncedDisk(), backup=False)

    def wrong(at: Path) -> bool:
        try:
            return meaning(at / "data") != run.means
        except PageFmtError:
            return True

    assert sum(map(wrong, run.states(tmp_path))) > 5


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_faults_leave_what_the_next_run_finishes(code: int, tmp_path: Path) -> None:
    run = RecordedRun(SEEDS[0], tmp_path, RecordingDisk())
    for number in range(1, 200):
        root = tmp_path / "fault"
        made_directory(root, SEEDS[0], EVENTS)
        disk = FailingDisk(number, code, forever=True)
        with suppress(PageFmtError, OSError):
            compacted(root, disk)
        assert meaning(root / "data") == run.means
        compacted(root, Disk())
        assert without_rests(relative(root)) == without_rests(run.after)
        shutil.rmtree(root)
        if not disk.failed:
            break
    assert number > 20
