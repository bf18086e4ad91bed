"""Counter records against a recount (7.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pagefmt.check.cross.survey import DirectorySurvey
from pagefmt.directory.counters import QueueCounter, counters, recounts_at_start
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.outstanding.ack_state import AckState
from pagefmt.quantities import count_text


def check_counters(survey: DirectorySurvey, edition: Edition) -> Iterator[Finding]:
    """Yield a finding for each page counter that is missing or differs from the pages.

    Only brokers up to 2.27 rely on the records; increments show that such a broker wrote last. Nothing is checked
    beside a running broker, because it counts messages newer than the pages that were read.
    """
    if survey.state.live:
        return
    stored = counters(survey.state.journal)
    incremented = any(counter.increments or counter.pending for counter in stored.values())
    if survey.state.unknown is not None or (recounts_at_start(edition) and not incremented):
        return
    acked = _queues_with_acks(survey)
    for address, store in survey.by_address().items():
        for queue in sorted(store.bindings or {}):
            its = store.queue(queue)
            counted = its.ack_states[AckState.OUTSTANDING] + its.ack_states[AckState.IN_DOUBT_ACK]
            counter = stored.get(queue)
            place = f"{store.place} queue {queue}"
            if counter is None:
                if counted and queue not in acked:
                    yield _missing(place, counted, edition)
                continue
            stored_count = _stored(counter, its.plain)
            if stored_count != counted:
                yield _drift(place, stored_count, counted, bool(store.damaged), address, edition)


def _queues_with_acks(survey: DirectorySurvey) -> set[int]:
    journal = survey.state.journal
    return {queue for queue, _ in journal.ack_index.pages()} | {queue for queue, _ in journal.complete_index.pages()}


def _stored(counter: QueueCounter, plain: Counter[int]) -> int:
    return counter.stored(sum(plain[page] for page in counter.pending))


def _missing(place: str, counted: int, edition: Edition) -> Finding:
    newer = recounts_at_start(edition)
    return about_data(
        Severity.INFO if newer else Severity.ERROR,
        "counter-missing",
        place,
        f"no counter record and no acknowledgement, but {count_text(counted, 'message')} outstanding",
        "counts again at start; one up to 2.27 would treat the queue as empty and delete the pages"
        if newer
        else "treats the queue as empty and its pages as complete: the messages are lost",
    )


def _drift(place: str, stored_count: int, counted: int, damaged: bool, address: str, edition: Edition) -> Finding:
    newer = recounts_at_start(edition)
    cause = "; pages of this store are damaged" if damaged else ""
    return about_data(
        Severity.INFO if newer else Severity.WARNING,
        "counter-drift",
        place,
        f"the counter records say {count_text(stored_count, 'message')} for {address}, the pages hold {counted}{cause}",
        "counts again at start; one up to 2.27 shows the stored count" if newer else "shows the stored count",
    )
