"""Reading and writing of the messages that a command selects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pagectl.decoding.columns import CELL_COLUMNS, FOR_CSV, FOR_MESSAGES, ChosenColumns, RowPlace, property_names
from pagectl.decoding.count_by import ValueCounter, count_field
from pagectl.decoding.shown import TABLES, DecodeFormat, ShownOptions
from pagectl.decoding.sources import AllSources, PageSources, PageToRead
from pagectl.files.destination import output_to
from pagectl.opening.broker import Alone, located
from pagectl.options.columns import BODIES, TIME_COLUMNS
from pagectl.options.message_filter import tell_unsearched
from pagectl.options.shared import edition_of
from pagectl.options.times import milliseconds
from pagectl.outputs.message_text import MessageText
from pagectl.running.exits import CallError, Exit
from pagectl.running.permissions import warn_closed
from pagectl.running.reading import bytes_to_read, note_near_names, pages_of_place, state_of_place
from pagectl.terminal.progress import Progress, progress
from pagectl.terminal.streams import CsvTable, JsonItems, json_text, note, write_utf8
from pagefmt.findings import some
from pagefmt.parallel import PassedBytes, ahead
from pagefmt.quantities import count_text
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pathlib import Path

    from pagectl.decoding.everywhere import EverywhereOptions
    from pagectl.files.table_output import TableOutput
    from pagectl.options.groups import BrokerOptions
    from pagectl.options.message_filter import FilterOptions
    from pagefmt.codec.pages.frames import Damage
    from pagefmt.describe.message_json import BodyForm, MessageOptions
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.outstanding.state import PagingState
    from pagefmt.table.json_lines import MessageLines
    from pagefmt.table.row_groups import RowGroups


T = TypeVar("T")
Unit = tuple[PageToRead, ...]
# number of messages, and their text, as passed between processes
PassedTexts = tuple[int, PassedBytes]
Reader = Callable[[Unit], Iterator["tuple[int, T | Damage]"]]
# rows that are rendered as text together
_AT_ONCE: Final = 4096
# bytes of pages; up to this much, the reference decoder takes less time than the import of Arrow
PLAIN: Final = 256 << 10
TEXTS_UNIT: Final = 4 << 20  # bytes of small pages whose lines are made together: those of a chunk of columns


def carry_out_everywhere(
    directory: Path | None, options: EverywhereOptions, jobs: int, *, with_offsets: bool = False
) -> int:
    """Write messages of journal and pages that the options select, and return the exit status.

    See ``carry_out``, which this calls with all parts of ``options``.
    """
    options.check(options.within, options.as_of)
    if options.within is StoredIn.HISTORY:
        return _carry_out_history(directory, options, with_offsets=with_offsets)
    return carry_out(
        directory,
        options,
        options,
        options.edition,
        options,
        jobs=jobs,
        with_offsets=with_offsets,
        within=options.within,
        count_by=options.count_by,
    )


def carry_out(
    directory: Path | None,
    chosen: FilterOptions,
    shown: ShownOptions,
    edition: Any,
    broker: BrokerOptions,
    *,
    jobs: int = 1,
    with_offsets: bool = False,
    within: StoredIn | None = None,
    count_by: str | None = None,
) -> int:
    """Write the messages that options select, and return the exit status.

    Args:
        within: Where messages are read; None reads page files only, as they are, without the journal.
        jobs: Processes that read pages if all of their messages are written.
        with_offsets: Whether text names the file and offset of each message.
        count_by: The field by which messages are counted, in which case only counts are written.
    """
    from pagefmt.codec.messages.large import LargeMessages
    from pagefmt.describe.message_json import BodyForm
    from pagefmt.directory.permissions import Reads
    from pagefmt.outstanding.message_filter import MessageFilter

    form, forms, where = shown.format(), shown.forms(), chosen.selector()
    field = None if count_by is None else count_field(count_by, shown)
    forms = forms if field is None else frozenset()
    place = located(
        directory, broker, far=True, pages_only=within is None, alone=Alone.NONE if within is None else Alone.MESSAGES
    )
    if within is None:
        state = pages_of_place(place)
    else:
        state = state_of_place(place, journal=chosen.needs_journal, within=within, closed=False)
    reads = Reads.LARGE if within is StoredIn.JOURNAL else Reads.PAGES | Reads.LARGE
    closed = warn_closed(place, reads | Reads.BODIES if forms - {BodyForm.SIZE} else reads)
    large = LargeMessages(place.large_messages) if place.large_messages else None
    choice = chosen.filter(place, state, where, large)
    note_near_names([*property_names(shown.columns), *(where.names() if where else ())], place, choice.pages)
    wanted = _message_options(place, forms, shown.inflate, _reader(state, edition))
    pages = PageSources(place, state, choice)
    if within is not None:
        pages = AllSources(place, state, choice, within=within, large=wanted.large, edition=wanted.edition)
    everywhere = within is not None
    with_journal = within not in (None, StoredIn.PAGES)
    jobs = jobs if shown.limit is None else 1
    run = _Decoding(place, state, choice, wanted, pages, everywhere, with_journal, jobs, with_offsets)
    run.damaged = closed
    _write(run, form, shown, field)
    tell_unsearched(choice)
    if within is None and place.journal is not None and not (run.written or form in TABLES or shown.limit == 0):
        name = "decode" if choice == MessageFilter() else "find"
        note(f"only pages were read; 'pagectl messages {name} {place.given}' looks in the journal as well")
    if within is not None and choice.queues is not None and not choice.outstanding:
        _note_acknowledged(run, within, shown.limit)
    return run.status


def _carry_out_history(directory: Path | None, options: EverywhereOptions, *, with_offsets: bool) -> int:
    """Write the messages of a history that options select, and return the exit status."""
    from pagectl.decoding.history import HistorySources, parts_of, with_past_queues
    from pagectl.opening.history import open_history, position_as_of
    from pagefmt.history.counts import messages_as_of, past_counts
    from pagefmt.history.messages import PastState

    if options.page is not None:
        raise CallError("--page: a history has copies of paged messages, but no pages; --in pages reads these")
    form, forms, where, states = options.format(), options.forms(), options.selector(), options.past_states()
    field = None if options.count_by is None else count_field(options.count_by, options)
    opened = open_history(directory, options, options)
    if options.as_of is not None:
        position = position_as_of(opened, options.as_of)
        past = messages_as_of(opened.history.messages, position)
        if unseen := sum(count.unseen for count in past_counts(opened.history.messages, position).values()):
            note(
                f"{count_text(unseen, 'more message')} waited then that no file has, or that cannot be told from others"
            )
        opened = opened._replace(history=replace(opened.history, messages=past))
        states = states or (PastState.WAITING,)
    place, state = opened.place, opened.state
    parts = parts_of(opened)
    choice = with_past_queues(opened, options.filter(place, state, where, parts.large))
    wanted = _message_options(
        place, frozenset() if field is not None else forms, options.inflate, _reader(state, options.edition)
    )
    wanted = replace(wanted, large=parts.large)
    sources = HistorySources(place, state, choice, parts=parts, states=states)
    run = _Decoding(place, state, choice, wanted, sources, True, False, 1, with_offsets, past=True)
    run.damaged = opened.damaged
    _write(run, form, options, field)
    tell_unsearched(choice)
    return run.status


def _write(run: _Decoding, form: DecodeFormat, shown: ShownOptions, field: str | None) -> None:
    """Write the messages, or with a ``field`` counts by it, in the format that is asked for."""
    columns = shown.chosen()
    if field is not None:
        _write_counts(run, form, field, shown.to)
        return
    if form in TABLES:
        _write_table(run, form, shown)
        return
    with output_to(shown.to, run.place, run.count):
        if form is DecodeFormat.csv:
            usual = FOR_MESSAGES if run.everywhere else FOR_CSV
            usual = (*usual, *TIME_COLUMNS) if run.past else usual
            _write_csv(run, columns or (*usual, *_body_columns(run.wanted.forms)), shown.limit)
        elif form is DecodeFormat.json:
            _write_document(run, None if columns is None else ChosenColumns(columns), shown.limit)
        elif columns is not None:
            _write_columns(run, form, ChosenColumns(columns), shown.limit)
        elif form is DecodeFormat.jsonl:
            run.write(partial(_line_texts, run), shown.limit)
        else:
            _write_text(run, shown.limit, run.with_offsets)


def _note_acknowledged(run: _Decoding, within: StoredIn, limit: int | None) -> None:
    """Note how many of the messages the chosen queues have acknowledged, or that it is not known."""
    from pagectl.decoding.counts import counted
    from pagefmt.outstanding.message_filter import MessageFilter

    queues, left_out = sorted(run.choice.queues or ()), "--outstanding leaves out what none of the queues waits for"
    if run.status is not Exit.OK or limit is not None or run.choice != MessageFilter(queues=run.choice.queues):
        note(f"messages that are acknowledged already can be among these; {left_out}")
        return
    counts, _ = counted(run.place, run.state, within, beside_output=True)
    rows = [f"{row.queue}: {row.acknowledged}" for row in map(counts.of, queues) if row.acknowledged]
    if rows:
        note(f"of these messages, so many are acknowledged already: {some(rows)}; {left_out}")


def _reader(state: PagingState, edition: Any) -> Edition:
    """Return the edition whose reader describes messages: the given one, else the one that the journals indicate."""
    from pagefmt.directory.edition_evidence import assumed_edition

    return edition_of(edition) or assumed_edition(state.bindings, state.journal)


def _message_options(place: DataLocation, forms: frozenset[BodyForm], inflate: bool, reader: Edition) -> MessageOptions:
    from pagefmt.codec.messages.large import LargeMessages
    from pagefmt.describe.message_json import MessageOptions

    large = LargeMessages(place.large_messages) if place.large_messages else None
    return MessageOptions(forms, large, reader, inflate)


@dataclass(slots=True)
class _Decoding:
    """The state of one call: its sources and options, the number of messages written, and whether damage was met.

    ``past``: messages of a history are read.
    """

    place: DataLocation
    state: PagingState
    choice: MessageFilter
    wanted: MessageOptions
    sources: PageSources
    everywhere: bool
    with_journal: bool
    jobs: int
    with_offsets: bool
    past: bool = False
    damaged: bool = False
    written: int = field(default=0)
    plain: int = field(default_factory=lambda: PLAIN)

    @property
    def status(self) -> int:
        """Return the exit status of the call."""
        loaded = self.state.known
        wrong = loaded.incomplete if self.with_journal else loaded.damaged
        return Exit.FOUND if self.damaged or self.sources.damaged or wrong else Exit.OK

    @property
    def queue_names(self) -> dict[int, str]:
        """Return queue names by id, as far as the bindings have them."""
        bindings = self.state.bindings
        return {} if bindings is None else {number: queue.name for number, queue in bindings.queues.items()}

    def count(self) -> str:
        """Return the text that says how many messages were written."""
        return count_text(self.written, "message")

    def few_rows(self, unit: Unit) -> list[Iterator[Any]]:
        """Return the messages of each of the first pages as long as few bytes were read: they are read one by one."""
        from pagefmt.table.message_row import plain_rows

        few: list[Iterator[Any]] = []
        for at in unit:
            self.plain -= at.page.size
            if self.plain < 0 or not at.is_whole():
                break
            few.append(plain_rows(at.page, at.known, at.known.store, self.wanted, at.choice, at.origin))
        return few

    def rows_of(self, unit: Unit) -> Iterator[tuple[int, Any]]:
        """Yield each message of some pages as the object of its JSON line, with the index of its page."""
        few = self.few_rows(unit)
        for n, rows in enumerate(few):
            yield from ((n, row) for row in rows)
        yield from self.together(unit, len(few), as_rows=True)

    def together(self, unit: Unit, first: int, *, as_rows: bool) -> Iterator[tuple[int, Any]]:
        """Yield rows or lines of the pages from the index ``first`` on, with the index of their page."""
        for at, of_store in _by_store(unit[first:]):
            from pagefmt.table import json_lines

            holder, form = of_store[0].known, json_lines.LineFormat(self.wanted, json_text)
            sources = [page.source() for page in of_store]
            reader = json_lines.rows_together if as_rows else json_lines.lines_together
            for n, item in reader(sources, holder, holder.store, form, of_store[0].choice):
                yield first + at + n, item

    def read(
        self,
        reader: Reader[T],
        units: Callable[[Iterable[PageToRead]], Iterator[Unit]],
        jobs: int = 1,
        *,
        beside_output: bool,
    ) -> Iterator[tuple[PageToRead, T]]:
        """Yield what ``reader`` returns for units of pages, each with its page, and warn of damage.

        With several ``jobs``, processes read the pages that can be listed before any is read.
        """
        with progress("reading pages", bytes_to_read(self.place), beside_output=beside_output) as bar:
            if jobs == 1 or not self.sources.listable:
                yield from self._each_found(reader, units(self.sources), bar)
                return
            yield from self._each_found(reader, units(self.sources.in_front()), bar)
            listed = list(units(self.sources.pages()))
            if sum(map(_size, listed)) > PLAIN:
                self.plain = 0
            with ahead(partial(self._prepared, reader), listed, map(_size, listed), jobs) as results:
                yield from self._each_found(results, listed, bar)

    def _prepared(self, reader: Reader[T], unit: Unit) -> Iterator[tuple[int, T | Damage]]:
        return reader(tuple(map(self.sources.prepared, unit)))

    def _each_found(self, reader: Reader[T], units: Iterable[Unit], bar: Progress) -> Iterator[tuple[PageToRead, T]]:
        from pagefmt.codec.pages.frames import Damage

        for unit in units:
            for n, item in reader(unit):
                if isinstance(item, Damage):
                    self.damaged |= unit[n].tell(item)
                else:
                    yield unit[n], item
            bar.advance(_size(at for at in unit if at.part is None))

    def rows(self, limit: int | None) -> Iterator[tuple[PageToRead, dict[str, Any]]]:
        """Yield each message as the object of its JSON line, and count it."""
        every: Iterator[tuple[PageToRead, Any]]
        every = self.read(self.rows_of, partial(_units, most=TEXTS_UNIT), beside_output=True)
        for row in islice(every, limit):
            self.written += 1
            yield row

    def write(self, texts: Reader[MessageLines | _RowTexts], limit: int | None) -> None:
        """Write and count the texts of the messages of all chosen pages, up to ``limit`` messages."""
        units = partial(_units, most=TEXTS_UNIT)
        if limit is None:
            passed: Iterator[tuple[PageToRead, PassedTexts]]
            passed = self.read(partial(_passed, texts), units, self.jobs, beside_output=True)
            for _, (count, text) in passed:
                write_utf8(text.content)
                self.written += count
            return
        if not limit:
            return
        results: Iterator[tuple[PageToRead, MessageLines | _RowTexts]] = self.read(texts, units, beside_output=True)
        for _, lines in results:
            allowed = lines.first(limit - self.written)
            write_utf8(allowed.content)
            self.written += len(allowed)
            if self.written == limit:
                break


def _passed(texts: Reader[MessageLines | _RowTexts], unit: Unit) -> Iterator[tuple[int, PassedTexts | Damage]]:
    """Yield texts in the form in which they pass from one process to another."""
    from pagefmt.codec.pages.frames import Damage

    for n, item in texts(unit):
        yield n, item if isinstance(item, Damage) else (len(item), PassedBytes(item.content))


class _RowTexts:
    """Messages whose texts were made one by one."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def first(self, count: int) -> _RowTexts:
        return _RowTexts(self._texts[:count])

    def after(self, count: int) -> _RowTexts:
        return _RowTexts(self._texts[count:])

    @property
    def content(self) -> memoryview:
        return memoryview("".join(self._texts).encode())


