"""Power failures and faults at every operation of a compaction (promises 8 and 9)."""

from __future__ import annotations

import errno
import random
import shutil
from pathlib import Path

import pytest
from compactions import due
from crash_simulator import FailingDisk, InPlaceDisk, Primitive, RecordingDisk, UnsyncedDisk, crash_states, lay_out
from golden_cases import GoldenCase

from pagefmt.change.compaction.apply import CompactionStopped, apply, open_backup
from pagefmt.change.compaction.backup import BackupError, read_backup, restore
from pagefmt.change.compaction.planning import make_plan
from pagefmt.directory.locate import within
from pagefmt.editions import Edition
from pagefmt.storage.writing import NEW_SUFFIX, Disk

CASES = [
    GoldenCase("2.56.0", "scattered-acks"),
    GoldenCase("2.56.0", "large-core"),
    GoldenCase("hornetq-2.4.7", "topic-acks"),
]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace ``os.fsync`` by nothing, because the simulator itself tracks what was synced."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


EDITION = {"2.56.0": Edition.ARTEMIS_2_56, "hornetq-2.4.7": Edition.HORNETQ_2_4}


class Recorded:
    """One run of a compaction on a copy: what was there before, every operation, what was there after."""

    def __init__(self, case: GoldenCase, tmp_path: Path, disk: RecordingDisk, backup: bool = True) -> None:
        self.root = tmp_path / "run"
        self.data = case.copy(self.root)
        middle = sorted(self.data.rglob("*.page"))[0]
        if case.name == "scattered-acks":
            middle.write_bytes(b"")  # a page that goes away altogether
        self.before = self.files()
        self.folders = {str(path) for path in [self.root, *self.root.rglob("*")] if path.is_dir()}
        self.due = due(within(self.data))
        self.disk = disk
        plan = make_plan(within(self.data), EDITION[case.version])
        self.steps = list(plan.steps())
        assert self.steps
        self.edition = EDITION[case.version]
        apply(plan, disk, open_backup(disk, self.root / "backup", plan) if backup else None)
        self.after = self.files()

    def files(self) -> dict[str, bytes]:
        wanted = ("data/paging/", "data/large-messages/", "backup/")
        return {
            str(self.root / name): content for name, content in tree_of(self.root).items() if name.startswith(wanted)
        }

    def broken(self, state: dict[str, bytes]) -> bool:
        """Return whether a file of the data directory has neither its old nor its new content."""
        data = str(self.data)
        for path, old in self.before.items():
            if path.startswith(data) and state.get(path) not in (old, self.after.get(path)):
                return True
        return False

    def states(self) -> list[dict[str, bytes]]:
        return [state for _, state in crash_states(self.before, self.folders, self.disk.log)]


