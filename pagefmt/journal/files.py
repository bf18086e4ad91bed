"""Journal files: names and header (docs/spec/journal.md 1).

Header, 16 bytes: ``i32`` format version (2; 1 is accepted), ``i32`` user version (0), ``i64`` file id. The file id, not
the number in the name, orders the files. The broker goes by the ending of a name alone.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from struct import Struct
from typing import Final, NamedTuple

from pagefmt.errors import PageFmtError
from pagefmt.findings import Severity
from pagefmt.storage.files import FileGone, NotPermitted, NotReadable, not_listed

HEADER: Final = Struct(">iiq")


class Journal(Enum):
    """Which journal; ``value`` holds the endings of its files."""

    MESSAGES = (".amq", ".hq")
    BINDINGS = (".bindings",)
    JMS = (".jms",)


# A broker copies such a file into its retention folder; after a kill the ending may remain.
BEING_COPIED: Final = ".bkp"


def journal_of(name: str) -> Journal | None:
    """Return the journal that a file with this name belongs to, judged by its ending; None for any other name."""
    plain = name.removesuffix(BEING_COPIED)
    return next((journal for journal in Journal if plain.endswith(journal.value)), None)


class NotAJournal(PageFmtError):
    """A folder or file that cannot be read as a journal."""


class FileProblem(Enum):
    """What can be noticed about a file of a journal folder; ``value`` is a word for reports."""

    SHORT = "short file"
    SHORT_STOPS = "short file that stops the start"
    VERSION = "unknown version"
    FOREIGN = "foreign name"
    SAME_ID = "file id used twice"
    CONTINUED = "file id used again"
    COPY = "copy of a file"
    CONTROL = "pending compaction"
    LEFT_OVER = "left-over file"
    NOT_REGULAR = "not a regular file"
    UNREADABLE = "unreadable"
    NOT_PERMITTED = "not permitted"
    GONE = "gone while it was read"
    NO_RECORD = "no record"
    FILE_ID = "unlikely file id"
    MISPLACED = "misplaced record"


_GRAVE: Final = {
    FileProblem.SHORT_STOPS: Severity.ERROR,
    FileProblem.VERSION: Severity.ERROR,
    FileProblem.UNREADABLE: Severity.ERROR,
    FileProblem.NOT_PERMITTED: Severity.WARNING,
    FileProblem.SAME_ID: Severity.ERROR,
    FileProblem.NOT_REGULAR: Severity.WARNING,
    FileProblem.SHORT: Severity.WARNING,
    FileProblem.NO_RECORD: Severity.WARNING,
    FileProblem.FILE_ID: Severity.WARNING,
    FileProblem.MISPLACED: Severity.WARNING,
    FileProblem.CONTROL: Severity.WARNING,
}


class FileNote(NamedTuple):
    """A file that is not as it should be; ``detail`` says what a broker does about it, ``size`` counts its bytes."""

    kind: FileProblem
    file: str
    detail: str
    size: int = 0

    def severity(self, *, live: bool = False) -> Severity:
        """``live``: a broker may be finishing a compaction."""
        return Severity.INFO if live and self.kind is FileProblem.CONTROL else _GRAVE.get(self.kind, Severity.INFO)


class JournalHeader(NamedTuple):
    """The first 16 bytes of a journal file."""

    version: int
    user_version: int
    file_id: int


class JournalFile(NamedTuple):
    """One file that takes part. ``name`` is what the broker will know it by, ``path`` where it lies now.

    ``stated``: what stands in it, where ``header`` is what it should be.
    """

    path: Path
    name: str
    size: int
    header: JournalHeader
    stated: JournalHeader | None = None


class JournalListing(NamedTuple):
    """The files of one journal in the order in which they are loaded, and what was noticed."""

    files: tuple[JournalFile, ...]
    notes: tuple[FileNote, ...]


def encode_header(header: JournalHeader) -> bytes:
    """Return the 16 bytes of a header."""
    return HEADER.pack(header.version, header.user_version, header.file_id)


def decode_header(buf: bytes) -> JournalHeader:
    """Decode the header at the start of a file. Raise ``NotAJournal`` if the file is too short."""
    if len(buf) < HEADER.size:
        raise NotAJournal(f"a journal file starts with a header of {HEADER.size} bytes, but there are only {len(buf)}")
    return JournalHeader(*HEADER.unpack_from(buf))


def not_read(name: str, err: NotReadable | OSError, size: int) -> FileNote:
    """Return the note on a file that could not be read."""
    if isinstance(err, NotPermitted):
        return FileNote(FileProblem.NOT_PERMITTED, name, err.reason, size)
    gone = isinstance(err, FileGone | FileNotFoundError)
    kind = FileProblem.GONE if gone else FileProblem.UNREADABLE
    return FileNote(kind, name, getattr(err, "strerror", None) or str(err), size)


def folder_names(folder: Path) -> dict[str, Path]:
    """Return the entries of a journal folder by name, sorted. Raise ``NotPermitted`` or ``NotAJournal``."""
    try:
        return {path.name: path for path in sorted(folder.iterdir())}
    except OSError as err:
        if isinstance(closed := not_listed(folder, err), NotPermitted):
            raise closed from err
        raise NotAJournal(f"{folder}: {err.strerror}; name the folder that holds the journal files") from err
