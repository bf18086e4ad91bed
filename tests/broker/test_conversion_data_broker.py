"""Deliveries of real brokers from directories converted to their edition, compared with those of the older broker.

Each queue must deliver the same ids, ``seq``, bodies, priorities and message counts in the same order. Every case of
HornetQ and 1.x is converted, and every ``STEP``-th one of 2.x.
"""

from __future__ import annotations

import os
from pathlib import Path

import golden_cases
import pytest
from broker_drains import Drain, Queue, drains, failure, queues
from broker_jars import oracle

from pagefmt.change.conversion.apply import convert
from pagefmt.change.conversion.plan import ConversionPlan, plan_conversion
from pagefmt.directory.locate import within
from pagefmt.editions import Edition

pytestmark = [pytest.mark.broker, pytest.mark.timeout(7200)]
STEP = int(os.environ.get("PAGECTL_CONVERTED_STEP", "3"))
COUNTS_SENDS = "2.28.0"
"""It alone counts what prepared transactions sent (docs/spec/journal.md 7.4)."""
OLD = ("hornetq-2.3.25", "hornetq-2.4.7", "artemis-1.5.6")
NEWER = {
    Edition.ARTEMIS_2_56: ("2.10.1", "2.17.0", "2.28.0", "2.44.0", "2.56.0"),
    Edition.ARTEMIS_2_44: ("2.10.1", "2.17.0", "2.28.0"),
    Edition.ARTEMIS_2_28: ("2.10.1", "2.17.0"),
    Edition.ARTEMIS_2_17: ("2.10.1",),
    Edition.ARTEMIS_2_10: (),
}
CONFIGURATION = """<?xml version="1.0" encoding="UTF-8"?>
<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
<security-enabled>false</security-enabled><journal-type>NIO</journal-type>
<paging-directory>data/paging</paging-directory><bindings-directory>data/bindings</bindings-directory>
<journal-directory>data/journal</journal-directory>
<large-messages-directory>data/large-messages</large-messages-directory>
<journal-file-size>102400</journal-file-size><journal-buffer-size>65536</journal-buffer-size>
<journal-min-files>2</journal-min-files><journal-pool-files>2</journal-pool-files>
<message-expiry-scan-period>-1</message-expiry-scan-period><max-disk-usage>100</max-disk-usage>
<acceptors><acceptor name="in-vm">vm://0</acceptor></acceptors>
<address-settings><address-setting match="#"><max-size-bytes>40960</max-size-bytes>
<page-size-bytes>10240</page-size-bytes><address-full-policy>PAGE</address-full-policy>
<auto-create-queues>false</auto-create-queues><auto-delete-queues>false</auto-delete-queues>
<auto-delete-addresses>false</auto-delete-addresses></address-setting></address-settings>
</core></configuration>
"""


def converted(case: golden_cases.GoldenCase, edition: Edition, to: Path) -> ConversionPlan:
    """Convert a case into a folder that a broker of the edition can start on."""
    plan = plan_conversion(within(case.data()), edition)
    convert(plan, to / "data")
    kept = case.root() / "broker.xml"
    current = case.version in ("2.28.0", "2.44.0", "2.56.0")
    (to / "broker.xml").write_text(kept.read_text("utf-8") if current else CONFIGURATION, "utf-8")
    return plan


def expected(told: Drain, plan: ConversionPlan) -> dict[str, Queue]:
    """Return what the older broker delivered from the converted queues, by their new names."""
    names = {old.name: new.name for old, new in plan.bindings.queues if new is not None}
    return {names[name]: queue for name, queue in queues(told).items() if name in names}


def message_rows(queue: Queue) -> list[tuple[int, str, str, int]]:
    """List a queue's messages with ``seq`` as text, because the older harness parses a textual ``seq`` as a number."""
    return [(message, str(seq), body, priority) for message, seq, body, priority in queue.by_priority]


def difference(before: dict[str, Queue], after: dict[str, Queue], *, counts: bool) -> str | None:
    """Describe the first difference between the deliveries, or return None if there is none."""
    for name, queue in before.items():
        if name not in after:
            return f"{name} is not there"
        if message_rows(queue) != message_rows(after[name]):
            return f"{name}: {len(queue.messages)} messages before, {len(after[name].messages)} after, or others"
        # of pages that are damaged or gone brokers up to 2.27 count what they cannot read
        sure = counts and queue.count == len(queue.messages) + queue.left
        if sure and (queue.count, queue.left) != (after[name].count, after[name].left):
            return f"{name}: counts {queue.count}, {queue.left} are left; then {after[name].count}, {after[name].left}"
    return None


@pytest.mark.parametrize("edition", list(NEWER), ids=lambda edition: edition.value)
def test_each_queue_delivers_what_it_did(edition: Edition, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    oracle()
    found = [
        *golden_cases.cases(*OLD),
        *(case for version in NEWER[edition] for case in golden_cases.cases(version)[::STEP]),
    ]
    plans = {case: converted(case, edition, tmp_path / case.version / case.name) for case in found}
    folders = {case: tmp_path / case.version / case.name for case in found}
    after = drains(edition.release, list(folders.values()))
    different, messages, lost, skipped = [], 0, 0, []
    for case, plan in plans.items():
        told, new = case.drain(), after[folders[case]]
        if failure(told):
            skipped.append(f"{case}: {failure(told)}")
            continue
        before = expected(told, plan)
        wrong = failure(new) or difference(
            before, queues(new), counts=COUNTS_SENDS not in (case.version, edition.release)
        )
        if wrong:
            different.append(f"{case}: {wrong}; {plan.lost}")
        messages += sum(len(queue.messages) for queue in before.values())
        lost += bool(plan.lost)
    with capfd.disabled():
        print(f"\n{edition.value}: {len(found)} directories, {messages} messages, {len(different)} different, ", end="")
        print(f"{lost} of them damaged, {len(skipped)} without a drain of their own")
        for each in different:
            print("  ", each)
    assert different == []
