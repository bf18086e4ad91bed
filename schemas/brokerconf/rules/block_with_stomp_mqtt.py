"""BLOCK, and protocols that it does not hold back (docs/spec/settings.md 6.11 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    doors = [acceptor for acceptor in facts.acceptors if acceptor.accepts("STOMP") or acceptor.accepts("MQTT")]
    if not doors:
        return
    names = ", ".join(f"'{door.name}'" for door in doors[:3])
    for case in facts.cases_with("address-full-policy"):
        policy = case["address-full-policy"]
        if policy.value == "BLOCK" and not facts.is_management(case):
            message = f"BLOCK of '{case.match}' does not hold back STOMP and MQTT, which acceptor {names} accepts"
            yield Hit(policy, message)


RULE = Rule(
    id="block-with-stomp-mqtt",
    severity=Severity.WARNING,
    title="BLOCK where STOMP or MQTT producers can connect",
    why="STOMP and MQTT have no flow control here: such producers keep sending and memory grows beyond every limit",
    help="list the acceptor's protocols without STOMP and MQTT (protocols=CORE,AMQP), or use PAGE or FAIL",
    check=_check,
    settings=("address-full-policy",),
    since=Edition.ARTEMIS_1_5,
    failing=lambda: Example(
        core='<acceptors><acceptor name="all">tcp://0.0.0.0:61616</acceptor></acceptors>',
        settings=address_setting("orders.#", max_size_bytes="100M", address_full_policy="BLOCK"),
    ),
    passing=lambda: Example(
        core='<acceptors><acceptor name="core">tcp://0.0.0.0:61616?protocols=CORE,AMQP</acceptor></acceptors>',
        settings=address_setting("orders.#", max_size_bytes="100M", address_full_policy="BLOCK"),
    ),
)
