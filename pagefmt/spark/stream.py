"""Following live paging directories: every record once, in the order store, page, number.

An offset contains, for each store, the last record that was complete on disk when the directory was listed (page,
number and offset), and the listed pages: a batch is what is between two offsets, also after a restart. A page of a
batch that the broker has deleted before it is read is reported as damage of the kind ``deleted``; pages that came and
went between two listings are never seen. A broker that starts anew uses page numbers again, which the id of the first
message in a page reveals; ``run`` counts how often. A stream reads only pages: ``acked_by``, ``outstanding`` and the
names of queues are null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from pagefmt.codec.pages.file_part import FilePart
from pagefmt.codec.pages.frames import DamageKind
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.routes import route_at
from pagefmt.codec.wire import Undecodable
from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.locate import stores
from pagefmt.directory.paging import AddressText, Store, page_name
from pagefmt.outstanding.message_location import PageOrigin
from pagefmt.spark.groups import GROUP, runs_of
from pagefmt.spark.options import BadOption, SourceOptions, TableSpec
from pagefmt.spark.rows import SHOWN, LostRows, Rows, lost_rows, shown
from pagefmt.table.joined_pages import joined_batches
from pagefmt.table.named_columns import RowsContext
from pagefmt.table.table import PageSource, TableDamage
from pagefmt.vectors import read_chunks

DELETED: Final = "deleted"  # shown as the kind of damage for a page that was deleted before it was read
Position = dict[str, Any]
Offset = dict[str, Position]


@dataclass(frozen=True, slots=True)
class StreamedPage:
    """The part of a page in a batch.

    ``gone``: the page was listed earlier and is missing, or another has its number.
    """

    broker: str
    store: str
    address: str | None
    file: PageFile
    part: FilePart
    gone: bool


class StreamedPages(InputPartition):
    """Pages of one batch that one task reads."""

    def __init__(self, pages: list[StreamedPage], exported_at: int) -> None:
        super().__init__(None)
        self.pages, self.exported_at = pages, exported_at


class PageFilesStream(DataSourceStreamReader):
    """The stream of some paging directories. A store's position goes by its folder, with several brokers by both."""

    def __init__(self, options: SourceOptions) -> None:
        if not options.spec.content.of_messages:
            raise BadOption(f"option content: {options.spec.content} is not a stream; read it as a table")
        self.brokers, self.spec, self.form = options.brokers, options.spec, options.schema()
        self.damage = options.damage
        self._reached: Offset = {}

    def initialOffset(self) -> Offset:  # noqa: N802 (Spark's names, here and below)
        """Return the offset before the first record of every store."""
        return {}

    def _stores(self) -> Iterator[tuple[str, FleetBroker, Store]]:
        for broker in self.brokers:
            for store in stores(broker.place):
                yield store.name if len(self.brokers) == 1 else f"{broker.name}/{store.name}", broker, store

    def latestOffset(self, start: Offset | None = None, limit: object = None) -> Offset:  # noqa: N802
        """Return the offset after the last whole record of every store.

        ``start`` and ``limit`` are passed by Spark 4.2 and later; ``limit`` is ignored.
        """
        before = self._reached if start is None else start
        reached = dict(before)
        for name, _, store in self._stores():
            if store.pages and store.address is not None:
                reached[name] = _end_of(store, before.get(name), whole=start is None)
        self._reached = reached
        return reached

    def partitions(self, start: Offset, end: Offset) -> list[StreamedPages]:
        """Return the records between two offsets. A batch that is planned again keeps the time of the first plan."""
        now = int(datetime.now(UTC).timestamp() * 1000)
        at = max((where.get("at", now) for name, where in end.items() if where != start.get(name)), default=now)
        groups: list[list[StreamedPage]] = [[]]
        size = 0
        for page in self._pages(start, end):
            groups[-1].append(page)
            size += page.file.size if page.part.end is None else page.part.end - page.part.start
            if size >= GROUP:
                groups.append([])
                size = 0
        return [StreamedPages(group, at) for group in groups if group or group is groups[0]]

    def _pages(self, start: Offset, end: Offset) -> Iterator[StreamedPage]:
        listed = {name: (broker, store) for name, broker, store in self._stores()}
        for name in sorted(set(end) - set(listed)):
            listed[name] = self._gone(name)
        for name, (broker, store) in listed.items():
            if name not in end or end[name] == start.get(name):
                continue
            pages_by_number = {page.number: page for page in store.pages}
            for number in _numbers(end[name], pages_by_number):
                page = pages_by_number.get(number) or PageFile(number, store.folder, page_name(number), 0)
                part = _part(page, start.get(name), end[name])
                another = number == end[name]["page"] and end[name].get("id") not in (None, _first_id(page))
                if part is not None:
                    gone = number not in pages_by_number or another
                    yield StreamedPage(broker.name, store.name, store.address, page, part, gone)

    def _gone(self, name: str) -> tuple[FleetBroker, Store]:
        """Return a store that was listed earlier and is gone."""
        broker = next(
            (candidate for candidate in self.brokers if name.startswith(f"{candidate.name}/")), self.brokers[0]
        )
        folder = (broker.place.paging or broker.place.given) / name.removeprefix(f"{broker.name}/")
        return broker, Store(folder, AddressText(None), (), ())

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a partition; runs in the task. A page that was deleted since has no rows."""
        assert isinstance(partition, StreamedPages)
        spec = replace(self.spec, exported_at=partition.exported_at)
        for _, pages in groupby(partition.pages, lambda page: (page.broker, page.store, page.gone)):
            yield from shown(_rows(list(pages), spec), self.form, self.damage)


def _rows(pages: Sequence[StreamedPage], spec: TableSpec) -> Iterator[Rows]:
    """Yield the rows of pages of one store, which either all exist or are all gone."""
    first, table = pages[0], spec.messages()
    if first.gone:
        yield from map(_deleted, pages)
        return
    context = RowsContext({page.file.number: page.file.name for page in pages}, {}, spec.exported_at, first.broker)
    sources = (
        PageSource(
            page.file,
            page.file.number,
            page.store,
            page.address,
            None,
            page.part,
            origin=PageOrigin({}, SHOWN, None, spec.exported_at, f"{page.store}/{page.file.name}"),
        )
        for page in pages
    )
    for n, batch in joined_batches(sources, table.query):
        if not isinstance(batch, TableDamage):
            yield table.rows(batch, context)
        elif batch.damage.kind is DamageKind.GONE:
            yield _deleted(pages[n])
        else:
            yield lost_rows(first.broker, first.store, pages[n].file, batch)


def _deleted(page: StreamedPage) -> LostRows:
    file, part = page.file, page.part
    return LostRows(page.broker, page.store, file.number, file.name, part.start, None, part.number, DELETED)


def _numbers(last: Position, existing: Iterable[int]) -> Iterable[int]:
    """Return the page numbers that were listed for a position; a position of an older version does not have them."""
    runs = last.get("pages")
    return sorted(existing) if runs is None else (n for first, end in runs for n in range(first, end + 1))


def _part(page: PageFile, first: Position | None, last: Position) -> FilePart | None:
    """Return the part of a page between two positions, or None if there is none."""
    if first is not None and (last.get("run", 0) > first.get("run", 0) or last["page"] < first["page"]):
        first = None
    if page.number > last["page"] or (first is not None and page.number < first["page"]):
        return None
    begun = first["number"] if first is not None and page.number == first["page"] else 0
    start = _behind(page, begun)
    if page.number < last["page"]:
        return FilePart(start, begun)
    return FilePart(start, begun, max(_behind(page, last["number"]), start + 1)) if last["number"] > begun else None


def _behind(page: PageFile, number: int) -> int:
    """Return the offset after this many records. It is not stored, because a compaction changes it."""
    at = 0
    for _, frames in read_chunks(page.path) if number else ():
        more = number - frames.number
        at = frames.base + (int(frames.offset[more]) if more < len(frames.offset) else frames.end)
        if more <= len(frames.offset):
            break
    return at


def _end_of(store: Store, last_position: Position | None, *, whole: bool) -> Position:
    """Return the position after the last whole record of a store. ``whole``: list pages before ``known`` as well."""
    page = store.pages[-1]
    anew = last_position is not None and _began_anew(store, last_position)
    run = 0 if last_position is None else last_position.get("run", 0) + anew
    before = None if anew else last_position
    begun = before["number"] if before is not None and before["page"] == page.number else 0
    end, number = _behind(page, begun), begun
    for _, frames in read_chunks(page.path, part=FilePart(end, number)):
        end, number = frames.base + frames.end, frames.number + len(frames.offset)
    if before is not None and (before["page"], before["number"]) == (page.number, number):
        return before
    listed = [page.number for page in store.pages if whole or before is None or _has_more(page, before)]
    return {
        "page": page.number,
        "bytes": end,
        "number": number,
        "pages": [*map(list, runs_of(listed))],
        "id": _first_id(page),
        "run": run,
        "at": int(datetime.now(UTC).timestamp() * 1000),
    }


def _has_more(page: PageFile, position: Position) -> bool:
    """Return whether a page contains something after a position."""
    return (page.number, page.size) > (position["page"], position["bytes"])


def _began_anew(store: Store, position: Position) -> bool:
    """Return whether page numbers have been used again since the position."""
    pages_by_number = {page.number: page for page in store.pages}
    if max(pages_by_number) < position["page"]:
        return True
    page, first = pages_by_number.get(position["page"]), position.get("id")
    return page is not None and first is not None and _first_id(page) not in (first, None)


def _first_id(page: PageFile) -> int | None:
    """Return the id of the first message in a page, or None if it cannot be read."""
    for content, frames in read_chunks(page.path):
        with suppress(Undecodable, IndexError):
            offset, length = int(frames.offset[0]), int(frames.length[0])
            return route_at(memoryview(content.buffer)[: content.size], offset, length)[5]
        break
    return None
