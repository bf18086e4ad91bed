"""Lists: the columns of a table, its rows in any format, chosen, sorted and limited.

A row is a ``Report``. Its fields are the columns of CSV and what ``--columns`` and ``--sort`` name; a table in text has
the columns that are described here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar, assert_never

from msgspec import UNSET

from pagectl.options.formats import TableFormat
from pagectl.options.groups import ListOptions
from pagectl.reports.form import Report
from pagectl.running.exits import CallError
from pagectl.terminal.streams import CsvTable, JsonItems, print_json, print_table
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
    """A column of a text table.

    ``null`` is the text for null, or a function that returns it for a row. Without ``--columns`` a table has the
    ``usual`` columns, but not those that are ``only_if_varied`` and have one value in all rows. A long table has the
    others as well.
    """

    field: str
    heading: str
    form: ValueForm = NAME
    null: str | Callable[[Any], str] = "?"
    usual: bool = True
    only_if_varied: bool = False


class TextTable(NamedTuple):
    """The cells of a table. ``right``: headings of the columns that are aligned to the right."""

    headings: list[str]
    rows: list[list[str]]
    right: list[str]


@dataclass(frozen=True, slots=True)
class RowListing(Generic[Row]):
    """The rows of one class: ``key`` of their list in a JSON document. ``left_out``: fields that CSV has not.

    ``sort_words``: other names of fields that ``--sort`` accepts. ``further_rows``: classes of rows that have other
    fields, such as those of what failed. ``prose``: the last column of a text table is a sentence, which may be broken.
    """

    key: str
    row: type[Row]
    columns: tuple[TableColumn, ...]
    left_out: tuple[str, ...] = ()
    sort_words: Mapping[str, str] = field(default_factory=dict)
    further_rows: tuple[type[Report], ...] = ()
    prose: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the fields that ``--columns`` and ``--sort`` may name."""
        classes: tuple[type[Report], ...] = (self.row, *self.further_rows)
        return tuple(dict.fromkeys(name for row_class in classes for name in row_class.__struct_fields__))

    def view(self, options: ListOptions, *, long: bool = False) -> View[Row]:
        """Return the list as options describe it. Raise ``CallError`` for a column that it does not have.

        ``long`` adds the columns to text tables that are usually left out.
        """
        columns = None if options.columns is None else [self._known(name) for name in options.columns.split(",")]
        sort = self.sort_words.get(options.sort, options.sort) if options.sort is not None else None
        return View(self, options.form, columns, None if sort is None else self._known(sort), options.limit, long)

    def table(
        self,
        rows: Sequence[Row],
        names: list[str] | None = None,
        *,
        long: bool = False,
        among: Sequence[Row] | None = None,
    ) -> TextTable:
        """Return the text table of rows. ``names``: fields; None for the usual columns.

        ``among``: all rows, of which ``rows`` are shown; they decide which columns vary.
        """
        if names is None:
            columns = [
                column
                for column in self.columns
                if (column.usual or long)
                and (not column.only_if_varied or len({getattr(row, column.field, UNSET) for row in among or rows}) > 1)
            ]
        else:
            described = {column.field: column for column in reversed(self.columns)}
            columns = [described.get(name) or TableColumn(name, name.replace("_", " ").upper()) for name in names]
        return TextTable(
            [column.heading for column in columns],
            [[_cell(row, column) for column in columns] for row in rows],
            [column.heading for column in columns if column.form.right],
        )

    def _known(self, name: str) -> str:
        if name not in self.fields:
            raise CallError(f"{name!r} is no column; there are {', '.join(self.fields)}")
        return name


