"""The explanation of a name as text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from brokerconf.editor.descriptions import ElementDescription, kind_of, known_in, occurrence, setting_lines
from brokerconf.editor.explanation import Explanation
from brokerconf.linting.log_numbers import LogNumber
from brokerconf.linting.rules_page import explained
from brokerconf.schema.schema_facts import SchemaFact, known_from

from pagectl.terminal.streams import say, within_columns

_ORDERS = {"all": "in any order", "sequence": "in this order", "choice": "one of"}


def print_explanation(explanation: Explanation) -> None:
    """Print all that is known: settings, elements, rules, a check, a line of the log."""
    if explanation.log is not None:
        print(within_columns(_log_lines(explanation.log, "HQ" if "HQ" in explanation.name.upper() else "AMQ"), 2))
    for setting in explanation.settings:
        print(within_columns(setting_lines(setting)))
    for fact in explanation.schema:
        if fact.kind == "attribute" or not explanation.elements:
            print(within_columns([_schema_line(fact)], 2))
    _print_elements(explanation.elements, brief=bool(explanation.settings))
    if explanation.related:
        print(within_columns([f"rules: {', '.join(explanation.related)}"], 2))
    for rule in explanation.rules:
        print(within_columns(explained(rule)))
    if explanation.check is not None:
        title, why = explanation.check
        print(within_columns([f"{explanation.name}: {title}", why], 2))


def _log_lines(line: LogNumber, label: str) -> list[str]:
    return [
        f"{label}{line.number}: {line.happened}",
        *([f"settings: {', '.join(line.settings)}"] if line.settings else []),
        *([f"rules: {', '.join(line.rules)}"] if line.rules else []),
        *(f"see: pagectl {command}" for command in line.commands),
    ]


def _schema_line(fact: SchemaFact) -> str:
    first, last = known_from(fact.name, fact.owner)
    values = f"one of {fact.enum.replace('|', ', ')}" if fact.enum else f"type {fact.type_name or fact.type}"
    default = f", default {fact.default}" if fact.default else ""
    deprecated = ", deprecated" if fact.deprecated else ""
    owner = fact.owner.split(".")[-1]
    return f"{fact.name}: {fact.kind} of {owner}, {values}{default}{deprecated}; {first.value} to {last.value}"


def _print_elements(elements: tuple[ElementDescription, ...], *, brief: bool) -> None:
    """Print places of one type together, and places of several types as a list.

    ``brief``: only list the places, because the setting is explained already.
    """
    types = [list(same) for _, same in groupby(sorted(elements, key=_type_and_effect), key=_type_and_effect)]
    types.sort(key=lambda same: len(same[0].component.path))
    if len(types) > 1 and not brief:
        print(f"{elements[0].component.name} has a different meaning in each of these places; name one by its path:")
    for same in types:
        if brief or len(types) > 1:
            for element in same:
                say(f"  {element.path}: {_occurrence(element)}")
        else:
            print(within_columns(_element_lines(same)))


def _type_and_effect(described: ElementDescription) -> tuple[int, str]:
    """Return what is the same at several places: the type, and what the setting does."""
    return id(described.component.declaration.type), described.setting.effect if described.setting else ""


def _occurrence(described: ElementDescription) -> str:
    """Return how often an element occurs, and in which editions."""
    component = described.component
    instead = f" as {component.stands_for}" if component.stands_for != component.name else ""
    return f"{occurrence(*component.occurs)}{instead}, {known_in(described.editions)}"


def _element_lines(same: list[ElementDescription]) -> Iterator[str]:
    """Yield all that is known about an element whose places are of one type."""
    first = same[0]
    component, value = first.component, first.component.value
    yield f"{component.name} ({first.edition.value})"
    for element in same:
        yield f"  {element.path}: {_occurrence(element)}"
    if value is not None:
        default = f", default {first.default}" if first.default is not None else ""
        yield f"  type {kind_of(value)}{default}"
    if first.allowed and not (value and value.words):
        yield f"  takes: {first.allowed.replace('|', ', ')}"
    for name, attribute in component.attributes.items():
        needed = "required" if attribute.required else "optional"
        default = f", default {attribute.value.default}" if attribute.value.default is not None else ""
        yield f"  attribute {name}: {kind_of(attribute.value)}, {needed}{default}"
    if component.children:
        yield f"  contains, {_ORDERS[component.order]}:"
    for child in component.children.values():
        below = ElementDescription(child, first.edition)
        kind = f", {kind_of(child.value)}" if child.value else ""
        effect = f": {below.setting.effect}" if below.setting else ""
        yield f"    {child.name} ({occurrence(*child.occurs)}{kind}){effect}"
