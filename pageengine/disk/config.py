"""Settings of the disk monitor in a configuration: its limits, and the directories it will watch.

Source: docs/spec/disk-monitor.md 1 and 2, spec/settings.csv. Values that the broker would refuse are refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from brokerconf.reading.secrets import masked
from brokerconf.reading.sizes import SizeError, parse_boolean, parse_int, parse_size, trimmed
from brokerconf.reading.substitution import is_expression

from pageengine.disk.monitor import DiskSettings
from pageengine.errors import PageEngineError
from pagefmt.editions import NEWEST, Edition

if TYPE_CHECKING:
    from brokerconf.instance.instance import Directories
    from brokerconf.reading.document import ConfigNode, Document
    from brokerconf.reading.property_entries import Entry
    from brokerconf.settings.effective import EffectiveSettings

    from pageengine.disk.effect import DiskFullEffect


class DiskConfigError(PageEngineError):
    """Error for a value with which the broker does not start, or that only it knows; names file, line and value."""


def disk_settings(
    document: Document, edition: Edition = NEWEST, entries: Iterable[Entry] = (), *, lenient: bool = False
) -> DiskSettings:
    """Return the disk monitor's settings of a configuration as this edition reads it; raise ``DiskConfigError``.

    ``entries`` are those of broker.properties and of system properties, which are applied after the file without its
    checks. ``lenient``: a value with which the broker does not start, or that only it knows, counts as not set.
    """
    core = document.core
    if core is None:
        return _overridden(DiskSettings(), entries, edition, lenient=lenient)

    def number(name: str, parse: Callable[[str], int]) -> int | None:
        try:
            return _number(document, core, name, parse)
        except DiskConfigError:
            if lenient:
                return None
            raise

    settings = DiskSettings(
        max_disk_usage=number("max-disk-usage", parse_int),
        min_disk_free=number("min-disk-free", lambda text: parse_size(text, edition).value),
        disk_scan_period=number("disk-scan-period", parse_int),
        database=core.descendant("database-store") is not None,
    )
    refused = settings.refusal(edition)
    if refused and lenient:
        dropped: dict[str, Any] = {refused.split()[0].replace("-", "_"): None}
        settings = settings._replace(**dropped)
    elif refused:
        node = core.descendant(refused.split()[0])
        raise DiskConfigError(f"{node.position if node else document.path}: {refused}: the broker does not start")
    return _overridden(settings, entries, edition, lenient=lenient)


_BEANS = {"maxDiskUsage": "max_disk_usage", "minDiskFree": "min_disk_free", "diskScanPeriod": "disk_scan_period"}


def _overridden(settings: DiskSettings, entries: Iterable[Entry], edition: Edition, *, lenient: bool) -> DiskSettings:
    """Return the settings with properties applied as the broker does.

    A value that is no ``int`` silently becomes 0, one that is no ``long`` leaves the old value.
    """
    for entry in entries:
        if entry.key in _BEANS:
            if is_expression(entry.value):
                if lenient:
                    continue
                raise _known_to_the_broker(entry.position, entry.key, entry.value)
            size = entry.key == "minDiskFree"
            try:
                value = parse_size(entry.value, edition).value if size else parse_int(entry.value)
            except SizeError:
                if size:
                    continue
                value = 0
            named: dict[str, Any] = {_BEANS[entry.key]: value}
            settings = settings._replace(**named)
    return settings


def _number(document: Document, core: ConfigNode, name: str, parse: Callable[[str], int]) -> int | None:
    node = core.descendant(name)
    if node is None:
        return None
    if is_expression(node.text):
        raise _known_to_the_broker(node.position, name, node.text)
    try:
        return parse(trimmed(node.text))
    except SizeError as err:
        reason = "a value in a Secret is refused" if document.hides(node.position) else err
        raise DiskConfigError(f"{node.position}: {name}: {reason}: the broker does not start") from err


def _known_to_the_broker(position: object, name: str, text: str) -> DiskConfigError:
    return DiskConfigError(
        f"{position}: {name} is {masked(text.strip(), name)}, which only the running broker knows; give "
        "--max-disk-usage or --min-disk-free"
    )


def watched(document: Document, directories: Directories) -> dict[str, Path]:
    """Return the directories whose file systems the broker watches, by name and in its order.

    Without persistence that is only the paging directory; if only the running broker knows about persistence, all.
    """
    every = {
        "paging": directories.paging,
        "journal": directories.journal,
        "large-messages": directories.large_messages,
        "bindings": directories.bindings,
    }
    node = document.core.descendant("persistence-enabled") if document.core else None
    if node is not None and not is_expression(node.text) and not parse_boolean(node.text):
        return {"paging": directories.paging}
    return every


class WhenBlocked(NamedTuple):
    """Addresses, or matches with wildcards, that a full disk affects in the same way."""

    addresses: tuple[str, ...]
    address_full_policy: str
    disk_full_policy: str | None
    effect: DiskFullEffect

    @property
    def what(self) -> str:
        """Return what happens, as a clause."""
        beside = f", disk-full-policy {self.disk_full_policy}" if self.disk_full_policy else ""
        return f"{self.effect.words} (address-full-policy {self.address_full_policy}{beside})"


def when_blocked(settings: EffectiveSettings | None, edition: Edition) -> tuple[WhenBlocked, ...]:
    """Return what producers of every declared address and match experience; equal experiences are grouped."""
    if settings is None:
        return (_blocked_alike(("every address",), "PAGE", None, edition),)
    matches = [match for match in settings.settings if match != "#"]
    groups: dict[tuple[str, str | None], list[str]] = {}
    for name in [*dict.fromkeys([*_declared(settings.document), *matches]), "#"]:
        merged = settings.merged(name)
        policies = [merged[key].value if key in merged and not merged[key].unknown else None for key in _POLICIES]
        full, disk = (str(value) if value is not None else None for value in policies)
        groups.setdefault((full or "PAGE", disk), []).append("every other address" if name == "#" else name)
    return tuple(_blocked_alike(tuple(names), full, disk, edition) for (full, disk), names in groups.items())


_POLICIES = ("address-full-policy", "disk-full-policy")


def _blocked_alike(names: tuple[str, ...], full: str, disk: str | None, edition: Edition) -> WhenBlocked:
    from pageengine.disk.effect import disk_full_effect

    return WhenBlocked(names, full, disk, disk_full_effect(full, disk, edition))


def _declared(document: Document) -> list[str]:
    """Return the addresses of the configuration, in their order."""
    block = document.core.descendant("addresses") if document.core else None
    nodes = block.children_named("address") if block else []
    return [name for name in (node.attributes.get("name", "") for node in nodes) if name]
