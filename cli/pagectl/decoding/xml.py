"""Outstanding messages written as XML for ``artemis data imp``, and what the file cannot hold."""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pagectl.decoding.history import HistorySources, parts_to_send, with_past_queues
from pagectl.decoding.sources import AllSources
from pagectl.files.destination import output_to
from pagectl.running.memory import keep_freed_memory
from pagectl.running.permissions import warn_closed
from pagectl.running.reading import state_of_place
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import note, warning
from pagefmt.codec.messages.amqp_message import AmqpMessageBase
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.values import NULL, ValueKind
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.wire import Undecodable
from pagefmt.directory.permissions import Reads
from pagefmt.directory.queue_names import has_wildcards
from pagefmt.exchange.xml_writing import JournalXml, queue_elements, xml_message
from pagefmt.outstanding.ack_state import LIVE, AckState
from pagefmt.outstanding.message_filter import MessageFilter, queue_ids
from pagefmt.outstanding.state import CannotKnow
from pagefmt.quantities import count_text
from pagefmt.storage.files import NotPermitted, NotReadable
from pagefmt.table.joined_xml import joined_xml
from pagefmt.table.table_content import StoredIn
from pagefmt.vectors import XML_CHUNK, Routing, XmlTexts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pagectl.decoding.sources import PageSources, PageToRead
    from pagectl.opening.history import OpenedHistory
    from pagectl.options.history import HistoryChoiceOptions
    from pagefmt.codec.pages.record import PageRecord
    from pagefmt.directory.bindings import Bindings
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.state import PagingState
    from pagefmt.table.table import PageSource

_WILDCARDS: Final = "for a queue of an address with wildcards, which the importer of 2.56 refuses"
_SHOWN: Final = 10  # messages left out that are named


def write_xml(place: DataLocation, to: Path | None, queues: list[str] | None, within: StoredIn) -> bool:
    """Write outstanding messages to ``to`` (None: standard output), and warn of what is not in the file.

    ``queues``: names; None for all. Return whether something is damaged, not known or not in the file. Raises
    ``CannotKnow`` without bindings.
    """
    state = state_of_place(place, journal=True, within=within, closed=False)
    bindings = _bindings(place, state)
    wanted = queue_ids(queues, bindings, place) if queues else None
    closed = warn_closed(place, Reads.BODIES if within is StoredIn.JOURNAL else Reads.PAGES | Reads.BODIES)
    large = LargeMessages(place.large_messages) if place.large_messages is not None else None
    choice = MessageFilter(queues=wanted, outstanding=True)
    sources = AllSources(place, state, choice, within=within, large=large, in_order=False, part_size=XML_CHUNK)
    is_wrong = _write(place, to, bindings, wanted, sources, large)
    return closed or is_wrong or state.known.incomplete


def write_past_xml(
    opened: OpenedHistory, to: Path | None, queues: list[str] | None, where: str | None, options: HistoryChoiceOptions
) -> bool:
    """Write the chosen messages of a history, as ``write_xml`` writes those that wait."""
    place, state = opened.place, opened.state
    bindings = _bindings(place, state)
    named = queue_ids(queues, bindings, place) if queues else None
    choice = with_past_queues(opened, MessageFilter(named, options.selector(where), outstanding=True))
    bindings.queues = opened.history.queues.queues
    parts = parts_to_send(opened, options.states_to_send())
    sources = HistorySources(place, state, choice, parts=parts, by_message=True, part_size=XML_CHUNK)
    return _write(place, to, bindings, choice.queues, sources, parts.large) or opened.damaged


def _write(
    place: DataLocation,
    to: Path | None,
    bindings: Bindings,
    wanted: frozenset[int] | None,
    sources: PageSources,
    large: LargeMessages | None,
) -> bool:
    """Write the messages of the sources. Return whether something is damaged or not in the file."""
    keep_freed_memory()
    account = XmlAccount(place)
    with output_to(to, place, account.count), progress("reading", None, beside_output=to is None):
        xml = JournalXml(sys.stdout.buffer)
        xml.bindings(bindings, sorted(bindings.queues) if wanted is None else sorted(wanted))
        _XmlWriter(xml, bindings, wanted, large, account).write(sources)
        xml.end()
    account.warn()
    return sources.damaged or account.is_wrong


def _bindings(place: DataLocation, state: PagingState) -> Bindings:
    unknown = state.known.unknown_bindings
    if state.bindings is None or (unknown is not None and not state.bindings.queues):
        why = "there are no bindings" if unknown is None else unknown.reason
        raise CannotKnow(f"{place.given}: {why}; see: {place.call('recover')}")
    return state.bindings


