"""DIR, ``--broker-xml`` and ``ARTEMIS_INSTANCE``: from what was typed to the directories that a command works on."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from pagectl.running.exits import CallError
from pagectl.terminal.streams import note
from pagefmt.directory.locate import DataLocation, LocationKind, locate


def located(given: Path | None, broker_xml: Path | None = None) -> DataLocation:
    """The place that a command was pointed at, with a remark where it is not obvious what it was taken for."""
    path = given or _from_environment()
    if broker_xml is not None:
        place = _configured(broker_xml)
        place = place if path is None else _narrowed(place, locate(path, _configured))
    elif path is None:
        raise CallError("no DIR given and ARTEMIS_INSTANCE is not set; name a broker instance or a data directory")
    else:
        place = locate(path, _configured)
    if not place.obvious:
        note(f"{place.given} is taken for {place.kind}")
    return place


def _from_environment() -> Path | None:
    value = os.environ.get("ARTEMIS_INSTANCE")
    return Path(value) if value else None


def _narrowed(configured: DataLocation, given: DataLocation) -> DataLocation:
    """The configuration's directories; of a DIR that names one store or page, that store or page."""
    if given.kind in (LocationKind.STORE, LocationKind.PAGE):
        return replace(configured, given=given.given, kind=given.kind, store=given.store, page=given.page)
    return configured


def _configured(config: Path) -> DataLocation:
    """Where the directories of a configuration lie; those that do not exist are None."""
    from brokerconf.instance.instance import directories, find_instance
    from brokerconf.reading.reading import read

    instance = find_instance(config)
    document = read(instance.config, properties=instance.properties)
    found = directories(document, instance.root)
    paging, journal, bindings, large = (
        path if path.is_dir() else None
        for path in (found.paging, found.journal, found.bindings, found.large_messages)
    )  # fmt: skip
    if paging is None and journal is None:
        raise CallError(
            f"{config}: it puts the pages into {found.paging}, which is not there; "
            "name the data directory itself, or the configuration that is in force"
        )
    return DataLocation(instance.root, LocationKind.INSTANCE, paging, journal, bindings, large)
