"""The rows of a piece, made where the task runs: of the broker's pages, journal and bindings as they are found there.

A worker keeps one broker in mind. Groups come in the order of their brokers, so that each worker reads each broker's
journal once at most, and nobody sends acknowledgements about.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa

from pagefmt.bytes.far_paths import take_archive
from pagefmt.columns.arrays.schema import utf8_row
from pagefmt.columns.named_columns import NamedTable, RowsContext
from pagefmt.columns.state_tables import acknowledgement_batches, page_row, queue_rows, table_rows
from pagefmt.columns.table import PageSource, TableDamage, TableQuery, page_batches, without_outstanding
from pagefmt.columns.table_body import TableBody
from pagefmt.columns.table_content import StoredIn, TableContent
from pagefmt.columns.together import together_batches
from pagefmt.directory.edition_evidence import assumed_edition
from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.locate import stores
from pagefmt.directory.permissions import Reads, closed_files
from pagefmt.directory.store_findings import entry_findings
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.messages.large import LargeMessages
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.outstanding.origins import PageOrigin
from pagefmt.outstanding.schedules import BrokerStart
from pagefmt.outstanding.state import PagingState, StoreState, load_place
from pagefmt.pages.frames import NO_BYTES, PAYLOAD_DAMAGE, Damage
from pagefmt.pages.paging import PageFile, page_name
from pagefmt.selector import parse
from pagefmt.spark.exported import PageEntry, journal_identity
from pagefmt.spark.groups import JOURNAL, Piece
from pagefmt.spark.new_rows import new_of_journal, new_rows
from pagefmt.spark.options import TableSpec

_LOG: Final = logging.getLogger(__name__)
SHOWN: Final = "the table does not say what is outstanding"


class Remark(NamedTuple):
    """What has to be told of a broker. ``missing``: something is not there, rather than not readable."""

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

    ``journal_identity``: of the journal before it was read.
    """

    broker: FleetBroker
    state: PagingState
    stores: dict[str, StoreState]
    edition: Edition
    queues: dict[int, str]
    large: LargeMessages | None
    journal_identity: str | None

    @classmethod
    def of(cls, broker: FleetBroker) -> BrokerAtHand:
        """Raises ``PageFmtError`` and ``OSError``."""
        place = broker.place
        identity = journal_identity(place.journal)
        state = load_place(place)
        known = {each.store.name: each for each in state.of(stores(place))}
        edition = broker.edition or assumed_edition(state.bindings, state.journal)
        names = {each: queue.name for each, queue in state.bindings.queues.items()} if state.bindings else {}
        large = None if place.large_messages is None else LargeMessages(place.large_messages)
        return cls(broker, state, known, edition, names, large, identity)

    def remarks(self, spec: TableSpec) -> list[Remark]:
        """What is not known, or lost, or may not be read."""
        known = self.state.known
        reads = Reads.LARGE if spec.body is TableBody.SIZE else Reads.BODIES
        closed = closed_files(self.broker.place, reads if spec.within is StoredIn.JOURNAL else reads | Reads.PAGES)
        unknown = (each.not_known(SHOWN) for each in self.stores.values() if not each.store.hides_address)
        left_out = (line for each in self.stores.values() for line in each.left_out())
        return [
            *(Remark(each.reason, each.missing) for each in known.unknown()),
            *map(Remark, [*known.lost(), *filter(None, [*unknown, *left_out]), *([str(closed)] if closed else [])]),
        ]

    def context(self, spec: TableSpec, pages: Iterable[PageFile] = ()) -> RowsContext:
        """Of the rows of pages, or of the journal."""
        files = {page.number: page.name for page in pages}
        return RowsContext(files, self.queues, spec.exported_at, self.broker.name)

    def pages(self, piece: Piece) -> Iterator[PageFile]:
        """As they are now; one that went away is there to be missed."""
        assert piece.store is not None
        store = self.stores[piece.store].store
        here = {page.number: page for page in store.pages}
        for number in piece.numbers():
            yield here.get(number) or PageFile(number, store.folder, page_name(number), 0)


_in_mind: dict[tuple[str, str], BrokerAtHand] = {}


