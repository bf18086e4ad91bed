"""Messages that were read one by one, as the objects that their JSON lines hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pagefmt.describe.message_json import MessageOptions, odd_json, record_json
from pagefmt.describe.values_json import Json
from pagefmt.outstanding.message_filter import Judged, MessageFilter, SelectedMessage, select_messages
from pagefmt.pages.frames import Damage
from pagefmt.pages.page import OddRecord
from pagefmt.pages.paging import PageFile, Store


def message_row(
    store: Store, selected: SelectedMessage, options: MessageOptions, placed: Callable[[Json], Json] | None = None
) -> Json:
    """One message. ``placed``: what is said beside it of where it lies."""
    record = selected.record
    place = selected.page.number, selected.number
    message = (
        odd_json(*place, record, options) if isinstance(record, OddRecord) else record_json(*place, record, options)
    )
    last = {key: message.pop(key) for key in ("amqp", "damage") if key in message}
    if selected.acked_by is not None:
        message["acked_by"] = list(selected.acked_by)
    owner = {"store": store.name, "store_address": store.address}
    return owner | message | (placed(message) if placed is not None else {}) | last


def plain_rows(
    page: PageFile, state: Judged | None, store: Store, options: MessageOptions, choice: MessageFilter
) -> Iterator[Json | Damage]:
    """The wanted messages of a page. A few of them are here before Arrow, by which many are read, is imported."""
    for found in select_messages(page, state, choice):
        yield found if isinstance(found, Damage) else message_row(store, found, options)
