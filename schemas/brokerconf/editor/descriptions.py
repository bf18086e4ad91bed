"""Descriptions of an element at a place: the schema's structure, and our own words about settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from brokerconf.checks.reader_facts import range_asked, reader_facts
from brokerconf.reading.subsystems import SubsystemSetting, known_subsystems, subsystem_settings
from brokerconf.schema.components import ElementComponent, ValueComponent, editions_of
from brokerconf.settings.settings_model import Scope, Setting, contradicted, in_scope
from pagefmt.editions import NEWEST, Edition

_SCOPES = {
    "address-setting": Scope.ADDRESS,
    "database-store": Scope.STORE,
    "wildcard-addresses": Scope.WILDCARD,
    "core": Scope.BROKER,
    "configuration": Scope.BROKER,
}


@dataclass(frozen=True)
class ElementDescription:
    """Element of one edition at one place."""

    component: ElementComponent
    edition: Edition

    @property
    def path(self) -> str:
        """Return the path, as ``core/address-settings/address-setting``."""
        return "/".join(self.component.path)

    @cached_property
    def setting(self) -> Setting | None:
        """Return the setting that this element sets, or None if it sets none."""
        path = self.component.path
        return in_scope(_SCOPES[path[-2]]).get(path[-1]) if len(path) > 1 and path[-2] in _SCOPES else None

    @cached_property
    def editions(self) -> tuple[Edition, Edition]:
        """Return the first and the last edition with this element."""
        return self.editions_of_attribute("")

    def editions_of_attribute(self, name: str) -> tuple[Edition, Edition]:
        """Return the first and the last edition with an attribute of this element; without a name, with the element."""
        editions = editions_of((*self.component.path, *([f"@{name}"] if name else ()))) or [self.edition]
        return editions[0], editions[-1]

    @property
    def allowed(self) -> str:
        """Return the values that the setting or the broker's reader accepts: words separated by ``|``, or a range."""
        if self.setting is not None and self.setting.allowed:
            return self.setting.allowed
        path = self.component.path
        facts = reader_facts(self.edition)
        places = [facts.get("core" if len(path) == 2 else path[-2], {})] if len(path) > 1 else []
        required = next((range_asked(reader_rows[path[-1]]) for reader_rows in places if path[-1] in reader_rows), "")
        value = self.component.value
        return required or "|".join(value.words if value else ())

    @property
    def default(self) -> str | None:
        """Return the default in words: the setting's for that edition, or the schema's; None if there is none."""
        if self.setting is not None:
            return self.setting.default_in(self.edition) or None
        return self.component.value.default if self.component.value else None


def occurrence(least: int, most: int | None) -> str:
    """Return in words how often an element may occur."""
    if most is None:
        return "any number of times" if least == 0 else "once or more"
    if most == 1:
        return "once" if least else "at most once"
    return f"{least} to {most} times"


def kind_of(value: ValueComponent | None) -> str:
    """Return a value type in words."""
    if value is None:
        return "no text"
    return "one of " + ", ".join(value.words) if value.words else value.type


def known_in(editions: tuple[Edition, Edition]) -> str:
    """Return the editions in words, as ``since artemis-2.4``, with ``until`` if it ended."""
    first, last = editions
    return f"since {first.value}" + (f", until {last.value}" if last is not NEWEST else "")


_PLACES = {
    "broker": "directly in <core>",
    "address": "in <address-setting>",
    "store": "in <store><database-store>",
    "wildcard": "in <wildcard-addresses>",
    "url": "in the URL of an acceptor or client",
    "property": "a system property",
}


def setting_lines(setting: Setting) -> Iterator[str]:
    """Yield the lines that describe a setting: its name and place, then one line for each fact."""
    yield f"{setting.name} ({_PLACES[setting.scope.value]})"
    yield f"  {setting.effect}"
    kind = "size: bytes, or a number with K, M or G (1024)" if setting.kind == "size" else setting.kind
    yield f"  type: {kind}" + (f", in {setting.unit}" if setting.unit and setting.kind != "size" else "")
    if setting.allowed:
        yield f"  takes: {setting.allowed.replace('|', ', ') if setting.kind == 'enum' else setting.allowed}"
    yield f"  default: {setting.default_text or 'not set'}"
    yield f"  since: {release_of(setting.since)}" + (f"; no effect since {setting.ignored}" if setting.ignored else "")
    if setting.bean:
        yield f"  in broker.properties: {setting.bean}"
    for row in _in_servers(setting):
        default = f", default {row.default}" if row.default else ""
        yield f"  in JBoss EAP 7, 8 and WildFly: {row.attribute} of {row.element or 'server'}{default}"
    yield f"  applied by a reload: {setting.reload}"
    if setting.trap:
        yield f"  trap: {setting.trap}"
    for saying in contradicted(setting.name):
        yield f"  manuals say: {saying.says}"
        yield f"  brokers do: {saying.does}"


def _in_servers(setting: Setting) -> Iterator[SubsystemSetting]:
    """Yield what sets a setting in the newest messaging subsystem, under the name used there."""
    for row in subsystem_settings(known_subsystems("messaging-activemq")[-1]):
        if row.attribute and (row.scope, row.setting) == (setting.scope.value, setting.name):
            yield row


def set_by_server(attribute: str) -> list[Setting]:
    """Return the settings that an application server's attribute sets under a name of its own."""
    rows = subsystem_settings(known_subsystems("messaging-activemq")[-1])
    return [
        in_scope(Scope(row.scope))[row.setting]
        for row in rows
        if row.attribute == attribute and row.setting in in_scope(Scope(row.scope))
    ]


def release_of(since: str) -> str:
    """Return a release for display: ``HornetQ`` for ``hq``."""
    return "HornetQ" if since == "hq" else since


def element_lines(described: ElementDescription) -> Iterator[str]:
    """Yield the lines that describe an element to a person who reads the file."""
    component, setting = described.component, described.setting
    if setting is not None:
        yield from setting_lines(setting)
    else:
        yield f"{component.name} ({described.path})"
        if component.value is not None:
            default = f", default {described.default}" if described.default is not None else ""
            yield f"  type: {kind_of(component.value)}{default}"
        if described.allowed and not (component.value and component.value.words):
            yield f"  takes: {described.allowed.replace('|', ', ')}"
        if component.children:
            yield f"  contains: {', '.join(component.children)}"
    instead = f" as {component.stands_for}" if component.stands_for != component.name else ""
    yield f"  occurs: {occurrence(*component.occurs)}{instead}, {known_in(described.editions)}"


def attribute_lines(described: ElementDescription, name: str) -> Iterator[str]:
    """Yield the lines that describe an attribute of the element."""
    attribute = described.component.attributes[name]
    default = f", default {attribute.value.default}" if attribute.value.default is not None else ""
    yield f"{name} (attribute of {described.path})"
    yield f"  type: {kind_of(attribute.value)}{default}, {'required' if attribute.required else 'optional'}"
    yield f"  occurs: {known_in(described.editions_of_attribute(name))}"
