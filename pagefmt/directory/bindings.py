"""The bindings journal: queues, addresses and other data that a broker stores about itself (docs/spec/journal.md 5, 6).

Fields of a queue binding were only ever appended: reading stops at the end of the body. If a queue was changed at run
time, there are several records with one id; the last one wins. The id of the record is the id of the queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable
from pagefmt.errors import PageFmtError
from pagefmt.journal.files import Journal
from pagefmt.journal.load import LoadedJournal, UnreadableRecord, load_journal
from pagefmt.journal.record_types import RecordType, type_name

Value: TypeAlias = str | int | None
ROUTING: Final = {0: "MULTICAST", 1: "ANYCAST"}

QUEUE_FIELDS: Final = (
    ("name", "sstr"),
    ("address", "sstr"),
    ("filter", "nsstr"),  # HornetQ ends here
    ("metadata", "nsstr"),
    ("auto_created", "bool"),  # Artemis 1.x ends here
    ("max_consumers", "i32"),
    ("purge_on_no_consumers", "bool"),
    ("routing_type", "i8"),
    ("exclusive", "bool"),  # 2.5
    ("last_value", "bool"),  # 2.6
    ("configuration_managed", "bool"),  # 2.7, down to auto_delete_message_count
    ("consumers_before_dispatch", "i32"),
    ("delay_before_dispatch", "i64"),
    ("last_value_key", "nsstr"),
    ("non_destructive", "bool"),
    ("group_rebalance", "bool"),
    ("group_buckets", "i32"),
    ("auto_delete", "bool"),
    ("auto_delete_delay", "i64"),
    ("auto_delete_message_count", "i64"),
    ("group_first_key", "nsstr"),  # 2.8
    ("ring_size", "i64"),  # 2.10
    ("enabled", "bool"),  # 2.14
    ("group_rebalance_pause_dispatch", "bool"),  # 2.15
    ("internal", "bool"),  # 2.33
)


class BadBinding(PageFmtError):
    """The body of a bindings record does not have the form of its type.

    ``value`` is set if only bytes after its end are wrong.
    """

    def __init__(self, message: str, value: AddressBinding | None = None) -> None:
        super().__init__(message)
        self.value = value


class QueueBinding(NamedTuple):
    """One durable queue.

    ``fields`` are those that the record has, by the names of ``QUEUE_FIELDS``; booleans are bytes as stored. ``rest``:
    bytes of a newer edition after the last known field, kept unchanged.
    """

    id: int
    fields: Mapping[str, Value]
    rest: bytes = b""

    @property
    def name(self) -> str:
        return str(self.fields["name"])

    @property
    def address(self) -> str:
        return str(self.fields["address"])

    @property
    def filter(self) -> str | None:
        """Return the filter, or None if the queue has none."""
        value = self.fields.get("filter")
        return None if value is None else str(value)

    @property
    def routing(self) -> str | None:
        """Return ``ANYCAST`` or ``MULTICAST``; None for records of 1.x and HornetQ."""
        value = self.fields.get("routing_type")
        return ROUTING.get(int(value)) if value is not None else None

    @property
    def user(self) -> str | None:
        """Return the creator, ``user=…;`` in the metadata, or None."""
        for entry in str(self.fields.get("metadata") or "").split(";"):
            key, separator, value = entry.partition("=")
            if separator and key == "user":
                return value
        return None

    def flag(self, name: str) -> bool:
        """Return a boolean setting; false if the record does not have the field."""
        return bool(self.fields.get(name))


class AddressBinding(NamedTuple):
    """One address. ``internal`` is ``None`` before 2.33."""

    id: int
    name: str
    routing_types: tuple[int, ...]
    auto_created: int
    internal: int | None

    @property
    def routing(self) -> tuple[str, ...]:
        """Return the names of the routing types."""
        return tuple(ROUTING.get(value, f"UNKNOWN_{value}") for value in self.routing_types)


@dataclass(slots=True)
class Bindings:
    """The contents of the bindings journal. ``paused``: queue id → paused, if a status record says so.

    ``id_counter``: the last stored value, None if there is none. ``others``: number of records of other types.
    """

    loaded: LoadedJournal
    queues: dict[int, QueueBinding] = field(default_factory=dict)
    addresses: dict[int, AddressBinding] = field(default_factory=dict)
    paused: dict[int, bool] = field(default_factory=dict)
    id_counter: int | None = None
    bad: list[UnreadableRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        for row in self.loaded.records():
            body = self.loaded.columns.body(row.row)
            try:
                self._take(row.id, row.user_type, body)
            except (BadBinding, Undecodable) as err:
                value = err.value if isinstance(err, BadBinding) else None
                if value is not None:
                    self.addresses[row.id] = value
                what = f"{type_name(row.user_type)}: {err}"
                self.bad.append(UnreadableRecord(row.id, row.user_type, what, value is not None))

    def _take(self, record: int, user_type: int, body: bytes) -> None:
        match user_type:
            case RecordType.QUEUE_BINDING_RECORD:
                self.queues[record] = decode_queue(record, body)
            case RecordType.ADDRESS_BINDING_RECORD:
                self.addresses[record] = decode_address(record, body)
            case RecordType.QUEUE_STATUS_RECORD:
                reader = ByteReader(body)
                queue = reader.i64("queue id")
                self.paused[queue] = reader.i16("status") == 0
            case RecordType.ID_COUNTER_RECORD:
                self.id_counter = ByteReader(body).i64("id counter")

    def queues_of(self, address: str) -> tuple[QueueBinding, ...]:
        """Return the queues of one address, sorted by id."""
        return tuple(queue for _, queue in sorted(self.queues.items()) if queue.address == address)


def decode_queue(record: int, body: bytes) -> QueueBinding:
    """Decode the body of a queue binding (docs/spec/journal.md 6). Raise ``BadBinding``, ``Undecodable``."""
    reader = ByteReader(body)
    fields = read_queue(reader)
    return QueueBinding(record, fields, reader.take(reader.left()))


def read_queue(reader: ByteReader) -> dict[str, Value]:
    """Read the fields of a queue binding, as many as there are. Raise ``BadBinding``, ``Undecodable``."""
    fields: dict[str, Value] = {}
    for name, kind in QUEUE_FIELDS:
        if not reader.left():
            break
        fields[name] = getattr(reader, _READ[kind])(name)
    if len(fields) < 2:
        raise BadBinding("ends before the address of the queue")
    return fields


def encode_queue(queue: QueueBinding) -> bytes:
    """Return the body of a queue binding: its fields in the order of the format, then the unknown bytes in ``rest``."""
    out = ByteWriter()
    for name, kind in QUEUE_FIELDS:
        if name in queue.fields:
            _write(out, kind, queue.fields[name])
    return bytes(out.out) + queue.rest


_READ: Final = {"sstr": "sstr", "nsstr": "nsstr", "bool": "u8", "i8": "i8", "i32": "i32", "i64": "i64"}


def _write(out: ByteWriter, kind: str, value: Value) -> None:
    if isinstance(value, int):
        {"bool": out.u8, "i8": out.u8, "i32": out.i32, "i64": out.i64}[kind](value)
    elif kind == "nsstr":
        out.nsstr(value)
    else:
        out.sstr(str(value))


def decode_address(record: int, body: bytes) -> AddressBinding:
    """Decode the body of an address binding. Raise ``BadBinding``, ``Undecodable``."""
    return read_address_binding(ByteReader(body), record)


def read_address_binding(reader: ByteReader, record: int = 0) -> AddressBinding:
    """Read an address binding from a cursor. Raise ``BadBinding``, ``Undecodable``.

    ``record``: the id of the journal record, which becomes the binding's id.
    """
    name = reader.sstr("address")
    count = reader.i32("number of routing types")
    types = tuple(reader.take(count, "routing types"))
    auto_created = reader.u8("auto-created")
    internal = reader.u8("internal") if reader.left() else None
    binding = AddressBinding(record, name, types, auto_created, internal)
    if reader.left():
        raise BadBinding(f"{reader.left()} bytes too many at offset {reader.pos}", binding)
    return binding


def encode_address(address: AddressBinding) -> bytes:
    """Return the body of an address binding."""
    out = ByteWriter()
    out.sstr(address.name)
    out.i32(len(address.routing_types))
    out.raw(bytes(address.routing_types))
    out.u8(address.auto_created)
    if address.internal is not None:
        out.u8(address.internal)
    return bytes(out.out)


def load_bindings(folder: Path) -> Bindings:
    """Load the bindings journal of a folder. JMS objects of HornetQ and Artemis 1.x are in a journal of their own."""
    return Bindings(load_journal(folder, Journal.BINDINGS))
