"""``pagectl config capacity``: the worst case that the settings allow."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import ConfigFileOptions
from pagectl.options.shared import AnywayOption, ConfigArgument, DataOption, DiskOption, TextOrJsonOption
from pagectl.running.exits import CallError
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from brokerconf.evidence.capacity import AddressCapacity, Capacity


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
) -> int:
    """Show the worst case of heap and disk by address, and which limit applies first. '·' is any word of a match."""
    from brokerconf.evidence.capacity import capacity

    from pagectl.opening.configuration import open_settings
    from pagectl.options.sizes import size_of
    from pagectl.terminal.streams import print_json

    volume = size_of(disk, "--disk")
    opened, settings = open_settings(file, options.reading(), anyway=anyway, defaults=True)
    declared = opened.declared(settings)
    found = capacity(settings, declared, disk=volume, on_disk=_on_disk(data, file))
    if format is TextOrJson.json:
        sums = {"memory_sum": found.memory_sum, "disk_sum": found.disk_sum}
        print_json({**asdict(found), **sums})
    else:
        _print(found)
    return 0


def _on_disk(data: Path | None, file: Path) -> dict[str, int] | None:
    """Return bytes of pages by address, of ``--data`` or of the instance itself; None if neither is at hand."""
    from pagectl.opening.linting import stores_below
    from pagefmt.errors import PageFmtError

    try:
        stores = stores_below(data or file) if data or file.is_dir() else None
    except (CallError, PageFmtError):
        if data is not None:
            raise
        stores = None
    if stores is None:
        return None
    found: dict[str, int] = {}
    for store in stores:
        if store.address:
            found[store.address] = found.get(store.address, 0) + store.bytes
    return found


def _print(found: Capacity) -> None:
    from pagectl.terminal.streams import print_table, say
    from pagefmt.quantities import size_text

    def bound(size: int | None) -> str:
        return "unlimited" if size is None else size_text(size)

    def memory(one: AddressCapacity) -> str:
        return (
            count_text(one.messages, "message")
            if one.memory is None and one.messages is not None
            else bound(one.memory)
        )

    rows = (
        (
            one.address, one.policy, memory(one), one.queues, bound(one.read_ahead), bound(one.disk),
            "?" if one.on_disk is None else size_text(one.on_disk), one.stops,
        )
        for one in found.addresses
    )  # fmt: skip
    columns = ("address", "policy", "memory", "queues", "read ahead", "disk", "on disk", "when full")
    print_table(columns, rows, right=("memory", "queues", "read ahead", "disk", "on disk"), prose=True)
    print()
    off = "off" if found.global_off else "a share of the heap (give --heap)"
    print(f"global limit: {off if found.global_limit is None else size_text(found.global_limit)}")
    print(f"sum of the addresses: memory {bound(found.memory_sum)}, disk {bound(found.disk_sum)}")
    at = f" = {size_text(found.disk_limit)} used" if found.disk_limit is not None else ""
    print(f"disk limit: {found.disk_rule}{at}")
    for said in found.first:
        say(f"- {said}", 2)
