"""The bindings journal made anew: what is left of it, and queues and addresses that only messages still know.

A queue is its id (docs/spec/journal.md 5, 6): pages and journal name that. Its name stands nowhere else than in the
bindings, but where messages were sent to ``address::queue``. Else it is taken from the configuration where that
declares one queue of the address, and from the address where that has one queue, as brokers name queues by themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, NamedTuple

from pagefmt.bytes.wire import ByteWriter
from pagefmt.directory.bindings import (
    ROUTING,
    AddressBinding,
    Bindings,
    QueueBinding,
    Value,
    encode_address,
    encode_queue,
)
from pagefmt.editions import Edition
from pagefmt.journal.numbers import Numbers
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.recovery.evidence import Evidence, QueueEvidence

MULTICAST: Final = 0
ANYCAST: Final = 1


class NameSource(StrEnum):
    """Where the name of a queue comes from; the value is for people."""

    BINDINGS = "bindings"
    MESSAGES = "messages that were sent to it by its full name"
    CONFIGURATION = "the configuration, which declares one queue of the address"
    ADDRESS = "its address, which has one queue"
    INVENTED = "nowhere: invented"


class QueueToName(NamedTuple):
    """One of a configuration. ``routing``: ``ANYCAST`` or ``MULTICAST``, None where it does not say."""

    address: str
    name: str
    routing: str | None


@dataclass(frozen=True, slots=True)
class MadeQueue:
    """A queue that the bindings did not have. ``routing_known``: a message or the configuration says it."""

    binding: QueueBinding
    source: NameSource
    routing_known: bool


@dataclass(slots=True)
class MadeBindings:
    """``kept``: as they were, without ``bad``; None: none of them. ``made``: queues from messages; ``passed_over``:
    ids that messages name and that were not made a queue of, with the reason."""

    bindings: Bindings
    made: list[MadeQueue] = field(default_factory=list)
    addresses: list[AddressBinding] = field(default_factory=list)
    passed_over: dict[int, str] = field(default_factory=dict)

    def records(self, counter: int) -> list[JournalRecord]:
        """Of the new journal: what was kept, what was made, and the id counter."""
        loaded = self.bindings.loaded
        found = []
        for row in loaded.records():
            if row.user_type != RecordType.ID_COUNTER_RECORD:
                kind = RecordKind.UPDATE if row.update else RecordKind.ADD
                body = loaded.columns.body(row.row)
                found.append(JournalRecord(kind, row.id, 0, row.user_type, body, 0, row.compact))
        for address in self.addresses:
            found.append(_record(address.id, RecordType.ADDRESS_BINDING_RECORD, encode_address(address)))
        for each in self.made:
            found.append(_record(each.binding.id, RecordType.QUEUE_BINDING_RECORD, encode_queue(each.binding)))
        out = ByteWriter()
        out.i64(counter)
        return [*found, _record(counter - 1, RecordType.ID_COUNTER_RECORD, out.done())]


def _record(number: int, user_type: RecordType, body: bytes) -> JournalRecord:
    return JournalRecord(RecordKind.ADD, number, 0, int(user_type), body)


def foreign(bindings: Bindings, evidence: Evidence, largest: int) -> bool:
    """These are the bindings of another broker: no queue that messages wait for is theirs, and they know ids of
    other addresses, or fewer ids than are in use."""
    used = [each for each in evidence.queues.values() if each.address is not None]
    if not used or not (bindings.queues or bindings.addresses):
        return False
    bound = {number: queue.address for number, queue in bindings.queues.items()}
    if any(each.of(bound.get(each.id)) for each in used):
        return False
    return any(each.id in bound for each in used) or (bindings.id_counter or 0) < largest


def make_queues(
    bindings: Bindings, evidence: Evidence, living: Collection[int], declared: Sequence[QueueToName],
    edition: Edition, first_id: int,
) -> MadeBindings:  # fmt: skip
    """``living``: ids of queues that the message journal names; empty where that is not known.

    ``first_id``: for records of addresses; they take this and the ids behind it.
    """
    found = MadeBindings(bindings)
    shared = {store for other in evidence.queues.values() if other.id in living for store in other.stores}
    missing = [each for number, each in sorted(evidence.queues.items()) if number not in bindings.queues]
    wanted: list[QueueEvidence] = []
    for each in missing:
        beside = not shared.isdisjoint(each.stores)
        if each.address is None:
            found.passed_over[each.id] = "no message for it shows its address"
        elif each.id not in living and beside:
            found.passed_over[each.id] = (
                "the journal knows other queues of the store, but not this one: it was deleted, or is not durable"
            )
        else:
            wanted.append(each)
    used = {queue.name for queue in bindings.queues.values()}
    of_address = Counter([one.address for one in wanted] + [queue.address for queue in bindings.queues.values()])
    for each in wanted:
        made = _made(each, of_address[each.address] == 1, bindings, declared, edition, used)
        used.add(made.binding.name)
        found.made.append(made)
    queues = [*bindings.queues.values(), *(each.binding for each in found.made)]
    for n, (address, routing) in enumerate(sorted(without_address(bindings, queues).items())):
        found.addresses.append(AddressBinding(first_id + n, address, tuple(sorted(routing)), 0, None))
    return found


def without_address(bindings: Bindings, queues: Iterable[QueueBinding]) -> dict[str, set[int]]:
    """Addresses of queues that have no record, with their routing types. A broker does not start on such a queue;
    before 2.0 there are no such records."""
    known = {each.name for each in bindings.addresses.values()}
    types: dict[str, set[int]] = {}
    for queue in queues:
        routing = queue.fields.get("routing_type")
        if queue.address not in known and isinstance(routing, int):
            types.setdefault(queue.address, set()).add(routing)
    return types


def _made(
    each: QueueEvidence, alone: bool, bindings: Bindings, declared: Sequence[QueueToName],
    edition: Edition, used: set[str],
) -> MadeQueue:  # fmt: skip
    address = each.address or ""
    mine = [one for one in declared if one.address == address and one.name not in used]
    stated = each.routing if len(each.routing) == 1 else set[int]()
    if not stated and mine and mine[0].routing is not None and len({one.routing for one in mine}) == 1:
        stated = {number for number, name in ROUTING.items() if name == mine[0].routing}
    if not stated and each.shared:
        stated = {MULTICAST}
    routing = next(iter(stated), ANYCAST if alone else MULTICAST)
    if len(each.names) == 1 and not each.names & used:
        name, source = next(iter(each.names)), NameSource.MESSAGES
    elif alone and len(mine) == 1:
        name, source = mine[0].name, NameSource.CONFIGURATION
    elif alone and routing == ANYCAST and not mine and address not in used:
        name, source = address, NameSource.ADDRESS
    else:
        name, source = f"{address}.recovered-{each.id}", NameSource.INVENTED
    fields: dict[str, Value] = {"name": name, "address": address, "filter": None}
    if edition >= Edition.ARTEMIS_1_5:
        fields |= {"metadata": "", "auto_created": 0}
    if not edition.old_layout:
        fields |= {"max_consumers": -1, "purge_on_no_consumers": 0, "routing_type": routing}
    return MadeQueue(QueueBinding(each.id, fields), source, bool(stated))


def emptied(bindings: Bindings) -> Bindings:
    """None of its records."""
    return Bindings(replace(bindings.loaded, rows=Numbers()))
