"""Large-message files beside the messages that they belong to: whose they are, and what is wrong (messages.md 10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pagefmt.check.cross.large_references import LargeReference, references_of_journal
from pagefmt.check.cross.survey import DirectorySurvey
from pagefmt.codec.messages.large import LargeFile, LargeMessages
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.journal.bodies import LargePending
from pagefmt.journal.record_types import RecordType
from pagefmt.outstanding.state import PagingState


class LargeCondition(StrEnum):
    """How a file and the messages that name it go together."""

    OK = "ok"
    DONE = "done"
    PENDING = "pending"
    NOT_DURABLE = "not durable"
    OTHER_SIZE = "other size"
    MISSING = "missing"
    UNREFERENCED = "unreferenced"
    FOREIGN = "foreign name"
    UNKNOWN = "unknown"


_WRONG: Final = frozenset((LargeCondition.NOT_DURABLE, LargeCondition.OTHER_SIZE, LargeCondition.MISSING))


@dataclass(frozen=True, slots=True)
class LargeRow:
    """A file, a message without its file, or both. ``state``: who has the names of the queues."""

    file: LargeFile | None
    reference: LargeReference | None
    conditions: tuple[LargeCondition, ...]
    state: PagingState

    @property
    def sound(self) -> bool:
        """Whoever waits for the message gets it whole, and a broker starts. What is left over does no harm."""
        return _WRONG.isdisjoint(self.conditions) and not (self.file is not None and self.file.stops_start)

    @property
    def short(self) -> bool:
        """Return whether the file has fewer bytes than its message says."""
        if LargeCondition.OTHER_SIZE not in self.conditions or self.file is None or self.reference is None:
            return False
        return self.file.size < (self.reference.declared or 0)


def large_rows(
    state: PagingState, large: LargeMessages, references: Iterable[LargeReference], unread: Sized, *, closed: bool
) -> list[LargeRow]:
    """Return rows of large-message files and of missing ones, each with its condition. Raise ``NotReadable``.

    Args:
        state: of the directory.
        large: the large-messages directory.
        references: records that name a large message.
        unread: not empty, after ``references`` are exhausted, if a page was not read to its end; a message there may
            need any file.
        closed: this user may not read all pages, which has the same consequence.
    """
    named: dict[int, LargeReference] = {}
    for named_body in references:
        first = named.setdefault(named_body.id, named_body)
        if first is not named_body:
            first.queues |= named_body.queues
    pending = {
        body.message
        for _, body in state.journal.decoded(RecordType.ADD_LARGE_MESSAGE_PENDING)
        if isinstance(body, LargePending)
    }
    sure = state.unknown is None and not state.live
    whole = sure and not unread and not closed and not state.known.damaged
    files = large.files()
    rows = []
    for file in files:
        reference = None if file.id is None else named.get(file.id)
        rows.append(_row(file, reference, pending, state, sure=sure if reference is not None else whole))
    there = {file.id for file in files}
    for message, reference in sorted(named.items()):
        if message not in there:
            lost = LargeCondition.MISSING if reference.live else LargeCondition.DONE
            lost = lost if sure else LargeCondition.UNKNOWN
            rows.append(LargeRow(None, reference, (lost,), state))
    return rows


def surveyed_rows(seen: DirectorySurvey, large: LargeMessages) -> list[LargeRow]:
    """Return the rows of what a survey that asked for bodies has seen, and of the journal. Raise ``NotReadable``."""
    unread = [page for store in seen.stores for page in store.damaged]
    references = [*seen.references, *references_of_journal(seen.state)]
    return large_rows(seen.state, large, references, unread, closed=seen.closed)


def _row(
    file: LargeFile, reference: LargeReference | None, pending: set[int], state: PagingState, *, sure: bool
) -> LargeRow:
    conditions: list[LargeCondition] = []
    if file.id is None:
        conditions.append(LargeCondition.FOREIGN)
    elif reference is None:
        waits = LargeCondition.PENDING if file.id in pending else LargeCondition.UNREFERENCED
        conditions.append(waits if sure else LargeCondition.UNKNOWN)
    elif not reference.live and sure:
        conditions.append(LargeCondition.DONE)
    elif sure:
        if file.name.endswith(".tmp"):
            conditions.append(LargeCondition.NOT_DURABLE)
        if reference.declared is not None and reference.declared != file.size:
            conditions.append(LargeCondition.OTHER_SIZE)
    return LargeRow(file, reference, tuple(conditions) or (LargeCondition.OK,), state)


def check_sizes(rows: list[LargeRow]) -> Iterator[Finding]:
    """Yield findings about bodies whose size differs from what their messages say."""
    for row in rows:
        if LargeCondition.OTHER_SIZE in row.conditions and row.file is not None and row.reference is not None:
            shorter = row.short
            yield about_data(
                Severity.ERROR if shorter else Severity.WARNING,
                "large-body-size",
                f"large-messages/{row.file.name}",
                f"{row.file.size} bytes, the message says {row.reference.declared}",
                "delivers what is there" if shorter else "delivers the extra bytes as well",
            )
