"""``pages drop-backup``: the space of what ``compact --in-place`` replaced comes back."""

from __future__ import annotations

from pagectl.opening.broker import located
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import BackupDirOption, DirArgument
from pagectl.running.backups import drop, standing_backup_of

EXAMPLES = (("The broker runs well: free the space", "pages drop-backup /var/lib/broker"),)


def command(
    directory: DirArgument = None, backup_dir: BackupDirOption = None, broker: BrokerOptions = BrokerOptions()
) -> None:
    """Delete the backup that 'compact --in-place' of pages or journals kept, to free its space.

    'pagectl pages restore' cannot restore anything afterwards. Pages and journals stay as they are.
    """
    drop(standing_backup_of(located(directory, broker), backup_dir))
