"""Progress on standard error, only when it is a terminal; silent and free of cost elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pagectl.terminal.streams import is_terminal


class Progress:
    """What a command tells of its progress; this one shows nothing."""

    def advance(self, amount: int) -> None:
        """Record that so much more is done."""

    def describe(self, what: str) -> None:
        """Show what is being done."""

    def clear(self) -> None:
        """Take the bar away before something is printed; the next ``advance`` brings it back."""


class _Bar(Progress):
    """Rich's bar, brought up only after half a second: short work shows nothing. Updates at most ten times a second."""

    def __init__(self, what: str, total: int | None, unit: str) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._done, self._next = 0, time.monotonic() + 0.5
        self._rich: object | None = None

    def advance(self, amount: int) -> None:
        self._done += amount
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 0.1
        self._show()

    def describe(self, what: str) -> None:
        """Another text beside the bar, shown with its next update."""
        self._what = what
        self.advance(0)

    def _show(self) -> None:
        from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        from pagectl.terminal.streams import console

        if self._rich is None:
            amount = DownloadColumn(binary_units=True) if self._unit == "bytes" else MofNCompleteColumn()
            self._rich = RichProgress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                amount,
                TimeRemainingColumn(),
                console=console(sys.stderr),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._rich.start()
            self._rich.add_task(self._what, total=self._total)
        assert isinstance(self._rich, RichProgress)
        self._rich.update(self._rich.task_ids[0], completed=self._done, description=self._what)

    def clear(self) -> None:
        if self._rich is not None:
            self._rich.stop()  # type: ignore[attr-defined]
            self._rich = None


@contextmanager
def progress(what: str, total: int | None, unit: str = "bytes", *, beside_output: bool = False) -> Iterator[Progress]:
    """Show a bar while the context is open.

    ``total`` is None if not known, and ``unit`` is ``bytes`` or a plural noun. ``beside_output`` says that answers are
    written at the same time: if these go to the terminal, they show progress enough, and there is no bar. Standard
    output is never touched: rich would send it to the bar's own console.
    """
    shown = is_terminal(sys.stderr) and sys.stderr.isatty() and not (beside_output and sys.stdout.isatty())
    if not shown:
        yield Progress()
        return
    bar = _Bar(what, total, unit)
    try:
        yield bar
    finally:
        bar.clear()
