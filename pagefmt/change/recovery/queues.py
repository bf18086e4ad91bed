"""The bindings journal rebuilt: its readable records, and queues and addresses recreated from messages.

Pages and journal name queues by id (docs/spec/journal.md 5, 6). The name of a queue is only in the bindings, except in
messages sent to ``address::queue``. Otherwise it comes from the configuration, if that declares one queue of the
address, or from the address, if that has one queue, because brokers name automatic queues so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, NamedTuple

from pagefmt.change.recovery.evidence import Evidence, QueueEvidence
from pagefmt.codec.wire import ByteWriter
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
    """A queue of a configuration. ``routing``: ``ANYCAST`` or ``MULTICAST``; None if it does not say."""

    address: str
    name: str
    routing: str | None


@dataclass(frozen=True, slots=True)
class RebuiltQueue:
    """A queue that the bindings did not have. ``routing_known``: a message or the configuration says it."""

    binding: QueueBinding
    source: NameSource
    routing_known: bool


@dataclass(slots=True)
class RebuiltBindings:
    """Bindings of the new directory.

    ``bindings``: those that survived. ``made``: queues recreated from messages. ``addresses``: addresses added for
    queues. ``passed_over``: queue ids that messages name and that get no queue, with the reason.
    """

    bindings: Bindings
    made: list[RebuiltQueue] = field(default_factory=list)
    addresses: list[AddressBinding] = field(default_factory=list)
    passed_over: dict[int, str] = field(default_factory=dict)

    def records(self, counter: int) -> list[JournalRecord]:
        """Return the records of the new bindings journal. ``counter`` is the value of the id counter."""
        loaded = self.bindings.loaded
        records = []
        for row in loaded.records():
            if row.user_type != RecordType.ID_COUNTER_RECORD:
                kind = RecordKind.UPDATE if row.update else RecordKind.ADD
                body = loaded.columns.body(row.row)
                records.append(JournalRecord(kind, row.id, 0, row.user_type, body, 0, row.compact))
        for address in self.addresses:
            records.append(_record(address.id, RecordType.ADDRESS_BINDING_RECORD, encode_address(address)))
        for queue in self.made:
            records.append(_record(queue.binding.id, RecordType.QUEUE_BINDING_RECORD, encode_queue(queue.binding)))
        out = ByteWriter()
        out.i64(counter)
        return [*records, _record(counter - 1, RecordType.ID_COUNTER_RECORD, out.done())]


def _record(number: int, user_type: RecordType, body: bytes) -> JournalRecord:
    return JournalRecord(RecordKind.ADD, number, 0, int(user_type), body)


def foreign(bindings: Bindings, evidence: Evidence, largest: int) -> bool:
    """Return whether these are the bindings of another broker.

    They are if none of their queues has waiting messages and they either use the same ids for other addresses, or their
    id counter is below ``largest``, the largest id in use.
    """
    used = [used_queue for used_queue in evidence.queues.values() if used_queue.address is not None]
    if not used or not (bindings.queues or bindings.addresses):
        return False
    bound = {number: queue.address for number, queue in bindings.queues.items()}
    if any(used_queue.of(bound.get(used_queue.id)) for used_queue in used):
        return False
    return any(used_queue.id in bound for used_queue in used) or (bindings.id_counter or 0) < largest


def make_queues(
    bindings: Bindings,
    evidence: Evidence,
    living: Collection[int],
    declared: Sequence[QueueToName],
    edition: Edition,
    first_id: int,
) -> RebuiltBindings:
    """Return the bindings with a queue for each queue id that messages name and the bindings lack.

    Args:
        bindings: those that survived.
        evidence: what pages and journal say about queues.
        living: ids of queues that the message journal names; empty if the journal is not whole.
        declared: queues of the configuration, for names and routing types.
        edition: of the broker that will read the bindings.
        first_id: of the records of added addresses, which use this id and those after it.
    """
    result = RebuiltBindings(bindings)
    shared = {store for other in evidence.queues.values() if other.id in living for store in other.stores}
    missing = [
        queue_evidence for number, queue_evidence in sorted(evidence.queues.items()) if number not in bindings.queues
    ]
    recreatable: list[QueueEvidence] = []
    for queue_evidence in missing:
        beside = not shared.isdisjoint(queue_evidence.stores)
        if queue_evidence.address is None:
            result.passed_over[queue_evidence.id] = "no message for it shows its address"
        elif queue_evidence.id not in living and beside:
            result.passed_over[queue_evidence.id] = (
                "the journal knows other queues of the store, but not this one: it was deleted, or is not durable"
            )
        else:
            recreatable.append(queue_evidence)
    used = {queue.name for queue in bindings.queues.values()}
    of_address = Counter(
        [chosen.address for chosen in recreatable] + [queue.address for queue in bindings.queues.values()]
    )
    for queue_evidence in recreatable:
        recreated = _made(queue_evidence, of_address[queue_evidence.address] == 1, bindings, declared, edition, used)
        used.add(recreated.binding.name)
        result.made.append(recreated)
    queues = [*bindings.queues.values(), *(queue_evidence.binding for queue_evidence in result.made)]
    for n, (address, routing) in enumerate(sorted(without_address(bindings, queues).items())):
        result.addresses.append(AddressBinding(first_id + n, address, tuple(sorted(routing)), 0, None))
    return result


def without_address(bindings: Bindings, queues: Iterable[QueueBinding]) -> dict[str, set[int]]:
    """Return addresses of queues that have no address record, with their routing types.

    A broker does not start on such a queue. Before 2.0 there are no address records, and no routing types.
    """
    names = {address.name for address in bindings.addresses.values()}
    types: dict[str, set[int]] = {}
    for queue in queues:
        routing = queue.fields.get("routing_type")
        if queue.address not in names and isinstance(routing, int):
            types.setdefault(queue.address, set()).add(routing)
    return types


def _made(
    evidence: QueueEvidence,
    alone: bool,
    bindings: Bindings,
    declared: Sequence[QueueToName],
    edition: Edition,
    used: set[str],
) -> RebuiltQueue:
    address = evidence.address or ""
    candidates = [candidate for candidate in declared if candidate.address == address and candidate.name not in used]
    stated = evidence.routing if len(evidence.routing) == 1 else set[int]()
    if (
        not stated
        and candidates
        and candidates[0].routing is not None
        and len({candidate.routing for candidate in candidates}) == 1
    ):
        stated = {number for number, name in ROUTING.items() if name == candidates[0].routing}
    if not stated and evidence.shared:
        stated = {MULTICAST}
    routing = next(iter(stated), ANYCAST if alone else MULTICAST)
    if len(evidence.names) == 1 and not evidence.names & used:
        name, source = next(iter(evidence.names)), NameSource.MESSAGES
    elif alone and len(candidates) == 1:
        name, source = candidates[0].name, NameSource.CONFIGURATION
    elif alone and routing == ANYCAST and not candidates and address not in used:
        name, source = address, NameSource.ADDRESS
    else:
        name, source = f"{address}.recovered-{evidence.id}", NameSource.INVENTED
    fields: dict[str, Value] = {"name": name, "address": address, "filter": None}
    if edition >= Edition.ARTEMIS_1_5:
        fields |= {"metadata": "", "auto_created": 0}
    if not edition.old_layout:
        fields |= {"max_consumers": -1, "purge_on_no_consumers": 0, "routing_type": routing}
    return RebuiltQueue(QueueBinding(evidence.id, fields), source, bool(stated))


def emptied(bindings: Bindings) -> Bindings:
    """Return the bindings without any record."""
    return Bindings(replace(bindings.loaded, rows=Numbers()))
