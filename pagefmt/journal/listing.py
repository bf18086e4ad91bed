"""Which files of a folder make up a journal, and in which order they are loaded (docs/spec/journal.md 1, 3.2)."""

from __future__ import annotations

import re
import stat
from itertools import pairwise
from pathlib import Path
from typing import Final

from pagefmt.journal.compaction_files import settle
from pagefmt.journal.damage import files_out_of_order
from pagefmt.journal.files import (
    BEING_COPIED,
    HEADER,
    FileNote,
    FileProblem,
    Journal,
    JournalFile,
    JournalListing,
    decode_header,
    folder_names,
    journal_of,
    not_read,
)
from pagefmt.journal.records import VERSIONS
from pagefmt.journal.retained import RETAINED_NAME, without_copies
from pagefmt.quantities import count_text
from pagefmt.storage.files import NotReadable, read_start
from pagefmt.storage.remote_paths import FarPath

BROKERS_NAME: Final = re.compile(r"(activemq|hornetq)-(data|bindings|jms)-\d+\.(amq|hq|bindings|jms)")

# Prefix of the names of HornetQ's own files, in all three journals.
OF_HORNETQ: Final = "hornetq-"


def list_files(folder: Path, journal: Journal) -> JournalListing:
    """Return the files that a starting broker would load, as if a pending compaction had been finished.

    ``folder`` may be a single journal file, which then is the whole journal.
    """
    names, notes = _names(folder)
    # In a journal that a broker uses, a copy from a retention folder is a file like any other to the broker.
    retained = all(RETAINED_NAME.fullmatch(name) for name in names if name.endswith(journal.value))
    of_hornetq = any(name.startswith(OF_HORNETQ) for name in names)
    files: list[JournalFile] = []
    for name, path in sorted(names.items()):
        if name.endswith(journal.value):
            file = _examine(name, path, of_hornetq=of_hornetq)
            if isinstance(file, FileNote):
                notes.append(file)
                continue
            files.append(file)
            if not retained and not BROKERS_NAME.fullmatch(name):
                notes.append(
                    FileNote(
                        FileProblem.FOREIGN, name, "loaded because of its extension, but no broker uses such a name"
                    )
                )
    files.sort(key=lambda file: (file.header.file_id, file.name))
    if retained and len({file.header.file_id for file in files}) < len(files):
        files, copies = without_copies(files)
        notes += copies
    for first, second in pairwise(files):
        if first.header.file_id == second.header.file_id:
            used = f"file id {second.header.file_id} is also used by {first.name}"
            if retained:
                detail = f"{used}: the broker continued a file after a compaction"
                notes.append(FileNote(FileProblem.CONTINUED, second.name, detail))
                continue
            detail = f"{used}; which of the two is read first is arbitrary"
            notes.append(FileNote(FileProblem.SAME_ID, second.name, detail))
    for file in files_out_of_order(files):
        detail = f"file id {file.header.file_id} is far from those of other files: its header is damaged"
        notes.append(FileNote(FileProblem.FILE_ID, file.name, detail, file.size))
    return JournalListing(tuple(files), tuple(notes))


def _names(folder: Path) -> tuple[dict[str, Path], list[FileNote]]:
    if journal_of(folder.name) is not None and folder.is_file():
        path = folder if isinstance(folder, FarPath) else folder.resolve()  # a link that was named is followed
        return {folder.name.removesuffix(BEING_COPIED): path}, []
    return settle(folder_names(folder))


def _examine(name: str, path: Path, *, of_hornetq: bool) -> JournalFile | FileNote:
    size = 0
    try:
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode):
            return FileNote(FileProblem.UNREADABLE, name, "a folder with the name of a journal file: move it away")
        if not stat.S_ISREG(status.st_mode):
            return FileNote(FileProblem.NOT_REGULAR, name, "not read, because it is not a regular file")
        size = status.st_size
        start = read_start(path, HEADER.size)
    except (NotReadable, OSError) as err:
        return not_read(name, err, size)
    if len(start) < HEADER.size:
        held = count_text(len(start), "byte")
        if of_hornetq:
            detail = f"{held}: HornetQ does not start (HQ224000, BufferUnderflowException) until it is moved away"
            return FileNote(FileProblem.SHORT_STOPS, name, detail, size)
        return FileNote(FileProblem.SHORT, name, f"{held}; a starting broker deletes it", size)
    header = decode_header(start)
    if header.version not in VERSIONS or header.user_version != 0:
        detail = f"format {header.version}, user version {header.user_version}: a broker refuses to start on it"
        return FileNote(FileProblem.VERSION, name, detail, size)
    return JournalFile(path, name, size, header)
