"""Which messages of a paging directory are wanted: by queue, by selector, by page, by whether they are outstanding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from pagefmt.bytes.wire import Undecodable
from pagefmt.directory.bindings import Bindings
from pagefmt.errors import PageFmtError
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.state import StoreState
from pagefmt.pages.frames import Buffer, Damage
from pagefmt.pages.page import Page, open_page
from pagefmt.pages.paging import PageFile
from pagefmt.pages.record import PageRecord
from pagefmt.pages.routes import route_at
from pagefmt.selector import Selector
from pagefmt.selector.message import source_of


class NoSuchQueue(PageFmtError):
    """A queue that the bindings do not know, or a name where there are no bindings."""


@dataclass(frozen=True, slots=True)
class PageRange:
    """Page numbers from ``first`` to ``last``, both included; None: open."""

    first: int | None = None
    last: int | None = None

    def __contains__(self, number: int) -> bool:
        return (self.first is None or number >= self.first) and (self.last is None or number <= self.last)


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """``queues``: ids of which a message must name one. With ``outstanding`` it must be so for one of those queues."""

    queues: frozenset[int] | None = None
    selector: Selector | None = None
    outstanding: bool = False
    pages: PageRange = PageRange()

    @property
    def by_route(self) -> bool:
        """Whether queue ids and transaction already rule messages out."""
        return self.queues is not None or self.outstanding


@dataclass(frozen=True, slots=True)
class SelectedMessage:
    """A wanted message. ``acked_by`` is None where the journal is not known."""

    page: PageFile
    number: int
    record: PageRecord
    acked_by: tuple[int, ...] | None


def select_messages(
    page: PageFile, state: StoreState | None, choice: MessageFilter
) -> Iterator[SelectedMessage | Damage]:
    """The wanted messages of one page in their order, and what is damaged in it. Raises ``NotReadable``.

    ``choice.outstanding`` needs a ``state``. One by one: ``columns.json_lines`` is held against this.
    """
    rule = state.rule(page.number) if state is not None else None
    with open_page(page.path) as opened:
        yield from _selected(page, opened, rule, choice)
        if opened.damage is not None:
            yield opened.damage


def _selected(
    page: PageFile, opened: Page, rule: PageRule | None, choice: MessageFilter
) -> Iterator[SelectedMessage | Damage]:
    layout = opened.strict_layout()
    for number, offset, length in opened.frames():
        if choice.by_route and not wanted_by_route(opened.buf, rule, choice, number, offset, length):
            continue
        record = opened.record(number, offset, length, layout)
        if isinstance(record, Damage):
            yield record
        elif choice.selector is None or choice.selector.matches(source_of(record.message)):
            acked = None if rule is None else rule.acked_by(number, record.queues)
            yield SelectedMessage(page, number, record, acked)


def wanted_by_route(
    buf: Buffer, rule: PageRule | None, choice: MessageFilter, number: int, offset: int, length: int
) -> bool:
    """By queue ids and transaction alone. A payload that is not understood is wanted: it is damage to report."""
    try:
        route = route_at(buf, offset, length, number)
    except Undecodable:
        return True
    queues: Iterable[int] = route[6]
    if choice.queues is not None:
        queues = [queue for queue in queues if queue in choice.queues]
    if choice.outstanding and rule is not None:
        queues = rule.outstanding(number, route[3], queues)
    return any(True for _ in queues)


def queue_ids(wanted: Iterable[str], bindings: Bindings | None) -> frozenset[int]:
    """Ids of queues given by name, by ``address::name`` or by id. Raises ``NoSuchQueue``."""
    return frozenset(_queue_id(name, bindings) for name in wanted)


def _queue_id(wanted: str, bindings: Bindings | None) -> int:
    if bindings is not None:
        for queue in bindings.queues.values():
            if wanted in (queue.name, f"{queue.address}::{queue.name}"):
                return queue.id
    if wanted.isascii() and wanted.isdigit():
        return int(wanted)
    if bindings is None:
        raise NoSuchQueue(f"queue {wanted}: the bindings are not there, so names are not known; give the queue's id")
    names = sorted(queue.name for queue in bindings.queues.values())
    near = get_close_matches(wanted, names, 1)
    hint = (
        f"did you mean {near[0]}?" if near else f"there are {len(names)} queues, 'pagectl pages outstanding' lists them"
    )
    raise NoSuchQueue(f"queue {wanted}: not in the bindings; {hint}")
