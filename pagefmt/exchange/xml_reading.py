"""What a file for ``artemis data imp`` would bring into a broker, without importing it (docs/spec/messages.md 13).

The file is read in pieces, and nothing of a body is kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.parsers.expat import ExpatError, ParserCreate

from pagefmt.bytes.files import open_regular
from pagefmt.errors import PageFmtError
from pagefmt.quantities import count_text

_PIECE: Final = 1 << 18
_ROOT: Final = "activemq-journal"
_TYPES: Final = frozenset(("default", "bytes", "map", "object", "stream", "text"))
_KINDS: Final = {
    "boolean": None, "byte": (-(1 << 7), 1 << 7), "short": (-(1 << 15), 1 << 15), "integer": (-(1 << 31), 1 << 31),
    "long": (-(1 << 63), 1 << 63), "float": None, "double": None, "string": None, "simple-string": None, "bytes": None,
}  # fmt: skip
_NULL: Final = "_AMQ_NULL"
_NUMBER: Final = re.compile(r"[+-]?\d+")
_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9_=\s-]")
_DUPLICATE_ID: Final = "_AMQ_DUPL_ID"


class NotJournalXml(PageFmtError):
    """The file is not what ``artemis data exp`` writes; says which line."""


@dataclass(slots=True)
class QueueImport:
    """What one queue would get. ``bytes`` of bodies; ``large``: messages with a body in a file of its own."""

    name: str
    address: str | None
    messages: int = 0
    bytes: int = 0
    large: int = 0


@dataclass(slots=True)
class ImportPlan:
    """``queues`` by name. ``duplicates``: messages whose duplicate id another one has; ``without_id``: that have none,
    and are there twice when the file is imported twice. ``faults``: what the import would fail at or lose, with lines.
    """

    addresses: int = 0
    messages: int = 0
    nowhere: int = 0
    duplicates: int = 0
    without_id: int = 0
    queues: dict[str, QueueImport] = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)
    more_faults: int = 0

    def remarks(self) -> Iterator[str]:
        """What is worth knowing before the import."""
        if self.nowhere:
            yield f"{count_text(self.nowhere, 'message')} for no queue: imported nowhere"
        unbound = sorted(queue.name for queue in self.queues.values() if queue.address is None)
        if unbound:
            yield f"not among the bindings, so the broker must have them: {', '.join(unbound)}"
        if self.without_id:
            yield f"{count_text(self.without_id, 'message')} without a duplicate id: a second import sends them again"
        if self.duplicates:
            yield f"{count_text(self.duplicates, 'message')} with a duplicate id of another: the broker drops them"


_FAULTS_KEPT: Final = 100


class _PlanReader:
    """Takes the events of the parser."""

    def __init__(self, path: Path) -> None:
        self.path, self.plan = path, ImportPlan()
        self.parser = ParserCreate("UTF-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._entity
        self._depth = 0
        self._queues: list[str] = []
        self._size = self._padding = 0
        self._large = self._identified = False
        self._ids: Counter[bytes] = Counter()

    def _fault(self, said: str) -> None:
        if len(self.plan.faults) < _FAULTS_KEPT:
            self.plan.faults.append((self.parser.CurrentLineNumber, said))
        else:
            self.plan.more_faults += 1

    def _entity(self, *_: object) -> None:
        raise NotJournalXml(f"{self.path}:{self.parser.CurrentLineNumber}: declares an entity; such files are not read")

    def _start(self, name: str, given: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and name != _ROOT:
            raise NotJournalXml(
                f"{self.path}:{self.parser.CurrentLineNumber}: <{name}> is not <{_ROOT}> of 'artemis data exp'"
            )
        match name:
            case "address-binding":
                self.plan.addresses += 1
            case "queue-binding":
                queue = given.get("name", "")
                self.plan.queues[queue] = QueueImport(queue, given.get("address", ""))
            case "message":
                self._begin(given)
            case "property":
                self._property(given)
            case "queue":
                self._queues.append(given.get("name", ""))
            case "body":
                self._large = given.get("isLarge") == "true"
                self.parser.CharacterDataHandler = self._text

    def _begin(self, given: dict[str, str]) -> None:
        self._queues, self._size, self._padding = [], 0, 0
        self._large = self._identified = False
        if given.get("type", "default") not in _TYPES:
            self._fault(f"message {given.get('id', '?')}: type {given['type']} is taken as default")
        for key in ("id", "priority", "expiration", "timestamp"):
            if key in given and not _NUMBER.fullmatch(given[key]):
                self._fault(f"message {given.get('id', '?')}: {key} {given[key]!r} is no number, the import stops here")

    def _property(self, given: dict[str, str]) -> None:
        name, kind, value = given.get("name", ""), given.get("type", ""), given.get("value", "")
        if name == _DUPLICATE_ID:
            self._identified = True
            self._ids[value.encode()] += 1
        if kind not in _KINDS:
            self._fault(f"property {name}: of kind {kind or 'none'}, it is left out")
            return
        bounds = _KINDS[kind]
        if bounds is not None and not (_NUMBER.fullmatch(value) and bounds[0] <= int(value[:40]) < bounds[1]):
            self._fault(f"property {name}: its value is no {kind}, the import stops here")

    def _text(self, text: str) -> None:
        if _NOT_BASE64.search(text):
            self._fault("the body is not Base64 of the URL-safe alphabet")
        content = "".join(text.split())
        self._size += len(content)
        self._padding += content.count("=")

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "body":
            self.parser.CharacterDataHandler = None
        elif name == "message":
            self._message()

    def _message(self) -> None:
        plan = self.plan
        plan.messages += 1
        plan.nowhere += not self._queues
        plan.without_id += not self._identified
        for name in self._queues:
            queue = plan.queues.setdefault(name, QueueImport(name, None))
            queue.messages += 1
            queue.bytes += self._size * 3 // 4 - self._padding
            queue.large += self._large


def import_plan(path: Path) -> ImportPlan:
    """Raises ``NotJournalXml`` and ``NotReadable``."""
    reader = _PlanReader(path)
    with open(open_regular(path), "rb") as stream:  # noqa: PTH123
        try:
            while piece := stream.read(_PIECE):
                reader.parser.Parse(piece)
            reader.parser.Parse(b"", True)
        except ExpatError as err:
            raise NotJournalXml(f"{path}:{err.lineno}: not well-formed XML ({err}); an import stops here") from err
    reader.plan.duplicates = sum(count - 1 for count in reader._ids.values())
    return reader.plan
