"""What is known of an element at a place: the schema's structure, and our own words about settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from brokerconf.checks.reader_facts import range_asked, reader_facts
from brokerconf.schema.components import ElementComponent, ValueComponent, editions_of
from brokerconf.settings.settings_model import Scope, Setting, in_scope
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
    """An element of one edition at one place."""

    component: ElementComponent
    edition: Edition

    @property
    def path(self) -> str:
        """As ``core/address-settings/address-setting``."""
        return "/".join(self.component.path)

    @cached_property
    def setting(self) -> Setting | None:
        """What is known of it as a setting, if it is one."""
        path = self.component.path
        return in_scope(_SCOPES[path[-2]]).get(path[-1]) if len(path) > 1 and path[-2] in _SCOPES else None

    @cached_property
    def editions(self) -> tuple[Edition, Edition]:
        """The first and the last that have it there."""
        return self.editions_of_attribute("")

    def editions_of_attribute(self, name: str) -> tuple[Edition, Edition]:
        """The same for an attribute."""
        found = editions_of((*self.component.path, *([f"@{name}"] if name else ()))) or [self.edition]
        return found[0], found[-1]

    @property
    def allowed(self) -> str:
        """The values that it takes, as a setting or by the broker's reader: words with ``|``, or a range."""
        if self.setting is not None and self.setting.allowed:
            return self.setting.allowed
        path = self.component.path
        facts = reader_facts(self.edition)
        places = [facts.get("core" if len(path) == 2 else path[-2], {})] if len(path) > 1 else []
        asked = next((range_asked(found[path[-1]]) for found in places if path[-1] in found), "")
        value = self.component.value
        return asked or "|".join(value.words if value else ())

    @property
    def default(self) -> str | None:
        """The default in words: the setting's for that edition, or the schema's."""
        if self.setting is not None:
            return self.setting.default_said(self.edition) or None
        return self.component.value.default if self.component.value else None


def occurrence(least: int, most: int | None) -> str:
    """How often an element stands somewhere, in words."""
    if most is None:
        return "any number of times" if least == 0 else "once or more"
    if most == 1:
        return "once" if least else "at most once"
    return f"{least} to {most} times"


def kind_of(value: ValueComponent | None) -> str:
    """A type in words."""
    if value is None:
        return "no text"
    return "one of " + ", ".join(value.words) if value.words else value.type


def known_in(editions: tuple[Edition, Edition]) -> str:
    """``since artemis-2.4``, with ``until`` where it ended."""
    first, last = editions
    return f"since {first.value}" + (f", until {last.value}" if last is not NEWEST else "")
