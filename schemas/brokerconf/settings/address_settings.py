"""The ``address-setting`` elements of a configuration as the broker stores them: what each sets itself, unmerged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from brokerconf.reading.document import ConfigNode
from brokerconf.reading.sizes import SizeError, trimmed
from brokerconf.reading.substitution import is_expression
from brokerconf.settings.matching import Match
from brokerconf.settings.settings_model import Scope, Setting, Value, in_scope
from pagefmt.editions import Edition
from pagefmt.findings import Position


class Override(NamedTuple):
    """What a property sets over the file: its place, and the text as it stands there."""

    position: Position
    text: str = ""


class Origin(NamedTuple):
    """Where a value was set: by an element or by a property; ``match`` for those of an address."""

    given: ConfigNode | Override
    match: str | None = None

    @property
    def position(self) -> Position:
        """The file, line and column."""
        return self.given.position


class EffectiveValue(NamedTuple):
    """A value in force; ``origin`` None: the default. Sizes are bytes; None stands for "not set".

    A value that only the running broker knows is its
    ``${NAME}``. ``known`` False: what decides it is not at hand. ``secret``: it stands where nothing is ever shown.
    """

    value: Value
    origin: Origin | None = None
    known: bool = True
    secret: bool = False

    @property
    def unknown(self) -> bool:
        """Whether only the running broker knows the value."""
        return isinstance(self.value, str) and is_expression(self.value)


Values = dict[str, EffectiveValue]


class AddressSetting:
    """One match and what is set for it. ``given`` and ``read`` are by the setting's name: what sets it, and the value
    that this has for the broker (None: refused, or taken for "not set"). ``number`` counts them in the order of
    the file. ``node`` None: only properties speak of it. ``match`` None: refused. ``born``: what an application server
    sets where the file does not."""

    __slots__ = ("_values", "born", "given", "match", "node", "number", "read", "text")

    def __init__(self, text: str, node: ConfigNode | None, number: int, match: Match | None = None) -> None:
        self.text, self.node, self.number, self.match = text, node, number, match
        self.given: dict[str, ConfigNode | Override] = {}
        self.read: dict[str, Value] = {}
        self.born: Mapping[str, Value] = {}
        self._values: Values | None = None

    @property
    def place(self) -> ConfigNode | Position:
        """The element, or where the first property for this match stands."""
        return self.node if self.node is not None else next(iter(self.given.values())).position

    @property
    def line(self) -> int:
        """The line where the match stands."""
        place = self.place
        return (place if isinstance(place, Position) else place.position).line

    def override(self, name: str, value: Value, by: Override) -> None:
        """What a property says of a setting; the element no longer counts for it."""
        self.given[name], self.read[name] = by, value
        if self._values is not None:
            # what a merge of the older editions left here stays
            self._values[name] = EffectiveValue(value, Origin(by, self.text))

    def leave_out(self, name: str) -> None:
        """Count a setting as not set, as the reader does with a value that it takes for that."""
        self.given.pop(name, None)
        self.read.pop(name, None)
        if self._values is not None:
            self._values.pop(name, None)

    def values(self, edition: Edition) -> Values:
        """All that merging starts from, with what such settings are born with; the same ones each time."""
        if self._values is None:
            self._values = {
                name: EffectiveValue(self.read[name], Origin(by, self.text))
                for name, by in self.given.items()
                if self.read[name] is not None or isinstance(by, Override)
            }
            for name, value in {**born_with(edition), **self.born}.items():
                self._values.setdefault(name, EffectiveValue(value))
        return self._values


# Fields that are born with a value, so that a less specific match never reaches them (read in the releases).
_BORN_WITH: tuple[tuple[Edition, tuple[str, ...]], ...] = (
    (Edition.ARTEMIS_2_56, ()),
    (Edition.ARTEMIS_2_28, ("slow-consumer-threshold-measurement-unit", "management-browse-page-size")),
    (
        Edition.ARTEMIS_2_17,
        ("expiry-delay", "min-expiry-delay", "max-expiry-delay", "management-browse-page-size"),
    ),
    (Edition.HORNETQ_2_4, ("expiry-delay", "management-browse-page-size")),
)
_LAST_VALUE = {"last-value-queue": "default-last-value-queue"}


def born_with(edition: Edition) -> dict[str, Value]:
    """The settings that every match of an edition carries without setting them, by name."""
    names = next(names for since, names in _BORN_WITH if edition >= since)
    known = in_scope(Scope.ADDRESS)
    return {name: known[name].default(edition) for name in names if known[name].known_in(edition)}


def field_name(tag: str, edition: Edition) -> str:
    """The setting that an element sets: names are compared without case, and one has an older name."""
    name = tag.lower()
    return _LAST_VALUE.get(name, name) if name in _LAST_VALUE and edition >= Edition.ARTEMIS_2_10 else name


def read_value(setting: Setting, text: str, edition: Edition) -> Value:
    """Return the value of a text: None if the reader refuses it or takes it for "not set", and the text itself if only
    the running broker knows what it stands for."""
    if is_expression(text):
        return trimmed(text)
    try:
        value = setting.value(text, edition)
    except SizeError:
        return None
    if setting.kind == "enum" and value not in setting.allowed.split("|"):
        return None
    if setting.name.startswith("prefetch-page-") and isinstance(value, int) and value <= 0:
        return None
    return value


class AddressSettingReader:
    """Reads ``address-setting`` elements of one edition. Thousands of them say the same few things: each text of a
    setting is read once. ``always_set``: by an application server, for each match."""

    def __init__(self, edition: Edition, always_set: Mapping[str, str] | None = None) -> None:
        self._edition = edition
        self._known: Mapping[str, Setting] = {
            name: setting for name, setting in in_scope(Scope.ADDRESS).items() if setting.known_in(edition)
        }
        # by tag: the setting and the values of its texts; None for an element that sets nothing
        self._fields: dict[str, tuple[Setting, dict[str, Value]] | None] = {}
        self._born = {
            name: self._known[name].value(text, edition)
            for name, text in (always_set or {}).items()
            if name in self._known
        }

    def setting(self, node: ConfigNode, number: int) -> AddressSetting:
        """What an ``address-setting`` element sets; ``number`` is its place in the file."""
        found = AddressSetting(node.attributes.get("match", ""), node, number)
        found.born = self._born
        given, read, fields = found.given, found.read, self._fields
        for child in node.children:
            tag = child.tag
            if tag not in fields:
                setting = self._known.get(field_name(tag, self._edition))
                fields[tag] = (setting, {}) if setting else None
            field = fields[tag]
            if field is not None:
                text = child.text if child.children else child.own_text
                if text not in field[1]:
                    field[1][text] = read_value(field[0], text, self._edition)
                given[field[0].name], read[field[0].name] = child, field[1][text]
        return found


def address_setting_nodes(core: ConfigNode | None) -> list[ConfigNode]:
    """The elements that the reader takes: all ``address-setting`` at any depth of the first ``address-settings``."""
    found = core.by_tag() if core else {}
    block = next(iter(found.get("address-settings", ())), None)
    if block is None:
        return []
    nodes = found.get("address-setting", ())
    return [node for node in nodes if node.parent is block or any(above is block for above in node.ancestors())]