def _line_texts(run: _Decoding, unit: Unit) -> Iterator[tuple[int, MessageLines | _RowTexts | Damage]]:
    few = run.few_rows(unit)
    for n, rows in enumerate(few):
        yield from ((n, text) for text in _texts(rows, _line))
    if len(few) == len(unit):
        return
    from pagefmt.outstanding.message_filter import SelectedMessage
    from pagefmt.table.message_row import selected_row

    for n, item in run.together(unit, len(few), as_rows=False):
        if isinstance(item, SelectedMessage):
            yield n, _RowTexts([_line(selected_row(unit[n].known.store, item, run.wanted, unit[n].origin))])
        else:
            yield n, item


def _line(row: dict[str, Any]) -> str:
    return json_text(row) + "\n"


def _row_texts(
    run: _Decoding, text: Callable[[dict[str, Any], RowPlace], str], now: int, unit: Unit
) -> Iterator[tuple[int, _RowTexts | Damage]]:
    """``text``: of one message, with its line end."""
    for n, rows in groupby(run.rows_of(unit), key=itemgetter(0)):
        place = RowPlace(unit[n].known, unit[n].page, now)
        for texts in _texts((row for _, row in rows), partial(_placed_text, text, place)):
            yield n, texts


def _placed_text(text: Callable[[dict[str, Any], RowPlace], str], place: RowPlace, row: dict[str, Any]) -> str:
    return text(row, place)


