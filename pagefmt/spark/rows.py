"""The rows of a piece, computed in the task from the broker's pages, journal and bindings.

A worker keeps the last broker it opened. Groups are in the order of their brokers, so that each worker reads the
journal of each broker at most once, and no acknowledgements are sent between processes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

import pyarrow as pa

from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.pages.frames import NO_BYTES, PAYLOAD_DAMAGE, Damage
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.describe.arrow_schema import utf8_row
from pagefmt.directory.edition_evidence import assumed_edition
from pagefmt.directory.fleet import FleetBroker, HistoryFiles
from pagefmt.directory.locate import stores
from pagefmt.directory.paging import page_name
from pagefmt.directory.permissions import Reads, closed_files
from pagefmt.directory.store_findings import entry_findings
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.history.history import load_history
from pagefmt.history.messages import PastState
from pagefmt.history.parts import HistoryParts
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.outstanding.message_location import PageOrigin
from pagefmt.outstanding.schedules import BrokerStart
from pagefmt.outstanding.state import PagingState, StoreState
from pagefmt.selector import parse
from pagefmt.spark.exported import PageEntry, journal_identity
from pagefmt.spark.groups import JOURNAL, Piece
from pagefmt.spark.new_rows import new_of_journal, new_rows
from pagefmt.spark.options import TableSpec
from pagefmt.storage.archives import Archive
from pagefmt.storage.remote_paths import take_archive
from pagefmt.table.joined_pages import joined_batches
from pagefmt.table.named_columns import NamedTable, RowsContext
from pagefmt.table.state_tables import acknowledgement_batches, page_row, queue_rows, table_rows
from pagefmt.table.table import PageSource, TableDamage, TableQuery, page_batches, without_outstanding
from pagefmt.table.table_body import TableBody
from pagefmt.table.table_content import StoredIn, TableContent
from pagefmt.vectors import load_pages, load_place

_LOG: Final = logging.getLogger(__name__)
SHOWN: Final = "the table does not say what is outstanding"


class Remark(NamedTuple):
    """What to report about a broker. ``missing``: something does not exist, rather than being unreadable."""

    text: str
    missing: bool = False


class LostRows(NamedTuple):
    """What is damaged in a file, so that rows are missing, as ``_damaged.json`` says it. ``bytes`` None: not known."""

    broker: str
    store: str | None
    page: int | None
    file: str
    offset: int
    bytes: int | None
    number: int | None
    kind: str


class BrokerFailure(NamedTuple):
    """Why a broker could not be read any further."""

    broker: str
    why: str


Rows: TypeAlias = pa.RecordBatch | LostRows | BrokerFailure | PageEntry


@dataclass(frozen=True, slots=True)
class BrokerAtHand:
    """A broker with what its journals say. ``edition``: whose reader says the facts of AMQP messages.

    ``journal_identity``: of the journal before it was read. ``archive``: what another process has unpacked, so that it
    stays open.
    """

    broker: FleetBroker
    state: PagingState
    stores: dict[str, StoreState]
    edition: Edition
    queues: dict[int, str]
    large: LargeMessages | None
    journal_identity: str | None
    archive: Archive | None

    @classmethod
    def of(cls, broker: FleetBroker) -> BrokerAtHand:
        """Open a broker's directories. Raise ``PageFmtError`` and ``OSError``."""
        place = broker.place
        archive = None if broker.unpacked is None else take_archive(broker.unpacked)
        identity = journal_identity(place.journal)
        state = load_place(place) if broker.history is None else load_pages(place)
        stores_by_name = {item.store.name: item for item in state.of(stores(place))}
        edition = broker.edition or assumed_edition(state.bindings, state.journal)
        names = {item: queue.name for item, queue in state.bindings.queues.items()} if state.bindings else {}
        large = None if place.large_messages is None else LargeMessages(place.large_messages)
        return cls(broker, state, stores_by_name, edition, names, large, identity, archive)

    def remarks(self, spec: TableSpec) -> list[Remark]:
        """Return what is not known, lost, or not readable by this user."""
        journals = self.state.known
        reads = Reads.LARGE if spec.body is TableBody.SIZE else Reads.BODIES
        closed = closed_files(self.broker.place, reads if spec.within is StoredIn.JOURNAL else reads | Reads.PAGES)
        unknown = (item.not_known(SHOWN) for item in self.stores.values() if not item.store.hides_address)
        left_out = (line for item in self.stores.values() for line in item.left_out())
        return [
            *(Remark(item.reason, item.missing) for item in journals.unknown()),
            *map(Remark, [*journals.lost(), *filter(None, [*unknown, *left_out]), *([str(closed)] if closed else [])]),
        ]

    def context(self, spec: TableSpec, pages: Iterable[PageFile] = ()) -> RowsContext:
        """Return the context for rows of these pages, or of the journal."""
        files = {page.number: page.name for page in pages}
        return RowsContext(files, self.queues, spec.exported_at, self.broker.name)

    def pages(self, piece: Piece) -> Iterator[PageFile]:
        """Yield the pages as they are now. One that disappeared is yielded with size 0, so that it is reported."""
        assert piece.store is not None
        store = self.stores[piece.store].store
        pages_by_number = {page.number: page for page in store.pages}
        for number in piece.numbers():
            yield pages_by_number.get(number) or PageFile(number, store.folder, page_name(number), 0)


