"""What a recovered directory is given, held by id against what the plan names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pagefmt.change.recovery.message_outcomes import MessageOutcomes, RecoveryOutcome
from pagefmt.change.recovery.plan import RecoveryPlan


@dataclass(frozen=True, slots=True)
class Accounted:
    """Counts of (message, queue) pairs that a recovery lost or restored too often.

    ``missing`` pairs are absent from the result, and ``lost`` of them were named by the plan. ``more`` pairs are
    present beyond the sound directory, and ``again`` of them were named. ``wrong`` describes a contradiction between
    plan and result, or is None.
    """

    missing: int
    lost: int
    more: int
    again: int
    wrong: str | None


def accounted(
    plan: RecoveryPlan, outcomes: MessageOutcomes, before: Mapping[int, Counter[int]], after: Mapping[int, Counter[int]]
) -> Accounted:
    """Compare missing and repeated deliveries with those that the recovery names.

    ``before`` and ``after``: how often each message is delivered, by queue.
    """
    named: dict[RecoveryOutcome, set[tuple[int, int | None]]] = {outcome: set() for outcome in RecoveryOutcome}
    for each in outcomes:
        named[each.outcome].add((each.message, each.queue))
    missing, more = _beyond(before, after), _beyond(after, before)
    lost, again, unsure = (named[outcome] for outcome in RecoveryOutcome)
    nobody = [one for one in missing if not {one, (one[0], None)} & (lost | unsure)]
    unnamed = [one for one in more if not {one, (one[0], None)} & (again | unsure)]
    wrong = None
    room = [step.lost.most for step in plan.steps if step.nameless is not None]
    if None not in room and len({message for message, _ in nobody}) > sum(most or 0 for most in room):
        wrong = f"missing and not named: {sorted(nobody)[:9]}, nameless {room}"
    if unnamed and not any(step.nameless for step in plan.steps if step.file == "records"):
        wrong = f"delivered besides and not named: {sorted(unnamed)[:9]}"
    sure = {(each.message, each.queue) for each in outcomes if each.sure and each.outcome is RecoveryOutcome.LOST}
    there = [one for one in sure if one[1] is not None and after.get(one[1], Counter())[one[0]]]
    if there:
        wrong = f"named as lost for sure, and delivered: {sorted(there)[:9]}"
    return Accounted(len(missing), len(missing) - len(nobody), len(more), len(more) - len(unnamed), wrong)


def _beyond(one: Mapping[int, Counter[int]], other: Mapping[int, Counter[int]]) -> list[tuple[int, int]]:
    nothing = Counter[int]()
    return [(message, queue) for queue, ids in one.items() for message in (ids - other.get(queue, nothing)).elements()]
