"""The value of a setting as the broker reads it, and its source: an element, a property or the default."""

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
    """``by`` sets it (None: the default). ``value`` None: not set or not readable. ``match``: of an address setting."""

    name: str
    value: Value
    by: ConfigNode | Override | None = None
    match: str = ""

    @property
    def given(self) -> bool:
        """Whether an element or a property sets it."""
        return self.by is not None

    @property
    def node(self) -> ConfigNode | None:
        """The element that sets it, if one does."""
        return self.by if isinstance(self.by, ConfigNode) else None

    @property
    def by_property(self) -> bool:
        """Whether a property sets it."""
        return isinstance(self.by, Override)

    @property
    def place(self) -> ConfigNode | Position | None:
        """Where it is given."""
        return self.by.position if isinstance(self.by, Override) else self.by

    @property
    def unknown(self) -> bool:
        """Whether only the running broker knows the value, which is its ``${NAME}``."""
        return isinstance(self.value, str) and is_expression(self.value)

    @property
    def number(self) -> int:
        """The value as a number; -1 where there is none, as everywhere in this configuration."""
        return as_number(self.value)

    @property
    def text(self) -> str:
        """The text as written, or the default as text."""
        if self.by is not None:
            return self.by.text
        return "" if self.value is None else str(self.value)

    def __str__(self) -> str:
        """As ``page-size-bytes 10M``."""
        said = masked(trimmed(self.text), self.name)
        return f"{self.name} {said}" if self.given else f"{self.name} {said} (default)"


def as_number(value: Value) -> int:
    """The value if it is a whole number, else -1."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


class SettingsByName(dict[str, ResolvedSetting]):
    """Settings by name, each worked out when it is first asked for."""

    def __init__(self, find: Callable[[str], ResolvedSetting]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, name: str) -> ResolvedSetting:
        setting = self._find(name)
        # each rule that looks at an unknown value is to notice it
        return setting if setting.unknown else self.setdefault(name, setting)
