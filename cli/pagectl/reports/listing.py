"""Lists: the columns of a table, its rows in any format, chosen, sorted and limited.

A row is a ``Report``. Its fields are the columns of CSV and what ``--columns`` and ``--sort`` name; a table in text has
the columns that are described here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import UNSET

from pagectl.options.formats import TableFormat
from pagectl.options.groups import ListOptions
from pagectl.reports.form import Report
from pagectl.running.exits import CallError
from pagectl.terminal.streams import CsvTable, print_json_list, print_table
from pagefmt.quantities import age_text, size_text, time_text

Row = TypeVar("Row", bound=Report)


class ValueForm(NamedTuple):
    """How a value stands in a text table. ``earliest``: sorted with the smallest first."""

    text: Callable[[Any], str]
    right: bool = False
    earliest: bool = False


NAME = ValueForm(str, earliest=True)
COUNT = ValueForm(str, right=True)
SIZE = ValueForm(size_text, right=True)
TIME = ValueForm(lambda milliseconds: time_text(milliseconds, "minutes"), earliest=True)
AGE = ValueForm(age_text, right=True)


class TableColumn(NamedTuple):
    """A column of a text table. ``null``: what stands for null. ``usual``: shown unless ``--columns`` names others."""

    field: str
    heading: str
    form: ValueForm = NAME
    null: str = "?"
    usual: bool = True


@dataclass(frozen=True)
class RowListing(Generic[Row]):
    """The rows of one class: ``key`` of their list in a JSON document. ``left_out``: fields that CSV has not."""

    key: str
    row: type[Row]
    columns: tuple[TableColumn, ...]
    left_out: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """What ``--columns`` and ``--sort`` may name."""
        return self.row.__struct_fields__

    def view(self, asked: ListOptions) -> View[Row]:
        """The list as it is asked for; raises ``CallError`` for a column that it has not."""
        columns = None if asked.columns is None else [self._known(name) for name in asked.columns.split(",")]
        return View(self, asked.form, columns, None if asked.sort is None else self._known(asked.sort), asked.limit)

    def _known(self, name: str) -> str:
        if name not in self.fields:
            raise CallError(f"{name!r} is no column; there are {', '.join(self.fields)}")
        return name


@dataclass(frozen=True)
class View(Generic[Row]):
    """A list in one format. ``columns``: None for all. ``sort``: a field. ``limit``: rows; None and 0 for all."""

    listing: RowListing[Row]
    form: TableFormat
    columns: list[str] | None
    sort: str | None
    limit: int | None

    @property
    def as_text(self) -> bool:
        """Whether a person reads it."""
        return self.form is TableFormat.text

    def show(self, rows: Iterable[Row]) -> None:
        """Write the rows; what a text has beside its table is the caller's."""
        self.write(self.chosen(rows))

    def chosen(self, rows: Iterable[Row]) -> Iterable[Row]:
        """The rows that are shown, in their order."""
        return islice(rows if self.sort is None else self._ordered(rows, self.sort), self.limit or None)

    def _ordered(self, rows: Iterable[Row], field: str) -> list[Row]:
        """Numbers largest first, names and times smallest first, null last; equal rows keep their order."""
        forms = [column.form for column in self.listing.columns if column.field == field]
        known, unknown = list[Row](), list[Row]()
        for row in rows:
            (unknown if getattr(row, field) in (None, UNSET) else known).append(row)
        largest = not forms[0].earliest if forms else all(isinstance(getattr(row, field), int | float) for row in known)
        known.sort(key=lambda row: _rank(getattr(row, field)), reverse=largest)
        return known + unknown

    def write(self, rows: Iterable[Row]) -> None:
        """The rows, already chosen."""
        match self.form:
            case TableFormat.text:
                self._text(list(rows))
            case TableFormat.csv:
                left_out = self.listing.left_out
                table = CsvTable(self.columns or [name for name in self.listing.fields if name not in left_out])
                for row in rows:
                    table.row({name: _flat(value) for name, value in _values(row, table.columns)})
            case TableFormat.json | TableFormat.jsonl:
                names = self.columns
                objects = rows if names is None else (dict(_values(row, names)) for row in rows)
                print_json_list(self.listing.key, objects, lines=self.form is TableFormat.jsonl)

    def _text(self, rows: list[Row]) -> None:
        columns = [column for column in self.listing.columns if column.usual]
        if self.columns is not None:
            described = {column.field: column for column in reversed(self.listing.columns)}
            columns = [
                described.get(name) or TableColumn(name, name.replace("_", " ").upper()) for name in self.columns
            ]
        print_table(
            [column.heading for column in columns],
            ([_cell(getattr(row, column.field), column) for column in columns] for row in rows),
            right=[column.heading for column in columns if column.form.right],
        )


def _values(row: Row, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the fields that a row has, with their values."""
    for name in names:
        if (value := getattr(row, name)) is not UNSET:
            yield name, value


def _rank(value: Any) -> Any:
    return value if isinstance(value, int | float) else str(value)


def _cell(value: Any, column: TableColumn) -> str:
    return column.null if value in (None, UNSET) else column.form.text(_flat(value))


def _flat(value: Any) -> Any:
    """A list of words as words."""
    return " ".join(value) if isinstance(value, list) and all(isinstance(each, str) for each in value) else value
