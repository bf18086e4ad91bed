"""``pages decode``: every message, or those that are asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from pagectl.files.destination import output_to
from pagectl.opening.broker import located
from pagectl.options.columns import BODIES
from pagectl.options.shared import (
    FORMAT_HELP,
    BrokerXmlOption,
    DirArgument,
    EditionOption,
    PageOption,
    PropertiesOption,
    ToFileOption,
    WhereOption,
    edition_of,
)
from pagectl.outputs.message_text import MessageText
from pagectl.running.exits import CallError, Exit
from pagectl.running.reading import bytes_to_read, each_store, note_near_names, page_range, told_state
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import CsvTable, json_text, note, print_json_line, warning, write_utf8

if TYPE_CHECKING:
    from pagefmt.describe.message_json import BodyForm, MessageOptions
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.outstanding.state import PagingState, StoreState
    from pagefmt.pages.paging import Store

T = TypeVar("T")


class DecodeFormat(StrEnum):
    """How messages are written."""

    text = "text"
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    arrow = "arrow"


TABLES = (DecodeFormat.parquet, DecodeFormat.arrow)


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
    broker_xml: BrokerXmlOption = None,
    properties: PropertiesOption = None,
) -> int:
    """Show every message: headers, properties, queues, who acknowledged it.

    SELECTOR is the JMS / Artemis filter syntax. Ends with status 1 where a page is damaged.
    """
    from pagefmt.outstanding.message_filter import MessageFilter, queue_ids
    from pagefmt.selector import parse

    forms, pages = body_forms(body), page_range(page)
    selector = parse(where) if where is not None else None
    place = located(given, broker_xml, properties)
    state = told_state(place, journal=outstanding)
    queues = queue_ids(queue, state.bindings) if queue else None
    choice = MessageFilter(queues, selector, outstanding, pages)
    note_near_names(selector, place, pages)
    form = form or _by_name(to)
    if form in TABLES:
        from pagectl.files.table_output import write_table

        return write_table(form.value, to, body, place, state, choice, limit, _reader(state, edition))
    run = _Decoding(place, state, choice, _message_options(place, forms, inflate, _reader(state, edition)))
    with output_to(to, place):
        if form is DecodeFormat.jsonl:
            _write_lines(run, limit)
        elif form is DecodeFormat.csv:
            _write_table(run, limit)
        else:
            _write_text(run, limit)
    return Exit.FOUND if run.damaged else Exit.OK


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

    def read(self, reader: Callable[..., Iterator[Any]]) -> Iterator[tuple[Store, StoreState, Any]]:
        """What ``reader`` (``picked_lines`` or ``message_rows``) finds in all pages asked for; damage is warned of."""
        from pagefmt.columns.json_lines import LineFormat
        from pagefmt.pages.frames import Damage

        form = LineFormat(self.wanted, json_text)
        with progress("reading pages", bytes_to_read(self.place), beside_output=True) as bar:
            for known in each_store(self.place, self.state):
                store = known.store
                self.unknown(known)
                for page in store.pages:
                    if page.number in self.choice.pages:
                        for found in self.readable(reader(page, known, store, form, self.choice)):
                            if isinstance(found, Damage) and known.in_motion(page, found):
                                note(f"{page.path}: offset {found.offset}: being written")
                            elif isinstance(found, Damage):
                                self.damage(page, found)
                            else:
                                yield store, known, found
                    bar.advance(page.size)

    def unknown(self, known: StoreState) -> None:
        """With ``--outstanding`` a store that cannot be judged gives what is unacknowledged, and is told."""
        if self.choice.outstanding:
            self.damaged |= self.state.journal.loaded.damage is not None
            if known.unknown is not None and known.store.pages:
                self.damaged = True
                warning(f"{known.store.name}: {known.unknown.reason}; what is unacknowledged is shown")

    def readable(self, found: Iterator[T]) -> Iterator[T]:
        """What a page gives; a file that went away or may not be read is a warning, and the next page follows."""
        from pagefmt.bytes.files import NotReadable

        try:
            yield from found
        except NotReadable as err:
            self.damaged = True
            warning(f"{err}; going on with the next page")

    def damage(self, page: Any, found: Any) -> None:
        self.damaged = True
        warning(f"{page.path}: offset {found.offset}: {found.kind}: {found.detail}")


def _write_lines(run: _Decoding, limit: int | None) -> None:
    from pagefmt.columns.json_lines import MessageLines, picked_lines, selected_row

    left = sys.maxsize if limit is None else limit
    for store, _, found in run.read(picked_lines) if left else ():
        if isinstance(found, MessageLines):
            taken = found.first(left)
            write_utf8(taken.content)
            left -= len(taken)
        else:
            print_json_line(selected_row(store, found, run.wanted))
            left -= 1
        if not left:
            break


def _write_table(run: _Decoding, limit: int | None) -> None:
    from pagefmt.columns.json_lines import message_rows
    from pagefmt.describe.message_json import MESSAGE_KEYS, PLACE_KEYS

    table = CsvTable((*PLACE_KEYS, *MESSAGE_KEYS, *_body_columns(run.wanted.forms), "amqp"))
    for _, _, message in islice(run.read(message_rows), limit):
        table.row(message)


def _write_text(run: _Decoding, limit: int | None) -> None:
    from pagefmt.columns.json_lines import message_rows

    view = MessageText()
    for _, known, message in islice(run.read(message_rows), limit):
        view.show(message, known.queues)
    view.end()


def _body_columns(forms: frozenset[BodyForm]) -> list[str]:
    names = [f"body_{name}" for name in BODIES if name in forms]
    return [*names, "body_error"] if forms - {"size", "sha256"} else names


def _by_name(to: Path | None) -> DecodeFormat:
    """The format that a file name asks for."""
    name = to.suffix.removeprefix(".") if to else ""
    return DecodeFormat(name) if name in DecodeFormat.__members__ else DecodeFormat.text
