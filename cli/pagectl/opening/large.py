"""The large-messages directory of a broker, with what is known of its messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.opening.broker import located
from pagectl.options.groups import BrokerOptions
from pagectl.running.exits import CallError
from pagectl.running.permissions import refuse_closed
from pagectl.running.reading import told_state
from pagefmt.directory.permissions import Reads

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.messages.large import LargeMessages
    from pagefmt.outstanding.state import PagingState


def open_large(given: Path | None, broker: BrokerOptions) -> tuple[DataLocation, PagingState, LargeMessages]:
    """A directory that is not there counts as empty where a whole broker was named."""
    from pagefmt.directory.locate import LARGE_NAMES, LocationKind
    from pagefmt.messages.large import LargeMessages

    place = located(given, broker)
    if place.large_messages is None and place.kind not in (LocationKind.INSTANCE, LocationKind.DATA):
        raise CallError(f"{place.given}: no large-messages directory; name the data directory or the instance")
    if place.large_messages is not None:
        refuse_closed(place, Reads.LARGE)
    return place, told_state(place, closed=False), LargeMessages(place.large_messages or place.given / LARGE_NAMES[0])
