"""What producers feel on an address while the disk is beyond its limit.

Source: docs/spec/disk-monitor.md 4, docs/spec/paging-engine.md 2.3 and 2.6.

Two places decide. Producers with flow control ask before they send; what arrives all the same (credit given before,
STOMP, MQTT, management, diverts) is decided when it is routed::

    release     disk-full-policy  address-full-policy   asked            arrives anyway
    2.50+       unset, BLOCK      PAGE                  waits            page mode
                                  BLOCK                 waits            memory
                                  FAIL                  waits            refused
                                  DROP                  waits            dropped
                FAIL              any                   refused          refused
                DROP              any                   goes on          dropped
    up to 2.44  (none)            FAIL                  refused          refused
                                  PAGE, BLOCK, DROP     waits            as above

A connection without flow control (STOMP, MQTT, management; OpenWire up to 2.24) is closed with AMQ229119.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pagefmt.editions import NEWEST, Edition


class ProducerEffect(Enum):
    """What a producer gets that asks for permission to send."""

    WAITS = "waits"
    REFUSED = "refused"
    GOES_ON = "goes on"


class ArrivalEffect(Enum):
    """What happens to a message that arrives all the same."""

    MEMORY = "kept in memory"
    PAGED = "page mode"
    REFUSED = "refused"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class DiskFullEffect:
    """Effect of a full disk on producers that ask before they send, and on messages that arrive anyway."""

    asked: ProducerEffect
    arriving: ArrivalEffect

    @property
    def words(self) -> str:
        """Return one clause for an operator, with the codes that clients and the log show."""
        return f"{_ASKED[self.asked]}; {_ARRIVING[self.arriving]}"


_ASKED = {
    ProducerEffect.WAITS: "producers wait",
    ProducerEffect.REFUSED: "producers are refused (AMQ219058)",
    ProducerEffect.GOES_ON: "producers go on",
}
_ARRIVING = {
    ArrivalEffect.MEMORY: "messages that still arrive stay in memory",
    ArrivalEffect.PAGED: "messages that still arrive start page mode",
    ArrivalEffect.REFUSED: "messages that still arrive are refused (AMQ229102)",
    ArrivalEffect.DROPPED: "messages that still arrive are dropped (AMQ222039)",
}
_BY_ADDRESS_POLICY = {
    "PAGE": ArrivalEffect.PAGED,
    "BLOCK": ArrivalEffect.MEMORY,
    "FAIL": ArrivalEffect.REFUSED,
    "DROP": ArrivalEffect.DROPPED,
}


def disk_full_effect(
    address_full_policy: str | None, disk_full_policy: str | None = None, edition: Edition = NEWEST
) -> DiskFullEffect:
    """Return the effect on one address; policies as in broker.xml, None if not set (PAGE; acts as BLOCK).

    Raises ``ValueError`` for a policy that no release knows.
    """
    full = (address_full_policy or "PAGE").upper()
    arriving = _BY_ADDRESS_POLICY.get(full)
    if arriving is None:
        raise ValueError(f"address-full-policy {address_full_policy!r} is not one of {', '.join(_BY_ADDRESS_POLICY)}")
    if edition < Edition.ARTEMIS_2_56:
        return DiskFullEffect(ProducerEffect.REFUSED if full == "FAIL" else ProducerEffect.WAITS, arriving)
    match (disk_full_policy or "BLOCK").upper():
        case "BLOCK":
            return DiskFullEffect(ProducerEffect.WAITS, arriving)
        case "FAIL":
            return DiskFullEffect(ProducerEffect.REFUSED, ArrivalEffect.REFUSED)
        case "DROP":
            return DiskFullEffect(ProducerEffect.GOES_ON, ArrivalEffect.DROPPED)
        case other:
            raise ValueError(f"disk-full-policy {other!r} is not one of BLOCK, DROP, FAIL")


def closed_connections(edition: Edition = NEWEST) -> str:
    """Return the protocols whose connections are closed at a send while the disk is beyond its limit (AMQ229119)."""
    old = ", OpenWire" if edition < Edition.ARTEMIS_2_28 else ""
    return f"STOMP, MQTT{old} and management"
