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
    """What a property sets over the file: its position, and its text as written."""

    position: Position
    text: str = ""


class Origin(NamedTuple):
    """What sets a value: an element or a property; ``match`` is None for settings of the broker."""

    given: ConfigNode | Override
    match: str | None = None

    @property
    def position(self) -> Position:
        """Return the position of the element or property that sets the value."""
        return self.given.position


class EffectiveValue(NamedTuple):
    """Value in force; ``origin`` None: the default. Sizes are in bytes; None means "not set".

    A value that only the running broker knows is its ``${NAME}``. ``known`` is False if what decides it is unavailable.
    ``secret``: it comes from a place that must not be shown.
    """

    value: Value
    origin: Origin | None = None
    known: bool = True
    secret: bool = False

    @property
    def unknown(self) -> bool:
        """Return whether only the running broker knows the value."""
        return isinstance(self.value, str) and is_expression(self.value)


Values = dict[str, EffectiveValue]


class AddressSetting:
    """One match and the settings made for it.

    ``given`` maps a setting's name to what sets it, ``read`` to its value for the broker (None: refused, or taken for
    "not set"). ``number`` is the order in the file. ``node`` is None if only properties define the match; ``match`` is
    None if it is refused. ``born``: what an application server sets if the file does not.
    """

    __slots__ = ("_values", "born", "given", "match", "node", "number", "read", "text")

    def __init__(self, text: str, node: ConfigNode | None, number: int, match: Match | None = None) -> None:
        self.text, self.node, self.number, self.match = text, node, number, match
        self.given: dict[str, ConfigNode | Override] = {}
        self.read: dict[str, Value] = {}
        self.born: Mapping[str, Value] = {}
        self._values: Values | None = None

    @property
    def place(self) -> ConfigNode | Position:
        """Return the element, or the position of the first property for this match."""
        return self.node if self.node is not None else next(iter(self.given.values())).position

    @property
    def line(self) -> int:
        """Return the line of the match, or of its first property."""
        place = self.place
        return (place if isinstance(place, Position) else place.position).line

    def override(self, name: str, value: Value, by: Override) -> None:
        """Set a value by a property, in place of the element's."""
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
        """Return the values that merging starts from, with those set from birth; the same dictionary at each call."""
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
    (Edition.ARTEMIS_2_17, ("expiry-delay", "min-expiry-delay", "max-expiry-delay", "management-browse-page-size")),
    (Edition.HORNETQ_2_4, ("expiry-delay", "management-browse-page-size")),
)
_LAST_VALUE = {"last-value-queue": "default-last-value-queue"}


def born_with(edition: Edition) -> dict[str, Value]:
    """Return the settings by name that every match of an edition carries without setting them."""
    names = next(names for since, names in _BORN_WITH if edition >= since)
    settings = in_scope(Scope.ADDRESS)
    return {name: settings[name].default(edition) for name in names if settings[name].known_in(edition)}


def field_name(tag: str, edition: Edition) -> str:
    """Return the setting that an element sets: case is ignored, and one setting has an older name."""
    name = tag.lower()
    return _LAST_VALUE.get(name, name) if name in _LAST_VALUE and edition >= Edition.ARTEMIS_2_10 else name


def read_value(setting: Setting, text: str, edition: Edition) -> Value:
    """Return the value of a text as the reader does: None if it refuses the text or takes it for "not set".

    A text whose value only the running broker knows is returned itself.
    """
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
    """Reader of the ``address-setting`` elements of one edition.

    Thousands of them repeat the same texts, so each text of a setting is read once. ``always_set`` holds what an
    application server sets for each match.
    """

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
        """Return what an ``address-setting`` element sets; ``number`` is its order in the file."""
        result = AddressSetting(node.attributes.get("match", ""), node, number)
        result.born = self._born
        sources, read, fields = result.given, result.read, self._fields
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
                sources[field[0].name], read[field[0].name] = child, field[1][text]
        return result


def address_setting_nodes(core: ConfigNode | None) -> list[ConfigNode]:
    """Return the elements that the reader uses: ``address-setting`` at any depth of the first ``address-settings``."""
    nodes_by_tag = core.by_tag() if core else {}
    block = next(iter(nodes_by_tag.get("address-settings", ())), None)
    if block is None:
        return []
    nodes = nodes_by_tag.get("address-setting", ())
    return [node for node in nodes if node.parent is block or any(above is block for above in node.ancestors())]
