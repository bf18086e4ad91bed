"""``pages inspect``: the layout of page files down to the byte."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.opening.broker import located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, ListFormatOption, PageOption, RecordOption
from pagectl.running.exits import CallError, Exit
from pagectl.running.permissions import refuse_without_pages, warn_closed
from pagectl.running.reading import page_range
from pagectl.terminal.hexview import HexView
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import JsonItems, coloured, folded, note, warning
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.pages.frames import Damage
    from pagefmt.pages.page import Page
    from pagefmt.pages.paging import PageFile, Store


EXAMPLES = (("The bytes of one record beside its fields", "pages inspect /var/lib/broker --page 12 --record 3 --hex"),)
_NOT_WHOLE = ", not all of it readable"


def command(
    given: DirArgument = None,
    page: PageOption = None,
    record: RecordOption = None,
    with_bytes: Annotated[bool, typer.Option("--hex", help="Show the bytes beside the names of the fields.")] = False,
    form: ListFormatOption = ListFormat.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Show page files down to the byte: offset, length, frame, transaction, persister, queues, every field.

    Ends with status 1 if a page is damaged, and with 2 if there is no such page or record.
    """
    from pagefmt.directory.locate import stores
    from pagefmt.directory.locks import running_broker

    pages = page_range(page)
    shown = damaged = records = 0
    items = None if form is ListFormat.text else JsonItems("records", lines=form is ListFormat.jsonl)
    place = located(given, broker)
    live = running_broker(place.journal) is not None
    refuse_without_pages(place)
    damaged += warn_closed(place)
    for store in stores(place):
        if store.problem is not None and store.permitted:
            warning(store.problem)
            damaged += 1
        for file in store.pages:
            if file.number not in pages:
                continue
            shown += 1
            bad, found = _inspect(place, store, file, record, with_bytes, items, live=live)
            damaged += bad
            records += found
    if not shown:
        raise CallError(
            f"{given or 'DIR'}: no such page; {place.call('pages ls')} counts them"
            if page is not None
            else f"{given or 'DIR'}: contains no page files"
        )
    if items is not None:
        items.end()
    if record is not None and not records:
        raise CallError(
            f"{given or 'DIR'}: no record {record}: {count_text(shown, 'page')} looked at{_NOT_WHOLE * bool(damaged)}; "
            f"{place.call('pages inspect')} shows all records, the first of a page is 0"
        )
    return Exit.FOUND if damaged else Exit.OK


def _inspect(
    place: DataLocation, store: Store, file: PageFile, only: int | None, with_bytes: bool, items: JsonItems | None,
    *, live: bool,
) -> tuple[bool, int]:  # fmt: skip
    """Whether the page is damaged, which what a running broker is doing with it is not; and the records shown."""
    from pagefmt.outstanding.state import motion_of
    from pagefmt.pages.page import open_page

    with open_page(file) as opened:
        where = {"store": store.name, "store_address": store.address, "page": file.number}
        if items is not None:
            shown = 0
            for shown, item in enumerate(_objects(opened, only, with_bytes), 1):  # noqa: B007
                items.add("records", where | item)
        else:
            view, shown = _text(store, file, opened, only, with_bytes)
        damage = opened.damage
        if damage is None:
            return False, shown
        if live and (motion := motion_of(damage, newest=file.number == store.current_page)):
            note(f"{file.path}: {motion}")
            return False, shown
        if only is None and items is not None:
            items.add("records", where | {"damage": _damage(damage)})
        elif only is None:
            view.damage(opened.buf, damage, sum(1 for _ in opened.recovered()), place)
        return True, shown


def _frames(opened: Page, only: int | None) -> Iterator[tuple[int, int, int]]:
    """Number, offset and length of each record; afterwards ``opened.damage`` says what reading stopped at."""
    for number, offset, length in opened.frames():
        if only is None or number == only:
            yield number, offset, length


def _text(store: Store, file: PageFile, opened: Page, only: int | None, with_bytes: bool) -> tuple[HexView, int]:
    view = HexView(sys.stdout, with_bytes=with_bytes, coloured=coloured(sys.stdout))
    view.heading(folded(f"page {file.number}  {one_line(str(file.path))}"))
    address = "no address" if store.address is None else one_line(store.address)
    view.line(f"address {address}, {file.size} bytes, layout {_layout(opened)}")
    shown = 0
    for number, offset, length in _frames(opened, only):
        view.record(opened.buf, number, offset, length)
        shown += 1
    view.line(f"{count_text(opened.count, 'record')}, {opened.bytes_read} of {file.size} bytes belong to them")
    return view, shown


def _layout(opened: Page) -> str:
    layout = opened.layout()
    return "not known from any record" if layout is None else str(layout.value)


def _objects(opened: Page, only: int | None, with_bytes: bool) -> Iterator[dict[str, Any]]:
    from pagefmt.describe.anatomy import record_fields

    for number, offset, length in _frames(opened, only):
        fields = [
            {"offset": field.offset, "size": field.size, "name": field.name, "text": field.text}
            | ({"hex": bytes(opened.buf[field.offset : field.offset + field.size]).hex()} if with_bytes else {})
            for field in record_fields(opened.buf, offset, length)
        ]
        yield {"number": number, "offset": offset, "length": length, "fields": fields}


def _damage(damage: Damage) -> dict[str, Any]:
    return {"kind": str(damage.kind), "offset": damage.offset, "number": damage.number, "detail": damage.detail}
