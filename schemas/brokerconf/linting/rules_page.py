"""Rules in words, for ``config explain`` and the page of rules."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.evidence.rule import Example, Rule
from brokerconf.linting.examples import xml_of
from pagefmt.editions import NEWEST

_NEEDS = {"heap": "the heap (--heap)", "data": "a data directory (--data)", "host": "the broker's own host"}


def editions_text(rule: Rule) -> str:
    """Return the editions in words, as ``artemis-2.28 to artemis-2.44`` or ``all``."""
    if rule.since is None and rule.until is None:
        return "all"
    if rule.since is None and rule.until is not None:
        return f"up to {rule.until.value}"
    assert rule.since is not None
    return f"from {rule.since.value}" if rule.until is None else f"{rule.since.value} to {rule.until.value}"


def severities_text(rule: Rule) -> str:
    """Return the severities in words, as ``error, info from artemis-2.28``."""
    later = [f"{severity.value} from {edition.value}" for edition, severity in rule.by_edition]
    return ", ".join([rule.severity.value, *later])


def _example(example: Example) -> Iterator[str]:
    yield "```xml"
    yield xml_of(example).rstrip("\n")
    yield "```"
    if example.properties:
        yield "with a `broker.properties` beside it:"
        yield "```properties"
        yield example.properties.rstrip("\n")
        yield "```"
    facts = []
    if example.edition is not NEWEST:
        facts.append(f"edition {example.edition.value}")
    if example.heap is not None:
        facts.append(f"a heap of {example.heap >> 20} MiB")
    stores = example.stores or ()
    if stores:
        facts.append(f"{len(stores)} page folder{'s' * (len(stores) > 1)}, {sum(s.pages for s in stores)} pages")
    facts += [f"{volume.what} on device {volume.device} ({volume.total >> 30} GiB)" for volume in example.volumes or ()]
    if facts:
        yield f"({'; '.join(facts)})"


def explained(rule: Rule) -> Iterator[str]:
    """Yield the lines that explain one rule, in Markdown."""
    yield f"## {rule.id}"
    yield ""
    needs = f" Needs {_NEEDS[rule.needs]}." if rule.needs else ""
    yield f"{severities_text(rule).capitalize()}; editions: {editions_text(rule)}.{needs}"
    yield ""
    yield f"**{_sentence(rule.title)}** {_sentence(rule.why)}"
    yield ""
    yield f"What to do: {_sentence(rule.help)}"
    for title, example in (("Found in", rule.failing()), ("Not in", rule.passing())):
        yield ""
        yield f"{title}:"
        yield ""
        yield from _example(example)


def _sentence(text: str) -> str:
    """Return the text with a full stop, capitalised unless it begins with the name of a setting."""
    name = "-" in text.partition(" ")[0]
    return f"{text}." if name else f"{text[:1].upper()}{text[1:]}."
