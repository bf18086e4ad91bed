"""Options that say which records of journal files are shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.groups import OptionGroup
from pagectl.options.record_type import RecordTypeOption, record_type
from pagectl.options.shared import RecordOption
from pagectl.options.times import TIME_HELP, in_both_zones, parse_instant
from pagectl.running.exits import CallError
from pagectl.terminal.streams import note
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from pagefmt.journal.files import JournalFile

ZoneOption = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        metavar="ZONE",
        help="Zone in which the broker named the files of a retention folder, such as UTC or Europe/Berlin (default: "
        "that of this machine).",
    ),
]


class JournalRecordOptions(OptionGroup):
    """Which records of which journal files. Records have no time; the names of retained files have one."""

    file: Annotated[
        str | None, typer.Option("--file", metavar="NAME", help="Only the file with this name.", show_default=False)
    ] = None
    record: RecordOption = None
    kind: RecordTypeOption = None
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help=f"Only files of a retention folder that were still written at this time: {TIME_HELP}.",
        ),
    ] = None
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="Only files that were begun by this time; written as --since."),
    ] = None
    timezone: ZoneOption = None

    @property
    def user_type(self) -> int | None:
        """Return the number of the type, None for any. Raise ``CallError`` if there is no such type."""
        return record_type(self.kind)

    def chosen(self, files: Sequence[JournalFile]) -> list[JournalFile]:
        """Return the files that are wanted, in their order, and note how many of them have no time in their names.

        Raises ``CallError`` for a time or zone that cannot be read.
        """
        if self.since is None and self.until is None:
            return [file for file in files if self.file in (None, file.name)]
        from pagefmt.journal.retained import WITHIN, copy_times

        now = datetime.now(UTC)
        since, until = _instant("--since", self.since, now), _instant("--until", self.until, now)
        times = copy_times(files, zone_of(self.timezone))
        wanted, before = [], None
        for file in files:
            copied = times.get(file.name)
            ended = since is not None and copied is not None and copied + WITHIN <= since
            begun_later = copied is not None and until is not None and before is not None and before - WITHIN > until
            if self.file in (None, file.name) and not ended and not begun_later:
                wanted.append(file)
            before = copied or before
        for option, instant in (("--since", since), ("--until", until)):
            if instant is not None:
                note(f"{option} is {in_both_zones(instant)}")
        if untimed := sum(file.name not in times for file in wanted):
            note(f"{count_text(untimed, 'file')} without a time in the name: shown whatever the time")
        return wanted


def zone_of(name: str | None) -> ZoneInfo | None:
    """Return the zone of this name, None for that of this machine. Raise ``CallError`` if there is no such zone."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return None if name is None else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as err:
        raise CallError(f"--timezone {name!r}: no such zone; write it as UTC or Europe/Berlin") from err


def _instant(option: str, text: str | None, now: datetime) -> datetime | None:
    try:
        return None if text is None else parse_instant(text, now)
    except ValueError as err:
        raise CallError(f"{option}: {err}") from err
