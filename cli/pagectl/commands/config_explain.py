"""``pagectl config explain``: a setting, an element or a rule in words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.shared import EditionOption, TextOrJsonOption, edition_of
from pagectl.running.exits import CallError

if TYPE_CHECKING:
    from brokerconf.editor.descriptions import ElementDescription
    from brokerconf.schema.schema_facts import SchemaFact
    from brokerconf.settings.settings_model import Setting

    from pagefmt.editions import Edition


EXAMPLES = (
    ("A setting", "config explain max-size-bytes"),
    ("An element, as one release defines it", "config explain core/bridges/bridge --edition artemis-2.28"),
    ("A rule", "config explain page-limit-unused"),
    ("A line of the broker's log", "config explain AMQ222039"),
)


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="SETTING|ELEMENT|RULE|AMQ…",
            help="For example max-size-bytes, bridge, core/bridges/bridge, page-limit-unused or AMQ222039, the number "
            "of a line of the broker's log.",
        ),
    ],
    edition: EditionOption = None,
    format: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Explain a setting, an element (its place and its content), a rule (what it finds, and why), or a numbered line of
    the broker's log (what happened, and what to look at)."""
    from brokerconf.editor.descriptions import set_by_server, setting_lines
    from brokerconf.linting.catalogue import CHECKS
    from brokerconf.linting.log_numbers import number_in
    from brokerconf.linting.rules_page import explained
    from brokerconf.rules import rules
    from brokerconf.schema.schema_facts import facts_named
    from brokerconf.settings.settings_model import find

    from pagectl.terminal.streams import print_json, within_columns

    number = number_in(name)
    if number is not None:
        return _log_number(name, number, format)
    asked = name.strip().lstrip("@").strip("/")
    last = asked.rpartition("/")[2]
    settings = find(asked) or ([] if facts_named(last) else set_by_server(asked))
    found = [rule for rule in rules() if rule.id == asked]
    related = [rule.id for rule in rules() if asked in rule.settings]
    places = [] if settings else facts_named(last)
    elements = _elements(asked, edition_of(edition)) if facts_named(last) else []
    if "/" in asked:
        settings, places = list({one.setting: None for one in elements if one.setting}), []
    if not settings and not found and not places and not elements and asked not in CHECKS:
        raise CallError(_unknown(asked))
    if edition is not None and facts_named(last) and not elements and not _is_attribute(last):
        raise CallError(f"{asked[:80]}: {edition.value} has no such element; leave out --edition")
    if format is TextOrJson.json:
        ruled = [{"rule": rule.id, "title": rule.title, "why": rule.why, "help": rule.help} for rule in found]
        print_json(
            {
                "settings": [_as_json(one) for one in settings],
                "rules": ruled,
                "related": related,
                "schema": [_schema_entry(fact) for fact in places],
                "elements": [_element_json(one) for one in elements],
                "log": [],
            }
        )
        return 0
    for setting in settings:
        print(within_columns(setting_lines(setting)))
    for fact in places:
        if fact.kind == "attribute" or not elements:
            print(within_columns([_in_schema(_schema_entry(fact))], 2))
    _tell(elements, bool(settings))
    if related:
        print(within_columns([f"rules: {', '.join(related)}"], 2))
    for rule in found:
        print(within_columns(explained(rule)))
    if asked in CHECKS:
        title, why = CHECKS[asked]
        print(within_columns([f"{asked}: {title}", why], 2))
    return 0


def _log_number(name: str, number: str, format: TextOrJson) -> int:
    """Explain a numbered line of the log."""
    from brokerconf.linting.log_numbers import log_numbers

    from pagectl.terminal.streams import print_json, within_columns

    known = log_numbers().get(number)
    if known is None:
        said = f"no line of the log with the number {number} is known; those of paging, disk, journal and limits are"
        raise CallError(f"{name.strip()[:80]}: {said}")
    if format is TextOrJson.json:
        print_json({"settings": [], "rules": [], "related": [], "schema": [], "elements": [], "log": [known._asdict()]})
        return 0
    label = "HQ" if "HQ" in name.upper() else "AMQ"
    lines = [f"{label}{number}: {known.happened}"]
    lines += [f"settings: {', '.join(known.settings)}"] if known.settings else []
    lines += [f"rules: {', '.join(known.rules)}"] if known.rules else []
    lines += [f"see: pagectl {command}" for command in known.commands]
    print(within_columns(lines, 2))
    return 0


def _elements(asked: str, edition: Edition | None) -> list[ElementDescription]:
    """The elements of that name or path: of the edition asked for, else of the newest that has any."""
    from brokerconf.editor.descriptions import ElementDescription
    from brokerconf.schema.components import places

    from pagefmt.editions import Edition

    steps = tuple(asked.split("/"))
    for each in [edition] if edition else reversed(Edition):
        found = places(each, *steps)
        if found:
            return [ElementDescription(one, each) for one in found]
    return []


def _is_attribute(name: str) -> bool:
    """Whether the schemas know the name as an attribute."""
    from brokerconf.schema.schema_facts import facts_named

    return any(fact.kind == "attribute" for fact in facts_named(name))


