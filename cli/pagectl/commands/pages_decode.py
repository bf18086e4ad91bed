"""``pages decode``: every message, or those that are asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from pagectl.files.destination import output_to
from pagectl.opening.broker import located
from pagectl.options.columns import BODIES
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import (
    FORMAT_HELP,
    DirArgument,
    EditionOption,
    PageOption,
    ToFileOption,
    WhereOption,
    edition_of,
)
from pagectl.outputs.message_text import MessageText
from pagectl.running.exits import CallError, Exit
from pagectl.running.reading import bytes_to_read, each_store, note_near_names, page_range, told_state, told_unknown
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import CsvTable, json_text, note, print_json_line, warning, write_utf8

if TYPE_CHECKING:
    from pagefmt.describe.message_json import BodyForm, MessageOptions
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.outstanding.state import PagingState, StoreState
    from pagefmt.pages.frames import Damage
    from pagefmt.pages.paging import PageFile

T = TypeVar("T")


class DecodeFormat(StrEnum):
    """How messages are written."""

    text = "text"
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    arrow = "arrow"


TABLES = (DecodeFormat.parquet, DecodeFormat.arrow)


EXAMPLES = (
    ("What one queue would still deliver", "pages decode /var/lib/broker --queue red.news --outstanding"),
    (
        "What a selector matches, with bodies, as CSV",
        "pages decode /var/lib/broker --where \"color = 'red'\" --body text --to red.csv",
    ),
    ("The first three messages of page 12", "pages decode /var/lib/broker --page 12 --limit 3"),
)


def command(
    given: DirArgument = None,
    form: Annotated[
        DecodeFormat | None,
        typer.Option("--format", help=f"{FORMAT_HELP} [default: by the name of --to, else text]", show_default=False),
    ] = None,
    to: ToFileOption = None,
    queue: Annotated[
        list[str] | None,
        typer.Option(
            "--queue", metavar="Q", help="Only messages for this queue (name or id); repeatable.", show_default=False
        ),
    ] = None,
    where: WhereOption = None,
    outstanding: Annotated[
        bool, typer.Option("--outstanding", help="Only what is not yet acknowledged (with --queue: by that queue).")
    ] = False,
    body: Annotated[
        str,
        typer.Option(
            "--body", metavar="LIST", help=f"What to show of bodies: {', '.join(BODIES)}; several with commas."
        ),
    ] = "size",
    inflate: Annotated[bool, typer.Option("--inflate", help="Inflate compressed bodies, up to 16 MiB each.")] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=0, help="Stop after N messages.", show_default=False)
    ] = None,
    page: PageOption = None,
    edition: EditionOption = None,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Show every message: headers, properties, queues, who acknowledged it.

    SELECTOR is the JMS / Artemis filter syntax. Ends with status 1 where a page or the journal is damaged.
    """
    from pagefmt.outstanding.message_filter import MessageFilter, queue_ids
    from pagefmt.selector import parse

    forms, pages = body_forms(body), page_range(page)
    selector = parse(where) if where is not None else None
    place = located(given, broker)
    state = told_state(place, journal=outstanding)
    queues = queue_ids(queue, state.bindings) if queue else None
    choice = MessageFilter(queues, selector, outstanding, pages)
    note_near_names(selector, place, pages)
    form = form or _by_name(to)
    run = _Decoding(place, state, choice, _message_options(place, forms, inflate, _reader(state, edition)))
    if form in TABLES:
        _write_table(run, form, to, body, limit)
        return run.status
    with output_to(to, place):
        if form is DecodeFormat.jsonl:
            _write_lines(run, limit)
        elif form is DecodeFormat.csv:
            _write_csv(run, limit)
        else:
            _write_text(run, limit)
    return run.status


