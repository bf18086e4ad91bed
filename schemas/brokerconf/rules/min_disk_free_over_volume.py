"""More free space asked for than there is space (docs/spec/settings.md 7; docs/spec/disk-monitor.md 6)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.host import WATCHED, Volume
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    free = facts.broker["min-disk-free"]
    for volume in facts.volumes or ():
        if volume.what in WATCHED and 0 < volume.total <= free.number:
            yield Hit(
                free, f"{free} is not below the {volume.total} bytes of the volume with the {volume.what} directory"
            )


RULE = Rule(
    id="min-disk-free-over-volume",
    severity=Severity.ERROR,
    title="min-disk-free is not below the size of a watched volume",
    why="the volume can never have that much free space: all producers are blocked from the first scan on",
    help="lower min-disk-free",
    check=_check,
    settings=("min-disk-free",),
    since=Edition.ARTEMIS_2_44,
    needs="host",
    failing=lambda: Example(
        core="<min-disk-free>100G</min-disk-free>",
        volumes=(Volume("paging", device=1, total=50 << 30, usable=40 << 30),),
    ),
    passing=lambda: Example(
        core="<min-disk-free>10G</min-disk-free>",
        volumes=(Volume("paging", device=1, total=50 << 30, usable=40 << 30),),
    ),
)
