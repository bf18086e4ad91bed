"""A queue of ``broker.properties`` whose ``address`` is not the one that its key names (docs/spec/properties.md 5)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity

_ROUTING = ["no routing type"]


def _check(facts: ConfigFacts) -> Hits:
    elsewhere = {}
    for outcome in facts.outcomes:
        match outcome.path:
            case ("addressConfigurations", address, "queueConfigs", queue, "address") if outcome.applied:
                elsewhere[address, queue] = outcome
    declared = facts.declared_queues
    with_queues = {bound for bound, _ in declared.queues}
    for (address, queue), outcome in elsewhere.items():
        actual = str(outcome.value).partition("::")[0]
        if actual == address:
            continue
        lacks = ["no queue"] if address not in with_queues else []
        lacks += _ROUTING if not declared.routing.get(address) else []
        left = f"; {address} has {' and '.join(lacks)}" if lacks else ""
        key = f'addressConfigurations."{address}"' if "." in address else f"addressConfigurations.{address}"
        declaration = declared.names.get(queue)
        routing = (
            f", and set {key}.routingTypes={declaration.routing if declaration else 'ANYCAST'}"
            if lacks[-1:] == _ROUTING
            else ""
        )
        yield Hit(
            outcome.entry.at_value or outcome.entry.position,
            f"queue {queue} of {key} is on address '{actual}', not on '{address}'{left}",
            f"set its address to {address}, or leave address out{routing}",
            path=outcome.entry.key,
        )


RULE = Rule(
    id="properties-queue-address",
    severity=Severity.WARNING,
    title="a queue in broker.properties that is on another address than its key says",
    why="address is the address of the queue, not its name: the broker creates the queue there, and messages for the "
    "address in the key do not reach it",
    help="set address to the address in the key",
    check=_check,
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(properties="addressConfigurations.shop.queueConfigs.orders.address=orders\n"),
    passing=lambda: Example(
        properties="addressConfigurations.shop.queueConfigs.orders.address=shop\n"
        "addressConfigurations.shop.routingTypes=ANYCAST\n"
    ),
)
