"""Messages of a journal and their references: messages behind the last one with a reference have none."""

from __future__ import annotations

from pathlib import Path
from struct import pack

from pagefmt.journal.held_messages import journal_messages
from pagefmt.journal.load import load_journal
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal

WITH_REFERENCE = 100  # numbers up to this fit into fewer bytes than those of all messages
MESSAGES = 300
QUEUE = 7


def test_later_messages_without_references(tmp_path: Path) -> None:
    kind, reference = int(RecordType.ADD_MESSAGE_PROTOCOL), int(RecordType.ADD_REF)
    records = [JournalRecord(RecordKind.ADD, id=n, user_type=kind, body=bytes(40)) for n in range(1, MESSAGES + 1)]
    records += [
        JournalRecord(RecordKind.UPDATE, id=n, user_type=reference, body=pack(">q", QUEUE))
        for n in range(1, WITH_REFERENCE + 1)
    ]
    write_journal(tmp_path, "activemq-data-{}.amq", records)
    begins = journal_messages(load_journal(tmp_path)).begins.tolist()
    assert begins == [min(n, WITH_REFERENCE) for n in range(MESSAGES + 1)]
