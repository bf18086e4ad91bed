"""What a broker of an edition does with a page, given its reading (docs/spec/page-files.md 4.4, 5.3 – 5.5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pagefmt.check.broker_reader import BrokerReading
from pagefmt.editions import Edition
from pagefmt.quantities import count_text


class BrokerAction(StrEnum):
    """What the broker does with the page. The last three lose or withhold messages that are in the file."""

    READS = "reads"
    IGNORES_TAIL = "ignores-tail"
    LOSES_REST = "loses-rest"
    STOPS = "stops"
    NO_START = "does-not-start"


@dataclass(frozen=True, slots=True)
class BrokerVerdict:
    """What a broker of an edition does with a page, as a value and in words."""

    edition: Edition
    action: BrokerAction
    text: str
    reading: BrokerReading


@dataclass(frozen=True, slots=True)
class PageContext:
    """The position of a page in its store: its number, and whether it is the last, or the only one."""

    store: str = ""
    page: int | None = None
    last: bool = False
    only: bool = False


def judge(reading: BrokerReading, size: int, edition: Edition, place: PageContext) -> BrokerVerdict:
    """Return what a broker of the edition does with the page that it read this way, as an action and a sentence.

    ``size``: bytes of the page file. ``place`` decides what a broker makes of bytes after the records (4.4, 5.3 – 5.5).
    """
    if reading.error is not None:
        return _judge_throw(reading, edition, place)
    if reading.undeliverable is not None:
        text = f"reads {count_text(reading.records, 'record')}, but cannot decode {reading.undeliverable}: it starts, "
        text += "and stops itself when a queue delivers that message (AMQ222010), at each start"
        return BrokerVerdict(edition, BrokerAction.STOPS, text, reading)
    left = size - reading.bytes_read
    at_start = _at_start(left, size, edition, place)
    count = count_text(reading.records, "record")
    if reading.suspect is not None:
        text = (
            f"reads {count}, reports the file as suspect at {reading.suspect[0]}, and loses the {left} bytes after it"
        )
        return BrokerVerdict(edition, BrokerAction.LOSES_REST, f"{text}; {PUT_ASIDE}{at_start}", reading)
    if left:
        text = f"reads {count} and ignores the last {left} bytes{at_start}"
        return BrokerVerdict(edition, BrokerAction.IGNORES_TAIL, text, reading)
    return BrokerVerdict(edition, BrokerAction.READS, f"reads {count}, the whole file{at_start}", reading)


PUT_ASIDE: Final = "when every queue is done with it, it is renamed to .invalidPage instead of deleted"


def _judge_throw(reading: BrokerReading, edition: Edition, place: PageContext) -> BrokerVerdict:
    why = f"cannot decode {reading.error}"
    if place.last:
        return BrokerVerdict(
            edition, BrokerAction.NO_START, f"{why}; it is the last page, so the broker does not start", reading
        )
    text = f"{why}; it starts, and stops itself when a queue reads this page"
    if edition >= Edition.ARTEMIS_2_28:
        text += "; the rebuild of the counters and the clean-up of this address never end"
    return BrokerVerdict(edition, BrokerAction.STOPS, text, reading)


def _at_start(left: int, size: int, edition: Edition, place: PageContext) -> str:
    if not place.last:
        return ""
    if place.only and size == 0:
        return "; the only page and empty: the address does not page at start"
    if not left:
        return "; writing goes on at its end"
    if edition >= Edition.ARTEMIS_2_10:
        return "; as the last page it is left unchanged, and the next page is opened for writing"
    return "; as the last page it is appended to after the damage, and those messages are lost at the next start"
