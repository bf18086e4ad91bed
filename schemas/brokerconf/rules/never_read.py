"""Elements that the schema has and the broker does not read."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.findings import Severity
from brokerconf.rules.facts import Facts
from brokerconf.rules.rule import Example, Hit, Rule
from pagefmt.editions import Edition

# Element, and the one it stands in ("" for any).
_UNREAD = {
    "wild-card-routing-enabled": "core",
    "log-delegate-factory-class-name": "core",
    "message-expiry-thread-priority": "core",
    "failover-on-server-shutdown": "bridge",
    "share-connection": "",
    "failback-delay": "",
    "scale-down-connector": "cluster-connection",
    "key-transformer": "connection-router",
    "max-sessions": "resource-limit-setting",
}
_INSTEAD = {"wild-card-routing-enabled": "write <wildcard-addresses><routing-enabled>…</routing-enabled>"}


def check(facts: Facts) -> Iterator[Hit]:
    for name in _UNREAD.keys() & facts.first.keys():
        for node in facts.elements(name):
            parent = node.parent.name if node.parent else ""
            if _UNREAD[name] in ("", parent):
                yield Hit(node, f"<{name}> in <{parent}> is read nowhere", _INSTEAD.get(name, ""))


RULE = Rule(
    id="never-read",
    severity=Severity.WARNING,
    title="an element that the schema allows and the broker never reads",
    why="it passes every check and has no effect",
    help="remove it",
    check=check,
    since=Edition.ARTEMIS_2_4,
    failing=Example(core="<wild-card-routing-enabled>false</wild-card-routing-enabled>"),
    passing=Example(
        core="<wildcard-addresses><routing-enabled>false</routing-enabled></wildcard-addresses>",
    ),
    source="spec/config-behaviour.md",
)
