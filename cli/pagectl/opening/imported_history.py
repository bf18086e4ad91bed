"""A broker's history as a trace: for ``replay import``, and for commands that take a trace or a history."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pagectl.opening.history import OpenedHistory, open_history
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import note
from pageengine.history_import.importing import HistoryImport, event_count, import_history
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.history.bodies import HistoryBodies
from pagefmt.journal.files import journal_of
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagectl.options.groups import BrokerOptions
    from pagectl.options.history import HistoryPlaceOptions

_NOWHERE = Path()  # there is no directory of large messages


class ImportedHistory(NamedTuple):
    """A history and what its import made of it."""

    opened: OpenedHistory
    report: HistoryImport


def is_history(path: Path) -> bool:
    """Return whether a path names a broker, journal files or an archive of these; else it is a log or a trace."""
    return path.is_dir() or journal_of(path.name) is not None


def imported_history(
    directory: Path, to: Path, name: str | None, broker: BrokerOptions, past: HistoryPlaceOptions
) -> ImportedHistory:
    """Write the history of a broker as a trace.

    Raises the errors of ``open_history`` and of ``import_history``.
    """
    opened = open_history(directory, broker, past)
    large = opened.place.large_messages
    live = None if large is None else LargeMessages(large)
    bodies = HistoryBodies(_NOWHERE if large is None else large, opened.history.messages, live)
    source = "journal" if opened.retention is None else "history"
    with progress("writing the trace", event_count(opened.history), "events") as bar:
        report = import_history(
            opened.history,
            opened.place,
            bodies,
            to,
            name=name or directory.absolute().name,
            source=source,
            advance=bar.advance,
        )
    return ImportedHistory(opened, report)


@contextmanager
def as_trace(path: Path, broker: BrokerOptions, past: HistoryPlaceOptions) -> Iterator[Path]:
    """Yield a trace: the path itself, or a temporary file with the trace of a history."""
    if not is_history(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="pagectl-") as folder:
        trace = Path(folder) / "history.jsonl.zst"
        report = imported_history(path, trace, None, broker, past).report
        note(f"the history has {count_text(report.operations['send'], 'send')}; 'replay import' writes it as a trace")
        for what, times in sorted(report.unknown.items()):
            note(f"{times} times: {what}")
        yield trace
