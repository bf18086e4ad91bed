"""What every screen has: a terminal to begin with, an end by signal or Ctrl-C, work beside the drawing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, Static

from pagectl.running.exits import EndedBySignal, Exit, describe
from pagectl.screens.listing import Listing
from pagectl.terminal.sanitise import one_line


class FullScreen(App[int]):
    """An application that is one stack of screens; ``first`` is its lowest."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Listing { height: 1fr; width: 1fr; overflow-x: hidden; }
    #title {
        height: 1; background: $primary; color: $text; text-style: bold; text-wrap: nowrap; text-overflow: ellipsis;
    }
    #said { height: auto; max-height: 4; }
    #search { display: none; height: 3; }
    .wide #detail { width: 88; margin-left: 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
    ]

    def __init__(self, first: Callable[[], Screen[None]]) -> None:
        super().__init__()
        self._first = first
        self.ended: BaseException | None = None

    def on_mount(self) -> None:
        """Show the first screen, and handle SIGTERM and SIGHUP, so that the terminal is restored."""
        import asyncio

        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN and threading.current_thread() is threading.main_thread():
                asyncio.get_running_loop().add_signal_handler(number, self._end, EndedBySignal(number))
        self.push_screen(self._first())

    def action_interrupt(self) -> None:
        """End the program as Ctrl-C does."""
        self._end(KeyboardInterrupt())

    def _end(self, why: BaseException) -> None:
        self.ended = why
        self.exit(Exit.INTERRUPTED)


def shown(first: Callable[[], Screen[None]]) -> int:
    """Show the screen until the user leaves it, and return the exit status.

    Raise ``KeyboardInterrupt`` after Ctrl-C, and ``EndedBySignal`` after a signal that ends the program.
    """
    app = FullScreen(first)
    app.run()
    if app.ended is not None:
        raise app.ended
    return Exit.OK if app.return_code == 0 else Exit.FAILED


class ListScreen(Screen[None]):
    """A screen with a title, a list, a line about the row at the cursor, and the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,backspace", "back", "Back")]

    def __init__(self, heading: str, head: str) -> None:
        super().__init__()
        self._heading, self._head = heading, head
        self.gone = threading.Event()

    def compose(self) -> ComposeResult:
        """Yield the parts from top to bottom."""
        yield Static(one_line(self._heading), id="title", markup=False)
        yield from self.parts()
        yield Static("", id="said", markup=False)
        yield Footer()

    def parts(self) -> ComposeResult:
        """Yield the widgets between title and remarks."""
        yield Listing(self._head, id="list")

    @property
    def listing(self) -> Listing:
        """Return the list widget."""
        return self.query_one("#list", Listing)

    def say(self, text: str) -> None:
        """Show a remark below the list."""
        self.query_one("#said", Static).update(one_line(text))

    def retitle(self, text: str) -> None:
        """Change the title."""
        self.query_one("#title", Static).update(one_line(text))

    def action_back(self) -> None:
        """Go one level up, or leave the program from the first level."""
        if len(self.app.screen_stack) > 2:
            self.dismiss()
        else:
            self.app.exit(0)

    def on_unmount(self) -> None:
        """Make the threads that work for this screen stop."""
        self.gone.set()

    def beside(self, work: Callable[[], None]) -> None:
        """Run ``work`` in a thread that does not keep the program running, and show the error that it raises."""

        def run() -> None:
            try:
                work()
            except Exception as err:
                self.soon(self.say, describe(err))

        threading.Thread(target=partial(copy_context().run, run), daemon=True).start()

    def soon(self, what: Callable[..., object], *words: object) -> None:
        """Have the screen's thread call a function, if the screen still exists; for calls from other threads."""
        if not self.gone.is_set() and self.app.is_running:
            self.app.call_later(lambda: None if self.gone.is_set() else what(*words))