def _texts(rows: Iterator[Any], text: Callable[[dict[str, Any]], str]) -> Iterator[_RowTexts | Damage]:
    from pagefmt.codec.pages.frames import Damage

    while part := list(islice(rows, _AT_ONCE)):
        for damaged, group in groupby(part, key=lambda item: isinstance(item, Damage)):
            if damaged:
                yield from group
            else:
                yield _RowTexts([text(row) for row in group])


def _write_table(run: _Decoding, form: DecodeFormat, shown: ShownOptions) -> None:
    from pagectl.files.table_output import table_output

    output = table_output(
        form.value,
        shown.body,
        shown.columns,
        shown.partition_by or (),
        run.choice,
        run.wanted.edition,
        run.queue_names,
        located=run.everywhere,
        past=run.past,
    )
    if form is DecodeFormat.parquet and shown.limit is None and not output.splits and run.sources.listable:
        _write_row_groups(run, output, shown.to)
        return
    reading = run.read(partial(_table_rows, output), _row_units, run.jobs, beside_output=False)
    output.write(shown.to, run.place, (batch for _, batch in reading), shown.limit)


def _write_row_groups(run: _Decoding, output: TableOutput, to: Path | None) -> None:
    """Write a Parquet file whose row groups are encoded by the processes that read the pages."""
    with output.joined(to, run.place) as table:
        parts: Iterator[tuple[PageToRead, PassedBytes | RowGroups]]
        parts = run.read(partial(_row_groups, output), _row_units, run.jobs, beside_output=False)
        for _, part in parts:
            table.append(part)


