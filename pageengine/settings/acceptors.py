"""What an acceptor's URL says of the clients that it takes (docs/spec/protocols.md 2.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

AMQP_CREDITS = 1000
AMQP_LOW_CREDITS = 300
AMQP_MIN_LARGE = 100 * 1024


@dataclass(frozen=True)
class AmqpAcceptor:
    """How a link gets credit, and what becomes of a delivery for which there is no room. Sizes in bytes.

    ``drains``: its link gives its credit back. ``modifies``: it is modified rather than rejected.
    """

    credits: int = AMQP_CREDITS
    low_credits: int = AMQP_LOW_CREDITS
    min_large: int = AMQP_MIN_LARGE
    drains: bool = True
    modifies: bool = False


def amqp_acceptor(acceptors: Iterable[str], override: str = "") -> AmqpAcceptor:
    """Of the first acceptor that takes AMQP; ``override``: parameters that come after its own, ``name=value;..``."""
    found: dict[str, str] = {}
    for url in acceptors:
        parameters = _parameters(url.partition("?")[2])
        protocols = parameters.get("protocols")
        if protocols is None or "AMQP" in protocols.upper().replace(" ", "").split(","):
            found = parameters
            break
    found |= _parameters(override)
    return AmqpAcceptor(
        _number(found, "amqpCredits", AMQP_CREDITS),
        _number(found, "amqpLowCredits", AMQP_LOW_CREDITS),
        _number(found, "amqpMinLargeMessageSize", AMQP_MIN_LARGE),
        _truth(found, "amqpDrainOnTransientDeliveryErrors", default=True),
        _truth(found, "amqpUseModifiedForTransientDeliveryErrors", default=False),
    )


def _parameters(text: str) -> dict[str, str]:
    pairs = (one.partition("=") for one in text.replace("&", ";").split(";"))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def _number(found: dict[str, str], name: str, default: int) -> int:
    text = found.get(name, "")
    return int(text) if re.fullmatch(r"-?\d{1,18}", text, re.ASCII) else default


def _truth(found: dict[str, str], name: str, *, default: bool) -> bool:
    text = found.get(name)
    return default if text is None else text.lower() == "true"
