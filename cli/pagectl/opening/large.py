"""The large-messages directory of a broker, with what is known of its messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.opening.broker import located
from pagectl.options.groups import BrokerOptions
from pagectl.running.exits import CallError
from pagectl.running.permissions import refuse_closed
from pagectl.running.reading import state_of_place
from pagefmt.directory.permissions import Reads

if TYPE_CHECKING:
    from pagefmt.codec.messages.large import LargeMessages
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.state import PagingState


def open_large(directory: Path | None, broker: BrokerOptions) -> tuple[DataLocation, PagingState, LargeMessages]:
    """Open a broker's directories with its large messages. Raise ``CallError`` without a large-messages directory.

    If a whole broker is named, a missing directory counts as an empty one.
    """
    from pagefmt.codec.messages.large import LargeMessages
    from pagefmt.directory.locate import LARGE_NAMES, LocationKind

    place = located(directory, broker)
    if place.large_messages is None and place.kind not in (LocationKind.INSTANCE, LocationKind.DATA):
        raise CallError(f"{place.given}: no large-messages directory; name the data directory or the instance")
    if place.large_messages is not None:
        refuse_closed(place, Reads.LARGE)
    return (
        place,
        state_of_place(place, closed=False),
        LargeMessages(place.large_messages or place.given / LARGE_NAMES[0]),
    )
