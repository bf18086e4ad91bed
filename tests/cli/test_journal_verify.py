"""``journal verify``: every byte, nothing invented, and what brokers did with harmed journals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import golden_cases
import pytest
from editions_of import EDITION_OF
from golden_cases import GoldenCase
from journal_damage import WAYS, damaged, recorded
from program import Answer, call

from pagefmt.journal.files import JournalHeader, encode_header
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind, encode

VERSIONS = ("2.56.0", pytest.param("2.44.0", marks=pytest.mark.slow))
# nothing refers to what is gone, and a file that is used again may hold such bytes
WITHOUT_A_TRACE = {"file deleted", "headers swapped", "another file id"}


def verified(data: Path, *words: str) -> tuple[dict[str, Any], Answer]:
    answer = call("journal", "verify", data, "--format", "json", *words)
    found: dict[str, Any] = json.loads(answer.out)
    for file in found["files"]:
        if file["records"] is not None:
            assert file["size"] == 16 + file["record_bytes"] + file["unused_bytes"] + file["lost_bytes"], file
    return found, answer


@pytest.mark.parametrize("case", golden_cases.cases(), ids=str)
def test_what_brokers_left_is_sound(case: golden_cases.GoldenCase) -> None:
    found, answer = verified(case.data())
    assert {file["broker"] for file in found["files"]} == {"reads"}
    assert not any(file["faults"] for file in found["files"])
    grave = {each["check"] for each in found["findings"] if each["severity"] != "notice"}
    assert grave == ({"prepared-transaction"} if case.manifest()["journal"]["prepared"] else set())
    assert answer.status == bool(grave)


def starts(found: dict[str, Any]) -> bool:
    words = [each["broker"] for each in (*found["files"], *found["findings"])]
    return not any(word == "does-not-start" or word.startswith("does not start") for word in words)


def due(data: Path) -> dict[str, list[int]] | None:
    """Return ids of due and scheduled messages by queue, or None if some queue's count is unknown."""
    queues = json.loads(call("messages", "ls", data, "--format", "json").out)["queues"]
    if any(queue["unknown"] for queue in queues):
        return None
    found: dict[str, list[int]] = {}
    for line in call("messages", "decode", data, "--outstanding", "--format", "jsonl").lines():
        for queue, how in line["queues_state"].items():
            if how["state"] in ("due", "scheduled"):
                found.setdefault(queue, []).append(line["id"])
    return {queue: sorted(ids) for queue, ids in found.items()}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_said_is_what_a_broker_did(version: str, way: str, tmp_path: Path) -> None:
    """Assert that pagectl predicts whether the recorded broker started and what it delivered, or reports the damage."""
    verdict, folder = recorded(version).get(way), damaged(version, way, tmp_path / "harmed")
    if verdict is None or folder is None:
        pytest.skip("there is nothing to harm in that way")
    found, answer = verified(folder / "data", "--edition", EDITION_OF[version].value)
    assert starts(found) == verdict.started, found
    sound = {
        queue["name"]: sorted(each["id"] for each in queue["delivered"])
        for queue in GoldenCase(version, "journal-mix").drain()["queues"]
    }
    if way not in WITHOUT_A_TRACE and (verdict.queues != sound or not verdict.started):
        assert answer.status == 1, answer
    ours = due(folder / "data") if verdict.started else None
    if ours is not None:
        assert ours == {queue: ids for queue, ids in verdict.queues.items() if ids}


def test_text_names_files_offsets_and_what_a_broker_does(tmp_path: Path) -> None:
    folder = damaged("2.56.0", "sector of zeros", tmp_path / "harmed")
    assert folder is not None
    answer = call("journal", "verify", folder / "data")
    assert answer.status == 1
    assert "BAD messages" in answer.out and "ok  bindings" in answer.out
    assert "bytes hold no record" in answer.out and "broker: reads" in answer.out
    assert "internal error" not in answer.err


@pytest.mark.parametrize("stated", [0, 1, 2])
def test_a_commit_that_counts_other_records_than_its_file_has_commits_nothing(tmp_path: Path, stated: int) -> None:
    """The transaction extends over two files; the number in a COMMIT is that of its own file, which has one record."""
    reference = (7).to_bytes(8, "big")
    records = [JournalRecord(RecordKind.ADD_TX, message, 3, RecordType.ADD_REF, reference) for message in (11, 12)]
    contents = [
        encode_header(JournalHeader(2, 0, file_id)) + encode(record, file_id)
        for file_id, record in enumerate(records, 1)
    ]
    contents[1] += encode(JournalRecord(RecordKind.COMMIT, tx=3, records=stated), 2)
    for file_id, content in enumerate(contents, 1):
        (tmp_path / f"activemq-data-{file_id}.amq").write_bytes(content.ljust(1024, b"\0"))
    found, answer = verified(tmp_path)
    (dropped,) = [each for each in found["findings"] if each["check"] == "dropped-transaction"] or [None]
    assert answer.status == 1  # the references are to no message
    assert (dropped is None) == (stated == 1)
    if dropped is not None:
        assert f"counts {stated} record" in dropped["detail"] and dropped["place"] == "journal transaction 3"
