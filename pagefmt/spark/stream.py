"""Following a live paging directory: every record once, in the order store, page, number.

A position is, by store, the first record not taken yet: page, offset and number. Only records that are whole on disk
are taken; what the broker is just writing comes with a later batch. Pages that the broker deletes before they were read
are passed over: their messages were consumed. A stream looks at pages alone: ``acked_by`` and ``outstanding`` are null.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from pagefmt.directory.locate import stores
from pagefmt.pages.chunks import FilePart, read_chunks
from pagefmt.pages.paging import Store
from pagefmt.spark.groups import PageGroup, PageTask, SourceOptions, grouped, read_page

Position = dict[str, int]
Offset = dict[str, Position]


class PageFilesStream(DataSourceStreamReader):
    """The stream of one paging directory."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self._reached: Offset = {}

    def initialOffset(self) -> Offset:  # noqa: N802 (Spark's names, here and below)
        """In front of the first record of every store."""
        return {}

    def latestOffset(self, start: Offset | None = None, limit: object = None) -> Offset:  # noqa: N802
        """``start`` and ``limit`` come from Spark 4.2 on; there is no limit here."""
        known = {**(start or {}), **self._reached}
        reached: Offset = {name: where for name, where in known.items() if start and name in start}
        for store in stores(self.options.location()):
            if store.pages and store.address is not None:
                reached[store.name] = _end_of(store, known.get(store.name))
        self._reached = reached
        return reached

    def partitions(self, start: Offset, end: Offset) -> list[PageGroup]:
        """The records between two positions."""
        return grouped(self._tasks(start, end))

    def _tasks(self, start: Offset, end: Offset) -> Iterator[tuple[PageTask, int]]:
        for store in stores(self.options.location()):
            if store.name not in end:
                continue
            first, last = start.get(store.name), end[store.name]
            for page in store.pages:
                part = _part(page.number, first, last)
                if part is not None:
                    file = page._replace(folder=page.folder.absolute())
                    size = (page.size if part.end is None else part.end) - part.start
                    yield PageTask(file, store.name, store.address, None, part, live=True), size

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of a partition, where the task runs; a page deleted meanwhile has none."""
        assert isinstance(partition, PageGroup)
        wanted, form = self.options.query(), self.options.schema()
        for page in partition.pages:
            yield from read_page(page, wanted, form, None)


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
