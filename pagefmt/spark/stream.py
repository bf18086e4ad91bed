"""Following live paging directories: every record once, in the order store, page, number.

A position is, by store, the first record not taken yet: page, offset and number. Only records that are whole on disk
are taken; what the broker is just writing comes with a later batch. Pages that the broker deletes before they were read
are passed over: their messages were consumed. A stream looks at pages alone: ``acked_by`` and ``outstanding`` are null,
and so are the names of queues.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from pagefmt.columns.named_columns import RowsContext
from pagefmt.columns.table import PageSource, TableDamage, page_batches
from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.locate import stores
from pagefmt.outstanding.state import motion_of
from pagefmt.pages.chunks import FilePart, read_chunks
from pagefmt.pages.paging import PageFile, Store
from pagefmt.spark.groups import GROUP
from pagefmt.spark.options import BadOption, SourceOptions, TableSpec
from pagefmt.spark.rows import Rows, lost_rows, shown

Position = dict[str, int]
Offset = dict[str, Position]


@dataclass(frozen=True, slots=True)
class StreamedPage:
    """What of a page a batch takes. ``newest``: the broker may be writing to it."""

    broker: str
    store: str
    address: str | None
    file: PageFile
    part: FilePart
    newest: bool


class StreamedPages(InputPartition):
    """Some of a batch."""

    def __init__(self, pages: list[StreamedPage], exported_at: int) -> None:
        super().__init__(None)
        self.pages, self.exported_at = pages, exported_at


class PageFilesStream(DataSourceStreamReader):
    """The stream of some paging directories. A store's position goes by its folder, with several brokers by both."""

    def __init__(self, options: SourceOptions) -> None:
        if not options.spec.content.of_messages:
            raise BadOption(f"option content: {options.spec.content} is no stream; it is read as a table")
        self.brokers, self.spec, self.form = options.brokers, options.spec, options.schema()
        self.damage = options.damage
        self._reached: Offset = {}

    def initialOffset(self) -> Offset:  # noqa: N802 (Spark's names, here and below)
        """In front of the first record of every store."""
        return {}

    def _stores(self) -> Iterator[tuple[str, FleetBroker, Store]]:
        for broker in self.brokers:
            for store in stores(broker.place):
                yield store.name if len(self.brokers) == 1 else f"{broker.name}/{store.name}", broker, store

    def latestOffset(self, start: Offset | None = None, limit: object = None) -> Offset:  # noqa: N802
        """``start`` and ``limit`` come from Spark 4.2 on; there is no limit here."""
        known = {**(start or {}), **self._reached}
        reached: Offset = {name: where for name, where in known.items() if start and name in start}
        for name, _, store in self._stores():
            if store.pages and store.address is not None:
                reached[name] = _end_of(store, known.get(name))
        self._reached = reached
        return reached

    def partitions(self, start: Offset, end: Offset) -> list[StreamedPages]:
        """The records between two positions."""
        now = int(datetime.now(UTC).timestamp() * 1000)
        groups: list[list[StreamedPage]] = [[]]
        size = 0
        for page, amount in self._pages(start, end):
            groups[-1].append(page)
            size += amount
            if size >= GROUP:
                groups.append([])
                size = 0
        return [StreamedPages(group, now) for group in groups if group or group is groups[0]]

    def _pages(self, start: Offset, end: Offset) -> Iterator[tuple[StreamedPage, int]]:
        for name, broker, store in self._stores():
            if name not in end:
                continue
            for page in store.pages:
                part = _part(page.number, start.get(name), end[name])
                if part is not None:
                    newest = page.number == store.current_page
                    size = (page.size if part.end is None else part.end) - part.start
                    yield StreamedPage(broker.name, store.name, store.address, page, part, newest), size

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of a partition, where the task runs; a page deleted meanwhile has none."""
        assert isinstance(partition, StreamedPages)
        spec = replace(self.spec, exported_at=partition.exported_at)
        for page in partition.pages:
            yield from shown(_rows(page, spec), self.form, self.damage)


def _rows(page: StreamedPage, spec: TableSpec) -> Iterator[Rows]:
    table = spec.messages()
    source = PageSource(page.file, page.file.number, page.store, page.address, None, page.part)
    context = RowsContext(page.file.name, {}, spec.exported_at, page.broker)
    for batch in page_batches(source, table.query):
        if not isinstance(batch, TableDamage):
            yield table.rows(batch, context)
        elif motion_of(batch.damage, newest=page.newest) is None:
            yield lost_rows(page.broker, page.store, page.file, batch)


def _part(page: int, first: Position | None, last: Position) -> FilePart | None:
    """What of a page lies between two positions."""
    if page > last["page"] or (first is not None and page < first["page"]):
        return None
    begun = first is not None and page == first["page"]
    start, number = (first["bytes"], first["number"]) if first is not None and begun else (0, 0)
    end = last["bytes"] if page == last["page"] else None
    return None if end is not None and end <= start else FilePart(start, number, end)


def _end_of(store: Store, known: Position | None) -> Position:
    """The position behind the last whole record of a store."""
    page = store.pages[-1]
    bytes_, number = 0, 0
    if known is not None and known["page"] == page.number and known["bytes"] <= page.size:
        bytes_, number = known["bytes"], known["number"]
    elif known is not None and known["page"] > page.number:
        return known
    for _, frames in read_chunks(page.path, part=FilePart(bytes_, number)):
        bytes_, number = frames.base + frames.end, frames.number + len(frames.offset)
    return {"page": page.number, "bytes": bytes_, "number": number}
