"""Properties that are taken one by one and keep the broker from starting together (docs/spec/properties.md 6)."""

from __future__ import annotations

from brokerconf.checks.transports import connection_fault
from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.reading.document import OF_THE_IMAGE
from brokerconf.reading.property_entries import Entry
from pagefmt.editions import Edition
from pagefmt.findings import Position, Severity


def _check(facts: ConfigFacts) -> Hits:
    if facts.beans is None:
        return
    from brokerconf.properties.starting import stops

    last = {(outcome.owner, outcome.path): outcome.entry for outcome in facts.outcomes if outcome.applied}
    for stop in stops(facts.beans, facts.edition, facts.core):
        last_set = last.get((stop.bean.owner, (*stop.path, stop.name)))
        entry = last_set or stop.bean.entry
        if entry is not None:
            reason = " ".join(word for word in (".".join(stop.path), stop.said) if word)
            at = last_set.at_value if last_set else None
            hit = _hit(entry, at, reason, stop.help, stop.name)
            if stop.lacks and facts.document.under == OF_THE_IMAGE:
                message = f"the broker does not start unless the broker.xml of its image declares the rest: {reason}"
                hit = hit._replace(message=message, severity=Severity.WARNING)
            yield hit
    for (owner, path), entry in last.items():
        if owner == "AMQPBrokerConnectConfiguration" and path[-1] == "uri" and entry.value:
            why = _address_fault(entry.value, path[-2], facts.edition)
            if why:
                yield _hit(entry, entry.at_value, why, "write it as tcp://host:5672", "uri")


def _hit(entry: Entry, at: Position | None, reason: str, what_to_do: str, about: str) -> Hit:
    message = f"the broker does not start: {reason}"
    return Hit(at or entry.position, message, what_to_do, about=about, path=entry.key)


def _address_fault(text: str, name: str, edition: Edition) -> str:
    """Return why an address is refused, or an empty string; unlike in ``broker.xml``, blanks in it are not removed."""
    return "an address with a space" if text != "".join(text.split()) else connection_fault(text, name, edition)


RULE = Rule(
    id="properties-start-fails",
    severity=Severity.ERROR,
    title="entries of broker.properties with which the broker does not start",
    why="each entry is accepted without an error, but the result lacks a part or has a value that stops the start",
    help="complete it, or remove its entries",
    check=_check,
    stops_start=True,
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(properties="AMQPConnections.target.retryInterval=55\n"),
    passing=lambda: Example(properties="AMQPConnections.target.uri=tcp://remote:5672\n"),
)
