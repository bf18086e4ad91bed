"""Properties that are taken one by one and keep the broker from starting together (docs/spec/properties.md 6)."""

from __future__ import annotations

from brokerconf.checks.transports import connection_fault
from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.reading.document import OF_THE_IMAGE
from brokerconf.reading.properties import Entry
from pagefmt.editions import Edition
from pagefmt.findings import Position, Severity


def _check(facts: ConfigFacts) -> Hits:
    if facts.beans is None:
        return
    from brokerconf.properties.starting import stops

    last = {(one.owner, one.path): one.entry for one in facts.outcomes if one.applied}
    for stop in stops(facts.beans, facts.edition, facts.core):
        given = last.get((stop.bean.owner, (*stop.path, stop.name)))
        entry = given or stop.bean.entry
        if entry is not None:
            said = " ".join(word for word in (".".join(stop.path), stop.said) if word)
            at = given.at_value if given else None
            hit = _hit(entry, at, said, stop.help, stop.name)
            if stop.lacks and facts.document.under == OF_THE_IMAGE:
                message = f"the broker does not start unless the broker.xml of its image declares the rest: {said}"
                hit = hit._replace(message=message, severity=Severity.WARNING)
            yield hit
    for (owner, path), entry in last.items():
        if owner == "AMQPBrokerConnectConfiguration" and path[-1] == "uri" and entry.value:
            why = _address_fault(entry.value, path[-2], facts.edition)
            if why:
                yield _hit(entry, entry.at_value, why, "write it as tcp://host:5672", "uri")


def _hit(entry: Entry, at: Position | None, said: str, what_to_do: str, about: str) -> Hit:
    message = f"the broker does not start: {said}"
    return Hit(at or entry.position, message, what_to_do, about=about, path=entry.key)


def _address_fault(text: str, name: str, edition: Edition) -> str:
    """What the reader of ``broker.xml`` says of an address; here blanks stay."""
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
