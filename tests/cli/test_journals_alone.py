"""Journal files by themselves: a retention folder, a journal's folder, one file, without a data directory around."""

from __future__ import annotations

import json
import shutil
import signal
import tarfile
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase, cases
from program import Answer, call, started
from recorded_histories import HistoryCase, histories

from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal

CASE = HistoryCase("2.56.0", "core")
READING = (
    ("journal", "ls"),
    ("journal", "stats"),
    ("journal", "inspect"),
    ("journal", "verify"),
    ("messages", "ls"),
    ("messages", "top"),
    ("messages", "decode"),
    ("messages", "verify"),
)
REFUSING = (
    ("pages", "ls"),
    ("pages", "decode"),
    ("pages", "verify"),
    ("pages", "compact"),
    ("pages", "salvage"),
    ("journal", "compact"),
    ("messages", "xml"),
    ("large", "ls"),
    ("disk", "usage"),
    ("queue", "drop"),
    ("recover",),
    ("convert",),
)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Return a retention folder with nothing of a broker around it."""
    return Path(shutil.copytree(CASE.root() / "history", tmp_path / "alone"))


def files_of(answer: Answer) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = json.loads(answer.out)["files"]
    return files


@pytest.mark.parametrize("case", histories(), ids=str)
def test_a_retention_folder_is_read_as_the_journal_that_it_was(case: HistoryCase) -> None:
    folder = case.root() / "history"
    answer = call("journal", "ls", folder, "--format", "json")
    assert answer.status == 0
    assert f"{folder} is read as a folder of journal files alone" in answer.err
    listed = files_of(answer)
    assert sorted(row["file"] for row in listed) == sorted(path.name for path in folder.iterdir())
    assert all(row["condition"] in ("ok", "file id used again", "copy of a file") for row in listed)
    assert call("journal", "verify", folder).status == 0


def test_one_file_is_a_journal(history: Path) -> None:
    for path in sorted(history.iterdir()):
        (row,) = files_of(call("journal", "ls", path, "--format", "json"))
        assert (row["file"], row["condition"]) == (path.name, "ok")
        inspected = call("journal", "inspect", path, "--format", "jsonl").lines()
        assert len(inspected) == row["records"]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_every_command_that_reads_journals_takes_them(history: Path, words: tuple[str, ...]) -> None:
    for given in (history, min(history.iterdir())):
        answer = call(*words, given)
        assert answer.status == 0, answer.err
        assert "without pages; queues are shown by their ids, because there are no bindings beside it" in answer.err
        assert "recover" not in answer.err  # nothing is lost of what was named


@pytest.mark.parametrize("words", REFUSING, ids=" ".join)
def test_commands_that_need_a_data_directory_name_those_that_do_not(history: Path, words: tuple[str, ...]) -> None:
    to = ("--out", history.parent / "new")
    options: dict[str, tuple[object, ...]] = {
        "drop": ("q",), "recover": to, "salvage": to, "convert": (*to, "--edition", "artemis-2.56"),
    }  # fmt: skip
    before = sorted((path.name, path.read_bytes()) for path in history.iterdir())
    answer = call(*words, history, *options.get(words[-1], ()))
    assert answer.status == 2
    assert "a folder of journal files alone" in answer.err and "journal ls" in answer.err
    assert sorted((path.name, path.read_bytes()) for path in history.iterdir()) == before


def test_monitoring_does_not_take_a_journal_for_the_whole_store(history: Path) -> None:
    for words in (("messages", "check"), ("disk", "check")):
        answer = call(*words, history)
        assert answer.status == 3 and "UNKNOWN" in answer.out


def test_messages_of_a_journal_without_bindings_are_counted_by_queue_id(tmp_path: Path) -> None:
    """The same counts as with the bindings beside the journal, which only give the queues names."""
    case = GoldenCase("2.56.0", "journal-mix")
    shutil.copytree(case.data() / "journal", tmp_path / "j")
    named = json.loads(call("messages", "ls", case.data() / "journal", "--format", "json").out)["queues"]
    unnamed = json.loads(call("messages", "ls", tmp_path / "j", "--format", "json").out)["queues"]
    counted = {row["id"]: (row["messages"], row["bytes"], row["scheduled"]) for row in unnamed}
    assert counted and counted == {
        row["id"]: (row["messages"], row["bytes"], row["scheduled"]) for row in named if row["id"] in counted
    }
    assert all(row["messages"] == 0 for row in named if row["id"] not in counted)
    in_journal = json.loads(call("messages", "ls", case.data(), "--in", "journal", "--format", "json").out)["queues"]
    assert [row["messages"] for row in named] == [row["messages"] for row in in_journal]


def test_copies_of_paged_messages_are_counted_and_not_shown() -> None:
    case = HistoryCase("2.56.0", "paged")
    paged = {line["id"] for line in case.ledger() if line["op"] == "send" and line.get("paged")}
    records = call("journal", "stats", case.root() / "history", "--format", "json").out
    (events,) = [
        row["records"]
        for row in json.loads(records)["records"]
        if (row["kind"], row["type"]) == ("EVENT", "ADD_MESSAGE_PROTOCOL")
    ]
    assert 0 < events <= len(paged)
    for words in (("messages", "ls"), ("messages", "decode"), ("messages", "top")):
        assert f"{events} copies of paged messages in it not shown" in call(*words, case.root() / "history").err, words
    assert "copies of paged" not in call("messages", "ls", case.root() / "data").err


def test_names_of_queues_come_from_the_instance_around(tmp_path: Path) -> None:
    root = CASE.copy(tmp_path / "broker")
    for given in (root / "history", root / "data" / "journal", min((root / "history").iterdir())):
        answer = call("messages", "ls", given, "--format", "json")
        assert f"names of queues are from {root}/data/bindings" in answer.err
        assert all(row["address"] is not None for row in json.loads(answer.out)["queues"])


def test_bindings_alone_have_no_messages(tmp_path: Path) -> None:
    shutil.copytree(CASE.root() / "data" / "bindings", tmp_path / "names")
    for given in (tmp_path / "names", min((tmp_path / "names").iterdir())):
        assert call("journal", "ls", given).status == 0
        verified = call("journal", "verify", given)
        assert (verified.status, "nothing else found" in verified.out) == (0, True)
        answer = call("messages", "ls", given)
        assert (answer.status, answer.out) == (2, "")
        assert "of bindings" in answer.err


def test_a_file_that_was_being_copied_is_read_when_it_is_named(history: Path) -> None:
    path = min(history.iterdir())
    records = [line["offset"] for line in call("journal", "inspect", path, "--format", "jsonl").lines()]
    copied = path.rename(path.with_name("activemq-data-1.amq.bkp"))
    assert [line["offset"] for line in call("journal", "inspect", copied, "--format", "jsonl").lines()] == records


def test_a_link_that_is_named_is_followed(history: Path, tmp_path: Path) -> None:
    path = min(history.iterdir())
    (tmp_path / "linked.amq").symlink_to(path)
    (tmp_path / "linked").symlink_to(history)
    assert inspected(tmp_path / "linked.amq").total() == inspected(path).total()
    assert inspected(tmp_path / "linked") == inspected(history)


@pytest.mark.parametrize("version", ["hornetq-2.4.7", "artemis-1.5.6"])
def test_journals_of_older_servers_are_read_alone(version: str, tmp_path: Path) -> None:
    data = cases(version)[0].data()
    for folder in ("journal", "bindings"):
        copy = Path(shutil.copytree(data / folder, tmp_path / folder / "files"))
        assert inspected(copy) == Counter(
            {name: n for name, n in inspected(data).items() if (data / folder / name).exists()}
        )
        for path in copy.iterdir():
            if path.suffix in (".amq", ".hq", ".bindings", ".jms"):
                assert call("journal", "ls", path).status == 0, path


def test_of_two_copies_the_one_that_is_the_beginning_of_the_other_is_left_out(history: Path) -> None:
    whole = files_of(call("journal", "ls", history, "--format", "json"))
    last = max(history.iterdir())
    ends = [line["offset"] for line in call("journal", "inspect", last, "--format", "jsonl").lines()]
    content = bytearray(last.read_bytes())
    content[ends[len(ends) // 2] :] = bytes(len(content) - ends[len(ends) // 2])
    earlier = last.with_name(last.name.replace("activemq-data-2", "activemq-data-1"))
    earlier.write_bytes(content)
    answer = call("journal", "ls", history, "--format", "json")
    assert answer.status == 0
    rows = {row["file"]: row for row in files_of(answer)}
    assert rows[earlier.name]["condition"] == "copy of a file"
    assert [row for name, row in rows.items() if name != earlier.name] == whole


def test_two_files_of_one_id_that_differ_are_both_read(history: Path) -> None:
    first, second = sorted(history.iterdir())[:2]
    content = bytearray(first.read_bytes())
    other = bytearray(second.read_bytes())
    records = call("journal", "inspect", second, "--format", "jsonl").lines()
    other[8:16] = content[8:16]
    for record in records:
        other[record["offset"] + 1 : record["offset"] + 5] = content[12:16]
    second.write_bytes(other)
    answer = call("journal", "ls", history, "--format", "json")
    assert answer.status == 0
    rows = {row["file"]: row for row in files_of(answer)}
    assert rows[second.name]["condition"] == "file id used again"
    assert rows[second.name]["records"] == len(records)


def test_a_copy_in_a_journal_that_a_broker_uses_is_judged_as_the_broker_does(tmp_path: Path) -> None:
    """It loads every file with the ending of a journal, in the order of ids that two files share by chance."""
    root = CASE.copy(tmp_path / "broker")
    retained = max((root / "history").iterdir())
    shutil.copy(retained, root / "data" / "journal")
    answer = call("journal", "ls", root, "--format", "json")
    (row,) = [row for row in files_of(answer) if row["file"] == retained.name]
    assert answer.status == 1 and "foreign name" in row["conditions"]
    assert any("file id used twice" in row["conditions"] for row in files_of(answer))
    assert call("journal", "compact", root).status != 0
    shutil.rmtree(root / "data" / "journal")
    shutil.copytree(root / "history", root / "data" / "journal")
    assert call("journal", "ls", root).status == 0
    compacted = call("journal", "compact", root, "--in-place", "--no-backup")
    assert compacted.status == 2 and "does not show which broker's files these are" in compacted.err


def test_archives_hold_journals_too(history: Path, tmp_path: Path) -> None:
    archive = tmp_path / "alone.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(history, "history")
    for words in (("messages", "ls", "--format", "json"), ("messages", "decode", "--format", "jsonl")):
        assert call(*words, archive).out == call(*words, history).out


def test_a_file_that_is_cut_off_is_damaged(history: Path) -> None:
    path = min(history.iterdir())
    path.write_bytes(path.read_bytes()[:7])
    answer = call("journal", "ls", path, "--format", "json")
    assert (answer.status, files_of(answer)[0]["condition"]) == (1, "short file")


@pytest.mark.parametrize("case", histories(), ids=str)
def test_statistics_add_up_and_name_what_keeps_the_oldest_file(case: HistoryCase) -> None:
    for folder in (case.root() / "history", case.root() / "data"):
        statistics = json.loads(call("journal", "stats", folder, "--format", "json", "--timezone", "UTC").out)
        files = files_of(call("journal", "ls", folder, "--format", "json"))
        assert sum(row["records"] for row in statistics["records"]) == sum(row["records"] or 0 for row in files)
        assert sum(row["live"] for row in statistics["records"]) == sum(row["live_records"] or 0 for row in files)
        kept = [row for row in files if row["journal"] == "messages" and row["live_records"]]
        oldest = statistics["oldest"]
        assert (oldest and (oldest["file"], oldest["live"])) == (
            (kept[0]["file"], kept[0]["live_records"]) if kept else None
        )
        assert oldest is None or sum(held["records"] for held in oldest["held_by"]) == oldest["live"]
        listed = json.loads(call("messages", "ls", folder, "--in", "journal", "--format", "json").out)["queues"]
        waiting = {row["id"]: row["journal"] + row["in_doubt"] for row in listed if row["journal"] or row["in_doubt"]}
        assert {row["id"]: row["references"] for row in statistics["queues"]} == waiting


def test_what_is_oldest_is_said_of_the_files_that_were_read(history: Path) -> None:
    assert "the oldest file with live records is" in call("journal", "stats", history).out
    min(history.iterdir()).write_bytes(b"short")
    answer = call("journal", "stats", history)
    assert answer.status == 1 and "not read" in answer.err
    assert "the oldest file with live records of those that were read is" in answer.out


def test_a_prepared_transaction_keeps_its_file(tmp_path: Path) -> None:
    """``journal ls`` counts its records, its deletes and the PREPARE as live, and so do statistics."""
    records = [
        JournalRecord(RecordKind.ADD_TX, 11, 3, RecordType.ADD_REF, (7).to_bytes(8, "big")),
        JournalRecord(RecordKind.DELETE_TX, 12, 3),
        JournalRecord(RecordKind.PREPARE, tx=3),
    ]
    write_journal(tmp_path, "activemq-data-{}.amq", records)
    (row, *_) = files_of(call("journal", "ls", tmp_path, "--format", "json"))
    statistics = json.loads(call("journal", "stats", tmp_path, "--format", "json").out)
    live = {(line["kind"], line["type"]): line["live"] for line in statistics["records"]}
    assert live == {("ADD", "ADD_REF"): 1, ("DELETE", None): 1, ("PREPARE", None): 1}
    assert statistics["oldest"]["live"] == row["live_records"] == 3
    assert {held["type"] for held in statistics["oldest"]["held_by"]} == {"ADD_REF", "DELETE", "PREPARE"}


@pytest.mark.parametrize("case", histories(), ids=str)
def test_retained_files_say_between_which_times_they_were_written(case: HistoryCase) -> None:
    """The ledger has the times at which the broker accepted messages, and the file that it wrote at the time."""
    statistics = json.loads(
        call("journal", "stats", case.root() / "history", "--format", "json", "--timezone", "UTC").out
    )
    ends = {row["id"]: datetime.fromisoformat(row["not_after"]).timestamp() for row in statistics["files"]}
    checked = 0
    for line in case.ledger():
        if line["op"] == "send" and line.get("file") in ends:
            checked += 1
            assert line["t"] / 1000 < ends[line["file"]], line
    assert checked
    assert statistics["timezone"] == "UTC"
    times = [(row["not_before"], row["not_after"]) for row in statistics["files"]]
    assert times[0][0] is None
    for (_, ended), (begun, _) in pairwise(times):
        assert datetime.fromisoformat(ended) == datetime.fromisoformat(begun) + timedelta(seconds=2)


def test_a_zone_that_does_not_exist_is_named(history: Path) -> None:
    answer = call("journal", "stats", history, "--timezone", "Nowhere/Else")
    assert (answer.status, answer.out) == (2, "")
    assert "'Nowhere/Else': no such zone" in answer.err


def inspected(*words: str | Path) -> Counter[str]:
    """Return how many records of each file ``journal inspect`` shows."""
    answer = call("journal", "inspect", *words, "--format", "jsonl", "--timezone", "UTC")
    assert answer.status == 0, answer.err
    return Counter(line["file"] for line in answer.lines())


def test_files_are_chosen_by_the_times_between_which_they_were_written(history: Path) -> None:
    files = json.loads(call("journal", "stats", history, "--format", "json", "--timezone", "UTC").out)["files"]
    whole = inspected(history)
    times = [datetime.fromisoformat(row["not_after"]) for row in files]
    middle = times[len(times) // 2]
    since, until = inspected(history, "--since", middle.isoformat()), inspected(history, "--until", middle.isoformat())
    assert list(since) == [row["file"] for row, time in zip(files, times, strict=True) if time > middle]
    begun = [row["file"] for row in files if row["not_before"] is None or row["not_before"] <= middle.isoformat()]
    assert list(until) == begun
    assert all(whole[name] == number for name, number in (since | until).items())
    plain = call("journal", "inspect", CASE.root() / "data", "--since", middle.isoformat(), "--format", "jsonl")
    assert "without a time in the name: shown whatever the time" in plain.err and plain.lines()


def test_records_are_shown_as_a_broker_appends_them(history: Path) -> None:
    """The broker is a test that writes the second half of a file while the command follows it."""
    path = min(history.iterdir())
    content, lines = path.read_bytes(), call("journal", "inspect", path, "--format", "jsonl").lines()
    half = lines[len(lines) // 2]["offset"]
    path.write_bytes(content[:half] + bytes(len(content) - half))
    with started("journal", "inspect", history, "--file", path.name, "--follow", "--format", "jsonl") as following:
        assert following.stdout is not None
        shown = [json.loads(following.stdout.readline()) for _ in range(len(lines) // 2)]
        with path.open("r+b") as file:
            file.seek(half)
            file.write(content[half:])
        shown += [json.loads(following.stdout.readline()) for _ in range(len(lines) - len(shown))]
        following.send_signal(signal.SIGINT)
        assert following.wait(60) == 130
    assert shown == lines


def test_a_json_document_cannot_follow(history: Path) -> None:
    answer = call("journal", "inspect", history, "--follow", "--format", "json")
    assert (answer.status, answer.out) == (2, "")
