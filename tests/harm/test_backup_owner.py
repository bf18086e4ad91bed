"""A backup is restored to, dropped for and continued by the broker whose files it contains, and no other."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from harmed import golden, no_trace, snapshot
from program import call

CALLS = {
    "restore": ("pages", "restore", "{data}", "--backup-dir", "{backup}"),
    "drop-backup": ("pages", "drop-backup", "{data}", "--backup-dir", "{backup}"),
    "restore --discard": ("pages", "restore", "{data}", "--discard", "--backup-dir", "{backup}"),
    "pages compact": ("pages", "compact", "{data}", "--in-place", "--backup-dir", "{backup}"),
    "journal compact": ("journal", "compact", "{data}", "--in-place", "--backup-dir", "{backup}"),
}
UNDO = ("restore", "drop-backup")


def answer_of(name: str, data: Path, backup: Path) -> tuple[int, str]:
    answer = call(*(word.format(data=data, backup=backup) for word in CALLS[name]))
    no_trace(answer)
    return answer.status, answer.err.splitlines()[-1] if answer.err else ""


def compacted(folder: Path, kind: str = "pages") -> tuple[Path, Path]:
    """Compact a data directory, and return it with its backup, which is outside of it."""
    folder.mkdir(exist_ok=True)
    data, backup = golden("scattered-acks").copy(folder), folder.parent / "backup"
    status, _ = answer_of(f"{kind} compact", data, backup)
    assert status == 0 and (backup / "list.jsonl").is_file()
    return data, backup


def another(tmp_path: Path, mine: Path) -> Path:
    return golden("holes").copy(tmp_path)


def copied(tmp_path: Path, mine: Path) -> Path:
    """Copy the same broker's data to a second place, where it keeps its node id."""
    return golden("scattered-acks").copy(tmp_path)


def replaced(tmp_path: Path, mine: Path) -> Path:
    """Replace the files of one broker by those of another at the same path."""
    mine.rename(tmp_path / "former")
    return Path(shutil.copytree(golden("holes").copy(tmp_path), mine))


@pytest.mark.parametrize("kind", ["pages", "journal"])
@pytest.mark.parametrize("other", [another, copied, replaced], ids=lambda each: each.__name__)
@pytest.mark.parametrize("name", CALLS)
def test_of_another_broker(name: str, other: Callable[[Path, Path], Path], kind: str, tmp_path: Path) -> None:
    mine, backup = compacted(tmp_path / "mine", kind)
    (tmp_path / "other").mkdir()
    data = other(tmp_path / "other", mine)
    before = snapshot(backup), snapshot(data)
    status, last = answer_of(name, data, backup)
    assert status == 2 and f"{backup}: is the backup of {mine}/paging (node " in last, last
    assert (snapshot(backup), snapshot(data)) == before


def test_the_plan_says_so(tmp_path: Path) -> None:
    _, backup = compacted(tmp_path / "mine")
    data = golden("holes").copy(tmp_path)
    backup.rename(data / "pagectl-backup")
    answer = call("pages", "compact", data)
    assert "is the backup of" in answer.out


def moved_alone(tmp_path: Path, data: Path, backup: Path) -> tuple[Path, Path]:
    return data.rename(tmp_path / "moved"), backup


def moved_together(tmp_path: Path, data: Path, backup: Path) -> tuple[Path, Path]:
    (tmp_path / "new" / "mine").mkdir(parents=True)
    return data.rename(tmp_path / "new" / "mine" / "data"), backup.rename(tmp_path / "new" / "backup")


def backup_moved(tmp_path: Path, data: Path, backup: Path) -> tuple[Path, Path]:
    return data, backup.rename(tmp_path / "kept")


def through_a_link(tmp_path: Path, data: Path, backup: Path) -> tuple[Path, Path]:
    (tmp_path / "link").symlink_to(data)
    return tmp_path / "link", backup


@pytest.mark.parametrize(
    "move", [moved_alone, moved_together, backup_moved, through_a_link], ids=lambda each: each.__name__
)
@pytest.mark.parametrize("name", UNDO)
def test_of_the_same_broker_elsewhere(
    name: str, move: Callable[[Path, Path, Path], tuple[Path, Path]], tmp_path: Path
) -> None:
    data, backup = move(tmp_path, *compacted(tmp_path / "mine"))
    status, last = answer_of(name, data, backup)
    assert status == 0, last
    assert not backup.exists()


def without_owner(backup: Path) -> None:
    """Remove the owner from a backup's list, as version 0.1.0 and earlier wrote it."""
    head, rest = (backup / "list.jsonl").read_text().split("\n", 1)
    older = json.loads(head)
    del older["owner"]
    (backup / "list.jsonl").write_text(json.dumps(older) + "\n" + rest)


@pytest.mark.parametrize("kind", ["pages", "journal"])
@pytest.mark.parametrize("name", UNDO)
def test_an_older_backup_is_known_by_its_files(name: str, kind: str, tmp_path: Path) -> None:
    data, backup = compacted(tmp_path / "mine", kind)
    without_owner(backup)
    other, kept = golden("holes").copy(tmp_path), snapshot(backup)
    status, last = answer_of(name, other, backup)
    assert status == 2 and "does not say whose backup it is" in last, last
    assert snapshot(backup) == kept
    status, last = answer_of(name, data, backup)
    assert status == 0 and not backup.exists(), last


def test_an_older_backup_in_its_usual_place_is_dropped_after_the_broker_ran(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    assert call("journal", "compact", data, "--in-place").status == 0
    without_owner(data / "pagectl-backup")
    for path in [*(data / "journal").glob("*.amq"), *(data / "bindings").glob("*.bindings")]:
        path.write_bytes(b"")  # nothing is left of what the compaction wrote
    assert call("pages", "drop-backup", data).status == 0
    assert not (data / "pagectl-backup").exists()


def empty(folder: Path) -> None:
    folder.mkdir()


def with_files(folder: Path) -> None:
    (folder / "paging").mkdir(parents=True)
    (folder / "paging" / "precious").write_text("x")


def with_a_list_of_something_else(folder: Path) -> None:
    with_files(folder)
    (folder / "list.jsonl").write_text('{"schema": 1}\n')


def with_an_owner_of_odd_type(folder: Path) -> None:
    with_files(folder)
    (folder / "list.jsonl").write_text('{"schema": 1, "journals": {}, "owner": {"directories": 5}}\n')


@pytest.mark.parametrize(
    "made",
    [empty, with_files, with_a_list_of_something_else, with_an_owner_of_odd_type],
    ids=lambda each: each.__name__,
)
@pytest.mark.parametrize("name", UNDO)
def test_no_backup(name: str, made: Callable[[Path], None], tmp_path: Path) -> None:
    data, folder = golden("scattered-acks").copy(tmp_path), tmp_path / "nobody's"
    made(folder)
    before = snapshot(folder)
    status, last = answer_of(name, data, folder)
    assert status == 2 and str(folder) in last and ("no backup" in last or "not a backup" in last), last
    assert snapshot(folder) == before
