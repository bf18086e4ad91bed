"""Progress of a replay: how far through the trace, and operations a second."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pagectl.terminal.progress import Progress, progress

EVERY = 512


@dataclass(slots=True)
class ReplayProgress:
    """``advance`` takes bytes of the trace, ``applied`` counts operations."""

    bar: Progress
    operations: int = 0
    started: float = field(default_factory=time.monotonic)

    def advance(self, amount: int) -> None:
        """So many more bytes of the trace were read."""
        self.bar.advance(amount)

    def applied(self, count: int) -> None:
        """So many operations more."""
        before = self.operations // EVERY
        self.operations += count
        if self.operations // EVERY > before:
            self.bar.describe(f"replaying, {self.rate_text()}")

    def rate_text(self) -> str:
        """Return the operations per second so far, as text."""
        seconds = max(time.monotonic() - self.started, 1e-9)
        return f"{self.operations / seconds:,.0f} operations a second"


@contextmanager
def replay_progress(trace: Path) -> Iterator[ReplayProgress]:
    """Show a bar over the bytes of a trace; for Parquet over its rows, whose total is not known beforehand."""
    parquet = trace.suffix == ".parquet"
    total = None if parquet or not trace.is_file() else trace.stat().st_size
    with progress("replaying", total, "rows" if parquet else "bytes") as bar:
        yield ReplayProgress(bar)
