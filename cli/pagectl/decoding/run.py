"""Reads the messages that were asked for and writes them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from pagectl.decoding.columns import FOR_CSV, FOR_MESSAGES, ChosenColumns, RowPlace, property_names
from pagectl.decoding.shown import TABLES, DecodeFormat, ShownOptions
from pagectl.decoding.sources import AllSources, PageSources, PageToRead
from pagectl.files.destination import output_to
from pagectl.opening.broker import located
from pagectl.options.columns import BODIES
from pagectl.options.message_filter import tell_unsearched
from pagectl.options.shared import edition_of
from pagectl.options.times import milliseconds
from pagectl.outputs.message_text import MessageText
from pagectl.running.exits import Exit
from pagectl.running.reading import bytes_to_read, note_near_names, told_state
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import CsvTable, JsonItems, json_text, print_json_line, write_utf8
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pathlib import Path

    from pagectl.options.groups import BrokerOptions
    from pagectl.options.message_filter import FilterOptions
    from pagefmt.describe.message_json import BodyForm, MessageOptions
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.outstanding.state import PagingState
    from pagefmt.pages.frames import Damage

T = TypeVar("T")


def carry_out(
    given: Path | None, chosen: FilterOptions, shown: ShownOptions, edition: Any, broker: BrokerOptions,
    *, with_offsets: bool = False, everywhere: bool = False,
) -> int:  # fmt: skip
    """The status. ``with_offsets``: text says of each message in which file it lies, and where. ``everywhere``: also
    messages of the journal, and how they stand with their queues."""
    form, forms, where = shown.format(), shown.forms(), chosen.selector()
    place = located(given, broker)
    state = told_state(place, journal=chosen.outstanding, pages=not everywhere)
    choice = chosen.filter(place, state, where, everywhere=everywhere)
    if not everywhere:
        named = property_names(shown.columns)
        note_near_names([*named, *(where.names() if where else ())], place, choice.pages)
    wanted = _message_options(place, forms, shown.inflate, _reader(state, edition))
    pages = PageSources(place, state, choice)
    if everywhere:
        pages = AllSources(place, state, choice, large=wanted.large, edition=wanted.edition)
    run = _Decoding(place, state, choice, wanted, pages, everywhere)
    columns = shown.chosen()
    if form in TABLES:
        _write_table(run, form, shown)
    else:
        with output_to(shown.to, place, run.count):
            if form is DecodeFormat.csv:
                usual = FOR_MESSAGES if everywhere else FOR_CSV
                _write_csv(run, columns or (*usual, *_body_columns(forms)), shown.limit)
            elif form is DecodeFormat.json:
                _write_document(run, None if columns is None else ChosenColumns(columns), shown.limit)
            elif columns is not None:
                _write_columns(run, form, ChosenColumns(columns), shown.limit)
            elif form is DecodeFormat.jsonl:
                _write_lines(run, shown.limit)
            else:
                _write_text(run, shown.limit, with_offsets)
    tell_unsearched(choice)
    return run.status


def _reader(state: PagingState, edition: Any) -> Edition:
    """Without ``--edition`` messages are described as the broker would that wrote them, where the journals tell."""
    from pagefmt.directory.edition_evidence import likely_writer
    from pagefmt.editions import NEWEST

    writer = likely_writer(state.bindings, state.journal)
    return edition_of(edition) or writer or NEWEST


def _message_options(place: DataLocation, forms: frozenset[BodyForm], inflate: bool, reader: Edition) -> MessageOptions:
    from pagefmt.describe.message_json import MessageOptions
    from pagefmt.messages.large import LargeMessages

    large = LargeMessages(place.large_messages) if place.large_messages else None
    return MessageOptions(forms, large, reader, inflate)


@dataclass(slots=True)
class _Decoding:
    """One call: what is read, what is wanted, how many messages came, and whether damage was met."""

    place: DataLocation
    state: PagingState
    choice: MessageFilter
    wanted: MessageOptions
    sources: PageSources
    everywhere: bool
    damaged: bool = False
    written: int = field(default=0)

    @property
    def status(self) -> int:
        """Of the call."""
        return Exit.FOUND if self.damaged or self.sources.damaged or self.state.known.damaged else Exit.OK

    def count(self) -> str:
        """How many messages were written."""
        return count_text(self.written, "message")

    def messages(self, reader: Callable[..., Iterator[Any]]) -> Iterator[tuple[PageToRead, Any]]:
        """What ``picked_lines`` or ``message_rows`` gives of all pages asked for."""
        from pagefmt.columns.json_lines import LineFormat
        from pagefmt.pages.chunks import WHOLE_FILE

        form = LineFormat(self.wanted, json_text)
        return self.read(
            lambda at: reader(
                at.page, at.known, at.known.store, form, at.choice, at.origin, part=at.part or WHOLE_FILE
            ),
            beside_output=True,
        )

    def read(
        self, reader: Callable[[PageToRead], Iterator[T | Damage]], *, beside_output: bool
    ) -> Iterator[tuple[PageToRead, T]]:
        """What ``reader`` finds in all pages asked for; damage is warned of."""
        from pagefmt.pages.frames import Damage

        with progress("reading pages", bytes_to_read(self.place), beside_output=beside_output) as bar:
            for at in self.sources:
                for found in reader(at):
                    if isinstance(found, Damage):
                        self.damaged |= at.tell(found)
                    else:
                        yield at, found
                if at.part is None:
                    bar.advance(at.page.size)

    def rows(self, limit: int | None) -> Iterator[tuple[PageToRead, dict[str, Any]]]:
        """Each message as the object that its line holds, counted."""
        from pagefmt.columns.json_lines import message_rows

        for found in islice(self.messages(message_rows), limit):
            self.written += 1
            yield found


def _write_lines(run: _Decoding, limit: int | None) -> None:
    from pagefmt.columns.json_lines import MessageLines, picked_lines, selected_row

    most = sys.maxsize if limit is None else limit
    for at, found in run.messages(picked_lines) if most else ():
        if isinstance(found, MessageLines):
            taken = found.first(most - run.written)
            write_utf8(taken.content)
            run.written += len(taken)
        else:
            rule = at.known.rule(found.page.number)
            print_json_line(selected_row(at.known.store, found, run.wanted, rule, at.origin))
            run.written += 1
        if run.written == most:
            break


def _write_table(run: _Decoding, form: DecodeFormat, shown: ShownOptions) -> None:
    from pagectl.files.table_output import table_output
    from pagefmt.pages.chunks import WHOLE_FILE

    bindings = run.state.bindings
    names = {each: queue.name for each, queue in bindings.queues.items()} if bindings else {}
    output = table_output(
        form.value,
        shown.body,
        shown.columns,
        shown.partition_by or (),
        run.choice,
        run.wanted.edition,
        names,
        located=run.everywhere,
    )
    reading = run.read(
        lambda at: output.rows(at.page, at.known, at.choice, at.origin, at.part or WHOLE_FILE), beside_output=False
    )
    batches = (batch for _, batch in reading)
    output.write(shown.to, run.place, batches, shown.limit)


def _placed(run: _Decoding, limit: int | None) -> Iterator[tuple[dict[str, Any], RowPlace]]:
    now = milliseconds(datetime.now(UTC))
    return ((message, RowPlace(at.known, at.page, now)) for at, message in run.rows(limit))


def _write_csv(run: _Decoding, names: Iterable[str], limit: int | None) -> None:
    columns = ChosenColumns(names)
    table = CsvTable(columns.names)
    for message, at in _placed(run, limit):
        table.row(columns.cells(message, at))


def _write_columns(run: _Decoding, form: DecodeFormat, columns: ChosenColumns, limit: int | None) -> None:
    if form is DecodeFormat.jsonl:
        for message, at in _placed(run, limit):
            print_json_line(columns.row(message, at))
    else:
        columns.print_text(columns.cells(message, at) for message, at in _placed(run, limit))


def _write_document(run: _Decoding, columns: ChosenColumns | None, limit: int | None) -> None:
    items = JsonItems("messages", lines=False)
    for message, at in _placed(run, limit):
        items.add("messages", message if columns is None else columns.row(message, at))
    items.end()


def _write_text(run: _Decoding, limit: int | None, with_offsets: bool) -> None:
    from pagefmt.pages.paging import PageFile

    view = MessageText()
    for at, message in run.rows(limit):
        path = at.page.path if with_offsets and isinstance(at.page, PageFile) else None
        view.show(message, at.known.queues, path)
    if not run.written:
        print("no message")


def _body_columns(forms: frozenset[BodyForm]) -> list[str]:
    names = [f"body_{name}" for name in BODIES if name in forms]
    return [*names, "body_error"] if forms - {"size", "sha256"} else names
