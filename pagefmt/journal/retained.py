"""Files of a retention folder: copies of whole journal files, named by the time of the copy and the file id.

A broker may continue a file that it has copied already, and copies it again later: then one copy is the beginning of
the other. Both have one file id (docs/spec/history.md 2, 4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, tzinfo
from itertools import groupby
from typing import Final

from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.errors import PageFmtError
from pagefmt.journal.files import HEADER, FileNote, FileProblem, JournalFile
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.scan import TornRecords
from pagefmt.storage.files import FileStretches

# the name that a broker gives to a copy in its retention folder
RETAINED_NAME: Final = re.compile(r"(?:activemq|hornetq)-data-(\d{14})-\d+\.amq")
WITHIN: Final = timedelta(seconds=1)  # names have whole seconds: a copy was made within a second of its name
_DAY: Final = 86_400  # seconds
_BLOCK: Final = 1 << 20  # bytes of two files that are compared at once


def without_copies(files: Iterable[JournalFile]) -> tuple[list[JournalFile], list[FileNote]]:
    """Return files in the order of their ids without those that are the beginning of another, and notes on these.

    Only files of one file id are compared. A file that cannot be read is kept: it is reported when it is loaded.
    """
    kept: list[JournalFile] = []
    notes: list[FileNote] = []
    for _, group in groupby(files, key=lambda file: file.header.file_id):
        same_id = list(group)
        if len(same_id) > 1:
            for shorter, longer in _beginnings(same_id):
                same_id.remove(shorter)
                detail = f"not read: its records are the first ones of {longer.name}, which a broker copied later"
                notes.append(FileNote(FileProblem.COPY, shorter.name, detail, shorter.size))
        kept += same_id
    return kept, notes


def _beginnings(files: list[JournalFile]) -> list[tuple[JournalFile, JournalFile]]:
    """Return the files that are the beginning of another one, with that one."""
    try:
        by_end = sorted(((end_of_records(file), file) for file in files), key=lambda pair: pair[0])
        beginnings = []
        for number, (end, shorter) in enumerate(by_end):
            longer = next((file for _, file in by_end[number + 1 :] if _begin_alike(shorter, file, end)), None)
            if longer is not None:
                beginnings.append((shorter, longer))
        return beginnings
    except PageFmtError:
        return []


def end_of_records(file: JournalFile) -> int:
    """Return the offset behind the last record of a file. Raise ``NotReadable``."""
    from pagefmt.journal.windows import frames_in_windows

    torn = TornRecords()
    with FileStretches(file.path) as content:
        for _ in frames_in_windows(content, file.header, torn):
            pass
    return torn.end


def _begin_alike(first: JournalFile, second: JournalFile, end: int) -> bool:
    """Return whether two files have the same bytes from their headers up to ``end``."""
    if end > second.size:
        return False
    with FileStretches(first.path) as content, FileStretches(second.path) as other:
        return all(
            bytes(content[start : min(start + _BLOCK, end)]) == bytes(other[start : min(start + _BLOCK, end)])
            for start in range(HEADER.size, end, _BLOCK)
        )


def copy_times(files: Sequence[JournalFile], zone: tzinfo | None = None) -> dict[str, datetime]:
    """Return the time of the copy for each retained file, in whole seconds; all records are older than that ``WITHIN``.

    ``zone``: of the broker, None for that of this machine. Artemis 2.18.0 counts months from 0, which shows in a month
    00 or in messages that are younger than their file. Names whose digits are no time are left out.
    """
    digits = {file.name: match[1] for file in files if (match := RETAINED_NAME.fullmatch(file.name))}
    times = _times(digits, zone, 0)
    if any(stamp[4:6] == "00" for stamp in digits.values()) or _are_younger(files, times):
        return _times(digits, zone, 1)
    return times


def _times(digits: Mapping[str, str], zone: tzinfo | None, more_months: int) -> dict[str, datetime]:
    times = {}
    for name, stamp in digits.items():
        with suppress(ValueError):
            month = int(stamp[4:6]) + more_months
            local = datetime.strptime(f"{stamp[:4]}{month:02}{stamp[6:]}", "%Y%m%d%H%M%S").replace(tzinfo=zone)
            times[name] = local.astimezone(zone) if zone is None else local
    return times


def _are_younger(files: Sequence[JournalFile], times: Mapping[str, datetime]) -> bool:
    """Return whether the first message with a timestamp was sent more than a day after the copy of its file."""
    for file in files:
        if file.name in times and (sent := _first_timestamp(file)):
            return sent / 1000 > times[file.name].timestamp() + _DAY
    return False


def _first_timestamp(file: JournalFile) -> int:
    """Return when the first message of a file was sent (ms since 1970), 0 if none says it."""
    from pagefmt.codec.messages.persisted import decode_persisted
    from pagefmt.journal.windows import chosen_frames

    with suppress(PageFmtError), FileStretches(file.path) as content:
        for frame in chosen_frames(content, file.header, TornRecords(), None, RecordType.ADD_MESSAGE_PROTOCOL):
            with suppress(Undecodable):
                message = decode_persisted(ByteReader(bytes(content[frame.body : frame.body + frame.size])))
                if message.timestamp > 0:
                    return message.timestamp
    return 0
