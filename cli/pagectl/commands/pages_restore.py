"""``pages restore``: put back what ``compact --in-place`` replaced, or drop the backup."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.opening.broker import located
from pagectl.options.shared import BackupDirOption, BrokerXmlOption, DirArgument, PropertiesOption
from pagectl.running.exits import CallError
from pagectl.terminal.streams import note, size_text


def command(
    given: DirArgument = None,
    discard: Annotated[bool, typer.Option("--discard", help="Drop the backup instead: its space comes back.")] = False,
    backup_dir: BackupDirOption = None,
    broker_xml: BrokerXmlOption = None,
    properties: PropertiesOption = None,
) -> None:
    """Put every page back as it was before 'pagectl pages compact --in-place', and drop the backup.

    Refused once a broker has run on the compacted pages: it would deliver messages again.
    """
    from pagefmt.bytes.writing import Disk
    from pagefmt.compaction.backup import NAME, read_backup
    from pagefmt.compaction.backup import discard as drop
    from pagefmt.compaction.backup import restore as put_back
    from pagefmt.compaction.locks import hold_off_brokers
    from pagefmt.compaction.planning import roots_of
    from pagefmt.directory.locate import LocationKind

    place = located(given, broker_xml, properties)
    if place.paging is None:
        raise CallError(f"{place.given}: no paging directory; name the data directory or the instance")
    folder = backup_dir or place.paging.resolve().parent / NAME
    if not folder.exists():
        raise CallError(f"{folder}: no backup here; it lies beside the pages or where --backup-dir said")
    backup = read_backup(folder.absolute(), roots_of(place))
    note(f"writes {folder.absolute() if discard else place.paging.absolute()}")
    if discard:
        print(f"dropped the backup of {len(backup.entries)} files, {size_text(drop(Disk(), backup))}")
        return
    instance = place.given if place.kind is LocationKind.INSTANCE and place.given.is_dir() else None
    with hold_off_brokers(place.journal, instance):
        print(f"put back {len(put_back(Disk(), backup))} files; the backup is gone")
