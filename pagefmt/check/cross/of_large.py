"""Large-message files beside the records that name them (docs/spec/messages.md 10)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from pagefmt.check.cross.survey import DirectorySurvey
from pagefmt.codec.messages.large import LargeFile, LargeMessages
from pagefmt.codec.messages.persisters import AMQP_LARGE
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.journal.bodies import LargePending
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.numbers import Numbers
from pagefmt.journal.record_types import RecordType

_TOGETHER: Final = 256  # number of journal messages that are read at once


def named_by_journal(journal: MessageJournal, bodies: Collection[int] | None = None) -> dict[int, int]:
    """Return id → row of large messages in the journal, prepared transactions included.

    ``bodies``: ids with a body, used beside a running broker, which may have removed the journal file that shows that a
    message is large: then each message with a body counts as large.
    """
    columns = journal.loaded.columns
    wanted = (RecordType.ADD_LARGE_MESSAGE, RecordType.ADD_MESSAGE_PROTOCOL)
    prepared = (Numbers(branch.rows) for branch in journal.loaded.prepared)
    rows_by_id: dict[int, int] = {}
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
            rows_by_id.update((message, row) for row, kind, message in some if kind == wanted[0] or row in says)
    return rows_by_id


def check_large(survey: DirectorySurvey, large: LargeMessages, edition: Edition) -> Iterator[Finding]:
    """Yield findings about bodies that are missing, not durable or named by no record."""
    journal = survey.state.journal
    pending = {
        body.message
        for _, body in journal.decoded(RecordType.ADD_LARGE_MESSAGE_PENDING)
        if isinstance(body, LargePending)
    }
    before = survey.state.snapshot.bodies if survey.state.snapshot is not None else None
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
    named = {**{message: f"journal message {message}" for message in in_journal}, **survey.large}
    for message, place in named.items():
        body = files.get(message)
        if body is None and message not in (before or ()) and _lasting(survey, in_journal, message):
            yield about_data(
                Severity.ERROR,
                "large-body-missing",
                place,
                f"large message {message} is still to be delivered, but its file {message}.msg is missing",
                "delivers it without a body, or fails to",
            )
        elif body is not None and body.name.endswith(".tmp") and message in survey.live_large:
            yield about_data(
                Severity.WARNING,
                "large-body-not-durable",
                place,
                f"the body of large message {message} is {body.name}, the name for a message that is not durable",
                "deletes the file at start and delivers the message without a body"
                + (", or fails to" if edition < Edition.ARTEMIS_1_5 else ""),
            )
    nameless = {i: f.name for i, f in files.items() if i not in named and (before is None or i in before)}
    if not survey.closed:
        yield from _orphans(survey, nameless, pending, edition)


def _lasting(survey: DirectorySurvey, in_journal: dict[int, int], message: int) -> bool:
    """Return whether the message is still to be delivered, and not too new to judge.

    A running broker may have written and deleted the body of its newest messages since the files were listed.
    """
    if message in in_journal:
        return not (survey.state.live and survey.state.journal.loaded.newest((in_journal[message],)))
    return message in survey.live_large and message not in survey.newest_large


def _orphans(
    survey: DirectorySurvey, orphans: dict[int, str], pending: set[int], edition: Edition
) -> Iterator[Finding]:
    damaged = [f"{store.place} page {page}" for store in survey.stores for page in sorted(store.damaged)]
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
