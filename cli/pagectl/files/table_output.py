"""``pages decode --format parquet|arrow``: the chosen messages as one file of columns, without a Java machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagectl.files.destination import fresh_file
from pagectl.running.exits import CallError, Exit
from pagectl.running.reading import bytes_to_read, each_store
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import note, warning

if TYPE_CHECKING:
    from pagefmt.columns.table import TableQuery
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.outstanding.state import PagingState


def write_table(
    form: str, to: Path | None, body: str, place: DataLocation, state: PagingState, choice: MessageFilter,
    limit: int | None, edition: Edition,
) -> int:  # fmt: skip
    """Write ``to``, whole or not at all; returns the exit status."""
    from pagefmt.columns.files import table_file
    from pagefmt.columns.table import TableQuery
    from pagefmt.columns.table_body import TableBody

    if to is None or str(to) == "-":
        raise CallError(f"--format {form} needs --to FILE: it is not written to a terminal or a pipe")
    if body not in list(TableBody):
        raise CallError(f"--body {body}: a table takes one of {', '.join(TableBody)}")
    wanted = TableQuery(TableBody(body), choice.selector)
    rows, damaged = 0, [False]
    with fresh_file(to, place) as fresh, table_file(fresh, form, wanted.schema) as table:
        for batch in _batches(place, state, choice, wanted, edition, damaged):
            if limit is not None:
                batch = batch.slice(0, limit - rows)
            rows += batch.num_rows
            table.write_batch(batch)
            if rows == limit:
                break
    note(f"{rows} messages in {to.absolute()}")
    return Exit.FOUND if damaged[0] else Exit.OK


def _batches(
    place: DataLocation,
    state: PagingState,
    choice: MessageFilter,
    wanted: TableQuery,
    edition: Edition,
    damaged: list[bool],
) -> Iterator[Any]:
    from pagefmt.columns.table import PageSource, TableDamage, page_batches
    from pagefmt.columns.wanted_records import rows_by_queue
    from pagefmt.pages.frames import DamageKind

    with progress("reading pages", bytes_to_read(place)) as bar:
        for known in each_store(place, state):
            store = known.store
            for page in store.pages:
                if page.number in choice.pages:
                    rule = known.rule(page.number)
                    source = PageSource(page.path, page.number, store.name, store.address, rule, edition=edition)
                    for batch in page_batches(source, wanted):
                        if not isinstance(batch, TableDamage):
                            yield rows_by_queue(batch, choice)
                            continue
                        found = batch.damage
                        if known.in_motion(page, found):
                            note(f"{page.path}: offset {found.offset}: being written")
                            continue
                        damaged[0] = True
                        lost = f"; {batch.missing} bytes are not in the table" if batch.missing else ""
                        warning(f"{page.path}: offset {found.offset}: {found.kind}: {found.detail}{lost}")
                        if choice.outstanding and found.kind is DamageKind.UNDECODABLE and batch.missing:
                            break  # a broker throws: nothing behind it is outstanding
                bar.advance(page.size)