def _units(pages: Iterable[PageToRead], most: int) -> Iterator[Unit]:
    """Group consecutive pages into units of about ``most`` bytes.

    A page that needs more than its file, such as a journal part, is a unit of its own, and the next page is requested
    only after it was read: reading it may change what comes next.
    """
    unit: list[PageToRead] = []
    size = 0
    for page in pages:
        alone = not page.is_whole_page()
        if unit and (alone or size >= most):
            yield tuple(unit)
            unit, size = [], 0
        unit.append(page)
        size += page.page.size
        if alone:
            yield tuple(unit)
            unit, size = [], 0
    if unit:
        yield tuple(unit)


def _row_units(pages: Iterable[PageToRead]) -> Iterator[Unit]:
    """Group pages into units that fill one row group."""
    from pagefmt.table.row_groups import UNIT

    return _units(pages, UNIT)


def _size(unit: Iterable[PageToRead]) -> int:
    return sum(at.page.size for at in unit)


def _table_rows(output: TableOutput, unit: Unit) -> Iterator[tuple[int, Any | Damage]]:
    """Yield the rows of a unit and the damage in its pages, with the index of the page."""
    from pagefmt.codec.pages.file_part import WHOLE_FILE

    for first, of_store in _by_store(unit):
        pages = [(at.page, at.origin, at.part or WHOLE_FILE) for at in of_store]
        for n, item in output.rows(of_store[0].known, of_store[0].choice, pages):
            yield first + n, item


