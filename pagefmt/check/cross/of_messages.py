"""Messages of the journal and the references of queues to them (docs/spec/journal.md 5.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from pagefmt.findings import Finding, Severity, about_data
from pagefmt.journal.held_messages import NO_TRANSACTION, JournalMessages, astray, journal_messages
from pagefmt.journal.record_types import type_name
from pagefmt.outstanding.state import PagingState
from pagefmt.quantities import count_text


def check_messages(state: PagingState) -> Iterator[Finding]:
    """Yield findings about references without a message, messages without a reference, and unknown queues."""
    messages = journal_messages(state.journal.loaded)
    newest = state.live and len(messages) > 0
    yield from _lost(messages, live=state.live)
    yield from _unreferenced(messages, live=newest or state.journal.loaded.is_continued)
    yield from _astray(state, messages)
    if state.bindings is not None and state.known.unknown_bindings is None:
        yield from _unknown_queues(messages, frozenset(state.bindings.queues), live=state.live)


def _severity(severity: Severity, *, live: bool) -> Severity:
    """Return the severity; beside a running broker a remark, because it may be between two records."""
    return Severity.INFO if live else severity


def _lost(messages: JournalMessages, *, live: bool) -> Iterator[Finding]:
    queues = Counter(queue for _, queue in messages.lost)
    firsts = {queue: message for message, queue in reversed(messages.lost)}
    for queue, count in sorted(queues.items()):
        first = firsts[queue]
        yield about_data(
            _severity(Severity.ERROR, live=live),
            "reference-without-message",
            f"journal queue {queue}",
            f"{count_text(count, 'reference')} to messages that are not in the journal, the first to message {first}",
            "skips them and logs each; the messages are lost",
        )


def _astray(state: PagingState, messages: JournalMessages) -> Iterator[Finding]:
    for kind, ids, queues in astray(state.journal.loaded, messages):
        yield about_data(
            _severity(Severity.WARNING, live=state.live),
            "record-without-reference",
            f"journal {type_name(kind)}",
            f"{count_text(len(ids), 'record')} about references that are not in the journal, the first about message "
            f"{ids[0]} in queue {queues[0]}",
            "skips them and logs each",
        )


def _unreferenced(messages: JournalMessages, *, live: bool) -> Iterator[Finding]:
    bare = np.flatnonzero((np.diff(messages.begins) == 0) & (messages.tx == NO_TRANSACTION))
    if len(bare):
        first = int(messages.ids[bare[0]])
        yield about_data(
            _severity(Severity.WARNING, live=live),
            "message-without-reference",
            "journal",
            f"{count_text(len(bare), 'message')} that no queue refers to, the first is message {first}",
            "deletes them at start",
        )


def _unknown_queues(messages: JournalMessages, queue_ids: frozenset[int], *, live: bool) -> Iterator[Finding]:
    waiting = messages.references.queue[~messages.references.acked]
    queues, counts = np.unique(waiting, return_counts=True)
    for queue, count in zip(queues.tolist(), counts.tolist(), strict=True):
        if queue not in queue_ids:
            yield about_data(
                _severity(Severity.WARNING, live=live),
                "reference-to-unknown-queue",
                f"journal queue {queue}",
                f"{count_text(count, 'message')} in the journal are waiting for a queue that has no binding",
                "does not deliver them; it keeps them, or deletes them at start where no other queue has them",
            )
