"""A list of any length on a terminal: a row is made when it is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from pagectl.terminal.sanitise import one_line

# a plain text is made safe when it is drawn; a ``Text`` consists of safe parts already
Row = str | Text
_HEAD = Style(bold=True)
_CURSOR = Style(reverse=True)


class Listing(ScrollView, can_focus=True):
    """A list with a fixed heading and rows, one of which has the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home", "edge(0)", show=False),
        Binding("end,G", "edge(1)", show=False),
        Binding("left", "scroll_sideways(-8)", show=False),
        Binding("right", "scroll_sideways(8)", show=False),
        Binding("enter", "open", "Open"),
    ]

    class Moved(Message):
        """Sent when the cursor has moved to another row."""

        def __init__(self, listing: Listing) -> None:
            super().__init__()
            self.listing = listing

        @property
        def control(self) -> Listing:
            """Return the listing that sent the message."""
            return self.listing

    class Opened(Moved):
        """Sent when the row at the cursor is opened, by Enter or a click on it."""

    def __init__(self, head: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.head: Row = head
        self.count = 0
        self.cursor = 0
        self._row: Callable[[int], Row] = lambda _number: ""
        self._aside = 0

    def show(self, count: int, row: Callable[[int], Row] | None = None) -> None:
        """Show ``count`` rows, keeping the cursor if its row still exists.

        ``row`` makes the row of a number, and must not raise; None keeps the previous function.
        """
        self.count = count
        self._row = row or self._row
        self.virtual_size = Size(self.size.width, count + 1)
        self.cursor = max(0, min(self.cursor, count - 1))
        self.refresh()

    def go(self, number: int) -> None:
        """Move the cursor to a row, and scroll the row into sight."""
        self.cursor = max(0, min(number, self.count - 1))
        top, height = self.scroll_offset.y, max(1, self.size.height - 1)
        if not top <= self.cursor < top + height:
            above = self.cursor if self.cursor < top else self.cursor - height + 1
            self.scroll_to(y=above, animate=False, force=True)
        self.refresh()
        self.post_message(self.Moved(self))

    @property
    def seen(self) -> range:
        """Return the numbers of the visible rows."""
        return range(self.scroll_offset.y, min(self.count, self.scroll_offset.y + max(0, self.size.height - 1)))

    def action_move(self, by: int) -> None:
        """Move the cursor by some rows."""
        self.go(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by some screens."""
        self.go(self.cursor + by * max(1, self.size.height - 2))

    def action_edge(self, last: int) -> None:
        """Move to the first row (``last`` 0) or to the last one."""
        self.go(last * (self.count - 1))

    def action_scroll_sideways(self, by: int) -> None:
        """Scroll sideways, for rows that are wider than the terminal."""
        self._aside = max(0, self._aside + by)
        self.refresh()

    def action_open(self) -> None:
        """Send ``Opened`` for the row at the cursor."""
        if self.count:
            self.post_message(self.Opened(self))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the mouse; open the row if it is already there."""
        number = self.scroll_offset.y + event.y - 1
        if event.y < 1 or number >= self.count:
            return
        if number == self.cursor:
            self.action_open()
        else:
            self.go(number)

    def render_line(self, y: int) -> Strip:
        """Return a line of the terminal."""
        number, width = self.scroll_offset.y + y - 1, self.size.width
        if y == 0:
            return self._strip(self.head, width, _HEAD)
        if number >= self.count:
            return Strip.blank(width, self.rich_style)
        return self._strip(self._row(number), width, _CURSOR if number == self.cursor and self.has_focus else Style())

    def _strip(self, row: Row, width: int, style: Style) -> Strip:
        text = row if isinstance(row, Text) else Text(one_line(row))
        parts = [part for part in text.render(self.app.console) if part.text != text.end]
        strip = Strip(Segment.apply_style(parts, self.rich_style + style)).simplify()
        return strip.crop(self._aside, self._aside + width).extend_cell_length(width, self.rich_style + style)
