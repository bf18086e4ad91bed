"""What a file for ``artemis data imp`` would bring into a broker, without importing it (docs/spec/messages.md 13).

The file is read in pieces, and no body is kept. What arrives, and where the import stops, is determined for the
importer and the settings of a new broker of an edition.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.parsers.expat import ExpatError, ParserCreate

from pagefmt.codec.messages.core_fields import MESSAGE_TYPES
from pagefmt.codec.messages.values import has_expired
from pagefmt.directory.queue_names import has_wildcards
from pagefmt.editions import NEWEST, Edition
from pagefmt.errors import PageFmtError
from pagefmt.exchange.xml_writing import xml_type
from pagefmt.quantities import count_text
from pagefmt.storage.files import open_stream

_PIECE: Final = 1 << 18
_ROOTS: Final = ("activemq-journal", "hornetq-journal")
_TYPES: Final = frozenset(map(xml_type, MESSAGE_TYPES))
_FLOATS: Final = ("float", "double")
_BYTE, _LONG = (-(1 << 7), 1 << 7), (-(1 << 63), 1 << 63)
_KINDS: Final = {
    "boolean": None, "byte": _BYTE, "short": (-(1 << 15), 1 << 15), "integer": (-(1 << 31), 1 << 31), "long": _LONG,
    "float": None, "double": None, "string": None, "simple-string": None, "bytes": None,
}  # fmt: skip
_NUMBERS: Final = {"id": _LONG, "priority": _BYTE, "expiration": _LONG, "timestamp": _LONG}
_NULL: Final = "_AMQ_NULL"
_NUMBER: Final = re.compile(r"(?=[+-]?\d)[+-]?0*+\d{0,19}", re.ASCII)
_FLOAT: Final = re.compile(
    r"[\0-\x20]*[+-]?(NaN|Infinity|((\d++\.?\d*|\.\d+)([eE][+-]?\d+)?"
    r"|0[xX]([\da-fA-F]++\.?[\da-fA-F]*|\.[\da-fA-F]+)[pP][+-]?\d+)[fFdD]?)[\0-\x20]*",
    re.ASCII,
)
_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9_-]")
_DUPLICATE_ID: Final = "_AMQ_DUPL_ID"
_OLD_PREFIXES: Final = ("jms.queue.", "jms.topic.")
_NO_QUEUE: Final = "__AMQX=-1"  # filter of the placeholder that 1.x keeps instead of a queue for a topic
CACHE_SIZE: Final = 20000  # ids of an address that a broker remembers by default (``id-cache-size``)
MAKES_QUEUES: Final = Edition.ARTEMIS_2_44
STRICT_BASE64: Final = Edition.ARTEMIS_2_44
NO_WILDCARDS: Final = Edition.ARTEMIS_2_56
_FAULTS_KEPT: Final = 100
_SHOWN: Final = 60


class NotJournalXml(PageFmtError):
    """The file is not one that ``artemis data exp`` writes; the message has the line."""


@dataclass(slots=True)
class QueueImport:
    """The messages that one queue would receive. ``bytes``: of their bodies. ``large``: number of large messages.

    ``made``: the document has no binding of the queue, so the broker creates it.
    """

    name: str
    address: str
    made: bool = False
    messages: int = 0
    bytes: int = 0
    large: int = 0


@dataclass(slots=True)
class ImportPlan:
    """What an import of the document would do.

    ``queues`` by name. ``messages``: number sent. ``stop``: line and reason at which the import ends. ``behind``:
    number of messages after ``stop``. ``duplicates``: number of sent messages that the broker drops, because it knows
    their duplicate id. ``again``: number of messages that a second import sends again. ``expired``: number sent but not
    delivered. ``faults``: what the import would lose, and ``stop``, with lines.
    """

    addresses: int = 0
    messages: int = 0
    behind: int = 0
    duplicates: int = 0
    again: int = 0
    expired: int = 0
    stop: tuple[int, str] | None = None
    queues: dict[str, QueueImport] = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)
    more_faults: int = 0

    def remarks(self) -> Iterator[str]:
        """Yield a sentence for each way in which messages are lost, arrive twice, or create a queue."""
        if self.stop is not None:
            yield (
                f"the import stops at line {self.stop[0]}: {count_text(self.messages, 'message')} before it arrive, "
                f"{self.behind} from there on do not"
            )
        unbound = sorted(queue.name for queue in self.queues.values() if queue.made)
        if unbound:
            names = ", ".join(map(_short, unbound))
            yield (
                "not among the bindings, so the broker creates them as multicast queues of an address of that name: "
                f"{names}"
            )
        if self.expired:
            yield f"{count_text(self.expired, 'message')} expired: sent, but not delivered"
        if self.again:
            yield (
                f"{count_text(self.again, 'message')} without a duplicate id, or with one that the broker forgets "
                "before the file ends: a second import sends them again"
            )
        if self.duplicates:
            duplicates = count_text(self.duplicates, "message")
            yield f"{duplicates} with the duplicate id of another message: the broker drops them"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


class _SeenIds:
    """The duplicate ids that a broker remembers of an address, the oldest first.

    ``count``: number of ids added so far.
    """

    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()
        self.count = 0

    def take(self, value: str) -> bool:
        """Add an id and return whether it is new among the last ``CACHE_SIZE``."""
        if value in self._ids:
            return False
        self.count += 1
        self._ids[value] = None
        if len(self._ids) > CACHE_SIZE:
            self._ids.popitem(last=False)
        return True


class _BodySize:
    """The size of a body as the importer decodes it: each part before white space by itself."""

    def __init__(self) -> None:
        self.bytes = self.cut = 0
        self.wrong = self.in_section = False
        self._length = self._padding = 0

    def text(self, text: str) -> None:
        """Add a piece of the body's Base64 text. White space outside of a CDATA section ends the part before it."""
        plain = text.strip()
        if not plain:
            if self._length and not self.in_section:
                self._decode()
            return
        data = plain.rstrip("=") if plain[-1] == "=" else plain
        self._padding += len(plain) - len(data)
        if _NOT_BASE64.search(data) or (self._padding and data and self._padding != len(plain) - len(data)):
            self.wrong = True
        self._length += len(data)

    def _decode(self) -> None:
        self.wrong |= not _fills(self._length, self._padding)
        if self._length % 4 and not self._padding:
            self.cut += self._length % 4 - 1
        self.bytes += self._length * 3 // 4
        self._length = self._padding = 0

    @property
    def left(self) -> bool:
        """Return whether there is text after the last white space."""
        return bool(self._length)


