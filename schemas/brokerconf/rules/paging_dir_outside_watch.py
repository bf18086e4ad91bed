"""A directory that grows on a volume nobody watches (docs/spec/settings.md 7; docs/spec/disk-monitor.md 2)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.host import WATCHED, Volume
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity

NAME = "journal-retention-directory"


def _check(facts: ConfigFacts) -> Hits:
    volumes = facts.volumes or ()
    watched = {volume.device for volume in volumes if volume.what in WATCHED}
    for volume in volumes:
        if volume.what == "journal-retention" and volume.device not in watched and facts.broker[NAME].given:
            yield Hit(
                facts.broker[NAME], "journal-retention-directory is on a volume of its own, which is not monitored"
            )


RULE = Rule(
    id="paging-dir-outside-watch",
    severity=Severity.INFO,
    title="journal-retention-directory on a volume of its own",
    why="the disk monitor watches paging, journal, bindings and large messages; retention can fill its volume "
    "unnoticed",
    help="set a storage-limit for the retention, and monitor the volume by other means",
    check=_check,
    settings=(NAME,),
    since=Edition.ARTEMIS_2_28,
    needs="host",
    failing=lambda: Example(
        core=f'<{NAME} unit="DAYS" period="7">retention</{NAME}>',
        volumes=(
            Volume("paging", device=1, total=50 << 30, usable=40 << 30),
            Volume("journal-retention", device=2, total=50 << 30, usable=40 << 30),
        ),
    ),
    passing=lambda: Example(
        core=f'<{NAME} unit="DAYS" period="7">retention</{NAME}>',
        volumes=(
            Volume("paging", device=1, total=50 << 30, usable=40 << 30),
            Volume("journal-retention", device=1, total=50 << 30, usable=40 << 30),
        ),
    ),
)
