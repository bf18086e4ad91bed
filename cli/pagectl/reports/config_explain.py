"""A setting, an element, a rule or a line of the log, explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import msgspec
from brokerconf.editor.descriptions import release_of
from brokerconf.schema.schema_facts import known_from
from brokerconf.settings.settings_model import contradicted

from pagectl.reports.form import Count, EditionName, Report

if TYPE_CHECKING:
    from brokerconf.editor.descriptions import ElementDescription
    from brokerconf.editor.explanation import Explanation
    from brokerconf.evidence.rule import Rule
    from brokerconf.linting.log_numbers import LogNumber
    from brokerconf.schema.schema_facts import SchemaFact
    from brokerconf.settings.settings_model import Setting

SettingPlace: TypeAlias = Literal["broker", "address", "store", "wildcard", "url", "property"]
SchemaKind: TypeAlias = Literal["element", "attribute"]
ChildOrder: TypeAlias = Literal["all", "sequence", "choice"]


class ManualsContradiction(Report):
    """What manuals say about a setting, and what brokers do instead."""

    says: str
    does: str


class ExplainedSetting(Report):
    """A setting of the broker."""

    name: str
    place: SettingPlace
    """Where the setting is written: directly in core, in an address-setting, in the database store, and so on."""
    type: str
    unit: str | None
    default: str | None
    allowed: str | None
    """The values that it takes: words separated by ``|``, or a range."""
    since: str
    """The first release that has it."""
    ignored_since: str | None
    """The release from which it has no effect."""
    bean: str | None
    """Its name in ``broker.properties``."""
    reload: str
    """Whether a running broker applies a change of it."""
    effect: str
    trap: str | None
    """What surprises people about it."""
    manuals: list[ManualsContradiction]

    @classmethod
    def of(cls, setting: Setting) -> ExplainedSetting:
        """Return the report of a setting."""
        return cls(
            name=setting.name,
            place=setting.scope.value,
            type=setting.kind,
            unit=setting.unit or None,
            default=setting.default_text or None,
            allowed=setting.allowed or None,
            since=release_of(setting.since),
            ignored_since=setting.ignored or None,
            bean=setting.bean or None,
            reload=setting.reload,
            effect=setting.effect,
            trap=setting.trap or None,
            manuals=[ManualsContradiction(**saying._asdict()) for saying in contradicted(setting.name)],
        )


class ExplainedRule(Report):
    """A rule of ``config lint``."""

    rule: str
    title: str
    why: str
    help: str

    @classmethod
    def of(cls, rule: Rule) -> ExplainedRule:
        """Return the report of a rule."""
        return cls(rule=rule.id, title=rule.title, why=rule.why, help=rule.help)


class SchemaEntry(Report):
    """An element or attribute that is no setting, as the schemas define it."""

    name: str
    kind: SchemaKind
    in_: str = msgspec.field(name="in")
    """The type that contains it."""
    type: str
    words: list[str] | None
    """The values that it takes, if it is an enumeration."""
    default: str | None
    first: EditionName
    last: EditionName
    deprecated: bool

    @classmethod
    def of(cls, fact: SchemaFact) -> SchemaEntry:
        """Return the report of a row of the schemas."""
        first, last = known_from(fact.name, fact.owner)
        return cls(
            name=fact.name,
            kind=cast(SchemaKind, fact.kind),
            in_=fact.owner.split(".")[-1],
            type=fact.type_name or fact.type,
            words=fact.enum.split("|") if fact.enum else None,
            default=fact.default or None,
            first=first.value,
            last=last.value,
            deprecated=bool(fact.deprecated),
        )


class ElementAttribute(Report):
    """An attribute of an element."""

    name: str
    type: str
    words: list[str] | None
    """The values that it takes, if it is an enumeration."""
    default: str | None
    required: bool
    first: EditionName
    last: EditionName


class ElementChild(Report):
    """An element inside of an element, and how often it occurs."""

    name: str
    min: Count
    max: Count | None
    """Null for any number."""


class ExplainedElement(Report):
    """An element at one place, in one edition."""

    path: str
    edition: EditionName
    min: Count
    max: Count | None
    """Null for any number."""
    stands_for: str | None
    """The head of its substitution group."""
    type: str | None
    """Null for an element that only contains others."""
    default: str | None
    allowed: str | None
    """The values that it takes: words separated by ``|``, or a range."""
    first: EditionName
    last: EditionName
    effect: str | None
    trap: str | None
    """What surprises people about it."""
    order: ChildOrder | None
    attributes: list[ElementAttribute]
    children: list[ElementChild]

    @classmethod
    def of(cls, described: ElementDescription) -> ExplainedElement:
        """Return the report of an element."""
        component, setting = described.component, described.setting
        first, last = described.editions
        least, most = component.occurs
        return cls(
            path=described.path,
            edition=described.edition.value,
            min=least,
            max=most,
            stands_for=component.stands_for if component.stands_for != component.name else None,
            type=component.value.type if component.value else None,
            default=described.default,
            allowed=described.allowed or None,
            first=first.value,
            last=last.value,
            effect=setting.effect if setting else None,
            trap=(setting.trap or None) if setting else None,
            order=cast(ChildOrder, component.order) if component.order else None,
            attributes=[_attribute(described, name) for name in component.attributes],
            children=[
                ElementChild(name=child.name, min=child.occurs[0], max=child.occurs[1])
                for child in component.children.values()
            ],
        )


def _attribute(described: ElementDescription, name: str) -> ElementAttribute:
    attribute = described.component.attributes[name]
    first, last = described.editions_of_attribute(attribute.name)
    return ElementAttribute(
        name=attribute.name,
        type=attribute.value.type,
        words=list(attribute.value.words) or None,
        default=attribute.value.default,
        required=attribute.required,
        first=first.value,
        last=last.value,
    )


class ExplainedLogLine(Report):
    """A numbered line of the broker's log."""

    number: str
    happened: str
    settings: list[str]
    rules: list[str]
    commands: list[str]
    """Commands of pagectl that help, without that word."""

    @classmethod
    def of(cls, line: LogNumber) -> ExplainedLogLine:
        """Return the report of a line of the log."""
        return cls(
            number=line.number,
            happened=line.happened,
            settings=list(line.settings),
            rules=list(line.rules),
            commands=list(line.commands),
        )


class ConfigExplanation(Report):
    """``config explain --format json``: what is known about a name."""

    settings: list[ExplainedSetting]
    rules: list[ExplainedRule]
    related: list[str]
    """Rules about the setting."""
    schema: list[SchemaEntry]
    elements: list[ExplainedElement]
    log: list[ExplainedLogLine]

    @classmethod
    def of(cls, explanation: Explanation) -> ConfigExplanation:
        """Return the report of an explanation."""
        return cls(
            settings=list(map(ExplainedSetting.of, explanation.settings)),
            rules=list(map(ExplainedRule.of, explanation.rules)),
            related=list(explanation.related),
            schema=list(map(SchemaEntry.of, explanation.schema)),
            elements=list(map(ExplainedElement.of, explanation.elements)),
            log=[] if explanation.log is None else [ExplainedLogLine.of(explanation.log)],
        )


ANSWERS = {"config-explain": ConfigExplanation}
