"""Messages purged from queues, judged by real brokers: everything else is delivered as before, in order.

Of each case some queues, all of their messages or those that a selector takes. The drain of the original is that kept
with the case, or a new one where they differ.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import golden_cases
import pytest
from broker_drains import drains, failure, queues
from broker_jars import oracle
from golden_cases import GoldenCase

from pagefmt.change.compaction.copy_out import copy_out
from pagefmt.change.removal.purge import PurgePlan, plan_purge
from pagefmt.directory.bindings import load_bindings
from pagefmt.directory.locate import within
from pagefmt.selector import parse

pytestmark = [pytest.mark.broker, pytest.mark.timeout(7200)]
MOST = int(os.environ.get("PAGECTL_PURGED_QUEUES", "3"))
VERSIONS = ("2.28.0", "2.56.0")
FIRST = 20
FEW = f"seq < {FIRST}"  # a property that most cases give their messages
NAMES = {
    "always-page", "amqp-jms", "basic", "core-types", "divert", "first-deleted", "journal-mix", "large-amqp",
    "large-core", "last-value", "many-queues", "mixed-protocols", "multicast-acks", "one-per-page", "page-again",
    "restarted", "scattered-acks", "schedule-kinds", "tx", "tx-across-pages",
}  # fmt: skip
"""Pages alone, the journal alone, both, large messages, shared ones, scheduled ones, transactions, acknowledgements."""


def kept(message: tuple[int, object, str, int], selector: str | None) -> bool:
    """Return whether a purge with the selector keeps the message, judged by its ``seq``; None keeps nothing."""
    return selector is not None and not (isinstance(message[1], int) and message[1] < FIRST)


@pytest.mark.parametrize("selector", [None, FEW], ids=["all", "some"])
@pytest.mark.parametrize("version", VERSIONS)
def test_everything_else_is_delivered(
    version: str, selector: str | None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    oracle()
    results: dict[Path, tuple[GoldenCase, str, PurgePlan]] = {}
    for case in [each for each in golden_cases.cases(version) if each.name in NAMES]:
        place = within(case.data())
        assert place.bindings is not None
        found = sorted({queue.name for queue in load_bindings(place.bindings).queues.values()})
        for number, name in enumerate(found[:: max(1, len(found) // MOST)][:MOST]):
            plan = plan_purge(place, name, None if selector is None else parse(selector))
            if plan.journal_messages + plan.paged_messages:
                result = case.lay_out(tmp_path / f"{case.name}-{number}")
                shutil.rmtree(result / "data")
                copy_out(plan.pages, result / "data", changed=plan.changes, added=plan.added)
                results[result] = case, name, plan
    after = drains(version, list(results))
    before = {case: case.drain() for case, *_ in results.values()}
    doubted = {
        case
        for result, (case, name, _) in results.items()
        if failure(before[case])
        or queues(before[case]).keys() != queues(after[result]).keys()
        or any(queue != queues(after[result])[each] for each, queue in queues(before[case]).items() if each != name)
    }
    doubtful = {case: case.lay_out(tmp_path / "originals" / case.name) for case in doubted}
    anew = drains(version, list(doubtful.values()))
    before |= {case: anew[folder] for case, folder in doubtful.items()}
    different, purged, delivered, shared = [], 0, 0, 0
    for result, (case, name, plan) in results.items():
        told, new = before[case], after[result]
        what = f"{case} {name}"
        if failure(told) or failure(new):
            if not failure(told):
                different.append(f"{what}: {failure(new)}")
            continue
        for each, queue in queues(told).items():
            if each != name and queue != queues(new).get(each):
                different.append(f"{what}: {each} delivers something else")
        here, left = queues(told)[name], queues(new)[name]
        expected = replace(here, messages=tuple(each for each in here.messages if kept(each, selector)))
        # fewer messages are in memory together, so that priorities come in another order
        if left.by_priority != expected.by_priority:
            different.append(f"{what}: delivers {len(left.messages)} of {len(here.messages)}, but not what is left")
        elif selector is None and left.count > here.count - len(here.messages):
            different.append(f"{what}: has {left.count} messages")
        purged += plan.journal_messages + plan.paged_messages
        shared += plan.acknowledged
        delivered += sum(len(queue.messages) for queue in queues(new).values())
    with capfd.disabled():
        print(
            f"\n{version} {selector}: {len(results)} copies, {purged} messages purged ({shared} acknowledged), "
            f"{delivered} delivered, {len(different)} different"
        )
    assert different == []
    assert shared and delivered and purged
