"""``pagectl config capacity``: the worst case that the settings allow."""

from __future__ import annotations

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import ConfigFileOptions
from pagectl.options.shared import AnywayOption, ConfigArgument, DataOption, DiskOption, TextOrJsonOption
from pagectl.options.sizes import size_of
from pagectl.terminal.streams import print_json

EXAMPLES = (
    ("Do the limits fit into heap and disk?", "config capacity broker.xml --heap 4G --disk 100G"),
    ("With the pages that exist already", "config capacity broker.xml --data /var/lib/broker/data"),
)


def command(
    file: ConfigArgument,
    data: DataOption = None,
    disk: DiskOption = None,
    options: ConfigFileOptions = ConfigFileOptions(),
    anyway: AnywayOption = False,
    format: TextOrJsonOption = TextOrJson.text,
) -> None:
    """Show the worst case of heap and disk by address, and which limit applies first. '·' is any word of a match."""
    from brokerconf.evidence.capacity import capacity

    from pagectl.opening.configuration import open_settings
    from pagectl.opening.page_stores import bytes_by_address
    from pagectl.outputs.capacity_text import print_capacity
    from pagectl.reports.config_capacity import ConfigCapacity

    volume = None if disk is None else size_of(disk, "--disk")
    opened, settings = open_settings(file, options.reading(), anyway=anyway, defaults=True)
    on_disk = bytes_by_address(data, file)
    report = ConfigCapacity.of(capacity(settings, opened.declared(settings), disk=volume, on_disk=on_disk))
    if format is TextOrJson.json:
        print_json(report)
    else:
        print_capacity(report)
