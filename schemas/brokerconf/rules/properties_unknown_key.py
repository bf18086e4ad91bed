"""A key that no bean of the broker has (docs/spec/properties.md 2)."""

from __future__ import annotations

from itertools import islice

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.properties.outcomes import Fault, Outcome
from brokerconf.reading.document import OF_THE_IMAGE
from brokerconf.schema.beans import editions_with
from pagefmt.editions import Edition
from pagefmt.findings import Severity, did_you_mean

# A file with more unknown keys than this is no file of properties: looking for near names would take minutes.
ADVISED = 1000


def _check(facts: ConfigFacts) -> Hits:
    yield from _absent(facts)
    unknown = [one for one in facts.outcomes if one.fault is Fault.UNKNOWN]
    advice = [_advice(one) for one in islice(unknown, ADVISED)]
    for number, one in enumerate(unknown):
        yield Hit(
            one.entry.at_step(one.at),
            f"{one.entry.key}: {one.said}{_known_to(one)}" if len(one.path) > 1 else f"{one.said}{_known_to(one)}",
            advice[number] if number < ADVISED else "",
            path=one.entry.key,
        )


def _absent(facts: ConfigFacts) -> Hits:
    """Yield keys of a part that only its type, an earlier key or an element of the ``broker.xml`` makes."""
    of_image = facts.document.under == OF_THE_IMAGE
    for one in facts.outcomes:
        if one.fault is Fault.ABSENT:
            unless, severity = (f"; {OF_THE_IMAGE} may set it", Severity.INFO) if of_image else ("", None)
            made = f"set {one.name} to its type before this key: one of {', '.join(one.known)}"
            yield Hit(
                one.entry.at_step(one.at), f"{one.entry.key}: {one.said}{unless}",
                made if one.known else f"set a key of the entry first, as {one.name}.NAME.KEY",
                path=one.entry.key, severity=severity,
            )  # fmt: skip


def _known_to(one: Outcome) -> str:
    """The editions that know the key, where the one at hand does not."""
    editions = editions_with(one.owner, one.name) if one.name not in one.known else ()
    if not editions:
        return ""
    first, last = editions[0].value, editions[-1].value
    return f"; {first} does" if first == last else f"; {first} to {last} do"


def _advice(one: Outcome) -> str:
    words = one.name.split("-")
    camel = words[0] + "".join(word[:1].upper() + word[1:] for word in words[1:])
    return did_you_mean(camel, one.known, cutoff=0.7)


RULE = Rule(
    id="properties-unknown-key",
    severity=Severity.ERROR,
    title="a key of broker.properties that the broker does not know",
    why="the broker starts without it; only its status attribute shows the error",
    help="correct or remove the key",
    check=_check,
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(properties="maxDiskUsag=20\n"),
    passing=lambda: Example(properties="maxDiskUsage=20\n"),
)
