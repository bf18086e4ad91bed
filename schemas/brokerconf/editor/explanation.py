"""Explanations of a name: as a setting, an element or attribute, a rule or check, or a number of the log."""

from __future__ import annotations

from dataclasses import dataclass

from brokerconf.editor.descriptions import ElementDescription, set_by_server
from brokerconf.errors import BrokerConfError
from brokerconf.evidence.rule import Rule
from brokerconf.linting.catalogue import CHECKS, known_ids
from brokerconf.linting.log_numbers import LogNumber, log_numbers, number_in
from brokerconf.rules import rules
from brokerconf.schema.components import places
from brokerconf.schema.schema_facts import SchemaFact, facts, facts_named
from brokerconf.settings.settings_model import Setting, find, settings
from pagefmt.editions import Edition
from pagefmt.findings import did_you_mean


class UnknownName(BrokerConfError):
    """Error for a name that no setting, element, rule or number of the log has."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything known about ``name``.

    ``related``: the ids of rules about a setting of that name; ``schema``: elements and attributes that are no setting;
    ``check``: title and reason of a check.
    """

    name: str
    settings: tuple[Setting, ...] = ()
    rules: tuple[Rule, ...] = ()
    related: tuple[str, ...] = ()
    schema: tuple[SchemaFact, ...] = ()
    elements: tuple[ElementDescription, ...] = ()
    check: tuple[str, str] | None = None
    log: LogNumber | None = None


def explain(text: str, edition: Edition | None) -> Explanation:
    """Return what is known about a name, a path such as ``core/bridges/bridge``, or a line of the log.

    ``edition``: where elements are looked up; None for the newest that has them. Raises ``UnknownName``.
    """
    number = number_in(text)
    if number is not None:
        return Explanation(text, log=_log_number(text, number))
    name = text.strip().lstrip("@").strip("/")
    last = name.rpartition("/")[2]
    schema = facts_named(last)
    elements = _elements(name, edition) if schema else []
    if "/" in name:
        of_name = list(dict.fromkeys(element.setting for element in elements if element.setting))
        schema_only = []
    else:
        of_name = find(name) or ([] if schema else set_by_server(name))
        schema_only = [] if of_name else schema
    named = tuple(rule for rule in rules() if rule.id == name)
    check = CHECKS.get(name)
    if not (of_name or named or schema_only or elements or check):
        raise UnknownName(_unknown(name))
    if edition is not None and schema and not elements and all(fact.kind != "attribute" for fact in schema):
        raise UnknownName(f"{name[:80]}: {edition.value} has no such element; leave out --edition")
    related = tuple(rule.id for rule in rules() if name in rule.settings)
    return Explanation(name, tuple(of_name), named, related, tuple(schema_only), tuple(elements), check)


def _log_number(text: str, number: str) -> LogNumber:
    try:
        return log_numbers()[number]
    except KeyError:
        raise UnknownName(
            f"{text.strip()[:80]}: no line of the log with the number {number} is known; those of paging, disk, "
            "journal and limits are"
        ) from None


def _elements(path: str, edition: Edition | None) -> list[ElementDescription]:
    """Return the elements of that name or path in an edition, or in the newest that has any."""
    steps = tuple(path.split("/"))
    for candidate in [edition] if edition else reversed(Edition):
        if components := places(candidate, *steps):
            return [ElementDescription(component, candidate) for component in components]
    return []


def _unknown(name: str) -> str:
    names = {setting.name for setting in settings()} | known_ids() | {fact.name for fact in facts()}
    near = did_you_mean(name, names, "'pagectl config rules' lists the rules")
    return f"{name[:80]}: no setting, element or rule of that name is known; {near}"
