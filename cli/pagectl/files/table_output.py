"""``pages decode --format parquet|arrow``: the chosen messages as one file of columns, without a Java machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagectl.files.destination import fresh_file
from pagectl.running.exits import CallError
from pagectl.terminal.streams import note
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.columns.table import TableQuery
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.outstanding.state import StoreState
    from pagefmt.pages.frames import Damage
    from pagefmt.pages.paging import PageFile


def table_query(body: str, choice: MessageFilter) -> TableQuery:
    """The rows and columns that the options ask for; raises ``CallError`` where they fit no table."""
    from pagefmt.columns.table import TableQuery
    from pagefmt.columns.table_body import TableBody

    if body not in list(TableBody):
        raise CallError(f"--body {body}: a table takes one of {', '.join(TableBody)}")
    return TableQuery(TableBody(body), choice.selector)


def rows_of(
    page: PageFile, known: StoreState, choice: MessageFilter, wanted: TableQuery, edition: Edition
) -> Iterator[Any | Damage]:
    """The chosen rows of one page, and what is damaged in it."""
    from pagefmt.columns.table import PageSource, TableDamage, page_batches, without_outstanding
    from pagefmt.columns.wanted_records import rows_by_queue
    from pagefmt.pages.frames import DamageKind

    store, rule = known.store, known.rule(page.number)
    wanted = replace(wanted, where=choice.selector)
    source = PageSource(page, page.number, store.name, store.address, rule, edition=edition)
    for found in page_batches(source, wanted):
        if not isinstance(found, TableDamage):
            rows = rows_by_queue(found, choice)
            yield rows if known.unknown is None else without_outstanding(rows)
            continue
        lost = f"; {found.missing} bytes are not in the table" if found.missing else ""
        yield found.damage._replace(detail=f"{found.damage.detail}{lost}")
        if choice.outstanding and found.damage.kind is DamageKind.UNDECODABLE and found.missing:
            return  # a broker throws: nothing behind it is outstanding


def write_table(
    form: str, to: Path | None, place: DataLocation, query: TableQuery, batches: Iterable[Any], limit: int | None
) -> None:
    """Write ``to``, whole or not at all. Raises ``CallError`` where it is no file."""
    from pagefmt.columns.files import table_file

    if to is None or str(to) == "-":
        raise CallError(f"--format {form} needs --to FILE: it is not written to a terminal or a pipe")
    rows = 0
    with fresh_file(to, place) as fresh, table_file(fresh, form, query.schema) as table:
        for batch in batches:
            if limit is not None:
                batch = batch.slice(0, limit - rows)
            rows += batch.num_rows
            table.write_batch(batch)
            if rows == limit:
                break
    note(f"{count_text(rows, 'message')} in {to.absolute()}")