class XmlAccount:
    """Numbers of messages in the file, and of those that are left out or lose something.

    ``lost``: by what they lose. ``failed``: why single messages are left out. ``doubt``: those of prepared
    transactions. ``unbound``: those whose queues have no name in the bindings. ``closed``: those whose body may not be
    read. ``ids_of_bytes``: AMQP messages with a correlation id of bytes.
    """

    def __init__(self, place: DataLocation) -> None:
        self.place = place
        self.wildcards = f"{_WILDCARDS}; see {place.call('messages send')}"
        self.messages = self.doubt = self.ids_of_bytes = self.unbound = self.closed = 0
        self.damaged = False
        self.lost: Counter[str] = Counter()
        self.failed: list[str] = []

    @property
    def is_wrong(self) -> bool:
        """Return whether something is damaged, or is not in the file."""
        return bool(self.damaged or self.lost or self.failed or self.doubt or self.unbound)

    def count(self) -> str:
        """Return how many messages are in the file, as text."""
        return count_text(self.messages, "message")

    def warn(self) -> None:
        """Warn of what is not in the file."""
        for why in self.failed[:_SHOWN]:
            warning(f"left out: {why}")
        if len(self.failed) > _SHOWN:
            warning(f"left out: {count_text(len(self.failed) - _SHOWN, 'more message')}")
        if self.closed:
            warning(f"left out: {count_text(self.closed, 'message')} whose large-message file cannot be read")
        if self.unbound:
            warning(
                f"{count_text(self.unbound, 'message')} left out: the bindings have no name for the queues that wait "
                f"for them; see: {self.place.call('recover')}"
            )
        for why, count in self.lost.most_common():
            warning(f"{count_text(count, 'message')}: {why}")
        if self.ids_of_bytes:
            note(
                f"{count_text(self.ids_of_bytes, 'AMQP message')} with a correlation id of bytes: it stays bytes, of "
                "which brokers before 2.33 made text for core clients (ID:AMQP_BINARY:…)"
            )
        if self.doubt:
            warning(
                f"{count_text(self.doubt, 'message')} in doubt left out: their prepared transactions are still open"
            )


class _WaitingQueues(NamedTuple):
    """Names of the queues that wait for a message. ``doubt``: none does for sure.

    ``wildcards``: the address of a queue has wildcards. ``unbound``: queues wait for it, and the bindings name none.
    """

    names: tuple[str, ...]
    doubt: bool
    wildcards: bool
    unbound: bool


class _XmlWriter:
    """Writes the messages of pages and of the journal. ``wanted``: ids of the only queues; None for all."""

    def __init__(
        self,
        xml: JournalXml,
        bindings: Bindings,
        wanted: frozenset[int] | None,
        large: LargeMessages | None,
        account: XmlAccount,
    ) -> None:
        self._xml, self._bindings, self._wanted = xml, bindings, wanted
        self._large, self._account = large, account
        self._waiting = self._waiting_queues

    def write(self, pages: Iterable[PageToRead]) -> None:
        """Write the messages that the chosen queues wait for."""
        read: dict[int, PageToRead] = {}  # pages by the number of their source, from that of the last item on
        number = -1
        for n, item in joined_xml(self._sources(pages, read), self._elements):
            if n != number:
                number, self._waiting = n, cache(self._waiting_queues)  # of few pages, so that it stays small
                for earlier in [page for page in read if page < n]:
                    del read[earlier]
            if isinstance(item, Damage):
                self._account.damaged |= read[n].tell(item)
            elif isinstance(item, XmlTexts):
                self._xml.elements(item.text)
                for routing, messages in item.counts:
                    self._count(routing, messages, [])
            else:
                self._write_record(*item)

    def _sources(self, pages: Iterable[PageToRead], read: dict[int, PageToRead]) -> Iterator[PageSource]:
        """Yield the sources of pages, and add these to ``read``. Pages of which nothing is known are noted instead."""
        count = 0
        for page in pages:
            source = page.source()
            if source.rule is None:
                self._account.failed.append(f"{page.known.store.folder}: it is not known what its queues wait for")
                continue
            read[count] = page
            count += 1
            yield source

    def _elements(self, routing: Routing) -> str | None:
        names = self._waiting(routing).names
        return queue_elements(names) if names else None

    def _count(self, routing: Routing, messages: int, lost: list[str]) -> None:
        names, doubt, wildcards, unbound = self._waiting(routing)
        account = self._account
        account.doubt += doubt * messages
        account.unbound += unbound * messages
        if names:
            account.messages += messages
            account.lost.update(dict.fromkeys([*lost, *([account.wildcards] if wildcards else [])], messages))

    def _write_record(self, record: PageRecord, routing: Routing) -> None:
        names, account = self._waiting(routing).names, self._account
        lost: list[str] = []
        if names:
            try:
                message = xml_message(record.message, names, self._large)
                lost = self._xml.message(message)
            except NotPermitted:
                account.closed += 1
                return
            except (Undecodable, NotReadable) as err:
                account.failed.append(f"message {record.message.id}: {err}")
                return
            id_kind = message.form.properties.get("JMSCorrelationID", NULL).kind
            account.ids_of_bytes += isinstance(record.message, AmqpMessageBase) and id_kind is ValueKind.BYTES
        self._count(routing, 1, lost)

    def _waiting_queues(self, routing: Routing) -> _WaitingQueues:
        bound = self._bindings.queues
        chosen = [(queue, state) for queue, state in routing if self._wanted is None or queue in self._wanted]
        waiting = [queue for queue, state in chosen if state is AckState.OUTSTANDING]
        names = tuple(bound[queue].name for queue in waiting if queue in bound)
        doubt = not names and any(state in LIVE and state is not AckState.OUTSTANDING for _, state in chosen)
        queues = [bound[queue] for queue, _ in chosen if queue in bound]
        wildcards = any(queue.name in names and has_wildcards(queue.address) for queue in queues)
        return _WaitingQueues(names, doubt, wildcards, not names and any(queue not in bound for queue in waiting))
