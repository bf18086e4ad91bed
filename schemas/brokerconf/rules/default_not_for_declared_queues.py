"""Defaults for queues that a queue declared in ``broker.xml`` does not take (docs/spec/config-behaviour.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.resolved_setting import ResolvedSetting
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from brokerconf.evidence.without_effect import NOT_FOR_ELEMENTS, queues_without
from pagefmt.editions import Edition
from pagefmt.findings import Severity, some


def _check(facts: ConfigFacts) -> Hits:
    for name, attribute in NOT_FOR_ELEMENTS.items():
        if name not in facts.given:
            continue
        reached: dict[int, tuple[ResolvedSetting, list[str]]] = {}
        for address, queues in queues_without(facts.declared_queues, attribute).items():
            setting = facts.at(address)[name]
            if setting.given and setting.value not in (-1, False, None):
                reached.setdefault(id(setting.by), (setting, []))[1].extend(queues)
        for setting, queues in reached.values():
            if queues:
                message = f"{setting} of '{setting.match}' does not reach queues that elements declare: {some(queues)}"
                yield Hit(setting, message, f"set {attribute} on <queue>")


RULE = Rule(
    id="default-not-for-declared-queues",
    severity=Severity.WARNING,
    title="default-ring-size or default-purge-on-no-consumers for a queue that broker.xml declares",
    why="a declared queue takes ring-size and purge-on-no-consumers from its own element alone, where -1 and false are "
    "the defaults; only other queues take them from the address setting",
    help="set the attribute on <queue>",
    check=_check,
    settings=tuple(NOT_FOR_ELEMENTS),
    since=Edition.ARTEMIS_2_4,
    failing=lambda: Example(
        settings=address_setting("sensor.#", default_ring_size="10"),
        core='<addresses><address name="sensor.a"><anycast><queue name="sensor.a"/></anycast></address></addresses>',
    ),
    passing=lambda: Example(
        settings=address_setting("sensor.#", default_ring_size="10"),
        core='<addresses><address name="sensor.a"><anycast><queue name="sensor.a" ring-size="10"/></anycast>'
        "</address></addresses>",
    ),
)
