"""Messages whose body is a file, as pages and journal have them (docs/spec/messages.md 10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pagefmt.codec.messages.bodies import is_compressed
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.pages.frames import DamageKind
from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import PageRecord
from pagefmt.codec.pages.routes import Route
from pagefmt.codec.wire import Undecodable
from pagefmt.describe.message_json import declared_size
from pagefmt.outstanding.ack_state import LIVE, AckState
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.outstanding.message_location import Where
from pagefmt.outstanding.state import PagingState, StoreState


@dataclass(slots=True)
class LargeReference:
    """A message whose body is a file. ``declared``: bytes of the body according to the message, None if not stated.

    ``place``: the page, or the journal file. ``queues``: states by queue id.
    """

    id: int
    where: Where
    place: str
    address: str | None
    declared: int | None
    queues: dict[int, AckState]

    @property
    def live(self) -> bool:
        """Return whether a queue still waits for the message."""
        return not LIVE.isdisjoint(self.queues.values())


def large_references(state: PagingState, unread: list[str]) -> Iterator[LargeReference]:
    """Yield the references of the pages, then those of the journal. Every page is read once.

    ``unread`` gets one line for each page that is not read to its end, except those that this user may not read.
    """
    for store in state.stores():
        if store.read_instead is None:
            for page in store.store.pages:
                rule = store.rule(page.number)
                with open_page(page) as opened:
                    for route in opened.routes():
                        number, _, _, tx, large_type, _, queues = route
                        if large_type:
                            states = rule.ack_states(number, tx, queues) if rule is not None else []
                            yield reference_of_page(store, page, opened, route, dict(states))
                damage = opened.damage
                closed = damage is not None and damage.kind is DamageKind.NOT_PERMITTED
                if damage is not None and not closed and store.motion(page, damage) is None:
                    place = f"store {store.store.name} page {page.number}"
                    unread.append(f"{place}: offset {damage.offset}: {damage.detail}")
    yield from references_of_journal(state)


def reference_of_page(
    store: StoreState, page: PageFile, opened: Page, route: Route, queues: dict[int, AckState]
) -> LargeReference:
    """Return the reference of a page's record to its large-message file.

    The address is the store's, or the one in the record if the store names none. ``queues``: states by queue id.
    """
    address, declared = _declared(opened, route)
    place = f"{store.store.name}/{page.name}"
    return LargeReference(route[5], Where.PAGE, place, store.store.address or address, declared, queues)


def references_of_journal(state: PagingState) -> Iterator[LargeReference]:
    """Yield the references of all messages in the journal."""
    for part in JournalParts(state, None).parts():
        if isinstance(part, JournalPart):
            with open_page(part.page) as opened:
                for route in opened.routes():
                    number, _, _, tx, large_type, message, queues = route
                    if large_type:
                        address, declared = _declared(opened, route)
                        file, _ = part.located(number)
                        states = dict(part.rule(0).ack_states(number, tx, queues))
                        yield LargeReference(message, Where.JOURNAL, file.name, address, declared, states)


def _declared(opened: Page, route: Route) -> tuple[str | None, int | None]:
    """Return the address, and the size of the body in bytes; None if unknown, or if it is compressed."""
    read = opened.understood(route)
    if not isinstance(read, PageRecord):
        return None, None
    message: Message = read.message
    try:
        properties = message.properties()
    except Undecodable:
        return message.address, None
    return message.address, None if is_compressed(properties) else declared_size(message, properties)
