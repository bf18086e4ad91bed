"""Messages that were read one by one, as the objects that their JSON lines hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import OddRecord
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.codec.pages.record import PageRecord
from pagefmt.describe.message_json import MessageOptions, odd_json, record_json
from pagefmt.describe.values_json import Json
from pagefmt.directory.paging import Store
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.message_filter import Judged, MessageFilter, SelectedMessage, select_messages
from pagefmt.outstanding.message_location import MessageOrigin, PageOrigin, Where, scheduled_time


def _message_row(
    store: Store, selected: SelectedMessage, options: MessageOptions, placed: Callable[[Json], Json] | None = None
) -> Json:
    """Return the object of one message. ``placed`` returns the keys about its location, if any are wanted."""
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


def selected_row(
    store: Store, selected: SelectedMessage, options: MessageOptions, origin: MessageOrigin | None = None
) -> Json:
    """Return a message that was read by itself, as the object in its JSON line."""
    if origin is None:
        return _message_row(store, selected, options)
    rule, number = selected.rule, selected.number
    return _message_row(store, selected, options, lambda message: origin_json(origin, rule, number, message))


def origin_json(origin: MessageOrigin, rule: PageRule | None, number: int, message: Json) -> Json:
    """Return the keys about the location and state of a message; for one in the journal also those of its position."""
    numbers = np.array([number])
    keys: Json = {"where": str(Where.LARGE), "file": message["large_file"]}
    if not message["large"] or origin.where is Where.HISTORY:
        keys = {"where": str(origin.where), "file": origin.files(numbers)[0][0]}
    if (times := origin.times(numbers)) is not None:
        keys["not_before"], keys["not_after"] = times.brackets[0]
    queues = np.array(message["queues"], np.int64)
    entries = origin.entries(rule, numbers, np.array([message["tx"]]), np.array([0, len(queues)]), queues)
    states = {}
    for entry in (entries.distinct[n] for n in entries.which.tolist()):
        state = {"state": entry.state, "delivery_count": entry.delivery_count, "scheduled": entry.scheduled}
        states[entry.queue] = state if entry.why is None else state | {"why": entry.why}
    keys["queues_state"] = states
    places = origin.places(numbers)
    if places is None:
        return keys
    (address,), offset, length = places.addresses, int(places.offset[0]), int(places.length[0])
    return keys | {
        "store": None,
        "store_address": address,
        "page": None,
        "number": None,
        "offset": offset,
        "length": length,
    }


def plain_rows(
    page: PageFile | PageInMemory,
    state: Judged | None,
    store: Store,
    options: MessageOptions,
    choice: MessageFilter,
    origin: MessageOrigin | None = None,
) -> Iterator[Json | Damage]:
    """Yield the wanted messages of a page, decoded one by one.

    For a few messages this is faster than columns, which need the import of Arrow.

    ``origin``: as ``picked_lines`` has it, with nothing apart.
    """
    for selected in select_messages(page, state, choice):
        if isinstance(selected, Damage):
            yield selected
            continue
        record = selected.record
        if isinstance(origin, PageOrigin) and isinstance(record, PageRecord) and (at := scheduled_time(record.message)):
            origin.scheduled[selected.number] = at
        yield selected_row(store, selected, options, origin)
