"""What a compaction leaves behind when it is cut off (docs/spec/journal.md 4). Nothing here changes a file.

A broker that starts carries out ``journal-rename-control.ctr`` and deletes it, then deletes what ends in ``.cmp`` or
``.tmp``. The control file has a header with file id 0 and one ADD record (id 1, user type 0); its body:

====================  =================================================================
``i32`` n, n × UTF    files to delete
``i32`` n, n × UTF    files ending in ``.cmp`` that lose this ending
``i32`` n, n × 2 UTF  renames (from, to), only where *from* exists
====================  =================================================================
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from pagefmt.codec.messages.bodies import utf_form, write_utf
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable
from pagefmt.journal.files import BEING_COPIED, FileNote, FileProblem, JournalHeader, decode_header, encode_header
from pagefmt.journal.records import VERSIONS, JournalRecord, RecordKind, encode, record_of
from pagefmt.journal.scan import LARGEST_BLOCK, scan
from pagefmt.quantities import count_text
from pagefmt.storage.files import NotReadable, read_start

CONTROL_FILE: Final = "journal-rename-control.ctr"
UNFINISHED: Final = ".cmp"
_LIMIT: Final = 1 << 24


class RenameControl(NamedTuple):
    """What a compaction still has to do: names of files in its own folder."""

    delete: tuple[str, ...]
    finish: tuple[str, ...]
    rename: tuple[tuple[str, str], ...]

    def renames(self) -> tuple[tuple[str, str], ...]:
        """Return all renames in order; those that drop the extension of an unfinished file come first."""
        finished = [(name, name[: name.rindex(UNFINISHED)]) for name in self.finish if UNFINISHED in name]
        return (*finished, *self.rename)


def decode_control(buf: bytes) -> RenameControl | None:
    """Return the contents of a control file, or None if it has no valid record: the broker then ignores it."""
    if len(buf) < 16 or decode_header(buf).version not in VERSIONS:
        return None
    for frame in scan(buf, JournalHeader(decode_header(buf).version, 0, 0)):
        if frame.kind == RecordKind.ADD:
            return _decode_body(record_of(frame, buf).body)
    return None


def _decode_body(body: bytes) -> RenameControl | None:
    reader = ByteReader(body)
    try:
        delete = tuple(utf_form(reader) for _ in range(reader.i32("count")))
        finish = tuple(utf_form(reader) for _ in range(reader.i32("count")))
        rename = tuple((utf_form(reader), utf_form(reader)) for _ in range(reader.i32("count")))
    except Undecodable:
        return None
    return RenameControl(delete, finish, rename)


def encode_control(control: RenameControl) -> bytes:
    """Return the bytes of a control file, padded to whole blocks of any disk."""
    out = ByteWriter()
    for entries in ([(name,) for name in control.delete], [(name,) for name in control.finish], control.rename):
        out.i32(len(entries))
        for name in (name for entry in entries for name in entry):
            write_utf(out, name)
    record = encode(JournalRecord(RecordKind.ADD, id=1, body=bytes(out.out)), 0)
    content = encode_header(JournalHeader(VERSIONS[-1], 0, 0)) + record
    return content + bytes(-len(content) % LARGEST_BLOCK)


def settle(entries: dict[str, Path]) -> tuple[dict[str, Path], list[FileNote]]:
    """Return the folder as a broker sees it after it completed a pending compaction, and notes on what it does.

    Both mappings are from a file's name to the file that has its content now.
    """
    names = dict(entries)
    notes: list[FileNote] = []
    control_file = names.pop(CONTROL_FILE, None)
    if control_file is not None:
        try:
            control = read_control(control_file)
            notes.append(FileNote(FileProblem.CONTROL, CONTROL_FILE, _tell(control)))
        except NotReadable as err:
            control = None
            what = f"{err.reason}; it is not known whether the files from before or after the compaction are valid"
            notes.append(FileNote(FileProblem.UNREADABLE, CONTROL_FILE, what))
        if control is not None:
            _carry_out(control, names)
    for name in sorted(names):
        if name.endswith((UNFINISHED, ".tmp", BEING_COPIED)):
            copied = name.endswith(BEING_COPIED)
            fate = "a broker with journal retention copies it away" if copied else "a broker deletes it"
            notes.append(FileNote(FileProblem.LEFT_OVER, name, f"not part of the journal; {fate} at start"))
            del names[name]
    return names, notes


def read_control(path: Path) -> RenameControl | None:
    """Read a control file. Return None if it has no valid record. Raise ``NotReadable``."""
    return decode_control(read_start(path, _LIMIT))


def _tell(control: RenameControl | None) -> str:
    if control is None:
        return "contains no valid record; a broker deletes it"
    return (
        f"a compaction was being completed: the next start deletes {count_text(len(control.delete), 'file')} and "
        f"renames {len(control.finish) + len(control.rename)}; read here as if that had been done"
    )


def _carry_out(control: RenameControl, names: dict[str, Path]) -> None:
    for name in control.delete:
        names.pop(name, None)
    for old, new in control.renames():
        if old in names:
            names[new] = names.pop(old)