# The broker of the previous task, by run and name. State of the process, because Spark hands nothing from one task of a
# worker to the next: without it each task would read the whole journal again.
_last_broker: Final[dict[tuple[str, str], BrokerAtHand]] = {}


def opened(broker: FleetBroker, run: str) -> BrokerAtHand:
    """Return a broker as it was when this worker first opened it in this run. Raises ``PageFmtError``, ``OSError``."""
    key = run, broker.name
    if key not in _last_broker:
        _last_broker.clear()  # first: two journals need not fit into memory
        _last_broker[key] = BrokerAtHand.of(broker)
    return _last_broker[key]


def rows_of(piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    """Yield the rows of a piece in order, and what is missing. If a broker fails, its failure ends the piece."""
    try:
        piece.broker.require_same()
        yield from _MADE[spec.content](opened(piece.broker, spec.run), piece, spec)
        piece.broker.require_same()
    except (PageFmtError, OSError) as err:
        yield BrokerFailure(piece.broker.name, str(err))


def _messages(broker: BrokerAtHand, piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    table = spec.messages()
    if piece.store is None:
        rows = _messages_of_journal(broker, table, spec)
        if piece.broker.history is not None:
            rows = _messages_of_history(broker, piece.broker.history, table, spec)
        if piece.known is not None:
            journals, exported = broker.state.known, piece.known.get(JOURNAL)
            whole = journals.unknown_journal is None and not journals.damaged
            rows = new_of_journal(rows, broker.broker.name, exported, broker.journal_identity, whole=whole)
        yield from rows
        return
    pages, store = list(broker.pages(piece)), broker.stores[piece.store]
    read = partial(_page_rows, broker, store, broker.context(spec, pages), table, spec)
    if piece.known is None:
        yield from (rows_of_page for _, rows_of_page in read(pages))
    else:
        yield from new_rows(pages, broker.broker.name, piece.store, piece.known, read)


def _messages_of_journal(broker: BrokerAtHand, table: NamedTable, spec: TableSpec) -> Iterator[Rows]:
    for part in JournalParts(broker.state, broker.large, BrokerStart(spec.exported_at, broker.edition)).parts():
        if isinstance(part, JournalPart):
            yield from _journal_rows(broker, part, table, spec)
        else:
            yield LostRows(broker.broker.name, None, None, part.why, 0, None, None, f"{part.messages} messages")


def _messages_of_history(
    broker: BrokerAtHand, files: HistoryFiles, table: NamedTable, spec: TableSpec
) -> Iterator[Rows]:
    zone = None if files.zone is None else ZoneInfo(files.zone)
    history = load_history(broker.broker.place, files.retention, zone, files.page_sizes.get)
    damage = history.records.damage
    if damage is not None:
        yield LostRows(broker.broker.name, None, None, damage.place, 0, None, None, "journal")
    states = None if spec.states is None else tuple(map(PastState, spec.states))
    parts = HistoryParts(history, broker.state.journal, broker.large)
    past = replace(broker, queues={number: queue.name for number, queue in history.queues.queues.items()})
    for part in parts.parts(parts.numbers(states=states)):
        if isinstance(part, JournalPart):
            yield from _journal_rows(past, part, table, spec)
        else:
            yield LostRows(broker.broker.name, None, None, part.why, 0, None, None, f"{part.messages} messages")


def _page_rows(
    broker: BrokerAtHand,
    store: StoreState,
    context: RowsContext,
    table: NamedTable,
    spec: TableSpec,
    pages: Iterable[PageFile],
) -> Iterator[tuple[int, Rows]]:
    """Yield rows of pages, or damage, each with the index of its page; see ``joined_batches``."""
    opened_pages: list[PageFile] = []

    def sources() -> Iterator[PageSource]:
        for page in pages:
            opened_pages.append(page)
            yield _source(broker, store, page, table, spec)

    for n, batch in joined_batches(sources(), table.query):
        if not isinstance(batch, TableDamage):
            yield n, table.rows(batch if store.unknown is None else without_outstanding(batch), context)
        elif store.motion(opened_pages[n], batch.damage) is None:
            yield n, lost_rows(broker.broker.name, store.store.name, opened_pages[n], batch)


def _source(broker: BrokerAtHand, store: StoreState, page: PageFile, table: NamedTable, spec: TableSpec) -> PageSource:
    origin = None
    if table.query.located:
        names = broker.state.bindings.queues if broker.state.bindings is not None else {}
        why = None if store.unknown is None else store.unknown.reason
        origin = PageOrigin(names, why, broker.large, spec.exported_at, f"{store.store.name}/{page.name}")
    return PageSource(
        page,
        page.number,
        store.store.name,
        store.store.address,
        store.rule(page.number),
        edition=broker.edition,
        origin=origin,
    )


def _journal_rows(broker: BrokerAtHand, part: JournalPart, table: NamedTable, spec: TableSpec) -> Iterator[Rows]:
    source = PageSource(part.page, part.page.number, "", None, part.rule_of, edition=broker.edition, origin=part.origin)
    for batch in page_batches(source, table.query):
        if isinstance(batch, TableDamage):
            file, damage = part.damage(batch.damage)
            kind = _damage_kind(damage)
            yield LostRows(broker.broker.name, None, None, file.name, damage.offset, batch.missing, None, kind)
        else:
            context = broker.context(spec)
            yield table.rows(batch if part.unknown is None else without_outstanding(batch), context)


def lost_rows(broker: str, store: str, page: PageFile, table_damage: TableDamage) -> LostRows:
    """Return the description of damage in a page, as it is shown among the rows."""
    damage = table_damage.damage
    missing: int | None = table_damage.missing
    if damage.kind in NO_BYTES:
        missing = page.size - damage.offset if page.size > damage.offset else None
    return LostRows(broker, store, page.number, page.name, damage.offset, missing, damage.number, _damage_kind(damage))


def _damage_kind(damage: Damage) -> str:
    if damage.kind in NO_BYTES:
        return str(damage.kind)
    return "undecodable" if damage.kind in PAYLOAD_DAMAGE else "frame"


def _pages(broker: BrokerAtHand, piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    assert piece.store is not None
    store = broker.stores[piece.store]
    rows = [page_row(store, page, broker.queues) for page in broker.pages(piece)]
    yield table_rows(spec.content, rows, broker.context(spec))


def _outstanding(broker: BrokerAtHand, piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    assert piece.store is not None
    yield table_rows(spec.content, queue_rows(broker.stores[piece.store]), broker.context(spec))


def _damage(broker: BrokerAtHand, piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    rows: list[Mapping[str, Any]] = []
    if piece.store is None:
        journals = broker.state.known
        reasons = [
            *(("not known", item.reason) for item in journals.unknown()),
            *(("lost", item) for item in journals.lost()),
        ]
        rows = [{"kind": kind, "detail": detail} for kind, detail in reasons]
        rows += [
            {
                "store": item.store.name,
                "store_address": item.store.address,
                "page": entry.number,
                "file": entry.name,
                "kind": odd.rule,
                "detail": odd.message,
            }
            for item in broker.stores.values()
            for entry, odd in entry_findings(item.store)
        ]
    else:
        store = broker.stores[piece.store]
        if store.store.problem:
            rows.append({"store": piece.store, "kind": "not known", "detail": store.store.problem})
        every = TableQuery(spec.body, None if spec.where is None else parse(spec.where))
        for page in broker.pages(piece):
            source = PageSource(page, page.number, piece.store, piece.address, None, edition=broker.edition)
            rows += [
                {
                    **lost_rows(broker.broker.name, piece.store, page, item)._asdict(),
                    "store_address": piece.address,
                    "kind": str(item.damage.kind),
                    "detail": item.damage.detail,
                }
                for item in page_batches(source, every)
                if isinstance(item, TableDamage) and store.motion(page, item.damage) is None
            ]
    yield table_rows(spec.content, rows, broker.context(spec))


def _acknowledgements(broker: BrokerAtHand, piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    bindings = broker.state.bindings
    addresses = {queue_id: queue.address for queue_id, queue in bindings.queues.items()} if bindings else {}
    yield from acknowledgement_batches(broker.state.journal, broker.context(spec), addresses)


_MADE: Final[dict[TableContent, Callable[[BrokerAtHand, Piece, TableSpec], Iterator[Rows]]]] = {
    TableContent.MESSAGES: _messages, TableContent.PAGES: _pages,
    TableContent.OUTSTANDING: _outstanding, TableContent.DAMAGE: _damage,
    TableContent.ACKNOWLEDGEMENTS: _acknowledgements,
}  # fmt: skip


@lru_cache(1024)
def tell(broker: FleetBroker, spec: TableSpec) -> None:
    """Log what is not known of a broker. The cache makes that once for each worker: its tasks share nothing else."""
    with suppress(PageFmtError, OSError):  # its rows say why
        for remark in opened(broker, spec.run).remarks(spec):
            _LOG.warning("%s: %s", broker.name, remark.text)


def shown(rows: Iterator[Rows], form: pa.Schema, damage: str) -> Iterator[pa.RecordBatch]:
    """Yield rows as a data source gives them.

    ``damage``: name of the column that describes damage, or a broker that could not be read, in rows of their own; if
    empty, they are logged.
    """
    for item in rows:
        if isinstance(item, LostRows | BrokerFailure) and damage:
            description = item._asdict()
            yield pa.RecordBatch.from_pylist([utf8_row(description | {damage: json.dumps(description)})], schema=form)
        elif isinstance(item, LostRows):
            _LOG.warning("%s: %s: offset %d: %s", item.broker, item.file, item.offset, item.kind)
        elif isinstance(item, BrokerFailure):
            _LOG.warning("%s: %s", item.broker, item.why)
        elif isinstance(item, pa.RecordBatch):
            named = dict(zip(item.schema.names, item.columns, strict=True))
            named |= {damage: pa.nulls(item.num_rows, pa.string())} if damage else {}
            yield pa.record_batch([_typed(named[field.name], field.type) for field in form], schema=form)


def _typed(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Cast an array to the wanted type: Spark's times have another unit."""
    return values if values.type == wanted else values.cast(wanted)
