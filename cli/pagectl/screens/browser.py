"""Addresses, their pages, the records of a page, the bytes of a record beside the names of its fields."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from pagectl.running.exits import describe
from pagectl.screens.app import ListScreen
from pagectl.screens.listing import Listing, Row
from pagectl.terminal.hexview import HexView
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import json_text
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import FRAME
from pagefmt.directory.locate import DataLocation, stores
from pagefmt.directory.paging import Store, read_store
from pagefmt.errors import PageFmtError
from pagefmt.quantities import count_text, size_text, time_text
from pagefmt.storage.files import NotReadable
from pagefmt.vectors import RecordIndex

if TYPE_CHECKING:
    from pagefmt.outstanding.state import PagingState, StoreState

# bytes of the largest record whose fields are named; of a larger one only the bytes are shown
TAKEN_APART: Final = 1 << 20
# terminal columns from which on a record is shown beside the list
WIDE: Final = 160
_ROW: Final = 16
_REDRAWN: Final = 0.2


class OpenedPlace:
    """A place that is browsed. ``state`` is None until the journals are loaded; ``unknown`` says why."""

    def __init__(self, place: DataLocation) -> None:
        self.place = place
        self.state: PagingState | None = None
        self.unknown = "reading the journal"
        self._lock = threading.Lock()

    def load(self) -> None:
        """Read journal and bindings, once."""
        from pagefmt.vectors import load_place

        with self._lock:
            if self.state is None:
                try:
                    self.state = load_place(self.place)
                    self.unknown = self.state.unknown.reason if self.state.unknown else ""
                except (PageFmtError, OSError) as err:
                    self.unknown = describe(err)

    def of(self, store: Store) -> StoreState | None:
        """Return what is known about a store, None until the journals are loaded."""
        return None if self.state is None else next(self.state.of([store]))


class SearchScreen(ListScreen):
    """A list that can be searched."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "ask", "Search", priority=True),  # what is typed at once behind it is for the search
        Binding("n", "next", "Next"),
        Binding("c", "copy", "Copy JSON"),
    ]

    def parts(self) -> ComposeResult:
        """Yield the list, and an input line for the search text."""
        yield from super().parts()
        yield Input(placeholder="text, or 0x and hexadecimal digits", id="search")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is an action: a slash in the search text is not."""
        return action not in ("ask", "other") or not isinstance(self.focused, Input)

    def action_ask(self) -> None:
        """Show the input line for the search text."""
        search = self.query_one("#search", Input)
        search.display = True
        self.set_focus(search)  # now: what is typed next is for it

    def on_input_submitted(self) -> None:
        """Close the input line, and go to the next match."""
        self.close_search()
        self.action_next()

    def close_search(self) -> None:
        """Hide the input line, keeping its text, and go back to the list."""
        self.query_one("#search", Input).display = False
        self.set_focus(self.listing)

    def action_back(self) -> None:
        """Close the search if it is open, else go one level up."""
        if self.query_one("#search", Input).display:
            self.close_search()
        else:
            super().action_back()

    def action_next(self) -> None:
        """Go to the next match after the cursor, continuing at the first row after the last."""
        text, count, cursor = self.query_one("#search", Input).value, self.listing.count, self.listing.cursor
        if text:
            rows = ((cursor + 1 + step) % count for step in range(count))
            match = next((row for row in rows if text.casefold() in self.name_of(row).casefold()), None)
            if match is None:
                self.say(f"{text!r} is not in any row")
            else:
                self.listing.go(match)

    def action_copy(self) -> None:
        """Copy what is at the cursor as JSON."""
        try:
            value = self.value_of(self.listing.cursor) if self.listing.count else None
        except (PageFmtError, OSError) as err:
            self.say(describe(err))
            return
        if value is not None:
            self.app.copy_to_clipboard(json_text(value))
            self.say("copied as JSON, if the terminal supports the clipboard (OSC 52)")

    def name_of(self, row: int) -> str:
        """Return the text of a row that is searched."""
        raise NotImplementedError

    def value_of(self, row: int) -> object:
        """Return the value of a row that is copied, None if there is none."""
        raise NotImplementedError


class StoresScreen(SearchScreen):
    """The addresses of a place."""

    def __init__(self, opened: OpenedPlace) -> None:
        super().__init__(f"pagectl pages browse {opened.place.given}", f"{'PAGES':>7}  {'BYTES':>10}  ADDRESS")
        self.opened = opened
        self.stores: list[tuple[Store, int, int]] = []

    def on_mount(self) -> None:
        """List the folders in a thread, because there may be very many."""
        self.say("listing folders …")
        self.beside(self._list)
        self.beside(self.opened.load)

    def _list(self) -> None:
        drawn = 0.0
        for store in stores(self.opened.place):
            # the names of pages are read again when the store is opened: they are too many to be kept
            size = sum(page.size for page in store.pages)
            self.stores.append((store._replace(pages=(), others=()), len(store.pages), size))
            if time.monotonic() - drawn > _REDRAWN:
                self.soon(self._draw)
                drawn = time.monotonic()
            if self.gone.is_set():
                return
        self.soon(self._draw)
        self.soon(self._all)

    def _draw(self) -> None:
        self.listing.show(len(self.stores), self._row)

    def _all(self) -> None:
        if len(self.stores) == 1 and self.opened.place.store is not None:
            self._open(0)
        pages = sum(count for _store, count, _size in self.stores)
        size = sum(size for _store, _count, size in self.stores)
        folders = count_text(len(self.stores), "address", "addresses")
        account = f"{folders}, {count_text(pages, 'page')}, {size_text(size)}"
        self.say(account if self.stores else "no address has page files")

    def _row(self, row: int) -> Row:
        store, pages, size = self.stores[row]
        return f"{pages:>7}  {size_text(size):>10}  {self.name_of(row)}  {store.problem or ''}"

    def name_of(self, row: int) -> str:
        """Return the address, or the folder if the address is not known."""
        store = self.stores[row][0]
        return store.address if store.address is not None else f"({store.name}: {store.text.problem})"

    def value_of(self, row: int) -> object:
        """Return the address with its folder, pages and bytes."""
        store, pages, size = self.stores[row]
        return {"address": store.address, "folder": str(store.folder), "pages": pages, "bytes": size}

    def on_listing_opened(self, event: Listing.Opened) -> None:
        """Open the pages of the address at the cursor."""
        self._open(event.listing.cursor)

    def _open(self, row: int) -> None:
        self.app.push_screen(PagesScreen(self.opened, self.stores[row][0]))


class PagesScreen(SearchScreen):
    """The pages of a store; visible ones are checked for damage."""

    def __init__(self, opened: OpenedPlace, store: Store) -> None:
        name = store.address if store.address is not None else store.name
        super().__init__(f"{name}  {store.folder}", f"{'PAGE':>10}  {'BYTES':>12}  {'RECORDS':>9}  DAMAGE")
        self.opened, self.store = opened, store
        self.pages: tuple[PageFile, ...] = ()
        self.read: dict[int, tuple[str, str]] = {}

    def on_mount(self) -> None:
        """List the pages, and start reading the journals and the pages in the background."""
        try:
            self.store = read_store(self.store.folder)
        except PageFmtError as err:
            self.say(describe(err))
            return
        place = self.opened.place
        if place.page is not None:
            self.pages = next(iter(stores(place))).pages
        else:
            self.pages = self.store.pages
        self.listing.show(len(self.pages), self._row)
        others = [f"{entry.name} ({entry.kind})" for entry in self.store.others if entry.name != "address.txt"]
        self.say(self.store.problem or (f"also here: {', '.join(others[:4])}" if others else ""))
        self.beside(self.opened.load)
        self.beside(self._look)
        if place.page is not None:
            self.app.push_screen(RecordsScreen(self.opened, self.store, self.pages[0]))

    def _look(self) -> None:
        while not self.gone.wait(_REDRAWN):
            for row in self.listing.seen if self.is_current else ():
                if self.pages[row].number in self.read or row not in self.listing.seen:
                    continue
                index = RecordIndex(self.pages[row])
                for _ in index.scan():
                    if self.gone.is_set() or not self.is_current:
                        break
                else:
                    self.read[self.pages[row].number] = (str(index.count), damage_text(index))
                    self.soon(self.listing.refresh)

    def _row(self, row: int) -> Row:
        page = self.pages[row]
        records, damage = self.read.get(page.number, ("…", ""))
        return Text(f"{page.number:>10}  {page.size:>12}  {records:>9}  ").append(one_line(damage), style="red")

    def name_of(self, row: int) -> str:
        """Return the name of the page file."""
        return self.pages[row].name

    def value_of(self, row: int) -> object:
        """Return the page with its address, file and bytes."""
        page = self.pages[row]
        return {"address": self.store.address, "file": str(page.path), "page": page.number, "bytes": page.size}

    def on_listing_opened(self, event: Listing.Opened) -> None:
        """Open the records of the page at the cursor."""
        self.app.push_screen(RecordsScreen(self.opened, self.store, self.pages[event.listing.cursor]))


def damage_text(index: RecordIndex) -> str:
    """Return a sentence on the damage that ended the reading, and the records after it; "" without damage."""
    damage = index.damage
    if damage is None:
        return ""
    behind = f"; {count_text(index.behind, 'whole record')} after it" if index.behind else ""
    return f"{damage.kind} at offset {damage.offset}: {damage.detail}{behind}"


class RecordsScreen(SearchScreen):
    """The records of a page, and the bytes of one of them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "other", "Bytes", priority=True),
        Binding("x", "hex", "Hex"),
    ]

    def __init__(self, opened: OpenedPlace, store: Store, page: PageFile) -> None:
        name = store.address if store.address is not None else store.name
        head = f"{'RECORD':>8}  {'OFFSET':>10}  {'BYTES':>8}  MESSAGE"
        super().__init__(f"{name}  page {page.number}  {page.path}", head)
        self.opened, self.store, self.page = opened, store, page
        self.index = RecordIndex(page)
        self.with_bytes = True
        self._known: StoreState | None = None
        self._searching = threading.Event()
        self._found = ""

    def parts(self) -> ComposeResult:
        """Yield the list and the bytes, side by side if there is room."""
        from textual.containers import Horizontal

        with Horizontal():
            yield Listing(self._head, id="list")
            yield Listing("", id="detail")
        yield Input(placeholder="text, or 0x and hexadecimal digits", id="search")

    @property
    def detail(self) -> Listing:
        """Return the widget that shows the bytes of a record."""
        return self.query_one("#detail", Listing)

    def on_mount(self) -> None:
        """Show the screen at once, while threads find the records and read the journals."""
        self.set_class(self.app.size.width >= WIDE, "wide")
        self.detail.display = self.has_class("wide")
        self.beside(self._scan)
        self.beside(self._load)

    def on_resize(self, event: events.Resize) -> None:
        """Show list and bytes side by side if there is room, else the one with the focus."""
        wide = event.size.width >= WIDE
        self.set_class(wide, "wide")
        self.detail.display = wide or self.detail.has_focus
        self.listing.display = wide or not self.detail.has_focus

    def _scan(self) -> None:
        drawn = 0.0
        for _ in self.index.scan():
            if self.gone.is_set():
                return
            if time.monotonic() - drawn > _REDRAWN:
                self.soon(self._draw)
                drawn = time.monotonic()
        self.soon(self._draw)

    def _load(self) -> None:
        self.opened.load()
        self._known = self.opened.of(self.store)
        self.soon(self._draw)

    def _draw(self) -> None:
        """Show the records read so far, with a row for the damage after the last."""
        index = self.index
        self.listing.show(index.count + (index.done and index.damage is not None), self._row)
        self._show()
        read = "" if index.done else f"{index.passed * 100 // max(1, self.page.size)} % read, "
        damage = f"; {damage_text(index)}" if index.damage else ""
        unknown = f"; {self.opened.unknown}" if self.opened.unknown else ""
        account = f"{count_text(index.count, 'record')}, {size_text(self.page.size)}"
        self.say(f"{self._found}{read}{account}{damage}{unknown}")

    def _row(self, row: int) -> Row:
        if row >= self.index.count:
            return Text(one_line(damage_text(self.index)), style="red")
        try:
            offset, length = self.index.frame(row)
            head = f"{row:>8}  {offset:>10}  {length + FRAME:>8}  "
            return head + (self._message(row) if length <= TAKEN_APART else "large")
        except (PageFmtError, OSError, LookupError) as err:
            return Text(one_line(f"{row:>8}  {_reason(err)}"), style="red")

    def _message(self, row: int) -> str:
        from pagefmt.codec.pages.page import OddRecord

        opened = self.index.record(row)
        route = opened.route(row, 0, len(opened.buf) - FRAME)
        if isinstance(route, Damage):
            return f"{route.kind}: {route.detail}"
        decoded = opened.understood(route)
        record = decoded.record if isinstance(decoded, OddRecord) else decoded
        parts = [f"id {route[5]}", "", self._waits(route)]
        if record is not None:
            message = record.message
            parts[1] = f"{message.protocol} {message.type_name or ''}"
            parts.append(time_text(message.timestamp, "seconds"))
        return "  ".join(parts) + (f"  {decoded.damage.kind}" if isinstance(decoded, OddRecord) else "")

    def _waits(self, route: tuple[Any, ...]) -> str:
        """Return in words which queues a message is for, and for which it still waits."""
        store = self._known
        rule = None if store is None else store.rule(self.page.number)
        if store is None or rule is None or store.unknown is not None:
            return f"to queues {', '.join(map(str, route[6]))}; waiting ?"
        waiting = rule.outstanding(route[0], route[3], route[6])
        names = [
            store.queues[queue].name if store.queues and queue in store.queues else str(queue) for queue in waiting
        ]
        return f"waits for {', '.join(names)}" if names else "acknowledged"

    def _show(self) -> None:
        """Show the bytes of the record at the cursor."""
        if not self.detail.display or not self.listing.count:
            return
        try:
            count, row = self._bytes(self.listing.cursor)
        except (PageFmtError, OSError, LookupError) as err:
            reason = _reason(err)
            count, row = 1, lambda _n: Text(one_line(reason), style="red")
        self.detail.show(count - 1, lambda number: row(number + 1))
        self.detail.head = row(0)

    def _bytes(self, number: int) -> tuple[int, Callable[[int], Row]]:
        """Return the number of lines that show a record, heading included, and a function that makes each of them."""
        if number >= self.index.count and self.index.damage is not None:
            return self._plain(damage_text(self.index), self.index.damage.offset, self.page.size)
        offset, length = self.index.frame(number)
        if length > TAKEN_APART:
            head = f"record {number}  offset {offset}, {length + FRAME} bytes: too large to be decoded"
            return self._plain(head, offset, offset + length + FRAME)
        out = io.StringIO()
        view = HexView(out, with_bytes=self.with_bytes, coloured=True)
        opened = self.index.record(number)
        view.record(opened.buf, number, 0, length, base=opened.base)
        lines = out.getvalue().splitlines()[1:]
        return len(lines), lambda n: Text.from_ansi(lines[n])

    def _plain(self, head: str, start: int, end: int) -> tuple[int, Callable[[int], Row]]:
        def row(number: int) -> Row:
            if not number:
                return head
            at = start + (number - 1) * _ROW
            try:
                raw = self.index.read(at, min(_ROW, end - at))
            except (PageFmtError, OSError) as err:
                return _reason(err)
            shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in raw)
            return f"{at:08x}  {raw.hex(' '):<{3 * _ROW - 1}}  {shown}"

        return 1 - (-(end - start) // _ROW), row

    def on_listing_moved(self, event: Listing.Moved) -> None:
        """Show the bytes of another record."""
        if event.listing is self.listing:
            self.detail.cursor = 0
            self.detail.scroll_to(y=0, animate=False, force=True)
            self._show()

    def on_listing_opened(self, event: Listing.Opened) -> None:
        """Go to the bytes of the record at the cursor."""
        if event.listing is self.listing:
            self.action_other()

    def action_other(self) -> None:
        """Go from the list to the bytes, or back."""
        wide, to_bytes = self.has_class("wide"), not self.detail.has_focus
        self.detail.display, self.listing.display = wide or to_bytes, wide or not to_bytes
        self.set_focus(self.detail if to_bytes else self.listing)
        self._show()

    def action_back(self) -> None:
        """Go from the bytes to the list, or from the list to the pages."""
        self._searching.clear()
        if self.detail.has_focus:
            self.action_other()
        else:
            super().action_back()

    def action_hex(self) -> None:
        """Switch between fields with and without their bytes."""
        self.with_bytes = not self.with_bytes
        self._show()

    def action_next(self) -> None:
        """Go to the next record whose bytes contain the text, in any encoding that brokers use."""
        text = self.query_one("#search", Input).value
        try:
            needles = _needles(text)
        except ValueError:
            self._tell(f"{text!r}: after 0x, give pairs of hexadecimal digits")
            return
        if needles and self.index.count:
            self._tell(f"searching for {text!r} …")
            self._searching.set()
            self.beside(lambda: self._search(text, needles, self.listing.cursor))

    def _search(self, text: str, needles: list[bytes], cursor: int) -> None:
        """Find the next record after the cursor that contains one of the ``needles``, and go to it.

        Runs in a thread.
        """
        # The search reads bytes and may be ahead of the scan that numbers records. It then waits until the scan has
        # passed the place. Leaving the search or the screen ends it. Only the screen's own thread changes widgets.
        index = self.index

        def going() -> bool:
            return self._searching.is_set() and not self.gone.is_set()

        offset, length = index.frame(cursor) if cursor < index.count else (self.page.size, 0)
        place = index.find(needles, offset + length + FRAME, going)
        while place is not None and not index.done and place >= index.passed and going():
            self.gone.wait(0.05)
        if not going():
            return
        if place is None:
            self.soon(self._tell, f"{text!r} is not in any later record")
        else:
            self.soon(self.listing.go, index.at(place) if place < index.passed else index.count)
            self.soon(self._tell, f"{text!r} at offset {place}")

    def _tell(self, remark: str) -> None:
        self._found = f"{remark}; "
        self._draw()

    def name_of(self, row: int) -> str:
        """Return the number of the record. The search is by bytes, so the text is not used."""
        return str(row)

    def value_of(self, row: int) -> object:
        """Return the message as ``pages decode`` prints it."""
        from pagefmt.codec.messages.large import LargeMessages
        from pagefmt.describe.message_json import BodyForm, MessageOptions
        from pagefmt.outstanding.message_filter import SelectedMessage
        from pagefmt.table.message_row import selected_row

        if row >= self.index.count:
            damage = self.index.damage
            return (
                None if damage is None else {**damage._asdict(), "kind": str(damage.kind), "behind": self.index.behind}
            )
        opened = self.index.record(row)
        route = opened.route(row, 0, len(opened.buf) - FRAME)
        if isinstance(route, Damage):
            return {"page": self.page.number, "number": row, "damage": {**route._asdict(), "kind": str(route.kind)}}
        store_state = self._known
        rule = None if store_state is None else store_state.rule(self.page.number)
        acked_by = None if rule is None else rule.acked_by(row, route[6])
        large = LargeMessages(self.opened.place.large_messages) if self.opened.place.large_messages else None
        options = MessageOptions(frozenset((BodyForm.SIZE, BodyForm.TEXT)), large)
        message = SelectedMessage(self.page, row, opened.understood(route), acked_by, rule)
        return selected_row(self.store, message, options)


def _reason(err: Exception) -> str:
    """Return the text of an error without the path, which is in the title."""
    return err.reason if isinstance(err, NotReadable) else describe(err)


def _needles(text: str) -> list[bytes]:
    """Return the bytes that a search text stands for. Raise ``ValueError`` for odd hexadecimal digits."""
    if text.startswith("0x"):
        return [bytes.fromhex(text[2:])] if text[2:] else []
    encodings = ("utf-8", "utf-16-le", "utf-16-be")
    return [text.encode(name, "surrogatepass") for name in encodings] if text else []
