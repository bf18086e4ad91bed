"""The addresses together may hold more than the heap (docs/spec/settings.md 5 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    if facts.heap is None:
        return
    addresses = facts.declared_queues.addresses
    limits = [facts.at(name)["max-size-bytes"].number for name in addresses]
    total = sum(limit for limit in limits if limit > 0)
    if addresses and total >= facts.heap:
        message = f"the declared addresses may hold {total} bytes together, but the heap has {facts.heap}"
        yield Hit(facts.addresses_node or next(iter(addresses.values())), message)


RULE = Rule(
    id="sum-of-max-size-over-heap",
    severity=Severity.WARNING,
    title="the sum of max-size-bytes over the declared addresses reaches the heap",
    why="max-size-bytes applies to each matching address; the broker checks the sum only if the global "
    "limit is off (AMQ222205)",
    help="lower max-size-bytes, set global-max-size, or give the broker more heap",
    check=_check,
    settings=("max-size-bytes",),
    needs="heap",
    failing=lambda: Example(
        heap=256 << 20,
        settings=address_setting("#", max_size_bytes="100M"),
        core="""<addresses>
  <address name="a"><anycast/></address><address name="b"><anycast/></address><address name="c"><anycast/></address>
</addresses>""",
    ),
    passing=lambda: Example(
        heap=2 << 30,
        settings=address_setting("#", max_size_bytes="100M"),
        core="""<addresses>
  <address name="a"><anycast/></address><address name="b"><anycast/></address><address name="c"><anycast/></address>
</addresses>""",
    ),
)
