"""A compaction of the journal in place loses nothing of a journal retention, or says so and waits for a word."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from harmed import json_of, no_trace, pagectl, snapshot
from made_journals import made_directory, meaning
from program import Answer

from pagefmt.change.compaction.journals import plan_journals
from pagefmt.change.compaction.retention import plan_retention
from pagefmt.directory.locate import within
from pagefmt.journal.files import decode_header
from pagefmt.journal.scan import scan
from pagefmt.storage.writing import NEW_SUFFIX

XML = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
<journal-retention-directory unit="DAYS" period="365">{}</journal-retention-directory>
<paging-directory>data/paging</paging-directory><journal-directory>data/journal</journal-directory>
<bindings-directory>data/bindings</bindings-directory>
<large-messages-directory>data/large-messages</large-messages-directory></core></configuration>
"""
ACCEPT = "--accept-lost-acknowledgements"  # the files of made journals have odd sizes, which counts as damage
WAYS = pytest.mark.parametrize("backup", [True, False], ids=["backup", "no backup"])


class History:
    """A broker's directories with a retention folder that has the first files of its journal, as rotation leaves it."""

    def __init__(self, root: Path, kept: int) -> None:
        self.root, self.folder = root, root / "history"
        self.data = made_directory(root, 11)
        self.folder.mkdir()
        (root / "broker.xml").write_text(XML.format("history"))
        self.replaced = {content for content in self.contents(self.data / "journal") if has_records(content)}
        for content in sorted(self.replaced, key=lambda each: decode_header(each).file_id)[:kept]:
            name = f"activemq-data-20240101000000-{decode_header(content).file_id}.amq"
            (self.folder / name).write_bytes(content)

    def contents(self, folder: Path) -> list[bytes]:
        return [path.read_bytes() for path in sorted(folder.glob("*.amq"))]

    def compact(self, *words: str) -> Answer:
        answer = pagectl("journal", "compact", self.root / "data", "--config", self.root / "broker.xml", *words, ACCEPT)
        no_trace(answer)
        return answer


def has_records(content: bytes) -> bool:
    return any(True for _ in scan(content, decode_header(content)))


@WAYS
@pytest.mark.parametrize("kept", [0, 2])
def test_what_it_lacks_is_copied_once(kept: int, backup: bool, tmp_path: Path) -> None:
    history = History(tmp_path, kept)
    means = meaning(history.data)
    before = snapshot(tmp_path)
    plan = history.compact("--in-place", "--dry-run", "--format", "json")
    missing = len(history.replaced) - kept
    assert len(json_of(plan)["retention"]["missing"]) == missing > 0
    assert f"would copy to {history.folder}: {missing} replaced files" in history.compact("--dry-run").out
    assert snapshot(tmp_path) == before
    words = ["--in-place"] + ["--no-backup"] * (not backup)
    answer = history.compact(*words)
    assert answer.status == 1 and f"copied to {history.folder}: {missing} replaced files" in answer.out, answer
    assert meaning(history.data) == means
    contents = history.contents(history.folder)
    assert set(contents) == history.replaced and len(contents) == len(history.replaced), "each once"
    for path in history.folder.iterdir():
        assert (name := re.fullmatch(r"activemq-data-\d{14}-(\d+)\.amq", path.name)), path
        assert int(name[1]) == decode_header(path.read_bytes()).file_id
    again = history.compact("--in-place", "--no-backup")
    assert again.status == 0 and history.contents(history.folder) == contents


def test_restored_and_compacted_again_it_copies_nothing_twice(tmp_path: Path) -> None:
    history = History(tmp_path, 1)
    assert history.compact("--in-place").status == 1
    contents = history.contents(history.folder)
    assert pagectl("pages", "restore", history.data).status == 0
    assert history.compact("--in-place").status == 1
    assert history.contents(history.folder) == contents


