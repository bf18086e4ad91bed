"""Editions of the broker, oldest first. Nothing on disk states one: the caller names it, or the newest that fits.

Source: docs/spec/editions.md. What an edition changes is a comparison with a member of this enum, where it matters.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple


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
        """Return the edition whose behaviour applies to a release or a product, such as ``2.38`` or ``amq-7.12``."""
        named = release_named(value) if isinstance(value, str) else None
        return named.edition if named else None

    @property
    def release(self) -> str:
        """Return the exact release that was examined."""
        return _PATCH_RELEASES.get(self) or self.value.removeprefix("artemis-") + ".0"

    @property
    def old_layout(self) -> bool:
        """Page records and messages of HornetQ and Artemis 1.x (docs/spec/page-files.md 4.2)."""
        return self <= Edition.ARTEMIS_1_5


_PATCH_RELEASES = {Edition.HORNETQ_2_4: "2.4.7", Edition.ARTEMIS_1_5: "1.5.6", Edition.ARTEMIS_2_10: "2.10.1"}
NEWEST = max(Edition)
EDITION_NAMES = tuple(edition.value for edition in Edition)


class BrokerRelease(NamedTuple):
    """A release by its usual name: ``broker`` is the broker inside, ``edition`` the one whose behaviour applies."""

    name: str
    broker: str
    edition: Edition

    @property
    def remark(self) -> str:
        """Return a sentence on which edition applies, and whether the release lies between two measured ones."""
        inside = "" if self.name == self.broker.lower().replace(" ", "-") else f" is {self.broker}"
        sentence = f"{self.name}{inside}: treated as {self.edition.value}"
        if self.broker.partition(" ")[2] in (self.edition.release, self.edition.value.partition("-")[2]):
            return sentence
        if self.edition is NEWEST:
            return f"{sentence}, the newest edition with a description of its own"
        after = next(edition for edition in Edition if edition > self.edition)
        if self.edition.old_layout or _minor(self.broker) < _minor(f"Artemis {self.edition.release}"):
            return f"{sentence}, the nearest that was measured"
        return f"{sentence}; it lies between that and {after.value}, and what changed between them may apply already"


def _minor(broker: str) -> int:
    """Return the second number of a release such as ``Artemis 2.31 to 2.40``."""
    return int(broker.split()[1].split(".")[1])


# Product and its releases (the last two numbers of a range belong to it), the broker inside, the edition that applies.
# AMQ Broker: the version of its builds of Artemis; servers: as in brokerconf's facts/servers.csv.
_PRODUCTS = """
amq      7.0   Artemis 2.0           artemis-2.4
amq      7.1   Artemis 2.4           artemis-2.4
amq      7.2   Artemis 2.6           artemis-2.4
amq      7.3   Artemis 2.7           artemis-2.4
amq      7.4   Artemis 2.9           artemis-2.4
amq      7.5   Artemis 2.9           artemis-2.4
amq      7.6   Artemis 2.11          artemis-2.10
amq      7.7   Artemis 2.13          artemis-2.10
amq      7.8   Artemis 2.16          artemis-2.10
amq      7.9   Artemis 2.18          artemis-2.17
amq      7.10  Artemis 2.21          artemis-2.17
amq      7.11  Artemis 2.28          artemis-2.28
amq      7.12  Artemis 2.33          artemis-2.28
amq      7.13  Artemis 2.40          artemis-2.28
eap      6     HornetQ 2.2 or 2.3    hornetq-2.4
eap      6.0   HornetQ 2.2           hornetq-2.4
eap      6.1   HornetQ 2.3           hornetq-2.4
eap      6.2   HornetQ 2.3           hornetq-2.4
eap      6.3   HornetQ 2.3           hornetq-2.4
eap      6.4   HornetQ 2.3           hornetq-2.4
eap      7.0   Artemis 1.1           artemis-1.5
eap      7.1   Artemis 1.5           artemis-1.5
eap      7.2   Artemis 2.6           artemis-2.4
eap      7.3   Artemis 2.9           artemis-2.10
eap      7.4   Artemis 2.16          artemis-2.10
eap      8.0   Artemis 2.21 to 2.33  artemis-2.17
eap      8.1   Artemis 2.40          artemis-2.28
wildfly  8     HornetQ 2.4           hornetq-2.4
wildfly  9     HornetQ 2.4           hornetq-2.4
wildfly  10    Artemis 1.1           artemis-1.5
wildfly  11-13 Artemis 1.5           artemis-1.5
wildfly  14-16 Artemis 2.6           artemis-2.4
wildfly  17    Artemis 2.8           artemis-2.4
wildfly  18    Artemis 2.9 or 2.10   artemis-2.10
wildfly  19-21 Artemis 2.10          artemis-2.10
wildfly  22    Artemis 2.16          artemis-2.10
wildfly  23-26 Artemis 2.16 to 2.19  artemis-2.10
wildfly  26.1  Artemis 2.19          artemis-2.17
wildfly  27-29 Artemis 2.26          artemis-2.17
wildfly  30-36 Artemis 2.31 to 2.40  artemis-2.28
wildfly  37-40 Artemis 2.41 to 2.53  artemis-2.44
wildfly  41    Artemis 2.54          artemis-2.44
"""


def _product_releases() -> dict[str, BrokerRelease]:
    by_name = {}
    for row in _PRODUCTS.strip().splitlines():
        product, releases, *broker, edition = row.split()
        first, _, last = releases.partition("-")
        numbers = [str(number) for number in range(int(first), int(last) + 1)] if last else [first]
        for number in numbers:
            name = f"{product}-{number}"
            by_name[name] = BrokerRelease(name, " ".join(broker), Edition(edition))
    return by_name


PRODUCT_RELEASES = _product_releases()
_HORNETQ = {(2, minor) for minor in range(5)}  # there was no later release


def release_named(text: str) -> BrokerRelease | None:
    """Return the release that a name means, or None for any other text.

    Names are like ``2.38``, ``artemis-2.38``, ``hornetq-2.3``, ``amq-7.12``, ``eap-7.4`` or ``wildfly-31``, with or
    without further numbers.
    """
    match = re.fullmatch(r"(?:(artemis|hornetq|amq|eap|wildfly)-)?(\d{1,4})((?:\.\d{1,4})*)(?:\.Final)?", text)
    if match is None:
        return None
    product, number = match[1] or "artemis", match[2] + match[3]
    numbers = [int(part) for part in number.split(".")]
    if product == "hornetq":
        return BrokerRelease(text, f"HornetQ {number}", Edition.HORNETQ_2_4) if tuple(numbers[:2]) in _HORNETQ else None
    if product == "artemis":
        if numbers[0] not in (1, 2) or len(numbers) == 1:
            return None
        return BrokerRelease(text, f"Artemis {number}", edition_of_numbers(numbers[0], numbers[1]))
    short = ".".join(number.split(".")[:2])
    listed = PRODUCT_RELEASES.get(f"{product}-{short}") or (
        PRODUCT_RELEASES.get(f"{product}-{numbers[0]}") if product == "wildfly" else None
    )
    return listed._replace(name=text) if listed else None


def edition_of_numbers(major: int, minor: int) -> Edition:
    """Return the edition of a release of Artemis: the newest that is not newer, of the same major release."""
    of_major = [edition for edition in Edition if edition.value.startswith(f"artemis-{major}.")]
    older = [edition for edition in of_major if int(edition.release.split(".")[1]) <= minor]
    return older[-1] if older else of_major[0]