def tree_of(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def distinct(states: list[dict[str, bytes]]) -> list[dict[str, bytes]]:
    return list(
        {tuple(sorted((path, hash(content)) for path, content in state.items())): state for state in states}.values()
    )


@pytest.mark.parametrize("backup", [True, False], ids=["backup", "no backup"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_instant_leaves_a_broken_page(case: GoldenCase, backup: bool, tmp_path: Path) -> None:
    run = Recorded(case, tmp_path, RecordingDisk(), backup)
    states = run.states()
    assert len(states) > 3 * len(run.steps)
    assert sum(run.broken(state) for state in states) == 0


@pytest.mark.parametrize("wrong", [InPlaceDisk, UnsyncedDisk])
def test_the_simulator_convicts_wrong_protocols(wrong: type[RecordingDisk], tmp_path: Path) -> None:
    run = Recorded(CASES[2], tmp_path, wrong(), backup=False)
    states = run.states()
    assert sum(run.broken(state) for state in states) > len(run.steps)


def put(run: Recorded, state: dict[str, bytes], to: Path) -> Path:
    lay_out(state, run.root, to)
    for name in ("journal", "bindings"):
        shutil.copytree(run.data / name, to / "data" / name, copy_function=shutil.copy2)
    for folder in run.folders:
        (to / Path(folder).relative_to(run.root)).mkdir(parents=True, exist_ok=True)
    return to / "data"


def recoveries(case: GoldenCase, tmp_path: Path, most: int | None) -> int:
    run = Recorded(case, tmp_path, RecordingDisk())
    states = distinct(run.states())
    chosen = states if most is None else random.Random(3).sample(states, min(most, len(states)))
    want_new = {
        name: content for name, content in tree_of(run.data).items() if "/" in name and not name.startswith("journal")
    }
    for number, state in enumerate(chosen):
        at = tmp_path / f"state-{number}"
        data = put(run, state, at)
        assert due(within(data)) == run.due
        shutil.copytree(at, tmp_path / "undo")
        finish(run, at)
        assert {name: tree_of(data)[name] for name in want_new} == want_new
        assert not list(data.rglob(f"*{NEW_SUFFIX}"))
        undo(run, tmp_path / "undo")
        shutil.rmtree(at)
        shutil.rmtree(tmp_path / "undo")
    return len(chosen)


def finish(run: Recorded, at: Path) -> None:
    plan = make_plan(within(at / "data"), run.edition)
    apply(plan, Disk(), open_backup(Disk(), at / "backup", plan))


def undo(run: Recorded, at: Path) -> None:
    roots = {name: at / "data" / name for name in ("paging", "journal", "bindings", "large-messages")}
    try:
        backup = read_backup(at / "backup", roots)
    except BackupError:
        now = tree_of(at)  # nothing had been touched yet
    else:
        restore(Disk(), backup)
        now = tree_of(at)
        assert not (at / "backup").exists()
    for path, content in run.before.items():
        assert now[str(Path(path).relative_to(run.root))] == content


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_next_run_finishes_and_restore_undoes(case: GoldenCase, tmp_path: Path) -> None:
    assert recoveries(case, tmp_path, 12) == 12


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_state_is_finished_or_undone(case: GoldenCase, tmp_path: Path) -> None:
    assert recoveries(case, tmp_path, None) > 20


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS], ids=errno.errorcode.get)
@pytest.mark.parametrize("forever", [False, True], ids=["once", "from then on"])
def test_faults_leave_old_or_new(code: int, forever: bool, tmp_path: Path) -> None:
    case, stopped, verbs = CASES[0], 0, set()
    run = Recorded(case, tmp_path, RecordingDisk())
    for at in range(1, 200):
        root = tmp_path / f"fault-{at}"
        data = put(run, run.before, root)
        disk = FailingDisk(at, code, forever)
        try:
            plan = make_plan(within(data), run.edition)
            apply(plan, disk, open_backup(disk, root / "backup", plan))
        except (CompactionStopped, OSError):
            stopped += 1
        state = {str(run.root / name): content for name, content in tree_of(root).items()}
        assert not run.broken(state), disk.failed
        assert not list(data.rglob(f"*{NEW_SUFFIX}")) or disk.forever
        shutil.rmtree(root)
        if not disk.failed:
            break
        verbs.add(disk.failed)
    assert stopped >= 20
    assert verbs == {"create", "sync of a new file", "append", "link", "rename", "mkdir", "sync of a folder", "unlink"}


def test_what_the_simulator_itself_knows() -> None:
    start = {"/d/a": b"old"}
    log = [
        Primitive("create", "/d/b"),
        Primitive("write", "/d/b", content=b"new!"),
        Primitive("rename", "/d/b", "/d/a"),
    ]
    found = {state.get("/d/a") for _, state in crash_states(start, {"/d"}, log)}
    assert found == {b"old", b"", b"ne", b"new!"}
    synced = [*log[:2], Primitive("sync", "/d/b"), log[2], Primitive("syncdir", "/d")]
    assert {state.get("/d/a") for _, state in crash_states(start, {"/d"}, synced)} == {b"old", b"new!"}
