"""``pages decode --format parquet|arrow``: the chosen messages as one file of columns, or a folder of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagectl.files.destination import fresh_file, private_files
from pagectl.options.columns import MESSAGE_SPLITS
from pagectl.options.times import milliseconds
from pagectl.running.exits import CallError
from pagectl.terminal.streams import note
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.codec.pages.file_part import FilePart
    from pagefmt.codec.pages.frames import Damage
    from pagefmt.codec.pages.page_file import PageFile
    from pagefmt.codec.pages.page_in_memory import PageInMemory
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.outstanding.journal_parts import JournalPart
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.outstanding.message_location import MessageOrigin
    from pagefmt.outstanding.state import StoreState
    from pagefmt.table.named_columns import NamedTable
    from pagefmt.table.row_groups import JoinedParquet
    from pagefmt.table.table_files import TableFile


@dataclass(frozen=True, slots=True)
class TableOutput:
    """What a table has, and how it is read and written."""

    form: str
    choice: MessageFilter
    table: NamedTable
    shown: Any
    splits: tuple[str, ...]
    edition: Edition
    queue_names: frozenset[str] | None

    def rows(
        self,
        holder: StoreState | JournalPart,
        choice: MessageFilter,
        pages: Sequence[tuple[PageFile | PageInMemory, MessageOrigin | None, FilePart]],
    ) -> Iterator[tuple[int, Any | Damage]]:
        """Yield the chosen rows of pages and the damage in them, with the index of the page."""
        from pagefmt.table.joined_pages import joined_batches
        from pagefmt.table.named_columns import RowsContext
        from pagefmt.table.table import PageSource, TableDamage, without_outstanding
        from pagefmt.vectors import rows_by_queue

        store, rule = holder.store, holder.rule
        wanted = replace(self.table.query, where=choice.selector)
        sources = (
            PageSource(page, page.number, store.name, store.address, rule(page.number), part, self.edition, origin)
            for page, origin, part in pages
        )
        names = {number: queue.name for number, queue in (holder.queues or {}).items()}
        context = RowsContext({page.number: page.name for page, *_ in pages}, names, milliseconds(datetime.now(UTC)))
        for n, batch in joined_batches(sources, wanted):
            if not isinstance(batch, TableDamage):
                rows = rows_by_queue(batch, choice)
                yield n, self.table.rows(rows if holder.unknown is None else without_outstanding(rows), context)
                continue
            lost = f"; {batch.missing} bytes are not in the table" if batch.missing else ""
            yield n, batch.damage._replace(detail=f"{batch.damage.detail}{lost}")

    def write(self, to: Path | None, place: DataLocation, batches: Iterable[Any], limit: int | None) -> None:
        """Write ``to``, whole or not at all. Raises ``CallError`` where it is no file, or no folder to be made."""
        to = self._file(to)
        if self.splits:
            count, files = self._folder(to, place, batches, limit)
            note(f"{count_text(count, 'message')} in {count_text(files, 'file')} below {to.absolute()}")
            return
        from pagefmt.table.table_files import table_file

        with fresh_file(to, place) as fresh, table_file(fresh, self.form, self.table.schema) as table:
            count = _written(table, batches, limit)
        note(f"{count_text(count, 'message')} in {to.absolute()}")

    def _file(self, to: Path | None) -> Path:
        if to is None or str(to) == "-":
            raise CallError(f"--format {self.form} needs --to FILE: it is not written to a terminal or a pipe")
        return to

    @contextmanager
    def joined(self, to: Path | None, place: DataLocation) -> Iterator[JoinedParquet]:
        """``to`` as a Parquet file, for row groups. Errors as ``write``."""
        from pagefmt.table.row_groups import JoinedParquet

        to = self._file(to)
        with fresh_file(to, place) as fresh, fresh.open("wb") as out:
            table = JoinedParquet(out, self.table.schema)
            yield table
            table.close()
        note(f"{count_text(table.rows, 'message')} in {to.absolute()}")

    def _folder(self, to: Path, place: DataLocation, batches: Iterable[Any], limit: int | None) -> tuple[int, int]:
        from pagefmt.storage.writing import sync_files, whole_folder
        from pagefmt.table.partitions import SHORTENED, PartitionedTable

        with private_files(place), whole_folder(to, place.read_folders) as (partial, _):
            os.umask(mask := os.umask(0))
            partial.chmod(0o777 & ~mask)
            parts = PartitionedTable(
                partial, self.form, self.shown, self.splits, self.choice.outstanding, self.queue_names
            )
            count = _written(parts, batches, limit)
            parts.close()
            sync_files(partial)
        if parts.shortened:
            note(
                f"{count_text(len(parts.shortened), 'value')} empty or too long for a folder name: the name ends with "
                f"~ and a checksum, and {SHORTENED} has the full value"
            )
        return count, parts.files


def table_output(
    form: str,
    body: str,
    columns: str | None,
    splits: Sequence[str],
    choice: MessageFilter,
    edition: Edition,
    queues: Mapping[int, str],
    *,
    located: bool = False,
    coded: bool = False,
    past: bool = False,
) -> TableOutput:
    """Return the table that the options describe. Raise ``CallError`` if they fit no table, ``NoSuchColumn``.

    ``located`` adds where messages are stored, and ``past`` when those of a history were sent. ``coded`` stores each
    distinct state of queues once, with a code per row.
    """
    from pagefmt.table.named_columns import NamedTable, body_for
    from pagefmt.table.partitions import needs
    from pagefmt.table.table import TableQuery
    from pagefmt.table.table_body import TableBody

    if body not in list(TableBody):
        raise CallError(f"--body {body}: a table takes one of {', '.join(TableBody)}")
    wrong = next((split for split in splits if split not in MESSAGE_SPLITS), None)
    if wrong is not None:
        raise CallError(
            f"--partition-by {wrong}: no such column to partition by; choose from {', '.join(MESSAGE_SPLITS)}"
        )
    names = None if columns is None else [name.strip() for name in columns.split(",")]
    query = TableQuery(body_for(names or (), TableBody(body)), choice.selector, located=located, coded=coded, past=past)
    by_route = [("outstanding" if choice.outstanding else "queues")] if choice.by_route else []
    shown = NamedTable.of(names, query).schema
    made_of = [needs(split, outstanding=choice.outstanding) for split in splits]
    table = NamedTable.of([*shown.names, *made_of], query, by_route)
    chosen = None if choice.queues is None else frozenset(queues.get(id, f"queue {id}") for id in choice.queues)
    return TableOutput(form, choice, table, shown, tuple(dict.fromkeys(splits)), edition, chosen)


def _written(table: TableFile, batches: Iterable[Any], limit: int | None) -> int:
    """Write the rows, up to the limit; how many there were."""
    rows = 0
    for batch in batches:
        part = batch if limit is None else batch.slice(0, limit - rows)
        rows += part.num_rows
        table.write_batch(part)
        if rows == limit:
            break
    return rows
