"""Messages that were read one by one, as the objects that their JSON lines hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pagefmt.describe.message_json import MessageOptions, odd_json, record_json
from pagefmt.describe.values_json import Json
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.message_filter import Judged, MessageFilter, SelectedMessage, select_messages
from pagefmt.outstanding.origins import MessageOrigin, PageOrigin, Where, scheduled_time
from pagefmt.pages.frames import Damage
from pagefmt.pages.in_memory import PageInMemory
from pagefmt.pages.page import OddRecord
from pagefmt.pages.paging import PageFile, Store
from pagefmt.pages.record import PageRecord


def _message_row(
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


def selected_row(
    store: Store, selected: SelectedMessage, options: MessageOptions, origin: MessageOrigin | None = None
) -> Json:
    """A message that was read by itself as the object that its line holds."""
    if origin is None:
        return _message_row(store, selected, options)
    rule, number = selected.rule, selected.number
    return _message_row(store, selected, options, lambda message: origin_json(origin, rule, number, message))


def origin_json(origin: MessageOrigin, rule: PageRule | None, number: int, message: Json) -> Json:
    """The keys of one message, given the others; in the journal those that say its place as well."""
    numbers = np.array([number])
    found: Json = {"where": str(Where.LARGE), "file": message["large_file"]}
    if not message["large"]:
        found = {"where": str(origin.where), "file": origin.files(numbers)[0][0]}
    queues = np.array(message["queues"], np.int64)
    entries = origin.entries(rule, numbers, np.array([message["tx"]]), np.array([0, len(queues)]), queues)
    states = {}
    for each in (entries.distinct[n] for n in entries.which.tolist()):
        state = {"state": each.state, "delivery_count": each.delivery_count, "scheduled": each.scheduled}
        states[each.queue] = state if each.why is None else state | {"why": each.why}
    found["queues_state"] = states
    places = origin.places(numbers)
    if places is None:
        return found
    (address,), offset, length = places.addresses, int(places.offset[0]), int(places.length[0])
    return found | {
        "store": None,
        "store_address": address,
        "page": None,
        "number": None,
        "offset": offset,
        "length": length,
    }


def plain_rows(
    page: PageFile | PageInMemory, state: Judged | None, store: Store, options: MessageOptions, choice: MessageFilter,
    origin: MessageOrigin | None = None,
) -> Iterator[Json | Damage]:  # fmt: skip
    """The wanted messages of a page. A few of them are here before Arrow, by which many are read, is imported.

    ``origin``: as ``picked_lines`` has it, with nothing apart.
    """
    for found in select_messages(page, state, choice):
        if isinstance(found, Damage):
            yield found
            continue
        record = found.record
        if isinstance(origin, PageOrigin) and isinstance(record, PageRecord) and (at := scheduled_time(record.message)):
            origin.scheduled[found.number] = at
        yield selected_row(store, found, options, origin)
