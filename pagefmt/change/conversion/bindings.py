"""The bindings journal as 2.x has it: addresses are records of their own, queues have routing types.

Of 2.x it stays as it is. Groups, states of queues and what else 1.x and HornetQ write are the same in 2.x, but for
settings that were made by management (docs/spec/journal.md 11.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pagefmt.change.conversion.forms import NewForm
from pagefmt.change.conversion.names import ANYCAST, MULTICAST, TOPIC_FILTERS, new_filter, routing_of
from pagefmt.change.conversion.settings import json_setting, new_roles
from pagefmt.codec.wire import ByteReader, ByteWriter
from pagefmt.directory.bindings import (
    AddressBinding,
    Bindings,
    QueueBinding,
    Value,
    decode_address,
    decode_queue,
    encode_address,
    encode_queue,
)
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.record_types import RecordType, type_name
from pagefmt.journal.records import JournalRecord, RecordKind

# what a broker of 2.x writes for a queue without special settings
NEW_FIELDS: Final[dict[str, Value]] = {
    "metadata": "", "auto_created": 0, "max_consumers": -1, "purge_on_no_consumers": 0, "routing_type": MULTICAST,
    "exclusive": 0, "last_value": 0, "configuration_managed": 0, "consumers_before_dispatch": 0,
    "delay_before_dispatch": -1, "last_value_key": None, "non_destructive": 0, "group_rebalance": 0,
    "group_buckets": -1, "auto_delete": 0, "auto_delete_delay": 0, "auto_delete_message_count": 0,
    "group_first_key": None, "ring_size": -1, "enabled": 1, "group_rebalance_pause_dispatch": 0, "internal": 0,
}  # fmt: skip
STORE_AND_FORWARD: Final = "sf."


class CannotName(PageFmtError):
    """Two queues that would have one name."""


class NotCarried(PageFmtError):
    """A record that has no place in the new journal."""


class NewQueue(NamedTuple):
    """A queue now and then. ``new`` None: it goes."""

    old: QueueBinding
    new: QueueBinding | None


@dataclass(slots=True)
class NewBindings:
    """The bindings of the new directory.

    ``records``: all records of the new journal. ``dropped``: what has no counterpart. ``lost``: what cannot be carried
    over. ``remarks``: what is different.
    """

    queues: list[NewQueue] = field(default_factory=list)
    addresses: list[AddressBinding] = field(default_factory=list)
    records: list[JournalRecord] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def new_bindings(bindings: Bindings, form: NewForm, highest: int) -> NewBindings:
    """Return the bindings of the new directory. Raise ``CannotName``.

    ``highest`` is the highest of all ids in use; new addresses get the ids after it.
    """
    new = NewBindings()
    for _, queue in sorted(bindings.queues.items()):
        new.queues.append(NewQueue(queue, _queue(queue, form)))
    if form.old:
        _addresses(new, form, highest)
        _tell(new)
    else:
        new.addresses = [address for _, address in sorted(bindings.addresses.items())]
    new.records = list(_records(bindings, form, new, highest + len(new.addresses)))
    return new


def _queue(queue: QueueBinding, form: NewForm) -> QueueBinding | None:
    if not form.old:
        return queue
    if queue.name == queue.address and queue.filter in TOPIC_FILTERS:
        return None
    fields = NEW_FIELDS | {name: value for name, value in queue.fields.items() if value is not None}
    fields |= {
        "name": form.names.address(queue.name),
        "address": form.names.address(queue.address),
        "filter": new_filter(queue.filter),
        "routing_type": routing_of(queue.address) or MULTICAST,
    }
    return QueueBinding(queue.id, fields)


def _addresses(bindings: NewBindings, form: NewForm, highest: int) -> None:
    """Add an address for each address that queues name, also for a topic without a subscription."""
    types: dict[str, set[int]] = {}
    auto_created: dict[str, bool] = {}
    names: Counter[str] = Counter()
    for old, new in bindings.queues:
        address = form.names.address(old.address)
        types.setdefault(address, set()).add(routing_of(old.address) or MULTICAST)
        auto_created[address] = auto_created.get(address, True) and old.flag("auto_created")
        names.update([new.name] if new is not None else [])
    for name, count in names.items():
        if count > 1:
            clash = ", ".join(old.name for old, new in bindings.queues if new is not None and new.name == name)
            raise CannotName(f"queues {clash} would all be named {name}; --keep-prefixes keeps them apart")
    for number, (name, routing) in enumerate(sorted(types.items()), start=highest + 1):
        bindings.addresses.append(AddressBinding(number, name, tuple(sorted(routing)), int(auto_created[name]), 0))


def _tell(bindings: NewBindings) -> None:
    several = Counter(
        new.address for _, new in bindings.queues if new is not None and new.fields["routing_type"] == ANYCAST
    )
    for old, new in bindings.queues:
        if new is None:
            bindings.dropped.append(f"queue {old.name}: represented the topic itself and received no messages")
        elif old.name.startswith(STORE_AND_FORWARD):
            bindings.remarks.append(
                f"queue {old.name}: holds messages for a cluster node; 2.x brokers use a different queue for that"
            )
    for address, count in several.items():
        if count > 1:
            bindings.remarks.append(
                f"address {address}: each of its {count} queues received every message; as anycast queues they will "
                "share new ones"
            )


def _records(bindings: Bindings, form: NewForm, new_bindings: NewBindings, last: int) -> Iterator[JournalRecord]:
    gone = {old.id for old, new in new_bindings.queues if new is None}
    settings: set[tuple[int, str]] = set()
    for row in bindings.loaded.records():
        body, kind = bindings.loaded.columns.body(row.row), row.user_type
        try:
            if not form.old:
                yield _add(row.id, kind, _checked(kind, body))
            elif kind == RecordType.ID_COUNTER_RECORD or row.id in gone:
                continue
            elif kind == RecordType.QUEUE_BINDING_RECORD:
                new = _queue(decode_queue(row.id, body), form)
                assert new is not None
                yield _add(row.id, kind, encode_queue(new))
            elif kind in (RecordType.ADDRESS_SETTING_RECORD, RecordType.SECURITY_SETTING_RECORD):
                kind, match, body = _setting(kind, body, form)
                if (kind, match) in settings:
                    raise NotCarried(f"two matches would both become {match}")
                settings.add((kind, match))
                yield _add(row.id, kind, body)
            elif kind != RecordType.QUEUE_STATUS_RECORD or ByteReader(body).i64() not in gone:
                yield _add(row.id, kind, body)
        except PageFmtError as err:
            new_bindings.lost.append(f"bindings: record {row.id}, {type_name(kind)}: {err}")
    if form.old:
        for address in new_bindings.addresses:
            yield _add(address.id, RecordType.ADDRESS_BINDING_RECORD, encode_address(address))
        counter = ByteWriter()
        counter.i64(last + 1)
        yield _add(last + 1, RecordType.ID_COUNTER_RECORD, counter.done())


def _checked(kind: int, body: bytes) -> bytes:
    if kind == RecordType.QUEUE_BINDING_RECORD:
        decode_queue(0, body)
    elif kind == RecordType.ADDRESS_BINDING_RECORD:
        decode_address(0, body)
    return body


def _setting(kind: int, body: bytes, form: NewForm) -> tuple[int, str, bytes]:
    """Type, match and body. Raises ``NotCarried``, ``Undecodable``."""
    reader, out = ByteReader(body), ByteWriter()
    match = form.names.address(reader.sstr("match"))
    out.sstr(match)
    if kind == RecordType.SECURITY_SETTING_RECORD:
        out.raw(new_roles(reader))
        return kind, match, out.done()
    if form.edition < Edition.ARTEMIS_2_44:
        raise NotCarried(f"address settings of {match}: {form.edition.value} cannot store them; set them again")
    out.sstr(json_setting(reader, form.names))
    return RecordType.ADDRESS_SETTING_RECORD_JSON, match, out.done()


def _add(record: int, kind: int, body: bytes) -> JournalRecord:
    return JournalRecord(RecordKind.ADD, id=record, user_type=int(kind), body=body)
