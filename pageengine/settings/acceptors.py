"""Settings for AMQP clients in an acceptor's URL (docs/spec/protocols.md 2.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

AMQP_CREDITS = 1000
AMQP_LOW_CREDITS = 300
AMQP_MIN_LARGE = 100 * 1024


@dataclass(frozen=True)
class AmqpAcceptor:
    """How a link gets credit, and what happens to a delivery without room. Sizes in bytes.

    ``drains``: the link returns its credit. ``modifies``: the delivery is modified rather than rejected.
    """

    credits: int = AMQP_CREDITS
    low_credits: int = AMQP_LOW_CREDITS
    min_large: int = AMQP_MIN_LARGE
    drains: bool = True
    modifies: bool = False


def amqp_acceptor(acceptors: Iterable[str], override: str = "") -> AmqpAcceptor:
    """Return the first acceptor that accepts AMQP.

    ``override`` has parameters that are applied after its own, ``name=value;..``.
    """
    merged: dict[str, str] = {}
    for url in acceptors:
        parameters = _parameters(url.partition("?")[2])
        protocols = parameters.get("protocols")
        if protocols is None or "AMQP" in protocols.upper().replace(" ", "").split(","):
            merged = parameters
            break
    merged |= _parameters(override)
    return AmqpAcceptor(
        _number(merged, "amqpCredits", AMQP_CREDITS),
        _number(merged, "amqpLowCredits", AMQP_LOW_CREDITS),
        _number(merged, "amqpMinLargeMessageSize", AMQP_MIN_LARGE),
        _truth(merged, "amqpDrainOnTransientDeliveryErrors", default=True),
        _truth(merged, "amqpUseModifiedForTransientDeliveryErrors", default=False),
    )


def _parameters(text: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in text.replace("&", ";").split(";"))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def _number(parameters: dict[str, str], name: str, default: int) -> int:
    text = parameters.get(name, "")
    return int(text) if re.fullmatch(r"-?\d{1,18}", text, re.ASCII) else default


def _truth(parameters: dict[str, str], name: str, *, default: bool) -> bool:
    text = parameters.get(name)
    return default if text is None else text.lower() == "true"
