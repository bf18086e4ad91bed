"""``recover`` judged by real brokers: one starts on the result, and delivers what the plan said.

``make test-compaction-broker``. Directories of each release are broken in each way of ``broken_directories``; a broker
of that release drains them as they are, and what ``recover`` made of them. Held against each other, by queue and
message: what the result delivers, what ``messages decode`` lists of it, and what the plan counted; what is missing from
the sound directory's messages, or comes besides, and what the plan called lost, delivered again and unsure, by number
and by id.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import golden_cases
import pytest
from broken_directories import BREAKS, OTHER_BROKER, NotHere, broken
from broker_drains import Drain, drains, failure
from broker_jars import oracle
from deliveries import message_lines
from golden_cases import GoldenCase
from recoveries import accounted

from pagefmt.change.recovery.message_outcomes import MessageOutcomes
from pagefmt.change.recovery.plan import RecoveryPlan
from pagefmt.change.recovery.recovering import recover
from pagefmt.codec.messages.values import has_expired
from pagefmt.directory.locate import within
from pagefmt.editions import Edition
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.vectors import load_place

pytestmark = [pytest.mark.broker, pytest.mark.timeout(7200)]
SUITED = {
    "2.56.0": ("multicast-acks", "journal-mix"),
    "2.44.0": ("multicast-acks", "journal-mix"),
    "2.28.0": ("large-core", "journal-mix"),
    "hornetq-2.3.25": ("topic-acks", "tx"),
}
OLD = ("topic-acks", "natural")
HEAD = (
    "version         directories  do not start  start after  messages before  after  missing  named   more  named  bad"
)
NOT_SEEN = "main journal file gone"
"""Where other files of the journal have records, and none of them refers to what is gone."""


@dataclass(frozen=True, slots=True)
class BrokenCase:
    """``sound``: what a broker drained from the directory before it was broken."""

    name: str
    sound: Drain
    damaged: Path
    result: Path
    plan: RecoveryPlan
    outcomes: MessageOutcomes


def delivered(told: Drain) -> dict[int, Counter[int]]:
    """Return how often each message id was delivered, by queue id."""
    return {each["id"]: Counter(message["id"] for message in each["delivered"]) for each in told.get("queues", ())}


def due(data: Path) -> dict[int, Counter[int]]:
    """Return by queue id the ids of unexpired messages that are due.

    The source is what ``messages decode --outstanding`` lists.
    """
    now = int(time.time() * 1000)
    found: dict[int, Counter[int]] = {}
    for queue, each in within_bindings(data).items():
        choice = MessageFilter(queues=frozenset((queue,)), outstanding=True)
        lines = message_lines(data, choice, now)
        found[queue] = Counter(
            line["id"]
            for line in lines
            if line["queues_state"][each]["state"] == "due" and not has_expired(line["expiration"], now)
        )
    return found


def within_bindings(data: Path) -> dict[int, str]:
    """Return the names of the queues in the bindings, by id."""
    bindings = load_place(within(data)).bindings
    assert bindings is not None
    return {queue.id: queue.name for queue in bindings.queues.values()}


def wrong(case: BrokenCase, told: Drain) -> str | None:
    """Describe the first deviation of a broker's delivery from the recovery plan, or return None."""
    before, after, plan = delivered(case.sound), delivered(told), case.plan
    listed = due(case.result / "data")
    for queue_id, ids in after.items():
        if ids != listed.get(queue_id, Counter()):
            more, less = ids - listed.get(queue_id, Counter()), listed.get(queue_id, Counter()) - ids
            return f"{case.name}: queue {queue_id}: delivered and not listed {more}, listed and not delivered {less}"
    for queue in plan.queues:
        got = after.get(queue.id, Counter()).total()
        if got != queue.messages:
            return f"{case.name}: {queue.name}: delivered {got}, the plan said {queue.messages}"
    missing, again = differences(before, after)
    if plan.lost.most is not None and len(missing) > plan.lost.most + (plan.unsure.most or 0):
        return f"{case.name}: {len(missing)} missing, the plan said {plan.lost}, unsure {plan.unsure}"
    if plan.again.most is not None and plan.unsure.most is not None and len(again) > plan.again.most + plan.unsure.most:
        return f"{case.name}: {len(again)} again, the plan said {plan.again}, unsure {plan.unsure}"
    in_doubt = any(queue.in_doubt for queue in plan.queues)  # what was lost may have been of a prepared transaction
    if len(missing) < plan.lost.fewest and not in_doubt and not any(sound_acknowledged(case, before)):
        return f"{case.name}: {len(missing)} missing, the plan said {plan.lost}"
    return None


