"""``pages seal``: a manifest of checksums, for ``pages verify --manifest``."""

from __future__ import annotations

from pagectl.files.destination import output_to
from pagectl.opening.broker import located
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, ToFileOption
from pagectl.reports.seal import SealedFileLine, SealHeader
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import note, print_json_line

EXAMPLES = (("Checksums to keep beside a backup", "pages seal /var/lib/broker --to pages.seal"),)


def command(directory: DirArgument = None, to: ToFileOption = None, broker: BrokerOptions = BrokerOptions()) -> None:
    """Write size and CRC-32C of every file in the paging and large-messages directories.

    Later, 'pagectl pages verify DIR --manifest FILE' shows what changed: after a backup, a transfer, or years on a
    disk.
    """
    from pagefmt.check.seal import HEADER, seal_file, sealed_files
    from pagefmt.storage.files import NotReadable

    place = located(directory, broker)
    files = sealed_files(place)
    with output_to(to, place), progress("sealing", len(files), "files", beside_output=True) as bar:
        print_json_line(SealHeader(**HEADER))
        for name, path in files:
            try:
                print_json_line(SealedFileLine.of(seal_file(name, path)))
            except NotReadable:
                if path.exists():
                    raise
                note(f"{path}: deleted by a running broker while this was sealed; left out")
            bar.advance(1)
