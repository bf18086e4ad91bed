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
    unknown = [outcome for outcome in facts.outcomes if outcome.fault is Fault.UNKNOWN]
    advice = [_advice(outcome) for outcome in islice(unknown, ADVISED)]
    for number, outcome in enumerate(unknown):
        yield Hit(
            outcome.entry.at_step(outcome.at),
            f"{outcome.entry.key}: {outcome.said}{_known_to(outcome)}"
            if len(outcome.path) > 1
            else f"{outcome.said}{_known_to(outcome)}",
            advice[number] if number < ADVISED else "",
            path=outcome.entry.key,
        )


def _absent(facts: ConfigFacts) -> Hits:
    """Yield keys below a part that exists only once its type, an earlier key or the ``broker.xml`` has created it."""
    of_image = facts.document.under == OF_THE_IMAGE
    for outcome in facts.outcomes:
        if outcome.fault is Fault.ABSENT:
            unless, severity = (f"; {OF_THE_IMAGE} may set it", Severity.INFO) if of_image else ("", None)
            advice = f"set {outcome.name} to its type before this key: one of {', '.join(outcome.known)}"
            yield Hit(
                outcome.entry.at_step(outcome.at),
                f"{outcome.entry.key}: {outcome.said}{unless}",
                advice if outcome.known else f"set a key of the entry first, as {outcome.name}.NAME.KEY",
                path=outcome.entry.key,
                severity=severity,
            )


def _known_to(outcome: Outcome) -> str:
    """Return, in words, the editions that know a key which the present edition does not; empty if none do."""
    editions = editions_with(outcome.owner, outcome.name) if outcome.name not in outcome.known else ()
    if not editions:
        return ""
    first, last = editions[0].value, editions[-1].value
    return f"; {first} does" if first == last else f"; {first} to {last} do"


def _advice(outcome: Outcome) -> str:
    words = outcome.name.split("-")
    camel = words[0] + "".join(word[:1].upper() + word[1:] for word in words[1:])
    return did_you_mean(camel, outcome.known, cutoff=0.7)


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
