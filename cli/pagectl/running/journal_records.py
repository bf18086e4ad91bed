"""Records of journal files, one after another, once or for as long as a broker writes more."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from pagefmt.journal.scan import TornRecords
from pagefmt.storage.files import FileStretches, NotReadable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pagefmt.directory.locate import DataLocation
    from pagefmt.journal.files import JournalFile
    from pagefmt.journal.records import JournalFrame
    from pagefmt.journal.scan import TornRecord

EVERY: Final = 1.0  # seconds between two looks at files that a broker writes


class RecordView(Protocol):
    """What shows records."""

    def begin(self, file: JournalFile) -> None:
        """Take the file whose records follow."""

    def record(self, frame: JournalFrame, content: bytes) -> None:
        """Show a record."""

    def torn(self, records: Iterable[TornRecord]) -> None:
        """Show the torn records of a file."""


class ShownRecords:
    """The records of files that were shown. ``number`` of them; ``torn``: whether a file has torn records.

    ``record``: id of the only records, ``user_type`` of the only ones; None for any.
    """

    def __init__(self, view: RecordView, record: int | None, user_type: int | None) -> None:
        self._view, self._record, self._user_type = view, record, user_type
        self._read: dict[tuple[int, Path], TornRecords] = {}  # how far each file was read, by file id and path
        self.number = 0
        self.torn = False

    def show(self, files: Iterable[JournalFile]) -> None:
        """Show the records of the files, and their torn records unless single records are wanted."""
        for file in files:
            self._view.begin(file)
            torn = self._show_new(file)
            self.torn = self.torn or torn.count > 0
            self._view.torn(torn.first if self._record is None and self._user_type is None else [])

    def follow(self, place: DataLocation, name: str | None) -> None:
        """Show what a broker appends, until the process is interrupted. A file that it reuses has a new file id.

        ``name`` of the only file; None for all.
        """
        from pagefmt.change.compaction.journals import listings

        while True:
            sys.stdout.flush()
            time.sleep(EVERY)
            for listing in listings(place):
                for file in listing.files:
                    if name in (None, file.name):
                        self._show_appended(file)

    def _show_appended(self, file: JournalFile) -> None:
        try:
            self._show_new(file, with_heading=True)
        except NotReadable:
            return  # a broker removed or reused it; the next look sees what is there then

    def _show_new(self, file: JournalFile, *, with_heading: bool = False) -> TornRecords:
        """Show the records after those that were shown, and return the torn ones."""
        from pagefmt.journal.windows import chosen_frames

        torn = self._read.setdefault((file.header.file_id, file.path), TornRecords())
        with FileStretches(file.path) as content:
            for frame in chosen_frames(content, file.header, torn, self._record, self._user_type):
                if with_heading:
                    self._view.begin(file)
                    with_heading = False
                self._view.record(frame, bytes(content[frame.at : frame.at + frame.total]))
                self.number += 1
        return torn
