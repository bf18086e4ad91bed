"""What became of an entry of properties: what rules ask of it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from brokerconf.reading.properties import Entry


class Fault(Enum):
    """What is wrong with an entry. All but ``LOST`` and ``WHOLE`` are errors of the broker's status."""

    UNKNOWN = "no bean has that key"
    ABSENT = "a key of a part that is not there yet"
    UNQUOTED = "a name with dots without quotes"
    REFUSED = "a value that is refused"
    LOST = "a value that silently becomes another"
    WHOLE = "a value where an entry with keys of its own is expected"
    CODE = "an invalid ENC(): nothing in the file is applied"
    AFTER_ERROR = "a key affected by an error in the previous one"


class Outcome(NamedTuple):
    """What became of an entry: the class and the property that it set, its value, or the fault and what is said of it.

    ``known`` are the properties that the class has, where it has not the one that was named, and the types that a part
    without one may have.
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
        """Whether the broker set something, be it another value than the one that is written."""
        return self.fault in (None, Fault.LOST, Fault.WHOLE)
