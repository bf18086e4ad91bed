"""Pages in a database, smaller than asked for (docs/spec/settings.md 6.16 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    if facts.database_store is None:
        return
    cap = facts.store["jdbc-max-page-size-bytes"]
    for case in facts.cases_with("page-size-bytes"):
        size = case["page-size-bytes"]
        if size.given and size.number > cap.number:
            yield Hit(size, f"{size} of '{case.match}' is cut to {cap.number} bytes: the pages are in a database")


RULE = Rule(
    id="jdbc-page-size-capped",
    severity=Severity.WARNING,
    title="page-size-bytes above jdbc-max-page-size-bytes",
    why="with a database store the page size is capped silently, and page-limit-bytes then allows far more pages",
    help="set page-size-bytes to at most jdbc-max-page-size-bytes, or raise that one",
    check=_check,
    settings=("page-size-bytes", "jdbc-max-page-size-bytes"),
    since=Edition.ARTEMIS_2_44,
    failing=lambda: Example(
        core="""<store><database-store>
  <jdbc-connection-url>jdbc:derby:data/derby;create=true</jdbc-connection-url>
  <jdbc-driver-class-name>org.apache.derby.jdbc.EmbeddedDriver</jdbc-driver-class-name>
</database-store></store>""",
        settings=address_setting("#", page_size_bytes="10M"),
    ),
    passing=lambda: Example(
        core="""<store><database-store>
  <jdbc-connection-url>jdbc:derby:data/derby;create=true</jdbc-connection-url>
  <jdbc-driver-class-name>org.apache.derby.jdbc.EmbeddedDriver</jdbc-driver-class-name>
</database-store></store>""",
        settings=address_setting("#", page_size_bytes="100K"),
    ),
)
