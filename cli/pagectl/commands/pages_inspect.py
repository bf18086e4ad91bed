"""``pages inspect``: the layout of page files down to the byte."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.opening.broker import located
from pagectl.options.formats import TextOrJsonl
from pagectl.options.shared import BrokerXmlOption, DirArgument, PageOption, PropertiesOption, TextOrJsonlOption
from pagectl.running.exits import CallError, Exit
from pagectl.running.reading import page_range
from pagectl.terminal.hexview import HexView
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import coloured, print_json_line

if TYPE_CHECKING:
    from pagefmt.pages.frames import Damage
    from pagefmt.pages.page import Page
    from pagefmt.pages.paging import PageFile, Store


def command(
    given: DirArgument = None,
    page: PageOption = None,
    record: Annotated[
        int | None, typer.Option("--record", metavar="N", help="Only this record (0 is the first).", show_default=False)
    ] = None,
    with_bytes: Annotated[bool, typer.Option("--hex", help="Show the bytes beside the names of the fields.")] = False,
    form: TextOrJsonlOption = TextOrJsonl.text,
    broker_xml: BrokerXmlOption = None,
    properties: PropertiesOption = None,
) -> int:
    """Show page files down to the byte: offset, length, frame, transaction, persister, queues, every field.

    Ends with status 1 where a page is damaged.
    """
    from pagefmt.directory.locate import stores

    pages = page_range(page)
    shown = damaged = 0
    for store in stores(located(given, broker_xml, properties)):
        for file in store.pages:
            if file.number not in pages:
                continue
            shown += 1
            damaged += _inspect(store, file, record, with_bytes, form)
    if not shown:
        raise CallError(
            f"{given or 'DIR'}: no such page; 'pagectl pages ls' counts them"
            if page is not None
            else f"{given or 'DIR'}: no page files in it"
        )
    return Exit.FOUND if damaged else Exit.OK


def _inspect(store: Store, file: PageFile, only: int | None, with_bytes: bool, form: TextOrJsonl) -> bool:
    from pagefmt.pages.page import open_page

    with open_page(file.path) as opened:
        if form is TextOrJsonl.jsonl:
            for item in _objects(store, file, opened, only, with_bytes):
                print_json_line(item)
        else:
            _text(store, file, opened, only, with_bytes)
        return opened.damage is not None


def _frames(opened: Page, only: int | None) -> Iterator[tuple[int, int, int]]:
    """Number, offset and length of each record; afterwards ``opened.damage`` says what reading stopped at."""
    for number, offset, length in opened.frames():
        if only is None or number == only:
            yield number, offset, length


def _text(store: Store, file: PageFile, opened: Page, only: int | None, with_bytes: bool) -> None:
    view = HexView(sys.stdout, with_bytes=with_bytes, coloured=coloured(sys.stdout))
    view.heading(f"page {file.number}  {one_line(str(file.path))}")
    address = "no address" if store.address is None else one_line(store.address)
    view.line(f"address {address}, {file.size} bytes, layout {_layout(opened)}")
    for number, offset, length in _frames(opened, only):
        view.record(opened.buf, number, offset, length)
    view.line(f"{opened.count} records, {opened.bytes_read} of {file.size} bytes belong to them")
    if opened.damage is not None and only is None:
        view.damage(opened.buf, opened.damage, sum(1 for _ in opened.recovered()))


def _layout(opened: Page) -> str:
    layout = opened.layout()
    return "not told by any record" if layout is None else str(layout.value)


def _objects(
    store: Store, file: PageFile, opened: Page, only: int | None, with_bytes: bool
) -> Iterator[dict[str, Any]]:
    from pagefmt.describe.anatomy import record_fields

    where = {"store": store.name, "store_address": store.address, "page": file.number}
    for number, offset, length in _frames(opened, only):
        fields = [
            {"offset": field.offset, "size": field.size, "name": field.name, "text": field.text}
            | ({"hex": bytes(opened.buf[field.offset : field.offset + field.size]).hex()} if with_bytes else {})
            for field in record_fields(opened.buf, offset, length)
        ]
        yield where | {"number": number, "offset": offset, "length": length, "fields": fields}
    if opened.damage is not None and only is None:
        yield where | {"damage": _damage(opened.damage)}


def _damage(damage: Damage) -> dict[str, Any]:
    return {"kind": str(damage.kind), "offset": damage.offset, "number": damage.number, "detail": damage.detail}
