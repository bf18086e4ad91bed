"""Pages of a store as rows of a table: small pages are read together, as if they were one.

The fixed cost of a page exceeds that of its records if it is small. A page with anything that columns do not read is
read by itself, and reported like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.pages.file_part import WHOLE_FILE
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import Layout
from pagefmt.outstanding.ack_state import PagesRule
from pagefmt.outstanding.message_location import PageOrigin
from pagefmt.table.table import PageSource, TableDamage, TableQuery, completed, decoded_rows, page_batches
from pagefmt.vectors import CHUNK, ConcatenatedPages, PageBytes, PageFrames, read_together

# Bytes. Smaller pages are read together with others.
SMALL: Final = CHUNK // 8
Found: TypeAlias = pa.RecordBatch | TableDamage


@dataclass(frozen=True, slots=True)
class _PagesOrigin(PageOrigin):
    """The origin of the records of several pages, which are numbered across pages."""

    names_of_files: Sequence[str] = ()
    owner: Ints | None = None

    def files(self, number: Ints) -> tuple[list[str], Ints]:
        assert self.owner is not None
        return list(self.names_of_files), self.owner[number]


@dataclass(frozen=True, slots=True)
class JoinedPages:
    """Small pages that are read as one. ``source``: a source with all of their records, numbered across pages.

    ``owner``: the page of each record, as an index in the group. ``sound``: by page, False if it has to be read by
    itself.
    """

    content: PageBytes
    frames: PageFrames
    opened: Page
    source: PageSource
    owner: Ints
    sound: Mask

    @classmethod
    def of(cls, group: Sequence[PageSource]) -> JoinedPages:
        """Read the pages of a group into one buffer."""
        read = read_together([source.file for source in group if isinstance(source.file, PageFile)])
        content, places = read.content, read.frames.places
        assert places is not None
        opened = Page(memoryview(content.buffer)[: content.size]).of_layout(Layout.NEW)
        source = _as_one(group, read, places.owner)
        return cls(content, read.frames, opened, source, places.owner, read.sound)

    def in_turn(self, rows: Ints) -> Iterator[tuple[int, int | None, int, int]]:
        """Yield (first page, page after the last, first row, row after the last) of each run of sound pages, in order.

        A page that is not sound has a run of its own, with None instead of the page after the last: it has to be read
        by itself. ``rows``: ascending numbers of the records that a result was made of; the rows yielded index it.
        """
        bounds = np.searchsorted(self.owner[rows], np.arange(len(self.sound) + 1)).tolist()
        for before, n in pairwise((-1, *np.flatnonzero(~self.sound).tolist(), len(self.sound))):
            if before + 1 < n:
                yield before + 1, n, bounds[before + 1], bounds[n]
            if n < len(self.sound):
                yield n, None, 0, 0


def joined_batches(sources: Iterable[PageSource], wanted: TableQuery) -> Iterator[tuple[int, Found]]:
    """Yield what ``page_batches`` gives for each page, with the number of its source.

    A batch with rows of several pages has the number of the first one.
    """
    for first, group in page_groups(sources):
        if len(group) > 1:
            yield from ((first + n, batch_or_damage) for n, batch_or_damage in _together(group, wanted))
        else:
            yield from ((first, batch_or_damage) for batch_or_damage in page_batches(group[0], wanted))


def page_groups(sources: Iterable[PageSource], size: int = CHUNK) -> Iterator[tuple[int, list[PageSource]]]:
    """Group small pages of a store up to ``size`` bytes. Yield each group with the number of its first source.

    A page that is read by itself ends the group before it, and is yielded before the next source is requested.
    """
    group: list[PageSource] = []
    filled = first = 0
    for n, source in enumerate(sources):
        own = _small_size(source)
        if group and (own is None or filled + own > size or not _follows(source, group[-1])):
            yield first, group
            group = []
        if own is None:
            yield n, [source]
            continue
        if not group:
            first, filled = n, 0
        group.append(source)
        filled += own
    if group:
        yield first, group


def _follows(source: PageSource, last: PageSource) -> bool:
    """Return whether ``source`` is a later page of the same store as ``last``."""
    return (source.store, source.address) == (last.store, last.address) and source.page > last.page


def _small_size(source: PageSource) -> int | None:
    """Return the bytes of a page that is read together with others, None if it is read by itself."""
    origin, file = source.origin, source.file
    if origin is not None and (not isinstance(origin, PageOrigin) or origin.apart or origin.only is not None):
        return None
    return file.size if isinstance(file, PageFile) and file.size <= SMALL and source.part == WHOLE_FILE else None


def _together(group: Sequence[PageSource], wanted: TableQuery) -> Iterator[tuple[int, Found]]:
    read = JoinedPages.of(group)
    decoded, rows = decoded_rows(read.source, wanted, wanted.level, read.content, read.frames, read.opened)
    read.sound[read.owner[decoded.irregular]] = False
    batch = completed(decoded.table, read.source, wanted.schema, rows)
    for first, last, begin, end in read.in_turn(rows):
        if last is not None:
            yield first, batch.slice(begin, end - begin)
        else:
            yield from ((first, batch_or_damage) for batch_or_damage in page_batches(group[first], wanted))


def _as_one(group: Sequence[PageSource], read: ConcatenatedPages, owner: Ints) -> PageSource:
    """Return a source with the records of all pages of the group, numbered on from page to page."""
    bounds = pairwise(read.first.tolist())
    parts = [(source.rule, *item) for source, item in zip(group, bounds, strict=True) if source.rule is not None]
    origin = group[0].origin
    if origin is not None:
        origins = [item.origin for item in group if isinstance(item.origin, PageOrigin)]
        assert isinstance(origin, PageOrigin)
        origin = _PagesOrigin(
            origin.names,
            origin.unknown,
            origin.large,
            origin.now,
            "",
            names_of_files=[item.file for item in origins],
            owner=owner,
        )
    return replace(group[0], rule=PagesRule(parts) if parts else None, origin=origin)
