"""``messages xml``: what queues wait for, as the XML that ``artemis data imp`` takes."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from pagectl.options.groups import BrokerOptions
from pagectl.options.message_filter import QueueOption
from pagectl.options.shared import DirArgument, InOption
from pagectl.running.exits import Exit
from pagectl.terminal.streams import note, warning
from pagefmt.columns.table_content import StoredIn
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagectl.decoding.sources import PageToRead
    from pagefmt.columns.xml_texts import Routing
    from pagefmt.directory.bindings import Bindings
    from pagefmt.directory.locate import DataLocation
    from pagefmt.exchange.xml_writing import JournalXml
    from pagefmt.messages.large import LargeMessages

_WILDCARDS = "for a queue of an address with wildcards, which the importer of 2.56 refuses; see: pagectl messages send"
EXAMPLES = (
    ("All outstanding messages and their queues", "messages xml /var/lib/broker --to messages.xml"),
    ("One queue, to be imported elsewhere", "messages xml /var/lib/broker --queue red.news --to red.xml"),
)


def command(
    given: DirArgument = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write to FILE, which appears only when complete.")
    ] = None,
    queues: QueueOption = None,
    within: InOption = StoredIn.LIVE,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Write outstanding messages as XML for 'artemis data imp': the journal first, then pages.

    AMQP messages become core messages, as the broker converts them. What the file cannot hold is reported, and messages
    in doubt are left out. Ends with status 1 in both cases, and if a page or the journal is damaged.
    """
    import sys

    from pagectl.decoding.sources import AllSources
    from pagectl.files.destination import output_to
    from pagectl.opening.broker import located
    from pagectl.running.permissions import warn_closed
    from pagectl.running.reading import told_state
    from pagectl.terminal.progress import progress
    from pagefmt.directory.permissions import Reads
    from pagefmt.exchange.xml_writing import JournalXml
    from pagefmt.messages.large import LargeMessages
    from pagefmt.outstanding.message_filter import MessageFilter, queue_ids
    from pagefmt.outstanding.state import CannotKnow

    place = located(given, broker)
    state = told_state(place, journal=True, within=within, closed=False)
    if state.bindings is None or (state.known.unknown_bindings is not None and not state.bindings.queues):
        why = "there are no bindings" if state.known.unknown_bindings is None else state.known.unknown_bindings.reason
        raise CannotKnow(f"{place.given}: {why}; see: {place.call('recover')}")
    wanted = queue_ids(queues, state.bindings, place) if queues else None
    closed = warn_closed(place, Reads.BODIES if within is StoredIn.JOURNAL else Reads.PAGES | Reads.BODIES)
    large = LargeMessages(place.large_messages) if place.large_messages is not None else None
    choice = MessageFilter(queues=wanted, outstanding=True)
    sources = AllSources(place, state, choice, within=within, large=large, in_order=False)
    done = _Account(place)
    with output_to(to, place, done.count), progress("reading", None, beside_output=to is None):
        xml = JournalXml(sys.stdout)
        xml.bindings(state.bindings, sorted(state.bindings.queues) if wanted is None else sorted(wanted))
        for at in sources:
            _page(at, xml, state.bindings, wanted, large, done)
        xml.end()
    done.tell()
    wrong = (
        closed
        or sources.damaged
        or done.damaged
        or done.lost
        or done.failed
        or done.doubt
        or done.unbound
        or state.known.incomplete
    )
    return Exit.FOUND if wrong else Exit.OK


class _Account:
    """What is said at the end."""

    def __init__(self, place: DataLocation) -> None:
        self.place = place
        self.messages = self.doubt = self.ids_of_bytes = self.unbound = self.closed = 0
        self.damaged = False
        self.lost: Counter[str] = Counter()
        self.failed: list[str] = []

    def count(self) -> str:
        return count_text(self.messages, "message")

    def tell(self) -> None:
        for why in self.failed[:10]:
            warning(f"left out: {why}")
        if len(self.failed) > 10:
            warning(f"left out: {count_text(len(self.failed) - 10, 'more message')}")
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
    """Queues that wait for a message; ``doubt``: none does for sure. ``wildcards``: one has an address with them.

    ``unbound``: queues wait for it, and the bindings have the name of none.
    """

    names: tuple[str, ...]
    doubt: bool
    wildcards: bool
    unbound: bool


def _page(
    at: PageToRead, xml: JournalXml, bindings: Bindings, wanted: frozenset[int] | None, large: LargeMessages | None,
    done: _Account,
) -> None:  # fmt: skip
    from pagefmt.bytes.files import NotPermitted, NotReadable
    from pagefmt.bytes.wire import Undecodable
    from pagefmt.columns.xml_texts import XmlTexts, xml_items
    from pagefmt.exchange.xml_writing import queue_elements, xml_message
    from pagefmt.messages.amqp_message import AmqpMessageBase
    from pagefmt.messages.values import NULL, ValueKind
    from pagefmt.pages.frames import Damage

    rule = at.known.rule(at.page.number)
    if rule is None:
        done.failed.append(f"{at.known.store.folder}: it is not known what its queues wait for")
        return

    waiting = cache(lambda routing: _waiting(routing, bindings, wanted))

    def count(routing: Routing, messages: int, lost: list[str]) -> None:
        names, doubt, wildcards, unbound = waiting(routing)
        done.doubt += doubt * messages
        done.unbound += unbound * messages
        if names:
            done.messages += messages
            done.lost.update(dict.fromkeys([*lost, *([_WILDCARDS] if wildcards else [])], messages))

    def elements(routing: Routing) -> str | None:
        names = waiting(routing).names
        return queue_elements(names) if names else None

    for found in xml_items(at.page, rule, elements):
        if isinstance(found, Damage):
            done.damaged |= at.tell(found)
        elif isinstance(found, XmlTexts):
            xml.text(found.text)
            for routing, messages in found.counts:
                count(routing, messages, [])
        else:
            record, routing = found
            names = waiting(routing).names
            lost: list[str] = []
            if names:
                try:
                    one = xml_message(record.message, names, large)
                    lost = xml.message(one)
                except NotPermitted:
                    done.closed += 1
                    continue
                except (Undecodable, NotReadable) as err:
                    done.failed.append(f"message {record.message.id}: {err}")
                    continue
                id_kind = one.form.properties.get("JMSCorrelationID", NULL).kind
                done.ids_of_bytes += isinstance(record.message, AmqpMessageBase) and id_kind is ValueKind.BYTES
            count(routing, 1, lost)


def _waiting(routing: Routing, bindings: Bindings, wanted: frozenset[int] | None) -> _WaitingQueues:
    from pagefmt.directory.queue_names import has_wildcards
    from pagefmt.outstanding.ack_state import LIVE, AckState

    mine = [(queue, state) for queue, state in routing if wanted is None or queue in wanted]
    found = [bindings.queues[queue] for queue, _ in mine if queue in bindings.queues]
    names = tuple(
        bindings.queues[queue].name
        for queue, state in mine
        if state is AckState.OUTSTANDING and queue in bindings.queues
    )
    doubt = not names and any(state in LIVE and state is not AckState.OUTSTANDING for _, state in mine)
    wildcards = any(each.name in names and has_wildcards(each.address) for each in found)
    unbound = not names and any(state is AckState.OUTSTANDING and queue not in bindings.queues for queue, state in mine)
    return _WaitingQueues(names, doubt, wildcards, unbound)
