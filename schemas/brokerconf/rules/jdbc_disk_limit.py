"""A disk limit beside a database (docs/spec/settings.md 7; docs/spec/disk-monitor.md 1)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    limit = facts.broker["max-disk-usage"]
    if facts.database_store is not None and limit.given and limit.value != -1:
        yield Hit(limit, f"{limit} is switched off: the stores are in a database")


RULE = Rule(
    id="jdbc-disk-limit",
    severity=Severity.INFO,
    title="max-disk-usage with a database store",
    why="with a database store the broker sets max-disk-usage to -1 before it starts",
    help="remove max-disk-usage; watch the database's own space",
    check=_check,
    settings=("max-disk-usage",),
    since=Edition.ARTEMIS_2_44,
    failing=lambda: Example(
        core="""<max-disk-usage>90</max-disk-usage>
<store><database-store>
  <jdbc-connection-url>jdbc:derby:data/derby;create=true</jdbc-connection-url>
  <jdbc-driver-class-name>org.apache.derby.jdbc.EmbeddedDriver</jdbc-driver-class-name>
</database-store></store>"""
    ),
    passing=lambda: Example(core="<max-disk-usage>85</max-disk-usage><store><file-store/></store>"),
)
