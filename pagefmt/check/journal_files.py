"""Files of a journal, every byte accounted for, and what a broker does with each (docs/spec/journal.md 3, 4)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import Final, NamedTuple

from pagefmt.check.zeroed_sectors import SectorRuns, holds_text
from pagefmt.codec.messages.persisted import decode_persisted
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.findings import Severity
from pagefmt.journal.damage import is_cut_off
from pagefmt.journal.files import HEADER, FileNote, FileProblem, JournalFile
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.record_types import MESSAGES, RecordType, type_name
from pagefmt.journal.records import JournalFrame
from pagefmt.journal.scan import TORN_LISTED, TornRecords
from pagefmt.journal.windows import WINDOW, frames_in_windows
from pagefmt.quantities import count_text
from pagefmt.storage.files import FileStretches, NotReadable


class JournalAction(StrEnum):
    """What a broker does with a file of a journal folder."""

    READS = "reads"
    PASSES_OVER = "passes-over"
    IGNORES = "ignores"
    DELETES = "deletes"
    CARRIES_OUT = "carries-out"
    NO_START = "does-not-start"


_ACTIONS: Final = {
    FileProblem.SHORT: JournalAction.DELETES,
    FileProblem.SHORT_STOPS: JournalAction.NO_START,
    FileProblem.LEFT_OVER: JournalAction.DELETES,
    FileProblem.VERSION: JournalAction.NO_START,
    FileProblem.NOT_REGULAR: JournalAction.IGNORES,
    FileProblem.UNREADABLE: JournalAction.NO_START,
    FileProblem.CONTROL: JournalAction.CARRIES_OUT,
}


class FileFault(NamedTuple):
    """Something wrong in a file of a journal."""

    kind: str
    offset: int
    detail: str
    severity: Severity = Severity.WARNING


class JournalFileReport(NamedTuple):
    """A file of a journal, and what a broker does with it. None: not known, because the file is not read.

    ``record_bytes``, ``unused_bytes``, ``lost_bytes`` and the header are all bytes of the file. ``crc32c``: 8
    hexadecimal digits.
    """

    journal: str
    file: str
    size: int
    faults: tuple[FileFault, ...]
    broker: JournalAction
    broker_text: str
    id: int | None = None
    version: int | None = None
    user_version: int | None = None
    records: int | None = None
    record_bytes: int | None = None
    unused_bytes: int | None = None
    lost_bytes: int | None = None
    crc32c: str | None = None

    @property
    def sound(self) -> bool:
        """Return whether there is nothing but remarks."""
        return all(fault.severity is Severity.INFO for fault in self.faults)

    @property
    def permitted(self) -> bool:
        """Return whether this user may read the file."""
        return all(fault.kind != FileProblem.NOT_PERMITTED.value for fault in self.faults)


def file_reports(name: str, loaded: LoadedJournal, *, live: bool = False) -> Iterator[JournalFileReport]:
    """Yield reports of journal files in load order, then of other files.

    ``name`` of the journal. ``live``: a broker is writing to it.
    """
    usual = max((file.size for file in loaded.files), default=0)
    last = max((n for n, (_, torn) in enumerate(loaded.torn) if torn.holds_records), default=-1)
    for n, (file, torn) in enumerate(loaded.torn):
        notes = [note for note in loaded.notes if note.file == file.name]
        yield _read(name, file, torn, notes, usual, ends=n >= last, live=live)
    read = {file.name for file in loaded.files}
    for note in loaded.notes:
        if note.file not in read:
            yield _not_read(name, note, live=live)


def _read(
    name: str, file: JournalFile, torn: TornRecords, notes: list[FileNote], usual: int, *, ends: bool, live: bool
) -> JournalFileReport:
    """Return the report of one journal file. ``ends``: no later file contains records."""
    moving = live and ends
    lost = torn.lost_bytes + (file.size - torn.end if torn.tail and not ends else 0)
    faults = [FileFault(note.kind.value, 0, note.detail, note.severity(live=live)) for note in notes]
    faults += islice(_torn(torn, moving=moving), TORN_LISTED)
    crc32c, zeroed = _looked_through(file, torn)
    faults += zeroed
    if is_cut_off(file, torn, usual):
        detail = f"cut off at {file.size} bytes, later records may be missing"
        faults.append(FileFault("file size", file.size, detail))
    elif file.size < usual:
        detail = f"{file.size} bytes, while other files have {usual}: created with a different journal-file-size"
        faults.append(FileFault("file size", file.size, detail, Severity.INFO))
    passed = count_text(lost, "byte") + " without a record" if lost else "a torn record at its end" if torn.tail else ""
    text = f"reads {count_text(torn.records, 'record')}"
    if passed and not moving:
        text += f" and silently skips {passed}: the operations written there are lost"
    return JournalFileReport(
        journal=name,
        file=file.name,
        size=file.size,
        faults=tuple(faults),
        broker=JournalAction.PASSES_OVER if passed and not moving else JournalAction.READS,
        broker_text=text,
        id=file.header.file_id,
        version=file.header.version,
        user_version=file.header.user_version,
        records=torn.records,
        record_bytes=torn.record_bytes,
        unused_bytes=file.size - HEADER.size - torn.record_bytes - lost,
        lost_bytes=lost,
        crc32c=crc32c,
    )


def _torn(torn: TornRecords, *, moving: bool) -> Iterator[FileFault]:
    for start, end in torn.gaps:
        yield FileFault("no record", start, f"{end - start} bytes hold no record")
    for record in torn.first:
        severity = Severity.INFO if moving and record.offset >= torn.end else Severity.WARNING
        yield FileFault("torn record", record.offset, record.detail, severity)


def _not_read(name: str, note: FileNote, *, live: bool) -> JournalFileReport:
    fault = FileFault(note.kind.value, 0, note.detail, note.severity(live=live))
    action = _ACTIONS.get(note.kind, JournalAction.READS)
    return JournalFileReport(name, note.file, note.size, (fault,), action, note.detail)


def _looked_through(file: JournalFile, torn: TornRecords) -> tuple[str | None, list[FileFault]]:
    """Return the CRC-32C (Castagnoli) as 8 hex digits, None if the file became unreadable; and lost sectors."""
    from crc32c import crc32c

    value, runs = 0, SectorRuns()
    try:
        with FileStretches(file.path) as opened:
            for at in range(0, opened.size, WINDOW):
                piece = opened[at : min(at + WINDOW, opened.size)]
                value = crc32c(piece, value)
                runs.look(memoryview(piece)[: max(0, torn.end - at)], at)
            return f"{value:08x}", list(islice(_zeroed(opened, file, runs), TORN_LISTED))
    except NotReadable:
        return None, []


def _zeroed(opened: FileStretches, file: JournalFile, runs: SectorRuns) -> Iterator[FileFault]:
    for frames in frames_in_windows(opened, file.header, TornRecords()) if runs.starts else ():
        for row in runs.among(frames.body, frames.body + frames.size):
            frame = frames.frame(row)
            for start, end in runs.lost_inside(opened, frame.body, frame.body + frame.size):
                yield FileFault(
                    "zeroed sector",
                    start,
                    f"{end - start} zero bytes in whole sectors inside record {frame.id} {type_name(frame.user_type)}: "
                    "this is what a lost sector looks like; a journal has no checksum to tell",
                    Severity.WARNING if _holds_text(opened, frame) else Severity.INFO,
                )


def _holds_text(opened: FileStretches, frame: JournalFrame) -> bool:
    if frame.user_type != RecordType.ADD_MESSAGE_PROTOCOL:
        return frame.user_type not in MESSAGES
    try:
        return holds_text(decode_persisted(ByteReader(bytes(opened[frame.body : frame.body + frame.size]))))
    except Undecodable:
        return False
