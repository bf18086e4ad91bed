"""``pagectl config explain``: a setting or a rule in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.shared import TextOrJsonOption
from pagectl.running.exits import CallError

if TYPE_CHECKING:
    from brokerconf.schema.schema_facts import SchemaFact
    from brokerconf.settings.settings_model import Setting


def command(
    name: Annotated[str, typer.Argument(metavar="SETTING|RULE", help="As max-size-bytes, or page-limit-unused.")],
    format: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Explain a setting (effect, unit, default, since, pitfalls) or a rule (what it finds, and why)."""
    from brokerconf.linting.catalogue import CHECKS
    from brokerconf.linting.rules_page import explained
    from brokerconf.rules import rules
    from brokerconf.schema.schema_facts import facts_named
    from brokerconf.settings.settings_model import find

    from pagectl.terminal.streams import print_json

    asked = name.strip().lstrip("@")
    settings = find(asked)
    found = [rule for rule in rules() if rule.id == asked]
    related = [rule.id for rule in rules() if asked in rule.settings]
    places = [] if settings else facts_named(asked)
    if not settings and not found and not places and asked not in CHECKS:
        raise CallError(_unknown(asked))
    if format is TextOrJson.json:
        ruled = [{"rule": rule.id, "title": rule.title, "why": rule.why, "help": rule.help} for rule in found]
        print_json(
            {
                "settings": [_as_json(one) for one in settings],
                "rules": ruled,
                "related": related,
                "schema": [_schema_entry(fact) for fact in places],
            }
        )
        return 0
    for setting in settings:
        print("\n".join(_lines(setting)))
    for fact in places:
        print(_in_schema(_schema_entry(fact)))
    if related:
        print(f"rules: {', '.join(related)}")
    for rule in found:
        print("\n".join(explained(rule)))
    if asked in CHECKS:
        title, why = CHECKS[asked]
        print(f"{asked}: {title}\n{why}")
    return 0


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
    from difflib import get_close_matches

    from brokerconf.linting.catalogue import known_ids
    from brokerconf.schema.schema_facts import facts
    from brokerconf.settings.settings_model import settings

    known = sorted({setting.name for setting in settings()} | known_ids() | {fact.name for fact in facts()})
    close = get_close_matches(asked, known, 3)
    meant = f"did you mean {' or '.join(map(repr, close))}?" if close else "'pagectl config rules' lists the rules"
    return f"{asked[:80]}: neither a setting nor a rule known here; {meant}"


_PLACES = {
    "broker": "directly in <core>",
    "address": "in <address-setting>",
    "store": "in <store><database-store>",
    "wildcard": "in <wildcard-addresses>",
    "url": "in the URL of an acceptor or client",
    "property": "a system property",
}


def _lines(setting: Setting) -> Iterator[str]:
    yield f"{setting.name} ({_PLACES[setting.scope.value]})"
    yield f"  {setting.effect}"
    kind = "size: bytes, or a number with K, M or G (1024)" if setting.kind == "size" else setting.kind
    yield f"  type: {kind}" + (f", in {setting.unit}" if setting.unit and setting.kind != "size" else "")
    if setting.allowed:
        yield f"  takes: {setting.allowed.replace('|', ', ') if setting.kind == 'enum' else setting.allowed}"
    yield f"  default: {setting.default_text or 'not set'}"
    yield f"  since: {_release(setting.since)}" + (f"; no effect since {setting.ignored}" if setting.ignored else "")
    if setting.bean:
        yield f"  in broker.properties: {setting.bean}"
    yield f"  taken over by a reload: {setting.reload}"
    if setting.trap:
        yield f"  trap: {setting.trap}"


def _release(since: str) -> str:
    return "HornetQ" if since == "hq" else since


def _as_json(setting: Setting) -> dict[str, object]:
    return {
        "name": setting.name, "place": setting.scope.value, "type": setting.kind, "unit": setting.unit or None,
        "default": setting.default_text or None, "allowed": setting.allowed or None, "since": _release(setting.since),
        "ignored_since": setting.ignored or None, "bean": setting.bean or None, "reload": setting.reload,
        "effect": setting.effect, "trap": setting.trap or None,
    }  # fmt: skip