def sound_acknowledged(case: BrokenCase, before: dict[int, Counter[int]]) -> list[int]:
    """Return the queues that get fewer than all messages from the sound directory.

    A message that such a queue lost may have been acknowledged before.
    """
    return [
        queue["id"] for queue in case.sound["queues"] if len(queue["delivered"]) < len(set().union(*before.values()))
    ]


def differences(before: dict[int, Counter[int]], after: dict[int, Counter[int]]) -> tuple[set[int], set[int]]:
    """Return the ids of messages that some queue gets less often after, and those it gets more often."""
    nothing = Counter[int]()
    return (
        {one for queue, ids in before.items() for one in ids - after.get(queue, nothing)},
        {one for queue, ids in after.items() for one in ids - before.get(queue, nothing)},
    )


def broken_cases(version: str, folder: Path) -> list[BrokenCase]:
    """Return the broken golden directories of a release for which ``recover`` has a plan, with the recovered ones."""
    found = []
    names = SUITED.get(version, OLD)
    for n, name in enumerate(names):
        case, other = GoldenCase(version, name), GoldenCase(version, names[1 - n])
        for way in [*BREAKS, OTHER_BROKER][n::2]:
            damaged = case.lay_out(folder / f"{name}, {way}")
            shutil.rmtree(damaged / "data")
            try:
                broken(case.data(), way, damaged / "data", other.data())
            except NotHere:
                continue
            result = case.lay_out(folder / f"{name}, {way}, recovered")
            shutil.rmtree(result / "data")
            edition = Edition.HORNETQ_2_4 if version.startswith("hornetq") else None  # where no file is left to tell
            outcomes = MessageOutcomes()
            plan = recover(within(damaged / "data"), result / "data", edition=edition, outcomes=outcomes)
            if plan.mends:
                found.append(BrokenCase(damaged.name, case.drain(), damaged, result, plan, outcomes))
    return found


@pytest.mark.parametrize("version", golden_cases.VERSIONS)
def test_a_broker_starts_and_delivers_what_the_plan_says(
    version: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    oracle()
    hits = broken_cases(version, tmp_path)
    before, after = (drains(version, folders) for folders in ([h.damaged for h in hits], [h.result for h in hits]))
    stopped = [hit.name for hit in hits if failure(before[hit.damaged])]
    problems = [f"{hit.name}: {failure(after[hit.result])}" for hit in hits if failure(after[hit.result])]
    told = [problem for hit in hits if not failure(after[hit.result]) and (problem := wrong(hit, after[hit.result]))]
    sums = [
        sum(ids.total() for each in every.values() for ids in delivered(each).values()) for every in (before, after)
    ]
    named = [accounted(hit.plan, hit.outcomes, delivered(hit.sound), delivered(after[hit.result])) for hit in hits]
    told += [f"{hit.name}: {each.wrong}" for hit, each in zip(hits, named, strict=True) if each.wrong]
    figures = [sum(getattr(each, name) for each in named) for name in ("missing", "lost", "more", "again")]
    with capfd.disabled():
        print(
            f"\n{HEAD}\n{version:15} {len(hits):11} {len(stopped):13} {len(hits) - len(problems):12} {sums[0]:16} "
            f"{sums[1]:6} {figures[0]:8} {figures[1]:6} {figures[2]:6} {figures[3]:6} {len(told):5}"
        )
    assert problems + told == []
    assert len(hits) >= 15
