"""Editions of the broker, oldest first. Nothing on disk states one: the caller names it, or the newest that fits.

Source: docs/spec/editions.md. What an edition changes is a comparison with a member of this enum, where it matters.
"""

from __future__ import annotations

import re
from enum import Enum


class Edition(Enum):
    """A profile; ``value`` is its public name."""

    HORNETQ_2_4 = "hornetq-2.4"
    ARTEMIS_1_5 = "artemis-1.5"
    ARTEMIS_2_4 = "artemis-2.4"
    ARTEMIS_2_10 = "artemis-2.10"
    ARTEMIS_2_17 = "artemis-2.17"
    ARTEMIS_2_28 = "artemis-2.28"
    ARTEMIS_2_44 = "artemis-2.44"
    ARTEMIS_2_56 = "artemis-2.56"

    def __init__(self, _name: str) -> None:
        self.place = len(type(self).__members__)

    def __lt__(self, other: Edition) -> bool:
        return self.place < other.place

    def __le__(self, other: Edition) -> bool:
        return self.place <= other.place

    def __gt__(self, other: Edition) -> bool:
        return self.place > other.place

    def __ge__(self, other: Edition) -> bool:
        return self.place >= other.place

    @classmethod
    def _missing_(cls, value: object) -> Edition | None:
        """Return the newest edition for the name of a release after it: 2.57.0 changed no format and no schema."""
        newest = max(cls)
        later = re.fullmatch(r"artemis-2\.(\d{1,4})", value) if isinstance(value, str) else None
        return newest if later and int(later[1]) > int(newest.value.rpartition(".")[2]) else None

    @property
    def release(self) -> str:
        """The exact release that was examined."""
        return _PATCH_RELEASES.get(self) or self.value.removeprefix("artemis-") + ".0"

    @property
    def old_layout(self) -> bool:
        """Page records and messages of HornetQ and Artemis 1.x (docs/spec/page-files.md 4.2)."""
        return self <= Edition.ARTEMIS_1_5


_PATCH_RELEASES = {Edition.HORNETQ_2_4: "2.4.7", Edition.ARTEMIS_1_5: "1.5.6", Edition.ARTEMIS_2_10: "2.10.1"}
NEWEST = max(Edition)
EDITION_NAMES = tuple(edition.value for edition in Edition)
