"""The queues that a broker had: the bindings journal still has records of those that were deleted."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pagefmt.codec.wire import Undecodable
from pagefmt.directory.bindings import BadBinding, QueueBinding, decode_queue
from pagefmt.journal.files import Journal
from pagefmt.journal.listing import list_files
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import RecordKind
from pagefmt.journal.scan import TornRecords
from pagefmt.journal.windows import frames_in_windows
from pagefmt.storage.files import FileStretches

_ADDS = (RecordKind.ADD, RecordKind.UPDATE, RecordKind.ADD_TX, RecordKind.UPDATE_TX)


@dataclass(slots=True)
class PastQueues:
    """Queues by their ids, those that are gone among them.

    ``deleted``: the transaction in which a queue was deleted. Messages that were in it then are acknowledged in
    transactions with higher ids (docs/spec/history.md 6.8).
    """

    queues: dict[int, QueueBinding] = field(default_factory=dict)
    deleted: dict[int, int] = field(default_factory=dict)

    @property
    def addresses(self) -> dict[int, str]:
        """Return the address of each queue."""
        return {number: queue.address for number, queue in self.queues.items()}


def past_queues(folder: Path | None) -> PastQueues:
    """Return the queues of a bindings journal, None: there is no such journal.

    Records that cannot be read are left out. Raises ``NotAJournal``, ``NotReadable``.
    """
    past = PastQueues()
    for file in list_files(folder, Journal.BINDINGS).files if folder is not None else ():
        with FileStretches(file.path) as content:
            for frames in frames_in_windows(content, file.header, TornRecords()):
                for frame in map(frames.frame, range(len(frames.at))):
                    if frame.kind in _ADDS and frame.user_type == RecordType.QUEUE_BINDING_RECORD:
                        with suppress(BadBinding, Undecodable):
                            body = bytes(content[frame.body : frame.body + frame.size])
                            past.queues[frame.id] = decode_queue(frame.id, body)
                    elif frame.kind == RecordKind.DELETE_TX:
                        past.deleted[frame.id] = frame.tx
    past.deleted = {queue: tx for queue, tx in past.deleted.items() if queue in past.queues}
    return past
