"""``--in history``: what became of the messages of recorded histories, held against the ledgers of their brokers."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import tarfile
from collections import Counter
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow.parquet as pq
import pytest
from history_ledgers import ledger_of
from lxml import etree
from program import call
from recorded_histories import HistoryCase, histories

from pagefmt.history import history

GONE = ("acknowledged", "expired", "moved", "removed")
CUT = ("cutoff-size", "cutoff-period", "late")  # of these the first messages are gone


@cache
def lines_of(case: HistoryCase) -> list[dict[str, Any]]:
    """Return the messages of a history."""
    answer = call("messages", "decode", case.root(), "--in", "history", "--timezone", "UTC", "--format", "jsonl")
    assert answer.status == 0, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


@pytest.mark.parametrize("case", histories(), ids=str)
def test_each_message_is_there_once(case: HistoryCase) -> None:
    """All that was routed is there, apart from what a cut-off or a kill took.

    A kill may take the event of a message that was paged, and lies in its page alone.
    """
    ids = Counter(line["id"] for line in lines_of(case))
    assert set(ids.values()) <= {1}
    ledger, lines = ledger_of(case), case.ledger()
    answered = {line["id"] for line in lines if line["op"] == "send" and "id" in line}
    missing = ledger.routed.keys() - ids.keys()
    if case.name in CUT:
        assert missing
        assert max(missing) < max(ids)
        return
    in_pages = call("messages", "decode", case.root(), "--in", "pages", "--format", "jsonl").out.splitlines()
    assert missing & answered <= {json.loads(line)["id"] for line in in_pages}


@pytest.mark.parametrize("case", histories(), ids=str)
def test_states_are_what_the_broker_did(case: HistoryCase) -> None:
    ledger = ledger_of(case)
    durable = {name for count in case.counts() for name in count["queues"]}
    for line in lines_of(case):
        for queue, entry in line["queues_state"].items():
            pair, state = (line["id"], queue), entry["state"]
            if line["id"] not in ledger.routed or queue not in durable:
                continue
            if state == "rolled-back":
                assert line["id"] in ledger.rolled_back or pair not in ledger.acked, pair
            elif state in GONE:
                assert pair in ledger.acked or pair in ledger.perhaps, (pair, entry)
            elif state == "waiting":
                assert pair not in ledger.acked or "why" in entry or case.name == "kill", (pair, entry)
            assert (state in ("moved", "expired")) == (pair in ledger.copies), (pair, entry)
            assert state != "expired" or ledger.copies[pair]
            assert state != "removed" or queue in ledger.deleted
            assert line["id"] not in ledger.rolled_back or state == "rolled-back"


@pytest.mark.parametrize("case", histories(), ids=str)
def test_queues_held_what_management_counted(case: HistoryCase) -> None:
    """At the end of each file that was rotated on purpose, just after management had counted."""
    held_now = {
        row["queue"] for row in json.loads(call("messages", "ls", case.root(), "--format", "json").out)["queues"]
    }
    boundaries = [entry for entry in case.counts() if entry["why"] == "before-rotate"]
    assert boundaries or case.name in ("core", "kill", "compaction", "multicast", "cutoff-size")
    ended: Counter[int] = Counter()  # a file that was copied may be continued, and then is copied again
    for entry in boundaries:
        file = sorted((case.root() / "history").glob(f"*-{entry['file']}.amq"))[ended[entry["file"]]]
        ended[entry["file"]] += 1
        call_ = ("messages", "ls", case.root(), "--in", "history", "--timezone", "UTC", "--as-of", file.name)
        rows = json.loads(call(*call_, "--format", "json").out)["queues"]
        counted = {row["id"]: (row["messages"], row["messages"] + row["in_doubt"]) for row in rows}
        for queue, count in entry["queues"].items():
            # non-durable messages of pages: up to 2.28 management does not count them as durable
            wanted = count["count"] if queue == "p.n" else count.get("durable", count["count"])
            # sent in prepared transactions: up to 2.28 management counts them after a start
            after_start = case.version in ("2.18.0", "2.28.0")
            if queue in held_now:
                assert wanted in counted.get(count["id"], (0, 0))[: 1 + after_start], (entry["n"], queue)


def test_large_bodies_are_put_together() -> None:
    """Each body has the bytes that its client sent, although it lies in pieces in several files."""
    for case in histories():
        sent = {line["id"]: line for line in case.ledger() if line["op"] == "send" and line.get("large")}
        if not sent or case.name in CUT:
            continue
        answer = call("messages", "decode", case.root(), "--in", "history", "--body", "text", "--format", "jsonl")
        bodies = {line["id"]: line.get("body_text") for line in map(json.loads, answer.out.splitlines())}
        for number, line in sent.items():
            if line["durable"] and line["body_crc"]:
                assert crc32(bodies[number].encode()) == line["body_crc"], (str(case), number)


PURGED = HistoryCase("2.56.0", "purge-delete")
OPTIONS = ("--in", "history", "--timezone", "UTC")


def found(*words: str, case: HistoryCase = PURGED) -> list[dict[str, Any]]:
    answer = call("messages", "find", case.root(), *OPTIONS, *words, "--format", "jsonl")
    assert answer.status == 0, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


def test_a_message_is_found_with_its_file_and_the_times_between_which_it_was_sent() -> None:
    sent = next(line for line in PURGED.ledger() if line["op"] == "send" and line["durable"])
    (line,) = found("--id", str(sent["id"]))
    assert (line["where"], line["page"], line["store"]) == ("history", None, None)
    assert (PURGED.root() / "history" / line["file"]).stat().st_size > line["offset"] + line["length"]
    assert line["not_before"] is None or datetime.fromisoformat(line["not_before"]).timestamp() * 1000 <= sent["t"]
    assert sent["t"] <= datetime.fromisoformat(line["not_after"]).timestamp() * 1000


def test_states_choose_messages_in_the_chosen_queue() -> None:
    removed = found("--in-state", "removed")
    assert removed
    assert all("removed" in [entry["state"] for entry in line["queues_state"].values()] for line in removed)
    assert found("--in-state", "removed", "--queue", "dm2") == []
    assert {line["id"] for line in found("--in-state", "removed", "--queue", "dm1")} < {line["id"] for line in removed}
    waiting = found("--outstanding", "--where", "seq > 0")
    assert {line["id"] for line in waiting} == {line["id"] for line in found("--in-state", "waiting")}


def test_a_deleted_queue_and_its_successor_have_one_name() -> None:
    rows = json.loads(call("messages", "ls", PURGED.root(), *OPTIONS, "--format", "json").out)["queues"]
    of_name = [row for row in rows if row["queue"] == "dm1"]
    assert len(of_name) == 2
    lines = found("--queue", "dm1")
    assert {queue for line in lines for queue in line["queues"]} >= {row["id"] for row in of_name}


def test_what_has_left_its_queue_would_be_sent_once() -> None:
    """By default what was acknowledged, expired or removed: not what waits, was moved, or rolled back."""
    for case in (PURGED, HistoryCase("2.56.0", "expiry-dlq"), HistoryCase("2.56.0", "tx")):
        states = Counter(
            (queue, entry["state"])
            for line in lines_of(case)
            for queue, entry in line["queues_state"].items()
            if entry["state"] in ("acknowledged", "expired", "removed")
        )
        wanted: Counter[str] = Counter()
        for (queue, _), number in states.items():
            wanted[queue] += number
        call_ = (
            "messages",
            "send",
            case.root(),
            *OPTIONS,
            "--to",
            "amqp://127.0.0.1:1",
            "--dry-run",
            "--format",
            "json",
        )
        planned: Counter[str] = Counter()
        for row in json.loads(call(*call_, "--all").out)["queues"]:
            planned[row["queue"].rpartition("::")[2]] += row["messages"]
        assert planned == wanted
        some = json.loads(call(*call_, "--where", "color = 'red'").out)["queues"]
        assert 0 < sum(row["messages"] for row in some) < planned.total()


def test_what_is_brought_back_must_be_chosen() -> None:
    for words in (("send", "--to", "amqp://127.0.0.1:1", "--dry-run"), ("xml",)):
        answer = call("messages", words[0], PURGED.root(), *words[1:], "--in", "history")
        assert (answer.status, answer.out) == (2, "")
        assert "say which messages" in answer.err
        answer = call("messages", words[0], PURGED.root(), *words[1:], "--all")
        assert (answer.status, answer.out) == (2, "")
        assert "need --in history" in answer.err


def test_messages_of_a_history_are_written_as_xml() -> None:
    answer = call("messages", "xml", PURGED.root(), *OPTIONS, "--queue", "dm1", "--in-state", "removed")
    assert answer.status == 0, answer.err
    ids = {int(element.get("id", "")) for element in etree.fromstring(answer.out.encode()).iter("message")}
    assert ids == {line["id"] for line in found("--in-state", "removed", "--queue", "dm1")}
    one = call("messages", "xml", PURGED.root(), *OPTIONS, "--id", str(min(ids)), "--in-state", "removed")
    assert one.out.count("<message ") == 1


def test_a_table_has_the_same_rows(tmp_path: Path) -> None:
    answer = call(
        "messages", "decode", PURGED.root(), *OPTIONS, "--format", "parquet", "--to", tmp_path / "all.parquet"
    )
    assert answer.status == 0, answer.err
    rows = pq.read_table(tmp_path / "all.parquet").to_pylist()
    lines = lines_of(PURGED)
    assert [(row["id"], row["file"], row["offset"], row["acked_by"]) for row in rows] == [
        (line["id"], line["file"], line["offset"], line["acked_by"]) for line in lines
    ]
    for row, line in zip(rows, lines, strict=True):
        assert [None if row[name] is None else row[name].isoformat() for name in ("not_before", "not_after")] == [
            line[name] for name in ("not_before", "not_after")
        ]
        assert [(state["queue"], state["state"], state["why"]) for state in row["queues_state"]] == [
            (queue, entry["state"], entry.get("why")) for queue, entry in line["queues_state"].items()
        ]


def test_a_retention_folder_alone_says_what_is_not_known(tmp_path: Path) -> None:
    """Without the journal nothing is known after the last copy, and without bindings no names."""
    folder = shutil.copytree(PURGED.root() / "history", tmp_path / "retained")
    answer = call("messages", "ls", folder, *OPTIONS, "--format", "json")
    assert answer.status == 0, answer.err
    assert "what happened after the last copy is not known" in answer.err
    assert all(row["queue"] == str(row["id"]) for row in json.loads(answer.out)["queues"])
    whole = json.loads(
        call("messages", "ls", PURGED.root() / "data", "--history", folder, *OPTIONS, "--format", "json").out
    )
    usual = json.loads(call("messages", "ls", PURGED.root(), *OPTIONS, "--format", "json").out)
    assert whole == usual
    send = call("messages", "send", folder, *OPTIONS, "--all", "--to", "amqp://127.0.0.1:1", "--dry-run")
    assert send.status == 2
    assert "there are no bindings" in send.err


def test_the_folder_of_the_configuration_is_read(tmp_path: Path) -> None:
    root = PURGED.copy(tmp_path / "broker")
    text = (root / "broker.xml").read_text()
    element = re.search(r"<journal-retention-directory[^>]*>([^<]*)<", text)
    assert element is not None
    (root / "broker.xml").write_text(text.replace(f">{element[1]}<", f">{tmp_path / 'elsewhere'}<"))
    (root / "history").rename(tmp_path / "elsewhere")
    answer = call("messages", "ls", root, *OPTIONS, "--format", "json")
    assert f"files of {tmp_path / 'elsewhere'}" in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ls", "--as-of", "2026-11-28T10:00"), "need --in history"),
        (("find", "--in-state", "waiting"), "need --in history"),
        (("find", "--in", "history", "--in-state", "gone"), "--in-state gone: no such state"),
        (("ls", "--in", "history", "--as-of", "nothing.amq"), "no file of this name in the history"),
        (("ls", "--in", "history", "--as-of", "2020-01-01"), "no file of the history was copied by then"),
        (("ls", "--in", "history", "--history", "/nowhere"), "--history /nowhere: no such folder"),
        (("top", "--in", "history"), "this command looks at what is there now"),
        (("verify", "--in", "history"), "this command looks at what is there now"),
    ],
)
def test_calls_that_fit_no_history_are_refused(words: tuple[str, ...], said: str) -> None:
    answer = call("messages", words[0], PURGED.root(), *words[1:])
    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err


def test_check_says_unknown_for_a_history() -> None:
    assert call("messages", "check", PURGED.root(), "--in", "history").status == 3


def test_as_of_shows_what_waited_then(tmp_path: Path) -> None:
    """Messages that waited at the end of a file are those that ``messages ls`` counts there."""
    root = PURGED.copy(tmp_path / "broker")  # with a configuration, so that all positions in pages are known
    for file in sorted(path.name for path in (root / "history").iterdir()):
        rows = json.loads(call("messages", "ls", root, *OPTIONS, "--as-of", file, "--format", "json").out)
        answer = call("messages", "decode", root, *OPTIONS, "--as-of", file, "--format", "jsonl")
        waiting = Counter(
            queue
            for line in map(json.loads, answer.out.splitlines())
            for queue, entry in line["queues_state"].items()
            if entry["state"] == "waiting"
        )
        counted: Counter[str] = Counter()
        for row in rows["queues"]:
            counted[row["queue"]] += row["messages"]
        assert +waiting == +counted, file


def test_damage_costs_the_damaged_file_alone(tmp_path: Path) -> None:
    """A torn or foreign file is named, ends with status 1, and all other files are read."""
    whole = {line["id"]: line["file"] for line in lines_of(PURGED)}
    copied = {path.name.rpartition("-")[2]: path.name for path in (PURGED.root() / "history").iterdir()}
    listed = json.loads(call("journal", "ls", PURGED.root() / "data" / "journal", "--format", "json").out)["files"]
    still = {f"{row['id']}.amq" for row in listed}  # of these the journal has the whole file as well
    files = sorted(name for end, name in copied.items() if end not in still)
    for n, harm in enumerate((lambda path: os.truncate(path, 3000), lambda path: path.write_bytes(b"\xff" * 61440))):
        root = PURGED.copy(tmp_path / str(n))
        harm(root / "history" / files[4])
        answer = call("messages", "decode", root, *OPTIONS, "--format", "jsonl")
        assert answer.status == 1
        assert files[4] in answer.err
        left = {json.loads(line)["id"] for line in answer.out.splitlines()}
        assert {number for number, file in whole.items() if file != files[4]} <= left
        assert left < whole.keys()


def test_a_history_is_read_in_an_archive(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "broker.tar.gz", "w:gz") as archive:
        archive.add(PURGED.root(), "broker")
    of_archive = call("messages", "decode", tmp_path / "broker.tar.gz", *OPTIONS, "--format", "jsonl")
    assert of_archive.status == 0, of_archive.err
    assert [json.loads(line)["id"] for line in of_archive.out.splitlines()] == [line["id"] for line in lines_of(PURGED)]


def test_messages_of_the_attic_are_found(tmp_path: Path) -> None:
    """A file that a broker set aside fills the hole that a missing copy leaves."""
    root = PURGED.copy(tmp_path / "broker")
    whole = {line["id"]: line["file"] for line in lines_of(PURGED)}
    name = sorted(path.name for path in (root / "history").iterdir())[1]
    (root / "data" / "journal" / "attic").mkdir()
    (root / "history" / name).rename(root / "data" / "journal" / "attic" / "activemq-data-77.amq")
    answer = call("messages", "decode", root, *OPTIONS, "--format", "jsonl")
    files = {json.loads(line)["id"]: json.loads(line)["file"] for line in answer.out.splitlines()}
    assert files.keys() == whole.keys()
    assert {files[number] for number, file in whole.items() if file == name} == {"attic/activemq-data-77.amq"}


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    """Acknowledgements of messages that are in no file show that one is missing, and nothing else changes."""
    root = PURGED.copy(tmp_path / "broker")
    first = sorted(path for path in (root / "history").iterdir())[0]
    first.unlink()
    answer = call("messages", "decode", root, *OPTIONS, "--format", "jsonl")
    assert "of messages that no file has any more" in answer.err
    states = {line["id"]: line["queues_state"] for line in lines_of(PURGED) if line["file"] != first.name}
    left = {line["id"]: line["queues_state"] for line in map(json.loads, answer.out.splitlines())}
    assert left.keys() == states.keys()
    for number, queues in left.items():
        for queue, entry in queues.items():
            assert entry["state"] in (states[number][queue]["state"], "unknown"), (number, queue)


def test_a_broker_may_rotate_and_reuse_files_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal file that is copied and used again while the history is read: nothing is missing, nothing twice."""
    root = PURGED.copy(tmp_path / "broker")
    whole = lines_of(PURGED)
    files = sorted((root / "data" / "journal").glob("*.amq"))
    live = max(files, key=lambda path: max((line["id"] for line in decoded(path)), default=0))
    number = struct.unpack(">iiq", live.read_bytes()[:16])[2]
    read, turns = history.read_records, []

    def rotated(listing: Any, *more: Any) -> Any:
        if not turns:
            turns.append(1)
            shutil.copy(live, root / "history" / f"activemq-data-20261128135000-{number}.amq")
            live.write_bytes(struct.pack(">iiq", 2, 0, 999) + live.read_bytes()[16:])
        return read(listing, *more)

    monkeypatch.setattr(history, "read_records", rotated)
    answer = call("messages", "decode", root, *OPTIONS, "--format", "jsonl")
    assert turns
    assert answer.status == 0, answer.err
    assert [json.loads(line)["id"] for line in answer.out.splitlines()] == [line["id"] for line in whole]


def decoded(path: Path) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = call("messages", "decode", path, "--format", "jsonl").lines()
    return lines


def test_text_is_looked_for_in_bodies_of_the_history() -> None:
    case = HistoryCase("2.56.0", "large")
    answer = call("messages", "decode", case.root(), *OPTIONS, "--body", "text", "--format", "jsonl")
    large = [line for line in answer.lines() if line["large"] and line.get("body_text")]
    text = large[0]["body_text"][2000:2040]
    wanted = {line["id"] for line in answer.lines() if text in (line.get("body_text") or "")}
    assert {line["id"] for line in found("--contains", text, case=case)} == wanted


def test_a_history_has_no_pages() -> None:
    answer = call("messages", "decode", PURGED.root(), *OPTIONS, "--page", "3")
    assert (answer.status, answer.out) == (2, "")
    assert "no pages" in answer.err
