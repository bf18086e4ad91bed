"""What a task of the data source reads: page files in groups, the options, the batches of one page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from pagefmt.columns.table import PageSource, TableDamage, TableQuery, page_batches
from pagefmt.columns.table_body import TableBody
from pagefmt.directory.bindings import Bindings, load_bindings
from pagefmt.directory.edition_evidence import likely_writer
from pagefmt.directory.locate import DataLocation, LocateError, LocationKind, locate, stores
from pagefmt.editions import NEWEST, Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.pages.chunks import WHOLE_FILE, FilePart
from pagefmt.pages.frames import PAYLOAD_DAMAGE
from pagefmt.selector import parse

GROUP: Final = 64 << 20
DAMAGE: Final = pa.field("damage", pa.string())


class BadOption(PageFmtError):
    """An option of the data source that is not understood."""


@dataclass(frozen=True, slots=True)
class PageTask:
    """One page file of a partition, by path: it is opened where the task runs."""

    path: str
    page: int
    store: str
    address: str | None
    queues: tuple[int, ...] | None
    part: FilePart = WHOLE_FILE
    edition: Edition = NEWEST


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

        return replace(
            place, paging=directory(self.paging, place.paging), journal=directory(self.journal, place.journal),
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


def groups_of(place: DataLocation, journal: MessageJournal | None) -> list[PageGroup]:
    """All pages of a directory as partitions. ``journal`` None: no acknowledgements are known."""
    bindings = load_bindings(place.bindings) if place.bindings else None
    writer = None if journal is None else likely_writer(bindings, journal)
    return grouped(_pages(place, None if bindings is None else _by_address(bindings), writer or NEWEST))


def _pages(
    place: DataLocation, queues: dict[str, tuple[int, ...]] | None, edition: Edition
) -> Iterator[tuple[PageTask, int]]:
    for store in stores(place):
        own = None if queues is None else queues.get(store.address or "", ())
        for page in store.pages:
            path = str(page.path.absolute())
            yield PageTask(path, page.number, store.name, store.address, own, edition=edition), page.size


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


def _by_address(bindings: Bindings) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for number, queue in bindings.queues.items():
        found.setdefault(queue.address, []).append(number)
    return {address: tuple(numbers) for address, numbers in found.items()}


def opened(page: PageTask, journal: MessageJournal | None) -> PageSource:
    """The page as the columns are read from, with what the journal says about it."""
    rule = None if journal is None else PageRule(journal, page.queues, page.page)
    return PageSource(Path(page.path), page.page, page.store, page.address, rule, page.part, page.edition)


def read_page(page: PageTask, wanted: TableQuery, form: pa.Schema, journal: MessageJournal | None) -> Iterator[Any]:
    """Batches of one page. With a damage column: a row for each damage, which says where and what."""
    source = opened(page, journal)
    with_damage = DAMAGE.name in form.names
    for batch in page_batches(source, wanted):
        if isinstance(batch, TableDamage):
            if with_damage:
                yield _damage_row(source, batch, form)
        elif with_damage:
            yield pa.record_batch([*batch.columns, pa.nulls(batch.num_rows, pa.string())], schema=form)
        else:
            yield pa.record_batch(batch.columns, schema=form)


def damage_of(source: PageSource, found: TableDamage) -> dict[str, Any]:
    """What is damaged in a page, as ``_damaged.json`` says it."""
    damage = found.damage
    return {
        "store": source.store, "page": source.page, "file": source.path.name, "offset": damage.offset,
        "bytes": found.missing, "number": damage.number,
        "kind": "undecodable" if damage.kind in PAYLOAD_DAMAGE else "frame",
    }  # fmt: skip


def _damage_row(source: PageSource, found: TableDamage, form: pa.Schema) -> pa.RecordBatch:
    said = json.dumps(damage_of(source, found))
    row = {"store": source.store, "page": source.page, "number": found.damage.number, DAMAGE.name: said}
    return pa.RecordBatch.from_pylist([row], schema=form)
