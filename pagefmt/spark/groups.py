"""What a task of the data source reads: page files in groups, the options, the batches of one page."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from pagefmt.columns.table import PageSource, TableDamage, TableQuery, page_batches, without_outstanding
from pagefmt.columns.table_body import TableBody
from pagefmt.directory.edition_evidence import likely_writer
from pagefmt.directory.locate import DataLocation, LocateError, LocationKind, locate, stores
from pagefmt.editions import NEWEST, Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.state import PagingState, motion_of
from pagefmt.pages.chunks import WHOLE_FILE, FilePart
from pagefmt.pages.frames import PAYLOAD_DAMAGE
from pagefmt.pages.paging import PageFile
from pagefmt.selector import parse

GROUP: Final = 64 << 20
DAMAGE: Final = pa.field("damage", pa.string())
_LOG: Final = logging.getLogger(__name__)


class BadOption(PageFmtError):
    """An option of the data source that is not understood."""


@dataclass(frozen=True, slots=True)
class PageTask:
    """One page file of a partition: it is opened where the task runs.

    ``judged``: it is known what is outstanding in its store. ``live``: a broker is at work; ``newest``: on this page.
    """

    file: PageFile
    store: str
    address: str | None
    queues: tuple[int, ...] | None
    part: FilePart = WHOLE_FILE
    edition: Edition = NEWEST
    judged: bool = False
    live: bool = False
    newest: bool = False


class PageGroup(InputPartition):
    """Page files of at least ``GROUP`` bytes together: a task costs more than reading a small page."""

    def __init__(self, pages: list[PageTask]) -> None:
        super().__init__(None)
        self.pages = pages


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options of the data source, parsed."""

    path: str
    body: TableBody
    where: str | None
    paging: str | None
    journal: str | None
    bindings: str | None
    damage: bool
    columns: str | None = None

    @classmethod
    def of(cls, given: dict[str, str]) -> SourceOptions:
        """The options by name. Raises ``BadOption``, and the selector's error."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(map(str.lower, given)) - known)
        if unknown:
            raise BadOption(f"option {unknown[0]}: not known; there are {', '.join(sorted(known))}")
        if not given.get("path"):
            raise BadOption("no directory given; name one with load(DIR)")
        try:
            body = TableBody(given.get("body", TableBody.SIZE))
        except ValueError:
            raise BadOption(f"option body: {given['body']!r} is none of {', '.join(TableBody)}") from None
        options = cls(
            _local(given["path"]), body, given.get("where"), given.get("paging"), given.get("journal"),
            given.get("bindings"), given.get("damage", "false").lower() == "true", given.get("columns"),
        )  # fmt: skip
        options.query()
        return options

    def said(self) -> dict[str, str]:
        """The options as the mapping that ``of`` takes."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: str(value) for name, value in given.items() if value is not None}

    def location(self) -> DataLocation:
        """Of an instance the directories in their usual places: a configuration is for the caller to read."""
        try:
            place = locate(Path(self.path))
        except LocateError:
            if not self.paging:
                raise
            place = DataLocation(Path(self.path), LocationKind.INSTANCE, None)

        def directory(given: str | None, usual: Path | None) -> Path | None:
            """As given, empty for none; else where it usually lies."""
            return usual if given is None else Path(given) if given else None

        return place._replace(
            paging=directory(self.paging, place.paging), journal=directory(self.journal, place.journal),
            bindings=directory(self.bindings, place.bindings),
        )  # fmt: skip

    def query(self) -> TableQuery:
        """Raises ``BadOption`` where a column is not known, and the selector's error."""
        every = TableQuery(self.body, None if self.where is None else parse(self.where))
        if self.columns is None:
            return every
        names = [name.strip() for name in self.columns.split(",")]
        unknown = [name for name in names if name not in every.schema.names]
        if unknown:
            has = ", ".join(every.schema.names)
            raise BadOption(f"option columns: {unknown[0]!r} is none; with body {self.body} there are {has}")
        return replace(every, columns=frozenset(names))

    def schema(self) -> pa.Schema:
        """The columns of the table; nullable, as Spark reads them back from files."""
        fields = list(self.query().schema)
        return pa.schema([field.with_nullable(True) for field in [*fields, *([DAMAGE] if self.damage else [])]])


