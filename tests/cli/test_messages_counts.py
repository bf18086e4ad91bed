"""``messages ls`` and ``messages verify``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import golden_cases
import pytest
from golden_cases import GoldenCase
from pagectl.decoding.counts import counted
from program import call

from pagefmt.journal.files import Journal, NotAJournal
from pagefmt.journal.load import load_journal
from pagefmt.journal.record_types import RecordType
from pagefmt.storage.files import FileGone
from pagefmt.table.named_columns import RowsContext
from pagefmt.table.state_tables import table_rows
from pagefmt.table.table_content import TableContent

MIX = GoldenCase("2.56.0", "journal-mix")
PAUSED = GoldenCase("apart", "paused-2.44.0")


def findings(data: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(call("messages", "verify", data, "--format", "json").out)["findings"]
    return found


def rules(data: Path) -> set[str]:
    return {each["check"] for each in findings(data)}


def sent(line: dict[str, Any]) -> int | None:
    """Return when a message was sent: its timestamp, or AMQP's creation time if that is 0.

    Editions that do not decode AMQP messages before they page them leave 0.
    """
    properties = (line.get("amqp") or {}).get("properties") or {}
    time: int | None = line["timestamp"] or (properties.get("creation_time") or {}).get("value")
    return time


@pytest.mark.parametrize("case", golden_cases.cases_of_each_kind(), ids=str)
def test_counts_are_those_of_decode_and_of_the_broker(case: GoldenCase) -> None:
    rows = json.loads(call("messages", "ls", case.data(), "--format", "json").out)["queues"]
    lines = call("messages", "decode", case.data(), "--format", "jsonl").lines()
    drained = {queue["id"]: queue for queue in case.drain()["queues"]}
    for row in rows:
        if row["unknown"] is not None:
            assert row["journal"] is row["pages"] is row["bytes"] is None
            continue
        mine = [line for line in lines if row["id"] in line["queues"]]
        states = [(line, line["queues_state"][row["queue"]]["state"]) for line in mine]
        waiting = [line for line, state in states if state in ("due", "scheduled")]
        assert row["journal"] == sum(line["page"] is None for line in waiting)
        assert row["pages"] == sum(line["page"] is not None for line in waiting)
        assert row["scheduled"] == sum(state == "scheduled" for _, state in states)
        assert row["in_doubt"] == sum(state == "in-doubt" for _, state in states)
        assert row["bytes"] == sum(line["length"] for line in waiting)
        assert row["oldest"] == min(filter(None, map(sent, waiting)), default=None)
        if row["id"] in drained and not row["in_doubt"]:
            assert row["journal"] + row["pages"] >= len(drained[row["id"]]["delivered"])


def test_a_paused_queue_is_named() -> None:
    # The broker delivered nothing from it.
    rows = call("messages", "ls", PAUSED.data(), "--format", "jsonl").lines()
    (paused,) = (row for row in rows if row["paused"])
    drained = {queue["name"]: queue for queue in PAUSED.drain()["queues"]}
    assert paused["journal"] + paused["pages"] == drained[paused["queue"]]["left"] > 0
    assert drained[paused["queue"]]["delivered"] == []
    assert f"{paused['queue']} is paused" in call("messages", "ls", PAUSED.data()).out
    assert "is paused" not in call("messages", "ls", MIX.data()).out


def test_a_damaged_page_counts_as_far_as_a_broker_reads_it(tmp_path: Path) -> None:
    data = MIX.copy(tmp_path)
    (page, *_) = sorted(data.glob("paging/*/*.page"))
    raw = page.read_bytes()
    page.write_bytes(raw[: len(raw) // 2])
    answer = call("messages", "ls", data)
    assert answer.status == 1 and "offset" in answer.err
    assert "3 queues, 141 messages to be delivered" in answer.out, answer
    assert "damaged-page" in rules(data)


def test_sound_directories_have_no_finding_of_messages() -> None:
    for case in golden_cases.cases("2.56.0", "2.10.1"):
        mine = {"reference-without-message", "message-without-reference", "unreadable-message"}
        assert not mine & rules(case.data()), case


def overwrite(data: Path, kind: RecordType, value: bytes, which: int = 0) -> None:
    """Replace the user record type of the ``which``-th record of a kind in the journal file."""
    loaded = load_journal(data / "journal", Journal.MESSAGES)
    row = loaded.rows_of(kind)[which]
    record = loaded.record(row)
    path = loaded.columns.file_of(row).path
    raw = bytearray(path.read_bytes())
    mark = record.id.to_bytes(8, "big") + record.size.to_bytes(4, "big") + bytes((kind,))
    raw[raw.index(mark) + 12] = value[0]
    path.write_bytes(raw)


def test_references_and_messages_are_held_against_one_another(tmp_path: Path) -> None:
    data = MIX.copy(tmp_path / "one")
    overwrite(data, RecordType.ADD_MESSAGE_PROTOCOL, bytes((RecordType.HEURISTIC_COMPLETION,)))
    assert "reference-without-message" in rules(data)
    data = MIX.copy(tmp_path / "two")
    for _ in range(2):
        overwrite(data, RecordType.ADD_REF, bytes((RecordType.DUPLICATE_ID,)))
    assert "message-without-reference" in rules(data)
    assert call("messages", "verify", data).status == 1


def test_a_message_that_cannot_be_read(tmp_path: Path) -> None:
    data = MIX.copy(tmp_path)
    (line, *_) = call("messages", "decode", data, "--limit", "1", "--format", "jsonl").lines()
    path = data / "journal" / line["file"]
    raw = bytearray(path.read_bytes())
    raw[line["offset"]] = 99
    path.write_bytes(raw)
    (found,) = [each for each in findings(data) if each["check"] == "unreadable-message"]
    assert found["place"] == f"journal/{line['file']}"
    assert f"offset {line['offset']}" in found["detail"]


@pytest.mark.parametrize("command", ["messages", "journal"])
@pytest.mark.parametrize(
    ("edition", "broker"),
    [
        ("auto", "starts, logs AMQ222304 and loses the message"),
        ("artemis-2.28", "starts, logs AMQ222304 and loses the message"),
        ("artemis-2.17", "does not start (AMQ224000)"),
    ],
)
@pytest.mark.parametrize("damage", ["number of properties", "type of a property"])
def test_a_core_message_with_undecodable_properties_is_lost_at_the_start(
    damage: str, edition: str, broker: str, command: str, tmp_path: Path
) -> None:
    data = GoldenCase("2.56.0", "core-types").copy(tmp_path)
    path = data / "journal" / "activemq-data-1.amq"
    raw = bytearray(path.read_bytes())
    count = raw.index((14).to_bytes(4, "big") + (14).to_bytes(4, "big") + "p.float".encode("utf-16-le"))
    if damage == "number of properties":
        raw[count : count + 4] = (0x7FFFFFFF).to_bytes(4, "big")
    else:
        raw[count + 8 + 14] = 99
    path.write_bytes(raw)
    answer = call(command, "verify", data, "--edition", edition, "--format", "json")
    assert answer.status == 1
    (found,) = [one for one in json.loads(answer.out)["findings"] if one["check"] == "unreadable-message"]
    assert found["broker"].startswith(broker) and "pagectl recover" in found["broker"]


def test_an_amqp_message_with_an_undecodable_section_stays(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "amqp-jms").copy(tmp_path)
    path = data / "journal" / "activemq-data-1.amq"
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"\x00\x53\x74") + 3] = 0x3F
    path.write_bytes(raw)
    (found,) = [each for each in findings(data) if each["check"] == "unreadable-message"]
    assert found["broker"].startswith("starts; ")


def test_a_missing_body_is_found(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "large-core").copy(tmp_path)
    for body in (data / "large-messages").glob("*.msg"):
        body.unlink()
    assert "large-body-missing" in rules(data)


@pytest.mark.parametrize(("running", "status"), [(7, 0), (None, 2)])
def test_a_journal_file_that_is_taken_away_is_no_error_beside_a_broker(
    running: int | None, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = GoldenCase("2.56.0", "restarted").data()
    tries = iter([FileGone("activemq-data-1.amq: gone"), NotAJournal("activemq-data-2.amq: begun anew")])

    def moving(*words: Any, **how: Any) -> Any:
        for found in tries:
            raise found
        return counted(*words, **how)

    monkeypatch.setattr("pagectl.commands.messages_ls.counted", moving)
    monkeypatch.setattr("pagefmt.directory.locks.running_broker", lambda *_: running)
    assert call("messages", "ls", data).status == status


def test_names_of_files_are_any_bytes(tmp_path: Path) -> None:
    # The reason of an unknown count contains a file name, but text in Arrow must be UTF-8.
    data = MIX.copy(tmp_path)
    (data / "bindings" / os.fsdecode(b"\xff\n\x1b[31m.bindings")).write_bytes(bytes(20))
    answer = call("messages", "ls", data, "--format", "json")
    assert answer.status == 1 and "bindings are damaged" in json.loads(answer.out)["queues"][0]["unknown"], answer
    answer = call("messages", "decode", data, "--to", tmp_path / "x.parquet")
    assert answer.status == 1 and (tmp_path / "x.parquet").exists(), answer
    row = {"store": "\udcff", "held_by": [{"id": 1, "name": "\ud800"}]}
    found = table_rows(TableContent.PAGES, [row], RowsContext({}, {}, 0, "\udcff"))
    assert [found.column(name)[0].as_py() for name in ("broker", "store")] == ["\\udcff"] * 2


def test_a_queue_that_was_deleted_is_no_row(tmp_path: Path) -> None:
    # Pages still name the queue, but nothing waits for it.
    rows = json.loads(
        call("messages", "ls", GoldenCase("2.56.0", "deleted-queue").copy(tmp_path), "--format", "json").out
    )
    assert "stay.gone" in (names := [row["queue"] for row in rows["queues"]])
    assert not [name for name in names if name.isdigit()]
