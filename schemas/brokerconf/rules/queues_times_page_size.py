"""Pages in memory, one for each queue (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    if facts.heap is None:
        return
    queues = facts.declared_queues.queues
    total = sum(facts.page_size(facts.at(address)) for address, _ in queues)
    if queues and total > facts.heap / 4:
        message = f"{len(queues)} declared queues may hold {total} bytes of pages, more than a quarter of the heap"
        yield Hit(facts.addresses_node or next(iter(queues.values())).place, message)


RULE = Rule(
    id="queues-times-page-size",
    severity=Severity.INFO,
    title="declared queues times page-size-bytes above a quarter of the heap",
    why="every queue that is being read from its pages holds about one page in memory",
    help="use smaller pages where there are many queues",
    check=_check,
    settings=("page-size-bytes",),
    needs="heap",
    failing=lambda: Example(
        heap=64 << 20,
        core="""<addresses>
  <address name="a"><multicast><queue name="one"/><queue name="two"/></multicast></address>
</addresses>""",
    ),
    passing=lambda: Example(
        heap=1 << 30,
        core="""<addresses>
  <address name="a"><multicast><queue name="one"/><queue name="two"/></multicast></address>
</addresses>""",
    ),
)
