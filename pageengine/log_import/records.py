"""Log files as records: a line with a time stamp begins one, lines without belong to the one before.

2026-11-21 09:10:15,695 [AUDIT](Thread-4 (...)) AMQ601500: User ...          the audit loggers' pattern
2026-11-21 09:10:15,293 INFO  [org.apache...impl] AMQ841009: sent ...        artemis.log
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pageengine.trace.streams import Ending, numbered_lines

_START = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)[,.](\d{3})\d*(?:Z|[+-]\d\d:?\d\d)?\s")
_CODE = re.compile(r"\bAMQ(\d{6}): ?")
# Bytes; longer records are cut, which bounds the time of the patterns that read one.
LONGEST_RECORD = 256 << 10


@dataclass(frozen=True, slots=True)
class LogRecord:
    """Record of a log file.

    ``t``: nanoseconds since 1970 as the log shows them (it names no zone). ``text``: what follows the code.
    """

    file: int
    line: int
    t: int
    code: int
    text: str


@dataclass(slots=True)
class ReadCounts:
    """Lines of one file, records with a code, and whether the file was cut off."""

    path: Path
    lines: int = 0
    records: int = 0
    cut: bool = False


def merged(
    paths: Sequence[Path], counts: Sequence[ReadCounts], advance: Callable[[int], None] | None = None
) -> Iterator[LogRecord]:
    """Yield the records of all files in the order of their times; within a file in the order of its lines."""
    streams = [_ordered(n, path, counts[n], advance) for n, path in enumerate(paths)]
    for _when, record in heapq.merge(*streams, key=lambda pair: pair[0]):
        yield record


def _ordered(
    n: int, path: Path, counts: ReadCounts, advance: Callable[[int], None] | None
) -> Iterator[tuple[int, LogRecord]]:
    latest = 0
    for record in log_records(n, path, counts, advance):
        latest = max(latest, record.t)
        yield latest, record


def log_records(
    n: int, path: Path, counts: ReadCounts, advance: Callable[[int], None] | None = None
) -> Iterator[LogRecord]:
    """Yield the records of one file that carry a message code; raise ``StreamError``, ``OSError``."""
    ending = Ending()
    head: re.Match[str] | None = None
    first, parts, length = 0, [""], 0
    for number, raw in enumerate(numbered_lines(path, ending, advance=advance), 1):
        counts.lines = number
        line = raw.decode("utf-8", "replace").rstrip("\r")
        start = _START.match(line)
        if start is None:
            length += len(line)
            if length <= LONGEST_RECORD:
                parts.append(line)
            continue
        yield from _record(n, first, head, parts, counts)
        head, first, parts, length = start, number, [line[start.end() :]], len(line)
    counts.cut = ending.cut
    yield from _record(n, first, head, parts, counts)


def _record(n: int, line: int, head: re.Match[str] | None, parts: list[str], counts: ReadCounts) -> Iterator[LogRecord]:
    code = _CODE.search(parts[0]) if head is not None else None
    if head is None or code is None:
        return
    try:
        t = _nanoseconds(head)
    except ValueError:
        return
    counts.records += 1
    text = parts[0][code.end() :]
    yield LogRecord(n, line, t, int(code[1]), "\n".join([text, *parts[1:]]) if len(parts) > 1 else text)


def _nanoseconds(head: re.Match[str]) -> int:
    year, month, day, hour, minute, second, milli = map(int, head.groups())
    moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    return (int(moment.timestamp()) * 1000 + milli) * 1_000_000
