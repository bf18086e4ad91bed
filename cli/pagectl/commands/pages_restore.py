"""``pages restore``: put back what ``compact --in-place`` replaced."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.opening.broker import located
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import BackupDirOption, DirArgument
from pagectl.running.backups import again, drop, standing_backup_of, ways_out
from pagectl.running.locking import instance_of
from pagectl.terminal.streams import note
from pagefmt.quantities import count_text

EXAMPLES = (("Undo an in-place compaction before the broker starts", "pages restore /var/lib/broker"),)


def command(
    directory: DirArgument = None,
    discard: Annotated[bool, typer.Option("--discard", hidden=True)] = False,
    backup_dir: BackupDirOption = None,
    broker: BrokerOptions = BrokerOptions(),
) -> None:
    """Restore everything as it was before 'pages compact --in-place' or 'journal compact --in-place', and drop the
    backup.

    The broker must be stopped. Refused once a broker has run on the compacted directory: it would deliver messages
    again.
    """  # noqa: D205
    from pagefmt.change.compaction.backup import restore as put_back
    from pagefmt.directory.locks import hold_off_brokers
    from pagefmt.storage.writing import Disk

    place = located(directory, broker)
    backup = standing_backup_of(place, backup_dir)
    if discard:
        note(f"restore --discard is now a command of its own: pagectl pages drop-backup {again(place, backup_dir)}")
        drop(backup)
        return
    with ways_out(place, backup_dir), hold_off_brokers(place.journal, instance_of(place)):
        note(f"writes {', '.join(str(backup.roots[name]) for name in backup.changed)}")
        back = [entry for entry in put_back(Disk(), backup) if entry.old is not None]
        print(f"restored {count_text(len(back), 'file')}; the backup has been removed")