def _tell(elements: list[ElementDescription], brief: bool) -> None:
    """Places of one kind together; of several kinds only where they stand. ``brief``: the setting was told before."""
    from pagectl.terminal.streams import say, within_columns

    kinds = [list(same) for _, same in groupby(sorted(elements, key=_type_and_effect), key=_type_and_effect)]
    kinds.sort(key=lambda same: len(same[0].component.path))
    if len(kinds) > 1 and not brief:
        print(f"{elements[0].component.name} has a different meaning in each of these places; name one by its path:")
    for same in kinds:
        if brief or len(kinds) > 1:
            for one in same:
                say(f"  {one.path}: {_standing(one)}")
        else:
            print(within_columns(_element_lines(same)))


def _type_and_effect(described: ElementDescription) -> tuple[int, str]:
    """What is the same at several places: the type, and what the setting does."""
    return id(described.component.declaration.type), described.setting.effect if described.setting else ""


def _standing(described: ElementDescription) -> str:
    """Occurrence and editions."""
    from brokerconf.editor.descriptions import known_in, occurrence

    component = described.component
    instead = f" as {component.stands_for}" if component.stands_for != component.name else ""
    return f"{occurrence(*component.occurs)}{instead}, {known_in(described.editions)}"


def _element_lines(same: list[ElementDescription]) -> Iterator[str]:
    """All about an element, whose places are of one type."""
    from brokerconf.editor.descriptions import ElementDescription, kind_of, occurrence

    first = same[0]
    component, value = first.component, first.component.value
    yield f"{component.name} ({first.edition.value})"
    for one in same:
        yield f"  {one.path}: {_standing(one)}"
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


_ORDERS = {"all": "in any order", "sequence": "in this order", "choice": "one of"}


def _element_json(described: ElementDescription) -> dict[str, object]:
    component, setting = described.component, described.setting
    first, last = described.editions
    least, most = component.occurs
    return {
        "path": described.path, "edition": described.edition.value, "min": least, "max": most,
        "stands_for": component.stands_for if component.stands_for != component.name else None,
        "type": component.value.type if component.value else None, "default": described.default,
        "allowed": described.allowed or None, "first": first.value, "last": last.value,
        "effect": setting.effect if setting else None, "trap": (setting.trap or None) if setting else None,
        "order": component.order or None,
        "attributes": [
            {
                "name": one.name, "type": one.value.type, "words": list(one.value.words) or None,
                "default": one.value.default, "required": one.required,
                "first": described.editions_of_attribute(one.name)[0].value,
                "last": described.editions_of_attribute(one.name)[1].value,
            }
            for one in component.attributes.values()
        ],
        "children": [
            {"name": one.name, "min": one.occurs[0], "max": one.occurs[1]} for one in component.children.values()
        ],
    }  # fmt: skip


def _schema_entry(fact: SchemaFact) -> dict[str, object]:
    """What the schemas say of an element that has no row of its own among the settings."""
    from brokerconf.schema.schema_facts import known_from

    first, last = known_from(fact.name, fact.owner)
    return {
        "name": fact.name, "kind": fact.kind, "in": fact.owner.split(".")[-1], "type": fact.type_name or fact.type,
        "words": fact.enum.split("|") if fact.enum else None, "default": fact.default or None,
        "first": first.value, "last": last.value, "deprecated": bool(fact.deprecated),
    }  # fmt: skip


def _in_schema(place: dict[str, object]) -> str:
    words = place["words"]
    said = f"one of {', '.join(map(str, words))}" if isinstance(words, list) else f"type {place['type']}"
    default = f", default {place['default']}" if place["default"] is not None else ""
    old = ", deprecated" if place["deprecated"] else ""
    return (
        f"{place['name']}: {place['kind']} of {place['in']}, {said}{default}{old}; {place['first']} to {place['last']}"
    )


def _unknown(asked: str) -> str:
    from brokerconf.linting.catalogue import known_ids
    from brokerconf.schema.schema_facts import facts
    from brokerconf.settings.settings_model import settings

    from pagefmt.findings import did_you_mean

    known = {setting.name for setting in settings()} | known_ids() | {fact.name for fact in facts()}
    meant = did_you_mean(asked, known, "'pagectl config rules' lists the rules")
    return f"{asked[:80]}: no setting, element or rule of that name is known; {meant}"


def _as_json(setting: Setting) -> dict[str, object]:
    from brokerconf.editor.descriptions import release_of
    from brokerconf.settings.settings_model import contradicted

    return {
        "name": setting.name, "place": setting.scope.value, "type": setting.kind, "unit": setting.unit or None,
        "default": setting.default_text or None, "allowed": setting.allowed or None, "since": release_of(setting.since),
        "ignored_since": setting.ignored or None, "bean": setting.bean or None, "reload": setting.reload,
        "effect": setting.effect, "trap": setting.trap or None,
        "manuals": [saying._asdict() for saying in contradicted(setting.name)],
    }  # fmt: skip