def test_one_id_with_other_content_is_another_file(tmp_path: Path) -> None:
    # A copied file that was written on has the same id, for example after a start on the copy.
    history = History(tmp_path, 3)
    path = max(history.folder.iterdir())
    path.write_bytes(path.read_bytes()[:60].ljust(path.stat().st_size, b"\0"))
    former = history.contents(history.folder)
    assert history.compact("--in-place").status == 1
    assert set(history.contents(history.folder)) == history.replaced | set(former)


def missing(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def a_file(folder: Path) -> None:
    missing(folder)
    folder.write_text("")


def read_only(folder: Path) -> None:
    folder.chmod(0o555)


@WAYS
@pytest.mark.parametrize("spoil", [missing, a_file, read_only], ids=lambda each: each.__name__)
def test_a_folder_that_takes_nothing(spoil: Callable[[Path], None], backup: bool, tmp_path: Path) -> None:
    if spoil is read_only and os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    history = History(tmp_path, 1)
    spoil(history.folder)
    before = snapshot(tmp_path)
    words = ["--in-place"] + ["--no-backup"] * (not backup)
    answer = history.compact(*words)
    assert answer.status == 2 and str(history.folder) in answer.err and "--accept-lost-history" in answer.err, answer
    assert snapshot(tmp_path) == before
    assert "the journal retention does not get" in history.compact("--dry-run").err
    answer = history.compact(*words, "--accept-lost-history")
    assert answer.status == 1 and "the journal retention does not get" in answer.err, answer
    assert len(list((history.data / "journal").glob("*.amq"))) < len(history.replaced)


def test_a_failing_copy_changes_nothing_and_the_next_run_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pagefmt.change.compaction.retention import keep_history
    from pagefmt.storage.writing import Disk

    history = History(tmp_path, 0)
    before = snapshot(history.data)
    plan = plan_retention(plan_journals(within(history.data)), history.folder)
    replace, done = Disk.replace, list[Path]()

    def killed(disk: Disk, new: Path, old: Path) -> None:
        if done:
            raise KeyboardInterrupt
        done.append(old)
        replace(disk, new, old)

    monkeypatch.setattr(Disk, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        keep_history(plan, Disk())
    monkeypatch.undo()
    (history.folder / f"activemq-data-20240101000000-9.amq{NEW_SUFFIX}").write_text("left by a kill")
    assert snapshot(history.data) == before and len(history.contents(history.folder)) == 1
    assert history.compact("--in-place").status == 1
    assert sorted(history.contents(history.folder)) == sorted(history.replaced)
    assert len(list(history.folder.iterdir())) == len(history.replaced)


def test_files_of_a_compaction_are_not_copied_as_their_records_were_before(tmp_path: Path) -> None:
    # Brokers do the same. A file that continues with new records is copied, and one whose originals are missing.
    history = History(tmp_path, 1)
    first, *others = sorted((history.data / "journal").glob("*.amq"), key=lambda path: path.read_bytes()[8:16])
    for path in others:
        content = bytearray(path.read_bytes())
        for record in scan(bytes(content), decode_header(content)):
            struct.pack_into("b", content, record.at + 5, 1)
        path.write_bytes(content)
    plan = plan_journals(within(history.data))
    assert plan_retention(plan, history.folder).missing == ()
    next(history.folder.iterdir()).unlink()
    names = {file.name for file in plan_retention(plan, history.folder).missing}
    assert first.name in names and len(names) > 1


def test_a_property_sets_the_folder(tmp_path: Path) -> None:
    history = History(tmp_path, 1)
    (tmp_path / "other").mkdir()
    (tmp_path / "broker.properties").write_text("journalRetentionDirectory=other\n")
    answer = history.compact("--in-place", "--properties", str(tmp_path / "broker.properties"))
    assert answer.status == 1, answer
    assert set(history.contents(tmp_path / "other")) == history.replaced


def test_a_copy_says_what_only_the_old_journal_has(tmp_path: Path) -> None:
    history = History(tmp_path, 1)
    before = snapshot(history.folder)
    answer = history.compact("--out", str(tmp_path / "NEW"))
    assert answer.status == 1 and "keep the old journal" in answer.err, answer
    assert snapshot(history.folder) == before