def _by_store(unit: Unit) -> Iterator[tuple[int, Unit]]:
    """Yield the pages of the same store and filter, with the place of the first among all."""
    first = 0
    for _, same in groupby(unit, key=lambda at: (id(at.known), id(at.choice))):
        of_store = tuple(same)
        yield first, of_store
        first += len(of_store)


def _row_groups(output: TableOutput, unit: Unit) -> Iterator[tuple[int, PassedBytes | RowGroups | Damage]]:
    """Yield the encoded row groups of a unit and the damage in its pages, with the index of the page."""
    from pagefmt.codec.pages.frames import Damage
    from pagefmt.table.row_groups import RowGroups, encoded

    damaged: list[tuple[int, Damage]] = []

    def batches() -> Iterator[Any]:
        for n, item in _table_rows(output, unit):
            if isinstance(item, Damage):
                damaged.append((n, item))
            else:
                yield item

    for part in encoded(output.table.schema, batches()):
        yield from damaged
        damaged.clear()
        if not isinstance(part, RowGroups) or part.rows:
            yield 0, part


def _now() -> int:
    return milliseconds(datetime.now(UTC))


def _placed(run: _Decoding, limit: int | None) -> Iterator[tuple[dict[str, Any], RowPlace]]:
    now = _now()
    return ((message, RowPlace(at.known, at.page, now)) for at, message in run.rows(limit))


