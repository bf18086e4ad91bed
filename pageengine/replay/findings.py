"""Findings of a replay: one sentence about an address, a queue or the broker each, most serious first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pageengine.replay.ranking import natural
from pageengine.replay.recording import CONNECTION_DROPPED, Recording
from pageengine.replay.records import AddressRecord, Span
from pagefmt.findings import Finding, Position, Severity, some
from pagefmt.quantities import count_text, duration_text, size_text

# Share of the replay; a shorter hold is no finding.
WORTH_TELLING = 0.01


# Rules of the findings, most serious first.
RULES = {
    "lost": Severity.ERROR,
    "refused": Severity.ERROR,
    "blocked": Severity.WARNING,
    "held": Severity.WARNING,
    "unacknowledged": Severity.WARNING,
    "limit": Severity.WARNING,
    "paged": Severity.INFO,
}
_ORDER = list(RULES)


# In ns; a shorter wait, as by the default timer of pages, is no finding.
LONG_ANSWER = 3_333_333
# From this number on, similar findings become one.
FOLDED_FROM = 4
# Places that a folded finding names after the worst.
NAMED = 3


class _WeighedFinding(NamedTuple):
    """Finding with a sentence for many similar ones (``{}``: how many), and its weight among them."""

    finding: Finding
    alike: str
    weight: int


class FoldedFinding(NamedTuple):
    """Sentence for people, and all findings that it represents, the worst first."""

    rule: str
    message: str
    members: list[Finding]


def findings(recording: Recording) -> list[Finding]:
    """Return all findings of a finished recording: the most serious first, among equals the worst."""
    return [weighed.finding for weighed in _weighed(recording)]


def folded(recording: Recording) -> list[FoldedFinding]:
    """Return the findings for a person: one for similar findings in many places, which names the worst."""
    by_kind: dict[tuple[str, str], list[Finding]] = {}
    for weighed in _weighed(recording):
        kind = (weighed.finding.rule, weighed.alike or weighed.finding.message)
        by_kind.setdefault(kind, []).append(weighed.finding)
    result = []
    for (rule, alike), members in by_kind.items():
        if len(members) >= FOLDED_FROM:
            places = list(dict.fromkeys(weighed.place.file for weighed in members))[1:]
            then = f"; then {some(places, NAMED)}" if places else ""
            text = f"{alike.format(len(members))}; the worst: {members[0].message}{then}"
            result.append(FoldedFinding(rule, text, members))
        else:
            result += [FoldedFinding(rule, weighed.message, [weighed]) for weighed in members]
    return result


def _weighed(recording: Recording) -> list[_WeighedFinding]:
    weighed = [
        *_broker(recording),
        *_page_holds(recording),
        *_starved(recording),
        *_failed_acks(recording),
        *_crashed(recording),
    ]
    for record in recording.addresses.values():
        weighed += _address(record, recording)
    return sorted(weighed, key=_order)


def _order(weighed: _WeighedFinding) -> tuple[object, ...]:
    place = weighed.finding.place.file
    return (_ORDER.index(weighed.finding.rule), weighed.alike, -weighed.weight, natural(place), weighed.finding.message)


def _finding(rule: str, place: str, message: str, alike: str = "", weight: int = 0) -> _WeighedFinding:
    return _WeighedFinding(Finding(Position(place), RULES[rule], rule, message), alike, weight)


def _address(record: AddressRecord, recording: Recording) -> Iterator[_WeighedFinding]:
    name, end = record.name, recording.end
    if dropped := record.sends["dropped"]:
        reasons = _reasons(record, ("address_full", "page_full", "disk_full"))
        message = f"address {name} dropped {count_text(dropped, 'message')}{reasons}"
        yield _finding("lost", name, message, "messages dropped on {} addresses", dropped)
    if failed := record.sends["failed"]:
        errors = tuple(key for key in sorted(record.why) if key.isupper() and key not in _ROUTING)
        errors += (CONNECTION_DROPPED,)
        message = f"address {name} refused {count_text(failed, 'message')}{_reasons(record, errors)}"
        yield _finding("refused", name, message, "messages refused on {} addresses", failed)
    if blocked := record.sends["blocked"]:
        left = blocked - record.released - record.abandoned
        tail = f"; {count_text(left, 'send')} still waited at the end" if left else ""
        tail += f"; {count_text(record.abandoned, 'send')} lost with the broker" if record.abandoned else ""
        waited = duration_text(record.blocked_ns)
        message = f"producers to {name} were blocked {_times(blocked)}, {waited} taken together{tail}"
        yield _finding("blocked", name, message, "producers blocked on {} addresses", record.blocked_ns or blocked)
    if record.page_full.times:
        message = f"address {name} was at its page limit {_held_for(record.page_full, recording)}"
        yield _finding("limit", name, message, "{} addresses at their page limit", record.page_full.until(end))
    if record.paging.times:
        message = (
            f"address {name} was in page mode {_held_for(record.paging, recording)}; at most "
            f"{count_text(record.pages.value, 'page')} with {size_text(record.disk.value)} on disk"
        )
        yield _finding("paged", name, message, "page mode on {} addresses", record.paging.until(end))
    if recording.timed and record.longest_answer > LONG_ANSWER:
        mean = duration_text(record.answers_ns // record.answers)
        message = (
            f"{count_text(record.answers, 'send')} to pages of {name} waited {mean} for the answer on average, at most "
            f"{duration_text(record.longest_answer)} (page-sync-timeout)"
        )
        yield _finding("paged", name, message, "answers waited for pages on {} addresses", record.answers_ns)
    if record.full.times and not record.paging.times:
        message = f"address {name} was full {_held_for(record.full, recording)}"
        if extra := record.taken_while_full:
            message += (
                f"; {count_text(extra, 'message')} went to memory all the same, {size_text(record.memory.value)} at "
                "most (BLOCK holds back no STOMP and MQTT, other clients only once their credits are used up)"
            )
        yield _finding("limit", name, message, "{} addresses full", record.full.until(end))


def _crashed(recording: Recording) -> Iterator[_WeighedFinding]:
    for crash in recording.crashes:
        for address, count in crash.messages.items():
            lost, again = count["lost"] + count["perhaps_lost"], count["again"] + count["perhaps_again"]
            losses = [_of_crash(count["lost"], count["perhaps_lost"], "lost")] if lost else []
            losses += [_of_crash(count["again"], count["perhaps_again"], "delivered again")] if again else []
            message = f"by the crash at operation {crash.i}, of address {address}: {'; '.join(losses)}"
            yield _finding("lost" if lost else "paged", address, message, "a crash struck {} addresses", lost or again)
        if crash.answered:
            message = f"by the crash at operation {crash.i}: {count_text(crash.answered, 'durable send')} perhaps lost"
            yield _finding(
                "lost", "broker", f"{message} though answered (journal-sync-transactional, -non-transactional)"
            )
        if crash.incomplete:
            yield _finding(
                "lost",
                "broker",
                f"the crash at operation {crash.i} may have lost more: too much was in progress to tell",
            )


def _of_crash(surely: int, perhaps: int, what: str) -> str:
    more = f"{perhaps} perhaps" if perhaps else ""
    return f"{', '.join(filter(None, [count_text(surely, 'message') if surely else '', more]))} {what}"


_ROUTING = ("NO_BINDINGS", "NO_BINDINGS_DLA", "DUPLICATED_ID")


def _broker(recording: Recording) -> Iterator[_WeighedFinding]:
    broker, end = recording.broker, recording.end
    if recording.no_space is not None:
        yield _finding(
            "refused",
            "broker",
            f"the disk has 0 bytes left from operation {recording.no_space} on: a broker stops itself at its next "
            "write (critical I/O error); what follows is what it would decide if it continued",
        )
    if recording.disk_full.times:
        yield _finding("blocked", "broker", f"the disk was full {_held_for(recording.disk_full, recording)}")
    only_global = broker.full.until(end) - recording.disk_full.until(end)
    if broker.full.times and (only_global > 0 or not recording.disk_full.times):
        yield _finding("limit", "broker", f"the global limit was reached {_held_for(broker.full, recording)}")
    for name in ("unsupported", "malformed"):
        if count := recording.results[name]:
            yield _finding("limit", "trace", f"{count_text(count, 'line')} of the trace could not be applied ({name})")


def _page_holds(recording: Recording) -> Iterator[_WeighedFinding]:
    span = recording.end - (recording.start or 0)
    for hold in recording.holds:
        if hold.end - hold.start <= span * WORTH_TELLING and span:
            continue
        held = f" for {duration_text(hold.end - hold.start)}" if recording.timed else ""
        message = f"queue {hold.queue} held {hold.pages} of {count_text(hold.total, 'page')}{held}"
        yield _finding("held", hold.queue, message, "pages held by single queues, {} times", hold.end - hold.start)


def _starved(recording: Recording) -> Iterator[_WeighedFinding]:
    for (consumer, queue), count in recording.starved.items():
        yield _finding(
            "held",
            queue,
            f"consumer {consumer} received nothing {_times(count)} although queue {queue} had messages waiting "
            "(its selector, or the read limit)",
            "{} consumers received nothing although messages waited",
            count,
        )


def _failed_acks(recording: Recording) -> Iterator[_WeighedFinding]:
    for queue, count in recording.failed_acks.items():
        message = (
            f"{count_text(count, 'acknowledgement')} on {queue} failed: the consumer is closed or lacks the message"
        )
        yield _finding("unacknowledged", queue, message, "acknowledgements failed on {} queues", count)


def _reasons(record: AddressRecord, keys: tuple[str, ...]) -> str:
    reasons = [f"{record.why[key]} {key.replace('_', ' ').lower()}" for key in keys if record.why[key]]
    return f" ({', '.join(reasons)})" if reasons else ""


def _held_for(span: Span, recording: Recording) -> str:
    """Return, in words, how often and how long; only how often if the trace has no times."""
    lasting = f", {duration_text(span.until(recording.end))} in all" if recording.timed else ""
    return f"{_times(span.times)}{lasting}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
