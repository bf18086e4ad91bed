"""``pagectl config capacity``: the worst case that the settings allow."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from brokerconf.capacity import AddressCapacity, Capacity


class Format(StrEnum):
    text = "text"
    json = "json"


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="broker.xml or an instance.")],
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Data directory: its addresses and what lies there count too.")
    ] = None,
    heap: Annotated[str | None, typer.Option(metavar="SIZE", help="-Xmx of the broker.")] = None,
    disk: Annotated[str | None, typer.Option(metavar="SIZE", help="Size of the volume with the pages.")] = None,
    edition: Annotated[str, typer.Option(metavar="E", help="auto, or hornetq-2.4, … artemis-2.56.")] = "auto",
    format: Annotated[Format, typer.Option(help="text or json.")] = Format.text,
    cwd: Annotated[Path | None, typer.Option(metavar="DIR", help="The broker's working directory.")] = None,
    define: Annotated[
        list[str] | None, typer.Option("-D", metavar="NAME=VALUE", help="System property the broker is started with.")
    ] = None,
) -> int:
    """Heap and disk by address at worst, and what acts first. '·' in a name stands for any word of a match."""
    from brokerconf.capacity import capacity

    from pagectl.config_call import the_size
    from pagectl.config_settings import Asked, open_settings
    from pagectl.streams import print_json

    volume = the_size(disk, "--disk")
    settings = open_settings(file, Asked(edition, cwd, tuple(define or ()), heap))
    found = capacity(settings, disk=volume, on_disk=_on_disk(data))
    if format is Format.json:
        sums = {"memory_sum": found.memory_sum, "disk_sum": found.disk_sum}
        print_json({**asdict(found), **sums})
    else:
        _print(found)
    return 0


def _on_disk(data: Path | None) -> dict[str, int]:
    if data is None:
        return {}
    from pagectl.config_host import stores_below

    found: dict[str, int] = {}
    for store in stores_below(data):
        if store.address:
            found[store.address] = found.get(store.address, 0) + store.bytes
    return found


def _print(found: Capacity) -> None:
    from pagectl.sanitise import one_line
    from pagectl.streams import print_table, size_text

    def bound(size: int | None) -> str:
        return "no bound" if size is None else size_text(size)

    def memory(one: AddressCapacity) -> str:
        return f"{one.messages} messages" if one.memory is None and one.messages is not None else bound(one.memory)

    rows = (
        (
            one.address, one.policy, memory(one), one.queues, bound(one.read_ahead), bound(one.disk),
            size_text(one.on_disk), one.stops,
        )
        for one in found.addresses
    )  # fmt: skip
    columns = ("address", "policy", "memory", "queues", "read ahead", "disk", "on disk", "when full")
    print_table(columns, rows, right=("memory", "queues", "read ahead", "disk", "on disk"))
    print()
    off = "off" if found.global_off else "a share of the heap (give --heap)"
    print(f"global limit: {off if found.global_limit is None else size_text(found.global_limit)}")
    print(f"sum of the addresses: memory {bound(found.memory_sum)}, disk {bound(found.disk_sum)}")
    at = f" = {size_text(found.disk_limit)} used" if found.disk_limit is not None else ""
    print(f"disk limit: {found.disk_rule}{at}")
    for said in found.first:
        print(f"- {one_line(said)}")