def _write_csv(run: _Decoding, names: Iterable[str], limit: int | None) -> None:
    columns = ChosenColumns(names)
    table = CsvTable(columns.names)
    rows = partial(_row_texts, run, lambda message, at: table.text(columns.cells(message, at)), _now())
    if CELL_COLUMNS.issuperset(columns.names) and not run.wanted.forms - {"size"}:
        # made once, and only when many messages are read
        table_format = cache(partial(_csv_table, run, columns.names))
        run.write(partial(_csv_texts, run, columns.names, table_format, rows), limit)
    else:
        run.write(rows, limit)


def _csv_table(run: _Decoding, names: Sequence[str]) -> TableOutput:
    """Return the table whose columns the cells of CSV are made of."""
    from pagectl.decoding.csv_columns import table_columns
    from pagectl.files.table_output import table_output

    columns = ",".join(table_columns(names))
    return table_output(
        "csv",
        "size",
        columns,
        (),
        run.choice,
        run.wanted.edition,
        run.queue_names,
        located=run.everywhere,
        coded=True,
        past=run.past,
    )


def _csv_texts(
    run: _Decoding, names: Sequence[str], table: Callable[[], TableOutput], rows: Reader[_RowTexts], unit: Unit
) -> Iterator[tuple[int, MessageLines | _RowTexts | Damage]]:
    """Yield the lines of a unit from the columns of its pages.

    From the first damage on, and the first rows whose text columns alone do not give, ``rows`` reads the messages of
    the unit one by one; those whose lines were written are passed over.
    """
    if run.plain > _size(unit):
        yield from rows(unit)
        return
    from pagectl.decoding.csv_columns import csv_lines
    from pagefmt.codec.pages.frames import Damage
    from pagefmt.table.json_lines import MessageLines

    written = 0
    for n, batch in _table_rows(table(), unit):
        lines = None if isinstance(batch, Damage) else csv_lines(batch, names)
        if lines is None:
            break
        written += len(lines)
        yield n, MessageLines(lines)
    else:
        return
    run.plain = 0
    for n, texts in rows(unit):
        passed = 0 if isinstance(texts, Damage) else min(written, len(texts))
        written -= passed
        if isinstance(texts, Damage) or passed < len(texts):
            yield n, texts if isinstance(texts, Damage) else texts.after(passed)


def _write_columns(run: _Decoding, form: DecodeFormat, columns: ChosenColumns, limit: int | None) -> None:
    if form is DecodeFormat.jsonl:
        run.write(partial(_row_texts, run, lambda *row: json_text(columns.row(*row)) + "\n", _now()), limit)
    else:
        columns.print_text(columns.cells(message, at) for message, at in _placed(run, limit))


def _write_counts(run: _Decoding, form: DecodeFormat, field: str, to: Path | None) -> None:
    counts = ValueCounter(field, run.choice.queues, outstanding=run.choice.outstanding)
    with output_to(to, run.place, run.count):
        for message, at in _placed(run, None):
            counts.take(message, at)
        counts.write(form)
    if counts.is_missing:
        note(f"none of these messages has {field.replace('properties.', 'a property ')}")


def _write_document(run: _Decoding, columns: ChosenColumns | None, limit: int | None) -> None:
    items = JsonItems("messages", lines=False)
    for message, at in _placed(run, limit):
        items.add("messages", message if columns is None else columns.row(message, at))
    items.end()


def _write_text(run: _Decoding, limit: int | None, with_offsets: bool) -> None:
    from pagefmt.codec.pages.page_file import PageFile

    view = MessageText()
    for at, message in run.rows(limit):
        path = at.page.path if with_offsets and isinstance(at.page, PageFile) else None
        view.show(message, at.known.queues, path)
    if not run.written:
        print("no message")


def _body_columns(forms: frozenset[BodyForm]) -> list[str]:
    names = [f"body_{name}" for name in BODIES if name in forms]
    return [*names, "body_error"] if forms - {"size", "sha256"} else names