def _fills(length: int, padding: int) -> bool:
    return length % 4 != 1 and padding in (0, -length % 4)


def _whole(plain: str, padded: str) -> bool:
    return _fills(len(plain), len(padded) - len(plain))


class _PlanReader:
    """Handlers of the XML parser's events, which fill the plan."""

    def __init__(self, path: Path, edition: Edition) -> None:
        self.path, self.plan, self._edition = path, ImportPlan(), edition
        self.parser = ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._entity
        self._now = int(time.time() * 1000)
        self._depth = 0
        self._in_message = False
        self._renamed: dict[str, str] = {}
        self._seen: dict[str, _SeenIds] = {}
        self._begin({})

    def _fault(self, fault: str, *, stops: bool = False) -> None:
        if stops and self.plan.stop is None:
            self.plan.stop = self.parser.CurrentLineNumber, fault
        fault = f"{fault}, the import stops here" if stops else fault
        if len(self.plan.faults) < _FAULTS_KEPT:
            self.plan.faults.append((self.parser.CurrentLineNumber, fault))
        else:
            self.plan.more_faults += 1

    def _entity(self, *_: object) -> None:
        raise NotJournalXml(
            f"{self.path}:{self.parser.CurrentLineNumber}: declares an entity, and such files are not read"
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        name = name.rpartition(":")[2]
        if self._depth == 1 and name not in _ROOTS:
            raise NotJournalXml(
                f"{self.path}:{self.parser.CurrentLineNumber}: <{_short(name)}> is not <{_ROOTS[0]}> of "
                "'artemis data exp'"
            )
        if not self._in_message:
            self._outside(name, attributes)
        elif name == "property":
            self._property(attributes)
        elif name == "queue":
            self._queues.append(self._renamed.get(attributes.get("name", ""), attributes.get("name", "")))
        elif name == "body":
            self._large = attributes.get("isLarge", "").lower() == "true"
            self.parser.CharacterDataHandler = self._body.text
            self.parser.StartCdataSectionHandler = lambda: setattr(self._body, "in_section", True)
            self.parser.EndCdataSectionHandler = lambda: setattr(self._body, "in_section", False)

    def _outside(self, name: str, attributes: dict[str, str]) -> None:
        match name:
            case "address-binding":
                self.plan.addresses += 1
                for routing in filter(None, attributes.get("routing-types", "").split(",")):
                    self._routing(routing.strip())
            case "queue-binding":
                self._routing(attributes.get("routing-type", ""))
                self._bind(attributes.get("name", ""), attributes.get("address", ""))
            case "binding":
                self._old_binding(attributes)
            case "message":
                self._begin(attributes)
                self._in_message = True

    def _routing(self, routing: str) -> None:
        if routing not in ("ANYCAST", "MULTICAST"):
            self._fault(f"routing type {_short(routing) or 'none'}: neither ANYCAST nor MULTICAST", stops=True)

    def _bind(self, queue: str, address: str) -> None:
        if self.plan.stop is None:
            self.plan.queues.setdefault(queue, QueueImport(queue, address))

    def _old_binding(self, attributes: dict[str, str]) -> None:
        """Add a binding of HornetQ or 1.x, whose names lose their prefixes (``jms.queue.`` …).

        The placeholder of a topic without queues adds an address only.
        """
        address, queue = attributes.get("address", ""), attributes.get("queue-name", "")
        for prefix in _OLD_PREFIXES:
            address = address.removeprefix(prefix)
        plain = next((queue.removeprefix(prefix) for prefix in _OLD_PREFIXES if queue.startswith(prefix)), queue)
        self._renamed[queue] = plain
        self.plan.addresses += 1
        if attributes.get("filter-string", "") != _NO_QUEUE:
            self._bind(plain, address)

    def _begin(self, attributes: dict[str, str]) -> None:
        self._queues: list[str] = []
        self._body, self._large = _BodySize(), False
        self._duplicate_id: str | None = None
        self._name = f"message {_short(attributes.get('id', '?'))}"
        if attributes.get("type", "default") not in _TYPES:
            self._fault(f"{self._name}: type {_short(attributes['type'])} is read as default")
        for key, bounds in _NUMBERS.items():
            if key in attributes and not _fits(attributes[key], bounds):
                self._fault(f"{self._name}: {key} {_short(attributes[key])!r} is not a number that fits", stops=True)
        priority, expiration = attributes.get("priority", "0"), attributes.get("expiration", "0")
        self._refused = _fits(priority, _BYTE) and not _fits(priority, (0, 10))
        self._expired = _fits(expiration, _LONG) and has_expired(_number(expiration), self._now)

    def _property(self, attributes: dict[str, str]) -> None:
        name, kind, value = attributes.get("name", ""), attributes.get("type", ""), attributes.get("value", "")
        subject = f"property {_short(name)}"
        if kind not in _KINDS:
            self._fault(f"{subject}: of kind {_short(kind) or 'none'}; it is left out")
            return
        bounds, plain = _KINDS[kind], value.rstrip("=")
        if (bounds is not None and not _fits(value, bounds)) or (kind in _FLOATS and not _FLOAT.fullmatch(value)):
            self._fault(f"{subject}: its value is not a {kind}", stops=True)
        if kind == "bytes" and value != _NULL and (_NOT_BASE64.search(plain) or not _whole(plain, value)):
            stops = self._edition >= STRICT_BASE64
            self._fault(f"{subject}: its value is not Base64" + "; it is left out" * (not stops), stops=stops)
        if name == _DUPLICATE_ID and value != _NULL:
            self._duplicate_id = f"{kind == 'bytes'} {value}"

    def _end(self, name: str) -> None:
        self._depth -= 1
        name = name.rpartition(":")[2]
        if name == "body" and self._in_message:
            self.parser.CharacterDataHandler = None
            self.parser.StartCdataSectionHandler = self.parser.EndCdataSectionHandler = None
            if self._body.wrong:
                self._fault(f"{self._name}: its body is not URL-safe Base64", stops=True)
            elif self._body.cut and self._edition < STRICT_BASE64:
                self._fault(f"{self._name}: its body is cut: {self._body.cut} bytes at its end are lost")
                self._body.bytes -= self._body.cut
            elif self._body.left:
                self._fault(f"{self._name}: no white space after its body, so the importer loses the end of it")
        elif name == "message" and self._in_message:
            self._in_message = False
            self._message()

    def _message(self) -> None:
        plan = self.plan
        if plan.stop is None:
            self._check_queues()
        if plan.stop is not None:
            plan.behind += 1
            return
        if self._refused:
            self._fault(f"{self._name}: its priority is not 0 to 9, which no broker accepts: the message is lost")
            return
        plan.messages += 1
        plan.expired += self._expired
        first = self._queues[0]
        address = plan.queues.setdefault(first, QueueImport(first, first, made=True)).address
        if self._duplicate_id is None:
            plan.again += 1
        elif not self._seen.setdefault(address, _SeenIds()).take(self._duplicate_id):
            plan.duplicates += 1
            return
        for name in self._queues:
            queue = plan.queues.get(name)
            if queue is None or queue.address != address:
                self._fault(f"{self._name}: queue {_short(name)} does not belong to {_short(address)}: it gets nothing")
                continue
            queue.messages += 1
            queue.bytes += self._body.bytes
            queue.large += self._large

    def _check_queues(self) -> None:
        queues = self.plan.queues
        unknown = next((name for name in self._queues if name not in queues), None)
        if not self._queues:
            self._fault(f"{self._name}: for no queue", stops=True)
        elif unknown is not None and self._edition < MAKES_QUEUES:
            self._fault(f"{self._name}: queue {_short(unknown)} is not among the bindings", stops=True)
        elif self._edition >= NO_WILDCARDS and self._queues[0] in queues:
            address = queues[self._queues[0]].address
            if has_wildcards(address):
                self._fault(f"{self._name}: the address {_short(address)} has wildcards", stops=True)

    def done(self) -> ImportPlan:
        """Return the plan after the whole document was read."""
        self.plan.again += sum(ids.count for ids in self._seen.values() if ids.count > CACHE_SIZE)
        return self.plan

    def broken(self, err: ExpatError) -> None:
        """Note that the document is not well-formed from this line on. Raise ``NotJournalXml`` if it never was."""
        if not self._depth:
            raise NotJournalXml(f"{self.path}:{err.lineno}: not well-formed XML ({err})") from err
        self.plan.behind += self._in_message
        self._fault(f"not well-formed XML ({err})", stops=True)


def _fits(value: str, bounds: tuple[int, int]) -> bool:
    return _NUMBER.fullmatch(value) is not None and bounds[0] <= _number(value) < bounds[1]


def _number(text: str) -> int:
    """Return the number that matches ``_NUMBER``; it may have any number of leading zeros."""
    return int(text[:1].strip("0123456789") + (text.lstrip("+-0") or "0"))


def import_plan(path: Path, edition: Edition = NEWEST) -> ImportPlan:
    """Read a document and return what an import into a new broker of the edition would do.

    A document that is malformed from some line on still has a plan. Raises ``NotJournalXml``, ``NotReadable``.
    """
    reader = _PlanReader(path, edition)
    with open_stream(path) as stream:
        try:
            while piece := stream.read(_PIECE):
                reader.parser.Parse(piece)
            reader.parser.Parse(b"", True)
        except ExpatError as err:
            reader.broken(err)
    return reader.done()