def body_forms(text: str) -> frozenset[BodyForm]:
    """The ``--body`` list; ``none`` stands alone."""
    from pagefmt.describe.message_json import BodyForm

    names = [name.strip() for name in text.split(",")]
    wrong = next((name for name in names if name not in BODIES), None)
    if wrong is not None:
        raise CallError(f"--body {text}: '{wrong}' is not one of {', '.join(BODIES)}")
    if "none" in names and len(names) > 1:
        raise CallError(f"--body {text}: none cannot go with others")
    return frozenset(BodyForm(name) for name in names if name != "none")


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
    """One call: what is read, what is wanted, and whether damage was met."""

    place: DataLocation
    state: PagingState
    choice: MessageFilter
    wanted: MessageOptions
    damaged: bool = False

    @property
    def status(self) -> int:
        """Of the call."""
        return Exit.FOUND if self.damaged or self.state.known.damaged else Exit.OK

    def messages(self, reader: Callable[..., Iterator[Any]]) -> Iterator[tuple[StoreState, Any]]:
        """What ``picked_lines`` or ``message_rows`` gives of all pages asked for."""
        from pagefmt.columns.json_lines import LineFormat

        form = LineFormat(self.wanted, json_text)
        return self.read(lambda page, known: reader(page, known, known.store, form, self.choice), beside_output=True)

    def read(
        self, reader: Callable[[PageFile, StoreState], Iterator[T | Damage]], *, beside_output: bool
    ) -> Iterator[tuple[StoreState, T]]:
        """What ``reader`` finds in all pages asked for; damage is warned of."""
        from pagefmt.pages.frames import Damage

        with progress("reading pages", bytes_to_read(self.place), beside_output=beside_output) as bar:
            for known in each_store(self.place, self.state):
                if self.choice.outstanding or known.store.problem:
                    self.damaged |= told_unknown(known, "what is unacknowledged is shown")
                for page in known.store.pages:
                    if page.number in self.choice.pages:
                        for found in reader(page, known):
                            if not isinstance(found, Damage):
                                yield known, found
                            elif motion := known.motion(page, found):
                                note(f"{page.path}: offset {found.offset}: {motion}")
                            else:
                                self.damaged = True
                                warning(f"{page.path}: offset {found.offset}: {found.kind}: {found.detail}")
                    bar.advance(page.size)


def _write_lines(run: _Decoding, limit: int | None) -> None:
    from pagefmt.columns.json_lines import MessageLines, picked_lines, selected_row

    left = sys.maxsize if limit is None else limit
    for known, found in run.messages(picked_lines) if left else ():
        if isinstance(found, MessageLines):
            taken = found.first(left)
            write_utf8(taken.content)
            left -= len(taken)
        else:
            print_json_line(selected_row(known.store, found, run.wanted))
            left -= 1
        if not left:
            break


def _write_table(run: _Decoding, form: DecodeFormat, to: Path | None, body: str, limit: int | None) -> None:
    from pagectl.files.table_output import rows_of, table_query, write_table

    query = table_query(body, run.choice)
    reader = partial(rows_of, choice=run.choice, wanted=query, edition=run.wanted.edition)
    batches = (batch for _, batch in run.read(reader, beside_output=False))
    write_table(form.value, to, run.place, query, batches, limit)


def _write_csv(run: _Decoding, limit: int | None) -> None:
    from pagefmt.columns.json_lines import message_rows
    from pagefmt.describe.message_json import MESSAGE_KEYS, PLACE_KEYS

    table = CsvTable((*PLACE_KEYS, *MESSAGE_KEYS, *_body_columns(run.wanted.forms), "amqp"))
    for _, message in islice(run.messages(message_rows), limit):
        table.row(message)


def _write_text(run: _Decoding, limit: int | None) -> None:
    from pagefmt.columns.json_lines import message_rows

    view = MessageText()
    for known, message in islice(run.messages(message_rows), limit):
        view.show(message, known.queues)
    view.end()


def _body_columns(forms: frozenset[BodyForm]) -> list[str]:
    names = [f"body_{name}" for name in BODIES if name in forms]
    return [*names, "body_error"] if forms - {"size", "sha256"} else names


def _by_name(to: Path | None) -> DecodeFormat:
    """The format that a file name asks for."""
    name = to.suffix.removeprefix(".") if to else ""
    return DecodeFormat(name) if name in DecodeFormat.__members__ else DecodeFormat.text
