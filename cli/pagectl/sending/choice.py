"""Which queues are sent, and where the messages of each go."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pagectl.running.exits import CallError
from pagectl.running.reading import state_of_place
from pagectl.sending.messages import QueueToSend, StoredMessages
from pagefmt.directory.queue_names import qualified
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagectl.decoding.sources import PageSources
    from pagectl.opening.history import OpenedHistory
    from pagectl.options.history import HistoryChoiceOptions
    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.directory.locate import DataLocation
    from pagefmt.history.parts import HistoryParts
    from pagefmt.outstanding.message_filter import MessageFilter


def chosen_messages(
    place: DataLocation, queues: list[str] | None, where: str | None, mapping: Sequence[str], within: StoredIn
) -> tuple[StoredMessages, list[QueueToSend]]:
    """Return the stored messages, and the queues to send. ``queues``: None for all but the broker's own.

    ``mapping``: rules FROM=TO. Raises ``CallError`` for a queue or rule that fits nothing, ``CannotKnow`` if it is not
    known which messages to send.
    """
    from pagefmt.codec.messages.large import LargeMessages
    from pagefmt.outstanding.message_filter import queue_ids
    from pagefmt.outstanding.state import CannotKnow
    from pagefmt.selector import parse

    selector = parse(where) if where is not None else None
    state = state_of_place(place, journal=True, within=within)
    if state.bindings is None or state.unknown is not None:
        why = "there are no bindings" if state.unknown is None else state.unknown.reason
        raise CannotKnow(
            f"{place.given}: {why}, so it is not known which messages to send where; see: "
            f"{place.call('journal verify' if state.known.unknown_journal else 'recover')}"
        )
    bound = state.bindings.queues
    ids = queue_ids(queues, state.bindings, place) if queues else frozenset(bound)
    if missing := sorted(ids - bound.keys()):
        raise CallError(f"--queue {missing[0]}: no queue has this id; {place.call('messages ls')} lists them")
    wanted = (bound[number] for number in ids if queues or not bound[number].address.startswith("$"))
    chosen = sorted(wanted, key=lambda queue: (queue.address, queue.name))
    targets = _targets(chosen, mapping, place)
    large = LargeMessages(place.large_messages) if place.large_messages is not None else None
    sending = [QueueToSend(queue, target) for queue, target in zip(chosen, targets, strict=True)]
    return StoredMessages(place, state, selector, large, within), sending


@dataclass(frozen=True, slots=True)
class PastChoice:
    """Which messages of a history are sent: those that ``options`` select."""

    opened: OpenedHistory
    options: HistoryChoiceOptions

    def as_key(self) -> dict[str, Any]:
        """Return what has to be the same in every call that goes on with one checkpoint."""
        options = self.options
        return {"id": options.message_id, "since": options.since, "until": options.until, "states": options.states}


@dataclass(slots=True)
class StoredHistory(StoredMessages):
    """The chosen messages of a history. In ``parts`` they wait for their queues."""

    parts: HistoryParts = field(kw_only=True)

    def ids_of(self, queue: QueueBinding) -> frozenset[int]:
        """Return the ids of all queues with this name."""
        every = self.parts.history.queues.queues.items()
        return frozenset(number for number, other in every if qualified(other) == qualified(queue))

    def sources(self, choice: MessageFilter) -> PageSources:
        """Return what is read for the chosen messages."""
        from pagectl.decoding.history import HistorySources

        return HistorySources(self.place, self.state, choice, parts=self.parts)


def past_messages(
    past: PastChoice, queues: list[str] | None, where: str | None, mapping: Sequence[str]
) -> tuple[StoredMessages, list[QueueToSend]]:
    """Return the chosen messages of a history, and the queues that had them, which may be deleted.

    Raises ``CallError`` for a queue or rule that fits nothing, ``CannotKnow`` without the names of queues.
    """
    from pagectl.decoding.history import parts_to_send, with_past_queues
    from pagefmt.outstanding.message_filter import MessageFilter, queue_ids
    from pagefmt.outstanding.state import CannotKnow

    opened, options = past.opened, past.options
    place, state, bound = opened.place, opened.state, opened.history.queues.queues
    if not bound:
        raise CannotKnow(
            f"{place.given}: there are no bindings, so it is not known where messages go; name the instance"
        )
    wanted = queue_ids(queues, state.bindings, place) if queues else None
    ids = with_past_queues(opened, MessageFilter(queues=wanted)).queues
    parts = parts_to_send(opened, options.states_to_send())
    chosen = [queue for number, queue in bound.items() if number in (bound if ids is None else ids)]
    chosen = [queue for queue in chosen if queues or not queue.address.startswith("$")]
    chosen = [queue for queue in chosen if len(parts.numbers(queues=(queue.id,), waiting=True))]
    # of a deleted queue and its successor the last one stands for both
    chosen = list({qualified(queue): queue for queue in sorted(chosen, key=lambda queue: queue.id)}.values())
    chosen.sort(key=lambda queue: (queue.address, queue.name))
    sending = [QueueToSend(*pair) for pair in zip(chosen, _targets(chosen, mapping, place), strict=True)]
    stored = StoredHistory(place, state, options.selector(where), parts.large, parts=parts)
    stored.damaged = opened.damaged
    return stored, sending


def _targets(queues: list[QueueBinding], mapping: Sequence[str], place: DataLocation) -> list[str]:
    """Return where the messages of each queue go.

    If a rule maps an address to an address, its queues keep their names, but a queue that is named as its address gets
    the new name. Destinations of HornetQ and 1.x get the names that they have in 2.x.
    """
    from pagefmt.change.conversion.names import NewNames

    rules = _rules(mapping)
    used: set[str] = set()
    targets = []
    for queue in queues:
        address, name, whole = queue.address, queue.name, qualified(queue)
        source = next((text for text in (whole, address) if text in rules), "")
        used.add(source)
        if not source:
            new = NewNames(keep=queue.routing is not None)
            targets.append(f"{new.address(address)}::{new.address(name)}")
        elif source == address and "::" not in rules[source]:
            targets.append(f"{rules[source]}::{rules[source] if name == address else name}")
        else:
            targets.append(rules[source])
    if unused := sorted(rules.keys() - used):
        raise CallError(
            f"--to-address {unused[0]}=…: no queue to be sent has this address or name; see: "
            f"{place.call('messages ls')}"
        )
    return targets


def _rules(mapping: Sequence[str]) -> dict[str, str]:
    """Return the targets by what they replace."""
    rules: dict[str, str] = {}
    for rule in mapping:
        source, equals, target = rule.partition("=")
        if not (source and equals and target):
            raise CallError(f"--to-address {rule}: write FROM=TO, both an ADDRESS or ADDRESS::QUEUE")
        if rules.setdefault(source, target) != target:
            raise CallError(f"--to-address {rule}: {source} goes to {rules[source]} already")
    return rules


def count_waiting(stored: StoredMessages, queues: list[QueueToSend]) -> None:
    """Count what waits in each queue, if there is a prepared transaction, or a progress bar is shown."""
    if isinstance(stored, StoredHistory):
        for queue in queues:
            queue.totals.waiting = len(stored.parts.numbers(queues=stored.ids_of(queue.queue), waiting=True))
        return
    if not stored.state.journal.prepared and not sys.stderr.isatty():
        return
    from pagectl.decoding.counts import counted

    counts, _ = counted(stored.place, stored.state, stored.within, beside_output=False)
    for queue in queues:
        count = counts.queues[queue.queue.id]
        queue.totals.in_doubt, queue.totals.waiting = count.in_doubt, count.journal + count.pages
