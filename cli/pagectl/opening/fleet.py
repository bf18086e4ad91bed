"""The brokers of a call that takes several, opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.opening.broker import NO_DIR, Alone, from_environment, located
from pagectl.options.groups import BrokerOptions
from pagectl.running.exits import CallError, describe
from pagectl.terminal.streams import warning
from pagefmt.errors import PageFmtError

if TYPE_CHECKING:
    from pagefmt.directory.fleet import FleetBroker
    from pagefmt.storage.remote_paths import UnpackedArchives


def open_fleet(
    paths: list[str], listing: Path | None, options: BrokerOptions, archives: UnpackedArchives
) -> tuple[list[FleetBroker], dict[str, str]]:
    """Return the brokers of paths, patterns and a list, and the reasons why others cannot be opened, with a warning.

    ``archives`` keeps those that the brokers are in.

    Raises ``CallError`` if none can be opened, and what opening the only one raises.
    """
    from pagefmt.directory.fleet import FleetBroker, absolute, fleet_of, looked_for, path_name

    instance = from_environment()
    usual = [str(instance)] if instance is not None and listing is None and options.broker_xml is None else []
    entries = fleet_of(paths or usual, listing)
    if len(entries) > 1 and options != BrokerOptions():
        raise CallError("--config, --properties, --profile and --server work with one DIR only")
    if not entries:
        if options.broker_xml is None:
            raise CallError(NO_DIR if listing is None else f"{listing}: names no broker")
        place = located(None, options, alone=Alone.MESSAGES)
        return [FleetBroker(path_name(place.given), absolute(place))], {}
    brokers: list[FleetBroker] = []
    failed: dict[str, str] = {}
    with looked_for(entry.path for entry in entries) as find:
        for entry in entries:
            try:
                place = located(entry.path, options, far=True, find=find, alone=Alone.MESSAGES)
                unpacked = archives.share(place.given)
                brokers.append(FleetBroker(entry.name, absolute(place), entry.edition, unpacked))
            except (CallError, PageFmtError, OSError) as err:
                if len(entries) == 1:
                    raise
                failed[entry.name] = describe(err)
                warning(f"{entry.name}: {failed[entry.name]}; left out")
    if not brokers:
        raise CallError(f"none of {len(entries)} brokers can be read")
    return brokers, failed
