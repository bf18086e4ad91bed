"""Journal, pages and large messages on one disk (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.host import Volume
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.findings import Severity

_STORES = ("paging", "journal", "large-messages")


def _check(facts: ConfigFacts) -> Hits:
    devices = {volume.what: volume.device for volume in facts.volumes or () if volume.what in _STORES}
    if len(devices) == len(_STORES) and len(set(devices.values())) == 1 and facts.core is not None:
        where = next((facts.broker[f"{name}-directory"] for name in _STORES), None)
        message = "paging, journal and large-messages directories are on one device"
        yield Hit(where if where and where.given else facts.core, message)


RULE = Rule(
    id="same-device",
    severity=Severity.INFO,
    title="paging, journal and large messages on one device",
    why="page writes and journal syncs compete, and one full volume stops all of them",
    help="put the journal on a device of its own",
    check=_check,
    settings=("paging-directory", "journal-directory", "large-messages-directory"),
    needs="host",
    failing=lambda: Example(
        volumes=(
            Volume("paging", device=1, total=50 << 30, usable=40 << 30),
            Volume("journal", device=1, total=50 << 30, usable=40 << 30),
            Volume("large-messages", device=1, total=50 << 30, usable=40 << 30),
        )
    ),
    passing=lambda: Example(
        volumes=(
            Volume("paging", device=1, total=50 << 30, usable=40 << 30),
            Volume("journal", device=2, total=50 << 30, usable=40 << 30),
            Volume("large-messages", device=1, total=50 << 30, usable=40 << 30),
        )
    ),
)
