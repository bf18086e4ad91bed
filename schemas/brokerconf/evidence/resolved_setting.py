"""Value of a setting as the broker reads it, and its source: an element, a property or the default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from brokerconf.reading.document import ConfigNode
from brokerconf.reading.secrets import masked
from brokerconf.reading.sizes import trimmed
from brokerconf.reading.substitution import is_expression
from brokerconf.settings.address_settings import Override
from brokerconf.settings.settings_model import Value
from pagefmt.findings import Position


# not frozen: made by the ten thousand, where that costs more than all else
@dataclass(slots=True, eq=False)
class ResolvedSetting:
    """Setting with its value and source.

    ``by`` is what sets it (None: the default); ``value`` is None if it is not set or unreadable; ``match`` belongs to
    an address setting.
    """

    name: str
    value: Value
    by: ConfigNode | Override | None = None
    match: str = ""

    @property
    def given(self) -> bool:
        """Return whether an element or a property sets it."""
        return self.by is not None

    @property
    def node(self) -> ConfigNode | None:
        """Return the element that sets it, or None."""
        return self.by if isinstance(self.by, ConfigNode) else None

    @property
    def by_property(self) -> bool:
        """Return whether a property sets it."""
        return isinstance(self.by, Override)

    @property
    def place(self) -> ConfigNode | Position | None:
        """Return the element or position that sets it, or None for a default."""
        return self.by.position if isinstance(self.by, Override) else self.by

    @property
    def unknown(self) -> bool:
        """Return whether only the running broker knows the value, which is then its ``${NAME}``."""
        return isinstance(self.value, str) and is_expression(self.value)

    @property
    def number(self) -> int:
        """Return the value as a number, or -1 if it is none, which means "no limit" in this configuration."""
        return as_number(self.value)

    @property
    def text(self) -> str:
        """Return the text as written, or the default as text."""
        if self.by is not None:
            return self.by.text
        return "" if self.value is None else str(self.value)

    def __str__(self) -> str:
        """Return name and value, as ``page-size-bytes 10M``, without secrets."""
        text = masked(trimmed(self.text), self.name)
        return f"{self.name} {text}" if self.given else f"{self.name} {text} (default)"


def as_number(value: Value) -> int:
    """Return the value if it is a whole number, else -1."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


class SettingsByName(dict[str, ResolvedSetting]):
    """Settings by name, each resolved when it is first looked up."""

    def __init__(self, find: Callable[[str], ResolvedSetting]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, name: str) -> ResolvedSetting:
        setting = self._find(name)
        # each rule that looks at an unknown value is to notice it
        return setting if setting.unknown else self.setdefault(name, setting)
