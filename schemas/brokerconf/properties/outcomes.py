"""Outcome of an entry of properties, as rules need it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from brokerconf.reading.property_entries import Entry


class Fault(Enum):
    """Kind of what is wrong with an entry. All but ``LOST`` and ``WHOLE`` are errors of the broker's status."""

    UNKNOWN = "no bean has that key"
    ABSENT = "a key of a part that is not there yet"
    UNQUOTED = "a name with dots without quotes"
    REFUSED = "a value that is refused"
    LOST = "a value that silently becomes another"
    WHOLE = "a value where an entry with keys of its own is expected"
    CODE = "an invalid ENC(): nothing in the file is applied"
    AFTER_ERROR = "a key affected by an error in the previous one"


class Outcome(NamedTuple):
    """Outcome of an entry: the class and property that it set and its value, or the fault and a sentence about it.

    ``known`` are the properties of the class if it lacks the one that was named, and the types that a part without one
    may have.
    """

    entry: Entry
    fault: Fault | None = None
    said: str = ""
    owner: str = ""
    name: str = ""
    value: object = None
    known: tuple[str, ...] = ()
    # the names of the key, without marks and subscripts
    path: tuple[str, ...] = ()
    # of an unknown name: where in the key it begins
    at: int = 0

    @property
    def applied(self) -> bool:
        """Return whether the broker set something, even if to another value than the written one."""
        return self.fault in (None, Fault.LOST, Fault.WHOLE)