def opened(broker: FleetBroker, run: str) -> BrokerAtHand:
    """As it was when this worker first asked in this run. Raises ``PageFmtError`` and ``OSError``."""
    key = run, broker.name
    if key not in _in_mind:
        _in_mind.clear()
        if broker.unpacked is not None:
            take_archive(broker.unpacked)
        _in_mind[key] = BrokerAtHand.of(broker)
    return _in_mind[key]


def rows_of(piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    """The rows of a piece in their order, and what is missing among them. A broker that fails costs itself alone."""
    try:
        piece.broker.require_same()
        yield from _MADE[spec.content](opened(piece.broker, spec.run), piece, spec)
        piece.broker.require_same()
    except (PageFmtError, OSError) as err:
        yield BrokerFailure(piece.broker.name, str(err))


def _messages(found: BrokerAtHand, piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    table = spec.messages()
    if piece.store is None:
        rows = _messages_of_journal(found, table, spec)
        if piece.known is not None:
            journals, exported = found.state.known, piece.known.get(JOURNAL)
            whole = journals.unknown_journal is None and not journals.damaged
            rows = new_of_journal(rows, found.broker.name, exported, found.journal_identity, whole=whole)
        yield from rows
        return
    pages, known = list(found.pages(piece)), found.stores[piece.store]
    read = partial(_page_rows, found, known, found.context(spec, pages), table, spec)
    if piece.known is None:
        yield from (each for _, each in read(pages))
    else:
        yield from new_rows(pages, found.broker.name, piece.store, piece.known, read)


def _messages_of_journal(found: BrokerAtHand, table: NamedTable, spec: TableSpec) -> Iterator[Rows]:
    for part in JournalParts(found.state, found.large, BrokerStart(spec.exported_at, found.edition)).parts():
        if isinstance(part, JournalPart):
            yield from _journal_rows(found, part, table, spec)
        else:
            yield LostRows(found.broker.name, None, None, part.why, 0, None, None, f"{part.messages} messages")


def _page_rows(
    found: BrokerAtHand, known: StoreState, context: RowsContext, table: NamedTable, spec: TableSpec,
    pages: Iterable[PageFile],
) -> Iterator[tuple[int, Rows]]:  # fmt: skip
    """Rows of pages, and what is missing among them; with which of the pages it is, as ``together_batches``."""
    given: list[PageFile] = []

    def sources() -> Iterator[PageSource]:
        for page in pages:
            given.append(page)
            yield _source(found, known, page, table, spec)

    for n, batch in together_batches(sources(), table.query):
        if not isinstance(batch, TableDamage):
            yield n, table.rows(batch if known.unknown is None else without_outstanding(batch), context)
        elif known.motion(given[n], batch.damage) is None:
            yield n, lost_rows(found.broker.name, known.store.name, given[n], batch)


def _source(
    found: BrokerAtHand, known: StoreState, page: PageFile, table: NamedTable, spec: TableSpec
) -> PageSource:  # fmt: skip
    origin = None
    if table.query.located:
        names = found.state.bindings.queues if found.state.bindings is not None else {}
        why = None if known.unknown is None else known.unknown.reason
        origin = PageOrigin(names, why, found.large, spec.exported_at, f"{known.store.name}/{page.name}")
    return PageSource(
        page, page.number, known.store.name, known.store.address, known.rule(page.number), edition=found.edition,
        origin=origin,
    )  # fmt: skip


def _journal_rows(found: BrokerAtHand, part: JournalPart, table: NamedTable, spec: TableSpec) -> Iterator[Rows]:
    source = PageSource(
        part.page, part.page.number, "", None, part.rule_of, edition=found.edition, origin=part.origin
    )  # fmt: skip
    for batch in page_batches(source, table.query):
        if isinstance(batch, TableDamage):
            file, damage = part.damage(batch.damage)
            kind = _damage_kind(damage)
            yield LostRows(found.broker.name, None, None, file.name, damage.offset, batch.missing, None, kind)
        else:
            context = found.context(spec)
            yield table.rows(batch if part.unknown is None else without_outstanding(batch), context)


def lost_rows(broker: str, store: str, page: PageFile, found: TableDamage) -> LostRows:
    """What is damaged in a page."""
    damage = found.damage
    missing: int | None = found.missing
    if damage.kind in NO_BYTES:
        missing = page.size - damage.offset if page.size > damage.offset else None
    return LostRows(broker, store, page.number, page.name, damage.offset, missing, damage.number, _damage_kind(damage))


def _damage_kind(damage: Damage) -> str:
    if damage.kind in NO_BYTES:
        return str(damage.kind)
    return "undecodable" if damage.kind in PAYLOAD_DAMAGE else "frame"


def _pages(found: BrokerAtHand, piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    assert piece.store is not None
    known = found.stores[piece.store]
    rows = [page_row(known, page, found.queues) for page in found.pages(piece)]
    yield table_rows(spec.content, rows, found.context(spec))


def _outstanding(found: BrokerAtHand, piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    assert piece.store is not None
    yield table_rows(spec.content, queue_rows(found.stores[piece.store]), found.context(spec))


def _damage(found: BrokerAtHand, piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    rows: list[Mapping[str, Any]] = []
    if piece.store is None:
        known = found.state.known
        told = [*(("not known", each.reason) for each in known.unknown()), *(("lost", each) for each in known.lost())]
        rows = [{"kind": kind, "detail": detail} for kind, detail in told]
        rows += [
            {
                "store": each.store.name, "store_address": each.store.address, "page": entry.number,
                "file": entry.name, "kind": odd.rule, "detail": odd.message,
            }
            for each in found.stores.values() for entry, odd in entry_findings(each.store)
        ]  # fmt: skip
    else:
        store = found.stores[piece.store]
        if store.store.problem:
            rows.append({"store": piece.store, "kind": "not known", "detail": store.store.problem})
        every = TableQuery(spec.body, None if spec.where is None else parse(spec.where))
        for page in found.pages(piece):
            source = PageSource(page, page.number, piece.store, piece.address, None, edition=found.edition)
            rows += [
                {
                    **lost_rows(found.broker.name, piece.store, page, each)._asdict(), "store_address": piece.address,
                    "kind": str(each.damage.kind), "detail": each.damage.detail,
                }
                for each in page_batches(source, every)
                if isinstance(each, TableDamage) and store.motion(page, each.damage) is None
            ]  # fmt: skip
    yield table_rows(spec.content, rows, found.context(spec))


def _acknowledgements(found: BrokerAtHand, piece: Piece, spec: TableSpec) -> Iterator[Rows]:
    bindings = found.state.bindings
    addresses = {each: queue.address for each, queue in bindings.queues.items()} if bindings else {}
    yield from acknowledgement_batches(found.state.journal, found.context(spec), addresses)


_MADE: Final[dict[TableContent, Callable[[BrokerAtHand, Piece, TableSpec], Iterator[Rows]]]] = {
    TableContent.MESSAGES: _messages, TableContent.PAGES: _pages,
    TableContent.OUTSTANDING: _outstanding, TableContent.DAMAGE: _damage,
    TableContent.ACKNOWLEDGEMENTS: _acknowledgements,
}  # fmt: skip


@lru_cache(1024)
def tell(broker: FleetBroker, spec: TableSpec) -> None:
    """Log what is not known of a broker, once in each worker."""
    with suppress(PageFmtError, OSError):  # its rows say why
        for remark in opened(broker, spec.run).remarks(spec):
            _LOG.warning("%s: %s", broker.name, remark.text)


def shown(rows: Iterator[Rows], form: pa.Schema, damage: str) -> Iterator[pa.RecordBatch]:
    """Rows as a data source gives them. ``damage``: the column of rows that say, each, what is damaged where, or why a
    broker could not be read; empty for none."""
    for each in rows:
        if isinstance(each, LostRows | BrokerFailure) and damage:
            said = each._asdict()
            yield pa.RecordBatch.from_pylist([utf8_row(said | {damage: json.dumps(said)})], schema=form)
        elif isinstance(each, LostRows):
            _LOG.warning("%s: %s: offset %d: %s", each.broker, each.file, each.offset, each.kind)
        elif isinstance(each, BrokerFailure):
            _LOG.warning("%s: %s", each.broker, each.why)
        elif isinstance(each, pa.RecordBatch):
            named = dict(zip(each.schema.names, each.columns, strict=True))
            named |= {damage: pa.nulls(each.num_rows, pa.string())} if damage else {}
            yield pa.record_batch([_typed(named[field.name], field.type) for field in form], schema=form)


def _typed(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Spark's times have another unit."""
    return values if values.type == wanted else values.cast(wanted)
