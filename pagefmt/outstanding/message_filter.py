"""Which messages of a paging directory are wanted: by queue, by selector, by page, by whether they are outstanding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import OddRecord, Page, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.codec.pages.record import PageRecord
from pagefmt.codec.pages.routes import Route
from pagefmt.directory.bindings import Bindings
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.queue_names import NoSuchQueue, named_queue
from pagefmt.outstanding.ack_state import PageRule

if TYPE_CHECKING:
    from pagefmt.selector import Selector


class Judged(Protocol):
    """What says what becomes of the records of a page."""

    def rule(self, page: int) -> PageRule | None:
        """Return the rule for a page by its number, or None if the journal is not known."""


@dataclass(frozen=True, slots=True)
class PageRange:
    """Page numbers from ``first`` to ``last``, both included; None: open."""

    first: int | None = None
    last: int | None = None

    def __contains__(self, number: int) -> bool:
        return (self.first is None or number >= self.first) and (self.last is None or number <= self.last)


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """A choice of messages by queue, state, selector and address.

    ``queues``: ids of which a message must name one. With ``outstanding`` it must be so for one of those queues.

    ``addresses``: those whose stores are read; of a store without one, only messages that name one of them.
    """

    queues: frozenset[int] | None = None
    selector: Selector | None = None
    outstanding: bool = False
    pages: PageRange = PageRange()
    addresses: frozenset[str] | None = None

    def of_store(self, address: str | None) -> MessageFilter | None:
        """Return the filter for the messages of a store, or None if nothing in it is wanted."""
        if self.addresses is None or address in self.addresses:
            return self
        if address is not None:
            return None
        from pagefmt.selector.facts import AddressIs, joined

        return replace(self, selector=joined([AddressIs(self.addresses)], self.selector))

    @property
    def by_route(self) -> bool:
        """Return whether queue ids and transaction alone may exclude messages."""
        return self.queues is not None or self.outstanding

    @property
    def ids(self) -> frozenset[int] | None:
        """Return the wanted message ids, None for any. Routes have them, so other messages need not be decoded."""
        if self.selector is None:
            return None
        from pagefmt.selector.facts import required_ids

        return required_ids(self.selector)


@dataclass(frozen=True, slots=True)
class SelectedMessage:
    """A wanted message, with the rule that says how it stands with its queues: None where the journal is not known."""

    page: PageFile | PageInMemory
    number: int
    record: PageRecord | OddRecord
    acked_by: tuple[int, ...] | None
    rule: PageRule | None


def select_messages(
    page: PageFile | PageInMemory, state: Judged | None, choice: MessageFilter
) -> Iterator[SelectedMessage | Damage]:
    """Yield the wanted messages and the damage of one page, in order.

    ``choice.outstanding`` needs a ``state``. Decodes one by one: the reference for ``columns.json_lines``.
    """
    with open_page(page) as opened:
        yield from wanted_messages(page, opened, state.rule(page.number) if state is not None else None, choice)


def wanted_messages(
    page: PageFile | PageInMemory,
    opened: Page,
    rule: PageRule | None,
    choice: MessageFilter,
    at: int = 0,
    number: int = 0,
) -> Iterator[SelectedMessage | Damage]:
    """Yield what ``select_messages`` does, from the record ``number`` at ``at`` on.

    After a record at which a broker throws, nothing in the page is outstanding.
    """
    ids = choice.ids
    for route in opened.handed_out(at, number):
        if isinstance(route, Damage):
            yield route
            if rule is not None and rule.end is None:
                rule = rule.ending_at(route.number)
            if choice.outstanding and (rule is None or rule.end is not None):
                return
        elif (ids is None or route[5] in ids) and (not choice.by_route or wanted_by_route(route, rule, choice)):
            yield from message_at(page, opened, route, rule, choice)
    if opened.damage is not None:
        yield opened.damage


def message_at(
    page: PageFile | PageInMemory, opened: Page, route: Route, rule: PageRule | None, choice: MessageFilter
) -> Iterator[SelectedMessage | Damage]:
    """Yield the message if the selector matches.

    Damage of the record comes first, and never matches a selector.
    """
    record = opened.understood(route)
    if isinstance(record, OddRecord):
        yield record.damage
    if choice.selector is not None:
        from pagefmt.selector.message import source_of

        if isinstance(record, OddRecord) or not choice.selector.matches(source_of(record.message)):
            return
    yield SelectedMessage(page, route[0], record, None if rule is None else rule.acked_by(route[0], route[6]), rule)


def wanted_by_route(route: Route, rule: PageRule | None, choice: MessageFilter) -> bool:
    """Return whether the message is wanted by queue ids and transaction alone."""
    queues: Iterable[int] = route[6]
    if choice.queues is not None:
        queues = [queue for queue in queues if queue in choice.queues]
    if choice.outstanding and rule is not None:
        queues = rule.outstanding(route[0], route[3], queues)
    return any(True for _ in queues)


def queue_ids(wanted: Iterable[str], bindings: Bindings | None, place: DataLocation) -> frozenset[int]:
    """Return ids of queues given by name, by ``address::name`` or by id. Raise ``NoSuchQueue``.

    ``place``: whose bindings these are.
    """
    return frozenset(_queue_id(name, bindings, place) for name in wanted)


def _queue_id(wanted: str, bindings: Bindings | None, place: DataLocation) -> int:
    """Return the queue's id. A number counts as an id only if no queue has it as its name."""
    names = {queue.name for queue in bindings.queues.values()} if bindings else set()
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 20 and wanted not in names:
        return int(wanted)
    if bindings is None:
        raise NoSuchQueue(f"queue {wanted}: there are no bindings, so names are not known; give the queue's id")
    return named_queue(bindings, wanted, place).id