def _local(path: str) -> str:
    """A path, also where it is given as a URL."""
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path


def groups_of(place: DataLocation, state: PagingState) -> list[PageGroup]:
    """All pages of a directory as partitions."""
    edition = likely_writer(state.bindings, state.journal) or NEWEST
    return grouped(_pages(place, state, edition))


def acknowledgements_of(state: PagingState) -> MessageJournal | None:
    """What tasks need of the journal; None: no acknowledgements are known."""
    return None if state.known.unknown_journal else state.journal


def _pages(place: DataLocation, state: PagingState, edition: Edition) -> Iterator[tuple[PageTask, int]]:
    for known in state.of(stores(place)):
        store, judged = known.store, known.unknown is None
        own = None if known.queues is None else tuple(known.queues)
        for page in store.pages:
            newest = page.number == store.current_page
            file = page._replace(folder=page.folder.absolute())
            task = PageTask(
                file, store.name, store.address, own, edition=edition, judged=judged, live=known.live, newest=newest
            )
            yield task, page.size


def grouped(pages: Iterable[tuple[PageTask, int]]) -> list[PageGroup]:
    """Page files with their sizes, in order, in groups of ``GROUP`` bytes or more."""
    groups: list[PageGroup] = []
    members: list[PageTask] = []
    size = 0
    for page, amount in pages:
        members.append(page)
        size += amount
        if size >= GROUP:
            groups.append(PageGroup(members))
            members, size = [], 0
    return [*groups, PageGroup(members)] if members or not groups else groups


def batches_of(
    page: PageTask, wanted: TableQuery, journal: MessageJournal | None
) -> Iterator[pa.RecordBatch | TableDamage]:
    """The rows of one page with what the journal says about them, and what is damaged in it."""
    file = page.file
    rule = None if journal is None else PageRule(journal, page.queues, file.number, live=page.live)
    source = PageSource(file, file.number, page.store, page.address, rule, page.part, page.edition)
    for batch in page_batches(source, wanted):
        if not isinstance(batch, TableDamage):
            yield batch if page.judged else without_outstanding(batch)
        elif not (page.live and motion_of(batch.damage, newest=page.newest)):
            yield batch


def read_page(page: PageTask, wanted: TableQuery, form: pa.Schema, journal: MessageJournal | None) -> Iterator[Any]:
    """Batches of one page. With a damage column: a row for each damage, which says where and what."""
    with_damage = DAMAGE.name in form.names
    for batch in batches_of(page, wanted, journal):
        if isinstance(batch, TableDamage):
            if with_damage:
                yield _damage_row(page, batch, form)
            else:
                _LOG.warning("%s: offset %d: %s", page.file.path, batch.damage.offset, batch.damage.detail)
        elif with_damage:
            yield pa.record_batch([*batch.columns, pa.nulls(batch.num_rows, pa.string())], schema=form)
        else:
            yield pa.record_batch(batch.columns, schema=form)


def damage_of(page: PageTask, found: TableDamage) -> dict[str, Any]:
    """What is damaged in a page, as ``_damaged.json`` says it."""
    damage = found.damage
    return {
        "store": page.store, "page": page.file.number, "file": page.file.name, "offset": damage.offset,
        "bytes": found.missing, "number": damage.number,
        "kind": "undecodable" if damage.kind in PAYLOAD_DAMAGE else "frame",
    }  # fmt: skip


def _damage_row(page: PageTask, found: TableDamage, form: pa.Schema) -> pa.RecordBatch:
    said = json.dumps(damage_of(page, found))
    row = {"store": page.store, "page": page.file.number, "number": found.damage.number, DAMAGE.name: said}
    return pa.RecordBatch.from_pylist([row], schema=form)
