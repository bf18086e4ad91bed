"""``pages inspect``: the layout of page files down to the byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.opening.broker import located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, ListFormatOption, PageOption, RecordOption
from pagectl.outputs.inspection import PageInspection, page_inspection
from pagectl.running.exits import CallError, Exit
from pagectl.running.permissions import refuse_without_pages, warn_closed
from pagectl.running.reading import page_range
from pagectl.terminal.streams import note, warning
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.codec.pages.page_file import PageFile
    from pagefmt.directory.paging import Store

EXAMPLES = (("The bytes of one record beside its fields", "pages inspect /var/lib/broker --page 12 --record 3 --hex"),)


def command(
    directory: DirArgument = None,
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
    place = located(directory, broker)
    view = page_inspection(form, place, with_bytes=with_bytes)
    live = running_broker(place.journal) is not None
    refuse_without_pages(place)
    wrong, shown, records = warn_closed(place), 0, 0
    for store in stores(place):
        if store.problem is not None and store.permitted:
            wrong = True
            warning(store.problem)
        for file in store.pages:
            if file.number in pages:
                damaged, count = _inspect(view, store, file, record, live=live)
                wrong, shown, records = wrong or damaged, shown + 1, records + count
    if not shown:
        which = "contains no page files" if page is None else f"no such page; {place.call('pages ls')} counts them"
        raise CallError(f"{directory or 'DIR'}: {which}")
    view.close()
    if record is not None and not records:
        looked_at = f"{count_text(shown, 'page')} looked at{', not all of it readable' * wrong}"
        way = f"{place.call('pages inspect')} shows all records, the first of a page is 0"
        raise CallError(f"{directory or 'DIR'}: no record {record}: {looked_at}; {way}")
    return Exit.FOUND if wrong else Exit.OK


def _inspect(view: PageInspection, store: Store, file: PageFile, only: int | None, *, live: bool) -> tuple[bool, int]:
    """Return whether the page is damaged, other than because a broker writes it, and how many records were shown."""
    from pagefmt.codec.pages.page import open_page
    from pagefmt.outstanding.state import motion_of

    shown = 0
    with open_page(file) as opened:
        view.begin(store, file, opened)
        for number, offset, length in opened.frames():
            if only in (None, number):
                view.record(number, offset, length)
                shown += 1
        view.end(opened.count)
        damage = opened.damage
        if damage is None:
            return False, shown
        if live and (motion := motion_of(damage, newest=file.number == store.current_page)):
            note(f"{file.path}: {motion}")
            return False, shown
        if only is None:
            view.damage(damage)
        return True, shown
