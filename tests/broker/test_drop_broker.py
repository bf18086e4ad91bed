"""Queues dropped, judged by real brokers: all others deliver what they would have delivered, in order.

Each queue of each case in turn, at most ``MOST`` of a case. The queue itself is gone, or empty where the case's
configuration makes it anew. The drain of the original is that kept with the case, or a new one where they differ.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import golden_cases
import pytest
from broker_drains import Drain, drains, failure, queues
from broker_jars import oracle

from pagefmt.change.compaction.copy_out import copy_out
from pagefmt.change.removal.plan import plan_drop
from pagefmt.directory.bindings import load_bindings
from pagefmt.directory.locate import DataLocation, within

pytestmark = [pytest.mark.broker, pytest.mark.timeout(7200)]
MOST = int(os.environ.get("PAGECTL_DROPPED_QUEUES", "4"))


def names(place: DataLocation) -> list[str]:
    assert place.bindings is not None
    return sorted({queue.name for queue in load_bindings(place.bindings).queues.values()})


def others(told: Drain, dropped: str) -> dict[str, object]:
    return {name: queue for name, queue in queues(told).items() if name != dropped}


@pytest.mark.parametrize("version", golden_cases.VERSIONS)
def test_all_other_queues_deliver_the_same(version: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    oracle()
    results: dict[Path, tuple[golden_cases.GoldenCase, str]] = {}
    for case in golden_cases.cases(version):
        found = names(within(case.data()))
        for number, name in enumerate(found[:: max(1, len(found) // MOST)][:MOST]):
            result = tmp_path / f"{case.name}-{number}"
            plan = plan_drop(within(case.data()), name)
            case.lay_out(result)
            shutil.rmtree(result / "data")
            copy_out(plan.pages, result / "data", changed=plan.changes)
            results[result] = case, name
    after = drains(version, list(results))
    before = {case: case.drain() for case, _ in results.values()}
    doubted = {
        case
        for result, (case, name) in results.items()
        if failure(before[case]) or others(before[case], name) != others(after[result], name)
    }
    doubtful = {case: case.lay_out(tmp_path / "originals" / case.name) for case in doubted}
    anew = drains(version, list(doubtful.values()))
    before |= {case: anew[folder] for case, folder in doubtful.items()}
    different = []
    messages = 0
    for result, (case, name) in results.items():
        told, new = before[case], after[result]
        if failure(told):
            assert failure(new), f"{case}: the original does not start"
        elif failure(new) or others(told, name) != others(new, name):
            different.append(f"{case} without {name}: {failure(new) or 'delivers something else'}")
        elif name in queues(new) and (queues(new)[name].messages or queues(new)[name].count):
            different.append(f"{case}: {name} is still there")
        messages += sum(len(queue.messages) for each, queue in queues(new).items() if each != name)
    with capfd.disabled():
        print(f"\n{version}: {len(results)} queues dropped, {messages} messages of others, {len(different)} different")
    assert different == []


WITH_ADDRESS = ("two-addresses", "addresses", "mqtt", "journal-mix", "tx")


@pytest.mark.parametrize("version", [each for each in golden_cases.VERSIONS if each[0].isdigit()])
def test_an_address_goes_with_its_last_queue(version: str, tmp_path: Path) -> None:
    oracle()
    results: dict[Path, tuple[golden_cases.GoldenCase, str]] = {}
    for case in golden_cases.cases(version):
        place = within(case.data())
        found = load_bindings(place.bindings) if place.bindings else None
        for queue in found.queues.values() if found is not None and case.name in WITH_ADDRESS else ():
            if found is not None and len(found.queues_of(queue.address)) == 1 and not queue.flag("internal"):
                result = case.lay_out(tmp_path / case.name)
                shutil.rmtree(result / "data")
                plan = plan_drop(place, queue.name, with_address=True)
                copy_out(plan.pages, result / "data", changed=plan.changes)
                results[result] = case, queue.name
                break
    after = drains(version, list(results))
    assert len(results) >= 2
    for result, (case, name) in results.items():
        assert not failure(after[result])
        assert others(case.drain(), name) == others(after[result], name), case
