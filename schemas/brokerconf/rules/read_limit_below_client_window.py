"""Clients that buffer more than the queue may read ahead (docs/spec/settings.md 6.8 and 7; ARTEMIS-4362)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity

CORE_WINDOW = 1048576
# What the usual AMQP clients grant a sender when nobody tells them otherwise.
AMQP_CREDIT = 1000


def _check(facts: ConfigFacts) -> Hits:
    amqp = any(acceptor.accepts("AMQP") for acceptor in facts.acceptors)
    for case in facts.cases_with("max-read-page-bytes", "max-read-page-messages", "default-consumer-window-size"):
        size, count = case["max-read-page-bytes"], case["max-read-page-messages"]
        window = case["default-consumer-window-size"]
        wanted = window.number if window.given else CORE_WINDOW
        if size.given and size.number > 0 and (wanted < 0 or size.number < wanted):
            window_size = "unlimited" if wanted < 0 else f"{wanted} bytes"
            yield Hit(size, f"{size} of '{case.match}' is below the consumer window ({window_size})")
        if amqp and 0 < count.number < AMQP_CREDIT:
            yield Hit(
                count, f"{count} of '{case.match}' is below the {AMQP_CREDIT} credits that AMQP receivers ask for"
            )


RULE = Rule(
    id="read-limit-below-client-window",
    severity=Severity.WARNING,
    title="max-read-page-* below what consumers buffer",
    why="messages in delivery are counted: one client that holds them unacknowledged stops the reading (AMQ224127)",
    help="raise max-read-page-*, or lower default-consumer-window-size and the receivers' credit",
    check=_check,
    settings=("max-read-page-bytes", "max-read-page-messages", "default-consumer-window-size"),
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(
        settings=address_setting("orders.#", max_read_page_bytes="1M", default_consumer_window_size="4194304")
    ),
    passing=lambda: Example(
        settings=address_setting("orders.#", max_read_page_bytes="8M", default_consumer_window_size="4194304")
    ),
)
