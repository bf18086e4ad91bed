"""Parts of a configuration in which elements and keys do not correspond one to one, each in both directions.

``bean_places`` is the table of all others. A retention directory has three keys, a setting of the journal two, a
permission one for each role; transports are in ``transports``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from brokerconf.properties.outcomes import Outcome
from brokerconf.reading.document import ConfigNode
from brokerconf.reading.sizes import SizeError, parse_size, trimmed
from brokerconf.schema.beans import ROOT, beans
from brokerconf.settings.bean_places import BeanPlace, Path
from pagefmt.editions import Edition

RETENTION = "journalRetention"
SECURITY = "securityRoles"
_UNITS = {"DAYS": 86_400_000, "HOURS": 3_600_000, "MINUTES": 60_000, "SECONDS": 1000, "MILLISECONDS": 1}
_JOURNALS = ("NIO", "AIO")
_ROLE = re.compile(r"(?!\s)[^,]+(?<!\s)")  # a role that a list with commas keeps


def retention_keys(node: ConfigNode, edition: Edition) -> dict[Path, str] | str:
    """Return the keys of a directory with its period and limit, or the reason why there are none."""
    properties = beans(edition).get(ROOT, {})
    period, unit = node.attributes.get("period"), node.attributes.get("unit", "DAYS").upper()
    try:
        limit = parse_size(node.attributes.get("storage-limit", "-1"), edition).value
        millis = int(period) * _UNITS[unit] if period else -1
    except (SizeError, ValueError, KeyError):
        return "its period or limit is not a number"
    has_period = "w" in properties["journalRetentionPeriod"].access
    if period and not has_period:
        return "there is no key for its period"
    keys = {"Directory": trimmed(node.text), "MaxBytes": str(limit)} | ({"Period": str(millis)} if has_period else {})
    return {(f"{RETENTION}{name}",): value for name, value in keys.items()}


def retention_element(keys: Iterable[Outcome]) -> tuple[str, dict[str, str]] | None:
    """Return the text and the attributes of the element, or None if no element says the same.

    Brokers ask for a period or a limit.
    """
    values = {key.name.removeprefix(RETENTION): key.value for key in keys}
    period, limit = (values.get(name, -1) for name in ("Period", "MaxBytes"))
    if not isinstance(period, int) or not isinstance(limit, int) or not values.get("Directory"):
        return None
    unit = next((unit for unit, millis in _UNITS.items() if period % millis == 0), "")
    if unit == "MILLISECONDS" or (period < 1 and limit == -1):
        return None
    attributes = {"unit": unit, "period": str(period // _UNITS[unit])} if period > 0 else {}
    return str(values["Directory"]), attributes | ({"storage-limit": str(limit)} if limit != -1 else {})


def journal_places(place: BeanPlace) -> Iterator[BeanPlace]:
    """Yield the place of a setting for each kind of journal: an element is for the one in use."""
    for kind in _JOURNALS:
        yield place._replace(kind="value", keys=(place.keys[0].removesuffix(_JOURNALS[0]) + kind,))


def journal_setting(name: str) -> str | None:
    """Return the name of a setting without the kind of journal that it is for, or None if it is for any."""
    setting, _, kind = name.rpartition("_")
    return setting if kind in _JOURNALS else None


def is_of_both_journals(keys: Sequence[Outcome]) -> bool:
    """Return whether both kinds of journal are given the same, as one element gives it."""
    return len({key.name for key in keys}) == len(_JOURNALS) and len({key.value for key in keys}) == 1


def add_permission_keys(
    node: ConfigNode, edition: Edition, pairs: dict[Path, str], leave: Callable[[ConfigNode, str], None]
) -> None:
    """Add a key for each permission of each role of ``security-settings``; report what has none to ``leave``."""
    permissions = {name for name, bean in beans(edition).get("Role", {}).items() if bean.type == "boolean"}
    mapped: dict[str, list[str]] = {}
    for mapping in node.children:
        if mapping.name == "role-mapping":
            for role in _roles(mapping.attributes.get("to", "")):
                mapped.setdefault(role, []).append(trimmed(mapping.attributes.get("from", "")))
    for setting in node.children:
        if setting.name == "role-mapping":
            continue
        before = len(pairs)
        for right in setting.children if setting.name == "security-setting" else ():
            kind = right.attributes.get("type", "")
            if kind not in permissions:
                leave(right, "no role has such a permission")
                continue
            for role in _roles(right.attributes.get("roles", "")):
                for name in (role, *mapped.get(role, ())):
                    pairs[SECURITY, setting.attributes.get("match", ""), name, kind] = "true"
        if len(pairs) == before:
            # a setting without permissions takes all of them away, which no key says
            plugin = setting.name == "security-setting-plugin"
            leave(setting, "there is no key for a plugin" if plugin else "it removes all permissions")


def is_permission(key: Outcome) -> bool:
    """Return whether a key grants a role a permission or denies it, as an element can say it."""
    return (
        len(key.path) == 4
        and key.path[0] == SECURITY
        and isinstance(key.value, bool)
        and bool(_ROLE.fullmatch(key.path[2]))
    )


def _roles(text: str) -> Iterator[str]:
    return filter(None, map(trimmed, text.split(",")))