@dataclass(frozen=True, slots=True)
class View(Generic[Row]):
    """A list in one format. ``columns``: None for all. ``sort``: a field. ``limit``: rows; None and 0 for all."""

    listing: RowListing[Row]
    form: TableFormat
    columns: list[str] | None
    sort: str | None
    limit: int | None
    long: bool = False

    @property
    def as_text(self) -> bool:
        """Return whether the format is text."""
        return self.form is TableFormat.text

    def show(self, rows: Iterable[Row]) -> None:
        """Write the rows; what a text has beside its table is the caller's."""
        self.write(self.chosen(rows))

    def chosen(self, rows: Iterable[Row]) -> Iterable[Row]:
        """Return the rows to be shown, in their order."""
        return islice(self.ordered(rows), self.limit or None)

    def ordered(self, rows: Iterable[Row]) -> Iterable[Row]:
        """Return all rows in the order of ``--sort``.

        Numbers are sorted largest first, names and times smallest first, null last; equal rows keep their order.
        """
        field = self.sort
        if field is None:
            return rows
        forms = [column.form for column in self.listing.columns if column.field == field]
        valued, empty = list[Row](), list[Row]()
        for row in rows:
            (empty if getattr(row, field, UNSET) in (None, UNSET) else valued).append(row)
        largest = (
            not forms[0].earliest if forms else all(isinstance(getattr(row, field), int | float) for row in valued)
        )
        valued.sort(key=lambda row: _rank(getattr(row, field)), reverse=largest)
        return valued + empty

    def write(
        self,
        rows: Iterable[Row],
        further: Mapping[str, Iterable[Report]] = MappingProxyType({}),
        among: Sequence[Row] | None = None,
    ) -> None:
        """Write rows that are already chosen.

        ``further``: lists by their keys that follow in JSON. JSON Lines with ``--columns`` have only the rows.
        ``among``: see ``RowListing.table``.
        """
        match self.form:
            case TableFormat.text:
                self._text(list(rows), among)
            case TableFormat.csv:
                left_out = self.listing.left_out
                table = CsvTable(self.columns or [name for name in self.listing.fields if name not in left_out])
                for row in rows:
                    table.row({name: _flat(value, " ") for name, value in _values(row, table.columns)})
            case TableFormat.json | TableFormat.jsonl:
                lines = self.form is TableFormat.jsonl
                others = {} if lines and self.columns is not None else further
                print_json_lists({self.listing.key: self._objects(rows), **others}, lines=lines)
            case _:
                assert_never(self.form)

    def write_document(self, answer: Report) -> None:
        """Write a JSON document that has more than the list: ``answer`` with the chosen columns of its rows.

        The field of ``answer`` that the listing's ``key`` names has the rows, already chosen.
        """
        values = {name: getattr(answer, name) for name in answer.__struct_fields__}
        print_json({**values, self.listing.key: list(self._objects(values[self.listing.key]))})

    def _objects(self, rows: Iterable[Row]) -> Iterable[object]:
        names = self.columns
        return rows if names is None else (dict(_values(row, names)) for row in rows)

    def _text(self, rows: list[Row], among: Sequence[Row] | None) -> None:
        table = self.listing.table(rows, self.columns, long=self.long, among=among)
        print_table(table.headings, table.rows, right=table.right, prose=self.listing.prose)


def print_json_lists(lists: Mapping[str, Iterable[object]], *, lines: bool = False) -> None:
    """Write a JSON document of several lists, as their items come; or with ``lines`` the items alone, one a line."""
    listed = JsonItems(*lists, lines=lines)
    for key, items in lists.items():
        for item in items:
            listed.add(key, item)
    listed.end()


def _values(row: Row, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the fields that a row has, with their values."""
    for name in names:
        if (value := getattr(row, name, UNSET)) is not UNSET:
            yield name, value


def _rank(value: Any) -> Any:
    return value if isinstance(value, int | float) else str(value)


def _cell(row: Report, column: TableColumn) -> str:
    value = getattr(row, column.field, UNSET)
    if value in (None, UNSET):
        return column.null if isinstance(column.null, str) else column.null(row)
    return column.form.text(_flat(value, ", ") if column.form is NAME else value)


def _flat(value: Any, between: str) -> Any:
    """Return a list of words as a text."""
    return between.join(value) if isinstance(value, list) and all(isinstance(word, str) for word in value) else value
