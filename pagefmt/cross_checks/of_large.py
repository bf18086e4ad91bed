"""Large-message files beside the records that name them (docs/spec/messages.md 10)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from pagefmt.cross_checks.survey import DirectorySurvey
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.journal.bodies import LargePending
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.numbers import Numbers
from pagefmt.journal.record_types import RecordType
from pagefmt.messages.large import LargeFile, LargeMessages
from pagefmt.messages.persisters import AMQP_LARGE

_TOGETHER: Final = 256
"""Messages of the journal that are read in one go."""


def named_by_journal(journal: MessageJournal, bodies: Collection[int] | None = None) -> dict[int, int]:
    """Id → row of large messages that live in the journal; prepared transactions included.

    ``bodies``: of a running broker, which may have taken the journal file away in which a message says of itself that
    it is large: there the one that has a body is.
    """
    columns = journal.loaded.columns
    wanted = (RecordType.ADD_LARGE_MESSAGE, RecordType.ADD_MESSAGE_PROTOCOL)
    prepared = (Numbers(branch.rows) for branch in journal.loaded.prepared)
    found: dict[int, int] = {}
    for every in (journal.loaded.rows_of(*wanted), *prepared):
        for start in range(0, len(every), _TOGETHER):
            rows = every.between(start, min(start + _TOGETHER, len(every)))
            some = [*zip(rows.tolist(), columns.types.at(rows).tolist(), columns.ids.at(rows).tolist(), strict=True)]
            unsure = [row for row, kind, _ in some if kind == RecordType.ADD_MESSAGE_PROTOCOL]
            if bodies is None:
                read = zip(unsure, columns.bodies(unsure), strict=True)
                says = {row for row, body in read if body[:1] == bytes((AMQP_LARGE,))}
            else:
                says = {row for row, kind, message in some if message in bodies}.intersection(unsure)
            found.update((message, row) for row, kind, message in some if kind == wanted[0] or row in says)
    return found


def check_large(found: DirectorySurvey, large: LargeMessages, edition: Edition) -> Iterator[Finding]:
    """Bodies that are missing, not durable or named by no record."""
    journal = found.state.journal
    pending = {
        body.message
        for _, body in journal.decoded(RecordType.ADD_LARGE_MESSAGE_PENDING)
        if isinstance(body, LargePending)
    }
    before = found.state.snapshot.bodies if found.state.snapshot is not None else None
    in_journal = named_by_journal(journal, before)
    files: dict[int, LargeFile] = {}
    for file in large.files():
        if file.stops_start:
            yield about_data(
                Severity.ERROR,
                "large-file-name",
                f"large-messages/{file.name}",
                "its name does not begin with the id of a message",
                "does not start",
            )
        if file.id is not None and file.name.endswith((".msg", ".tmp")):
            files.setdefault(file.id, file)
    named = {**{message: f"journal message {message}" for message in in_journal}, **found.large}
    for message, place in named.items():
        body = files.get(message)
        if body is None and message not in (before or ()) and _lasting(found, in_journal, message):
            yield about_data(
                Severity.ERROR,
                "large-body-missing",
                place,
                f"large message {message} is still to be delivered, but its file {message}.msg is missing",
                "delivers it without a body, or fails to",
            )
        elif body is not None and body.name.endswith(".tmp") and message in found.live_large:
            yield about_data(
                Severity.WARNING,
                "large-body-not-durable",
                place,
                f"the body of large message {message} is {body.name}, the name for a message that is not durable",
                "deletes the file at start and delivers the message without a body"
                + (", or fails to" if edition < Edition.ARTEMIS_1_5 else ""),
            )
    nameless = {i: f.name for i, f in files.items() if i not in named and (before is None or i in before)}
    if not found.closed:
        yield from _orphans(found, nameless, pending, edition)


def _lasting(found: DirectorySurvey, in_journal: dict[int, int], message: int) -> bool:
    """Still to be delivered, and not so new that a running broker may have begun and ended its body meanwhile."""
    if message in in_journal:
        return not (found.state.live and found.state.journal.loaded.newest((in_journal[message],)))
    return message in found.live_large and message not in found.newest_large


def _orphans(found: DirectorySurvey, orphans: dict[int, str], pending: set[int], edition: Edition) -> Iterator[Finding]:
    damaged = [f"{store.place} page {page}" for store in found.stores for page in sorted(store.damaged)]
    for message, name in orphans.items():
        detail = f"no readable record refers to large message {message}"
        if message in pending:
            detail += "; a pending record does"
        severity = Severity.INFO
        if damaged:
            severity = Severity.WARNING
            detail += f"; its record may follow the damage in {damaged[0]}: copy the file before a broker starts"
        yield about_data(
            severity,
            "large-body-orphan",
            f"large-messages/{name}",
            detail,
            _broker_action(name, message in pending, edition),
        )


def _broker_action(name: str, pending: bool, edition: Edition) -> str:
    if name.endswith(".tmp"):
        return "deletes it at start, like every .tmp file"
    if edition >= Edition.ARTEMIS_2_44:
        return "deletes it at start (2.29 and later)"
    if pending:
        return "deletes it at start: it was never confirmed"
    return "leaves it where it is; 2.29 and later delete it at start"
