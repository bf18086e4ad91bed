"""Several subscriptions that share their pages (docs/spec/settings.md 6.7 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for address in facts.addresses:
        queues = [queue for queue in address.queues if queue.multicast]
        if len(queues) > 1 and facts.at(address.name)["address-full-policy"].value == "PAGE":
            message = f"'{address.name}' pages for {len(queues)} queues together: the slowest keeps the pages of all"
            yield Hit(address.node, message)


RULE = Rule(
    id="multicast-idle-subscription",
    severity=Severity.INFO,
    title="several multicast queues on an address that pages",
    why="a page is deleted only when every queue has acknowledged all of it: one idle subscription fills the disk",
    help="remove subscriptions that are not read, or set expiry and page limits",
    check=_check,
    settings=("address-full-policy",),
    since=Edition.ARTEMIS_2_4,
    failing=lambda: Example(
        core="""<addresses>
  <address name="prices"><multicast><queue name="audit"/><queue name="web"/></multicast></address>
</addresses>"""
    ),
    passing=lambda: Example(
        core='<addresses><address name="prices"><multicast><queue name="web"/></multicast></address></addresses>'
    ),
)
