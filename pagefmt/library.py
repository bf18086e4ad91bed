"""What is on a broker's disk, for Python programs: addresses, messages as objects or Arrow columns, what is waiting.

Messages are those of the whole store, in the journal and in pages.

    from pagefmt.library import open_directory

    broker = open_directory("/var/lib/broker")
    for message in broker.messages(queue="orders", outstanding=True, body="text"):
        print(message.sent, message.properties.get("color"), message.text)
    table = broker.arrow(body="text").read_all()

Everything is read, nothing is changed, one page at a time: memory is that of the largest page. Errors are
``pagefmt.errors.PageFmtError``; each says what is wrong, where, and what to do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict, Unpack

from pagefmt.codec.pages.frames import Damage, DamageKind
from pagefmt.directory.edition_evidence import assumed_edition
from pagefmt.directory.locate import DataLocation, locate, stores
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.outstanding.state import CannotKnow, PagingState, StoreState
from pagefmt.table.table_content import StoredIn
from pagefmt.vectors import load_place

if TYPE_CHECKING:
    import pyarrow as pa

    from pagefmt.codec.pages.page_file import PageFile
    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.outstanding.state import StoreSummary
    from pagefmt.table.table import TableQuery

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def open_directory(
    path: str | Path, *, journal: str | Path | None = None, bindings: str | Path | None = None
) -> BrokerDirectory:
    """Open a broker instance, data directory, paging directory, store folder or page file.

    An instance's directories are looked for in their usual places: no configuration is read. Where they were moved,
    give the paging directory, and ``journal`` and ``bindings``. Both journals are read now, pages when they are asked
    for. Raises ``LocateError`` where the path is none of these.
    """
    place = locate(Path(path))
    return BrokerDirectory(
        place._replace(
            journal=place.journal if journal is None else Path(journal),
            bindings=place.bindings if bindings is None else Path(bindings),
        )
    )


class BrokerDirectory:
    """What a broker left on disk. ``queues`` by id, as far as the bindings are known."""

    def __init__(self, place: DataLocation) -> None:
        self.place = place
        self._state: PagingState = load_place(place)
        bindings = self._state.bindings
        self.queues: dict[int, QueueBinding] = dict(bindings.queues) if bindings else {}
        self._edition: Edition = assumed_edition(bindings, self._state.journal)
        # messages handed out so far, by where they were: ``journal`` or ``pages``
        self.read_from: Counter[str] = Counter()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what is not known, or lost, of journal and bindings; empty if nothing is."""
        journals = self._state.known
        unknown = (journals.unknown_journal, journals.unknown_bindings)
        return (*(part.reason for part in unknown if part is not None), *journals.lost())

    def addresses(self) -> Iterator[PagedAddress]:
        """Yield all addresses with a folder, by folder name, including those without pages."""
        for state in self._stores():
            queues = tuple(state.queues.values()) if state.queues and state.store.address is not None else ()
            yield PagedAddress(state.store.address, state.store.folder, state.store.pages, queues)

    def outstanding(self) -> Iterator[StoreSummary]:
        """Yield for each address the messages and bytes that each queue waits for, and which queue holds which page.

        Raises ``CannotKnow`` without a journal; ``unknown`` of a summary says what else is missing.
        """
        for state in self._stores():
            yield state.summary()

    def messages(
        self, *, damage: list[PageDamage] | None = None, **choice: Unpack[MessageChoice]
    ) -> Iterator[StoredMessage]:
        """Yield messages of the journal, then of pages by address folder, page, number. Errors as ``arrow``."""
        for batch in self._batches(*self._query(choice, None), damage):
            for row in batch.to_pylist():
                yield self._message(row)

    def arrow(
        self,
        *,
        columns: Iterable[str] | None = None,
        damage: list[PageDamage] | None = None,
        **choice: Unpack[MessageChoice],
    ) -> pa.RecordBatchReader:
        """Return the messages as columns (``docs/message-table.md``), read batch by batch.

        ``columns``: only these; no more is decoded than they need. ``damage``: a list to which unreadable parts are
        added; without one ``DamagedPage`` is raised at the first of them, after everything before it. Raises
        ``NoSuchQueue``, ``SelectorError``, ``CannotKnow`` (``outstanding`` without a journal), and ``ValueError`` for
        an unknown body or column.
        """
        import pyarrow as pa

        query, chosen, names = self._query(choice, columns)
        form = pa.schema([query.schema.field(name) for name in names])
        return pa.RecordBatchReader.from_batches(form, self._batches(query, chosen, names, damage))

    def _stores(self) -> Iterator[StoreState]:
        return self._state.of(stores(self.place))

    def _query(self, choice: MessageChoice, columns: Iterable[str] | None) -> tuple[TableQuery, _Scope, list[str]]:
        from pagefmt.outstanding.message_filter import MessageFilter, queue_ids
        from pagefmt.selector import parse
        from pagefmt.table.table import TableQuery
        from pagefmt.table.table_body import TableBody

        unknown = sorted(set(choice) - set(MessageChoice.__annotations__))
        if unknown:
            raise TypeError(f"{unknown[0]}: not known; choose from {', '.join(MessageChoice.__annotations__)}")
        waiting = choice.get("outstanding", False)
        if waiting and self._state.known.unknown_journal is not None:
            reason = self._state.known.unknown_journal.reason
            raise CannotKnow(f"{self.place.given}: {reason}; open the data directory, or give journal and bindings")
        queue, where = choice.get("queue"), choice.get("where")
        queues = None if queue is None else queue_ids([str(queue)], self._state.bindings, self.place)
        chosen = MessageFilter(queues, None if where is None else parse(where), waiting)
        every = TableQuery(TableBody(choice.get("body", TableBody.SIZE)), chosen.selector)
        names = every.schema.names if columns is None else list(columns)
        missing = [name for name in names if name not in every.schema.names]
        if missing:
            raise ValueError(f"column {missing[0]}: with body {every.body} choose from {', '.join(every.schema.names)}")
        needed = {"outstanding" if waiting else "queues"} if chosen.by_route else set()
        needed |= {"store_address"} if choice.get("address") is not None else set()
        wanted = None if columns is None else frozenset(names) | needed
        within = StoredIn(choice.get("within", StoredIn.LIVE))
        if within is StoredIn.HISTORY:
            raise ValueError("within: 'history' is not read here; choose from live, pages, journal")
        return TableQuery(every.body, every.where, wanted), _Scope(chosen, choice.get("address"), within), names

    def _batches(
        self, query: TableQuery, wanted: _Scope, names: list[str], damage: list[PageDamage] | None
    ) -> Iterator[pa.RecordBatch]:
        if wanted.within is not StoredIn.PAGES and self.place.store is None and self.place.page is None:
            for rows in self._of_journal(query, wanted, damage):
                self.read_from["journal"] += rows.num_rows
                yield rows.select(names)
        if wanted.within is not StoredIn.JOURNAL:
            for rows in self._of_pages(query, wanted, damage):
                self.read_from["pages"] += rows.num_rows
                yield rows.select(names)

    def _of_journal(
        self, query: TableQuery, wanted: _Scope, damage: list[PageDamage] | None
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow.compute as pc

        from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
        from pagefmt.table.table import PageSource, TableDamage, page_batches, without_outstanding
        from pagefmt.vectors import rows_by_queue

        for part in JournalParts(self._state, None).parts():
            if not isinstance(part, JournalPart):
                raise CannotKnow(f"{self.place.given}: {part.why}: {part.messages} messages of the journal not read")
            source = PageSource(part.page, 0, "", None, part.rule_of, edition=self._edition, origin=part.origin)
            for batch in page_batches(source, query):
                if isinstance(batch, TableDamage):
                    file, at = part.damage(batch.damage)
                    _take_damage(PageDamage(file.path, at, batch.missing), damage)
                    continue
                rows = rows_by_queue(batch, wanted.choice)
                if wanted.address is not None:
                    rows = rows.filter(pc.equal(rows.column("store_address"), wanted.address))
                yield rows if part.unknown is None else without_outstanding(rows)

    def _of_pages(self, query: TableQuery, wanted: _Scope, damage: list[PageDamage] | None) -> Iterator[pa.RecordBatch]:
        from pagefmt.table.joined_pages import joined_batches
        from pagefmt.table.table import PageSource, TableDamage, without_outstanding
        from pagefmt.vectors import rows_by_queue

        choice, address = wanted.choice, wanted.address
        for state in self._stores():
            if address is not None and state.store.address != address:
                continue
            store, rule = state.store, state.rule
            sources = (
                PageSource(page, page.number, store.name, store.address, rule(page.number), edition=self._edition)
                for page in store.pages
            )
            for n, batch in joined_batches(sources, query):
                page = store.pages[n]
                if not isinstance(batch, TableDamage):
                    rows = rows_by_queue(batch, choice)
                    yield rows if state.unknown is None else without_outstanding(rows)
                elif state.motion(page, batch.damage) is None:
                    _take_damage(PageDamage(page.path, batch.damage, batch.missing), damage)

    def _message(self, row: dict[str, Any]) -> StoredMessage:
        return StoredMessage(
            address=row["store_address"],
            size=row["length"],
            queues=self._names(row["queues"]) or (),
            acknowledged_by=self._names(row["acked_by"]),
            outstanding_for=self._names(row["outstanding"]),
            properties={name: _plain(value) for name, value in row["properties"] or ()},
            text=row.get("body_text"),
            body=row.get("body"),
            row=row,
            **{name: row[name] for name in _SAME},
        )

    def _names(self, ids: list[int] | None) -> tuple[str, ...] | None:
        return None if ids is None else tuple(self.queues[id].name if id in self.queues else str(id) for id in ids)


class DamagedPage(PageFmtError):
    """A page that cannot be read to its end; what came before it was handed out."""


class PageDamage(NamedTuple):
    """Where reading stopped or a record was left out, and how many bytes of the file are in no message."""

    path: Path
    damage: Damage
    missing: int

    def __str__(self) -> str:
        """Return the damage in one line."""
        if self.damage.kind is DamageKind.NOT_PERMITTED:
            return f"{self.path}: {self.damage.detail}"
        return f"{self.path}: offset {self.damage.offset}: {self.damage.kind}: {self.damage.detail}"


class PagedAddress(NamedTuple):
    """An address with its pages in rising order and its queues. ``name`` None: the folder has no readable address."""

    name: str | None
    folder: Path
    pages: tuple[PageFile, ...]
    queues: tuple[QueueBinding, ...]

    @property
    def bytes(self) -> int:
        """Return the bytes of all page files."""
        return sum(page.size for page in self.pages)


class _Scope(NamedTuple):
    """Which messages. ``within``: they are looked for there alone."""

    choice: MessageFilter
    address: str | None
    within: StoredIn


def _take_damage(where: PageDamage, damage: list[PageDamage] | None) -> None:
    if damage is None:
        raise DamagedPage(f"{where}; pass a list as damage to continue after it")
    damage.append(where)


class MessageChoice(TypedDict, total=False):
    """Which messages, and what of their bodies; all may be left out.

    ``queue``: routed to this queue (name, ``address::name`` or id). ``outstanding``: only what a queue (or that one)
    still waits for. ``where``: a JMS selector. ``body``: ``none``, ``size`` (usual), ``text``, ``value`` (map and
    stream bodies as JSON as well) or ``base64`` (the bytes as well). ``within``: ``live`` (usual: everywhere),
    ``pages`` or ``journal``.
    """

    within: str
    address: str
    queue: str | int
    outstanding: bool
    where: str
    body: str


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message. ``page`` and ``number`` are its position, None in the journal; ``size``: bytes of its record.

    Times are milliseconds since 1970-01-01 UTC, 0 for none; ``sent`` and ``expires`` are the same as dates. Values of
    ``properties`` are None, bool, int, float, str or bytes; lists and maps of AMQP are JSON values. Both lists of
    queues are None where the journal does not tell, headers where the record cannot be understood.
    ``row`` has all columns of the table (``docs/message-table.md``).
    """

    address: str | None
    page: int | None
    number: int | None
    size: int
    id: int
    queues: tuple[str, ...]
    acknowledged_by: tuple[str, ...] | None
    outstanding_for: tuple[str, ...] | None
    protocol: str | None
    type_name: str | None
    durable: bool | None
    priority: int | None
    timestamp: int | None
    expiration: int | None
    user_id: str | None
    properties: dict[str, Any]
    text: str | None
    body: bytes | None
    row: Mapping[str, Any]

    @property
    def sent(self) -> datetime | None:
        """Return when the message was sent, None if it does not say or the time is in no calendar."""
        return _date(self.timestamp)

    @property
    def expires(self) -> datetime | None:
        """Return when the message expires, None for never."""
        return _date(self.expiration)


_SAME: Final = (
    "page",
    "number",
    "id",
    "protocol",
    "type_name",
    "durable",
    "priority",
    "timestamp",
    "expiration",
    "user_id",
)


def _plain(value: Mapping[str, Any]) -> Any:
    """Return a property's value as a Python value."""
    kind = value["type"]
    if kind == "boolean":
        return bool(value["long"])
    if value["json"] is not None:
        return json.loads(value["json"])
    return next((value[name] for name in ("long", "double", "string", "bytes") if value[name] is not None), None)


def _date(milliseconds: int | None) -> datetime | None:
    if not milliseconds:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
