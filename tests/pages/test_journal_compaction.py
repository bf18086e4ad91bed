"""Journals compacted: what a broker would load is the same, record by record, in fewer files."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import golden_cases
import pytest
from golden_cases import GoldenCase
from made_journals import made_directory, meaning

from pagefmt.change.compaction.backup import BackupError, read_backup, restore
from pagefmt.change.compaction.copy_out import copy_journals_out
from pagefmt.change.compaction.journals import apply_journals, plan_journals, settle
from pagefmt.change.compaction.planning import CannotCompact, roots_of
from pagefmt.directory.locate import within
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal
from pagefmt.storage.writing import Disk


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def replaced(data: Path, backup: Path | None) -> int:
    settle(within(data), Disk())
    plan = plan_journals(within(data))
    apply_journals(plan, Disk(), backup)
    return plan.freed


def to_and_fro(original: Path, data: Path, tmp_path: Path) -> int:
    before, was = meaning(data), tree(data)
    freed = replaced(data, tmp_path / "backup")
    assert meaning(data) == before
    now = tree(data)
    assert sum(map(len, was.values())) - sum(map(len, now.values())) == freed
    assert replaced(data, tmp_path / "backup") == 0
    assert tree(data) == now
    copy_journals_out(plan_journals(within(original)), tmp_path / "out")
    assert tree(tmp_path / "out") == now
    restore(Disk(), read_backup(tmp_path / "backup", roots_of(within(data))))
    assert tree(data) == was
    return freed


@pytest.mark.parametrize("case", golden_cases.cases_of_each_kind(), ids=str)
def test_brokers_load_the_same(case: GoldenCase, tmp_path: Path) -> None:
    assert to_and_fro(case.data(), case.copy(tmp_path), tmp_path) > 0


@pytest.mark.parametrize("seed", range(0, 100, 10))
def test_any_journal(seed: int, tmp_path: Path) -> None:
    for number in range(seed, seed + 10):
        at = tmp_path / str(number)
        to_and_fro(made_directory(at / "original", number), made_directory(at / "copy", number), at)


def test_what_is_not_sound_is_left_alone(tmp_path: Path) -> None:
    data = made_directory(tmp_path, 1)
    second = sorted((data / "bindings").iterdir())[-1]
    second.write_bytes(second.read_bytes()[:8] + sorted((data / "bindings").iterdir())[0].read_bytes()[8:])
    messages, bindings = plan_journals(within(data)).journals
    assert messages.made and not bindings.made and "file id used twice" in str(bindings.why)
    first = sorted((data / "journal").iterdir())[0]
    first.write_bytes(b"\0\0\0\7" + first.read_bytes()[4:])
    with pytest.raises(CannotCompact, match="unknown version"):
        plan_journals(within(data))


def test_a_broker_that_ran_since_ends_the_way_back(tmp_path: Path) -> None:
    data = made_directory(tmp_path, 3)
    assert replaced(data, tmp_path / "backup") > 0
    newest = sorted((data / "journal").iterdir())[-1]
    newest.write_bytes(newest.read_bytes()[:-1] + b"\1")
    with pytest.raises(BackupError, match="changed since the compaction"):
        restore(Disk(), read_backup(tmp_path / "backup", roots_of(within(data))))
    for n in range(8):
        (data / "journal" / f"activemq-data-{90 + n}.amq").write_bytes(
            newest.read_bytes()[:8] + (90 + n).to_bytes(8) + bytes(884)
        )
    with pytest.raises(BackupError, match="earlier compaction"):
        replaced(data, tmp_path / "backup")


@pytest.mark.slow
def test_memory_does_not_grow_with_bodies(tmp_path: Path) -> None:
    (tmp_path / "data" / "journal").mkdir(parents=True)
    records = [JournalRecord(RecordKind.ADD, n, 0, 45, bytes(100_000)) for n in range(1, 2000)]
    write_journal(tmp_path / "data" / "journal", "activemq-data-{}.amq", records)
    del records
    tracemalloc.start()
    copy_journals_out(plan_journals(within(tmp_path / "data")), tmp_path / "out")
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()
