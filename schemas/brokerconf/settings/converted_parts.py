"""Parts of a configuration in which elements and keys do not correspond one to one, each in both directions.

``bean_places`` is the table of all others. A retention directory has three keys, a setting of the journal two, a
transport several, and a permission one for each role; a queue belongs to the address that one of its keys names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from brokerconf.properties.outcomes import Outcome
from brokerconf.reading.document import ConfigNode
from brokerconf.reading.sizes import SizeError, parse_size, trimmed
from brokerconf.schema.beans import ROOT, beans
from brokerconf.settings.bean_places import BeanPlace, Path
from brokerconf.settings.transports import transport_properties
from pagefmt.editions import Edition

Report = Callable[[ConfigNode, str], None]  # takes an element without an equivalent, and the reason
TRANSPORTS: Final = {"acceptorConfigurations": "acceptor", "connectorConfigurations": "connector"}
_RETENTION = "journalRetention"
_SECURITY = "securityRoles"
_UNITS = {"DAYS": 86_400_000, "HOURS": 3_600_000, "MINUTES": 60_000, "SECONDS": 1000, "MILLISECONDS": 1}
_JOURNALS = ("_NIO", "_AIO")  # ends of the keys that hold a setting for one kind of journal
_ROLE = re.compile(r"(?!\s)[^,]+(?<!\s)")  # a role that a list with commas keeps


def part_of(outcome: Outcome) -> Path | None:
    """Return the part that an entry belongs to, as a path that all entries of the part have in common.

    Return None for an entry that has an element of its own.
    """
    match outcome.path:
        case (name,) if name.endswith(_JOURNALS):
            return (name[: -len(_JOURNALS[0])],)
        case (name,) if name.startswith(_RETENTION):
            return (_RETENTION,)
        case ("addressConfigurations", _, "routingTypes"):
            return outcome.path
        case ("addressConfigurations", _, "queueConfigs", _, _):
            return outcome.path[:4]
        case (collection, _, "factoryClassName") | (collection, _, "params" | "extraParams", _) if (
            collection in TRANSPORTS
        ):
            return outcome.path[:2]
        case ("securityRoles", match, role, right) if isinstance(outcome.value, bool) and _ROLE.fullmatch(role):
            return _SECURITY, match, right
    return None


def add_retention_keys(node: ConfigNode, edition: Edition, pairs: dict[Path, str], report: Report) -> None:
    """Add the keys of a directory with its period and limit."""
    period, unit = node.attributes.get("period"), node.attributes.get("unit", "DAYS").upper()
    try:
        limit = parse_size(node.attributes.get("storage-limit", "-1"), edition).value
        millis = int(period) * _UNITS[unit] if period else -1
    except (SizeError, ValueError, KeyError):
        report(node, "its period or limit is not a number")
        return
    has_period = "w" in beans(edition)[ROOT]["journalRetentionPeriod"].access
    if period and not has_period:
        report(node, "there is no key for its period")
        return
    pairs[f"{_RETENTION}Directory",], pairs[f"{_RETENTION}MaxBytes",] = trimmed(node.text), str(limit)
    if has_period:
        pairs[f"{_RETENTION}Period",] = str(millis)


def retention_element(keys: Iterable[Outcome]) -> tuple[str, dict[str, str]] | None:
    """Return the text and the attributes of the element, or None if no element says the same.

    Brokers ask for a period or a limit.
    """
    values = {key.name.removeprefix(_RETENTION): key.value for key in keys}
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


def same_for_both_journals(keys: Sequence[Outcome]) -> bool:
    """Return whether both kinds of journal have the same value, as one element sets it."""
    return len({key.name for key in keys}) == len(_JOURNALS) and len({key.value for key in keys}) == 1


def add_transport_keys(node: ConfigNode, edition: Edition, pairs: dict[Path, str], report: Report) -> None:
    """Add the keys of each transport in ``acceptors`` or ``connectors``."""
    collection = f"{node.name[:-1]}Configurations"
    for transport in node.children:
        name = transport.attributes.get("name", "")
        keys = transport_properties(transport, edition)
        if not keys:
            report(transport, "there are no keys for its address")
        elif (collection, name, "factoryClassName") in pairs:
            report(transport, "there is another one with that name")
        else:
            pairs.update({(collection, name, *path): value for path, value in keys})


def add_permission_keys(node: ConfigNode, edition: Edition, pairs: dict[Path, str], report: Report) -> None:
    """Add a key for each permission of each role of ``security-settings``."""
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
                report(right, "no role has such a permission")
                continue
            for role in _roles(right.attributes.get("roles", "")):
                for name in (role, *mapped.get(role, ())):
                    pairs[_SECURITY, setting.attributes.get("match", ""), name, kind] = "true"
        if len(pairs) == before:
            # a setting without permissions takes all of them away, which no key says
            plugin = setting.name == "security-setting-plugin"
            report(setting, "there is no key for a plugin" if plugin else "it removes all permissions")


def _roles(text: str) -> Iterator[str]:
    return filter(None, map(trimmed, text.split(",")))


# by element: the function that adds the keys of one whose members have no rows of their own
KEY_WRITERS: Final = {
    "acceptors": add_transport_keys,
    "connectors": add_transport_keys,
    "journal-retention-directory": add_retention_keys,
    "security-settings": add_permission_keys,
}
