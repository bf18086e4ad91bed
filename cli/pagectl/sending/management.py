"""What a broker says of an address where this user may ask it: its management address answers over AMQP."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from pagectl.sending.peer import LinkEnded, Peer

# duplicate ids that a broker remembers per address by default (id-cache-size)
REMEMBERED: Final = 20000


class AddressRules(NamedTuple):
    """Settings of an address that decide how sending to it recovers from a lost connection.

    ``ids`` is the number of duplicate ids that the broker remembers, None if not known. ``drops``: a full address
    silently drops messages. ``forgets``: the remembered ids are lost when the broker stops.
    """

    ids: int | None
    drops: bool
    forgets: bool


def rules_of(peer: Peer, addresses: Iterable[str]) -> dict[str, AddressRules]:
    """Return the rules of each address as the broker's management reports them. Raise ``ConnectionLost``.

    An address for which there is no answer, or any address of a broker other than Artemis, gets rules that assume
    nothing.
    """
    rules = dict.fromkeys(addresses, AddressRules(None, False, False))
    if "artemis" not in (peer.product or ""):
        return rules
    try:
        remembered = _count(_only(peer.ask({"_AMQ_Attribute": "IDCacheSize"}, None)))
        forgets = _only(peer.ask({"_AMQ_Attribute": "PersistIDCache"}, None)) is False
        for address in rules:
            answer = peer.ask({"_AMQ_OperationName": "getAddressSettingsAsJSON"}, json.dumps([address]))
            settings = json.loads(str(_only(answer)))
            if isinstance(settings, dict):
                ids = _count(settings.get("idCacheSize", remembered))
                rules[address] = AddressRules(ids, settings.get("addressFullMessagePolicy") == "DROP", forgets)
    except (LinkEnded, ValueError, RecursionError):
        return rules
    return rules


def _count(value: object) -> int | None:
    """Return a number of ids, or None for anything else."""
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def _only(answer: str | None) -> Any:
    """Return the single value of an answer, which is a JSON list; None if it has no value or several.

    Raises ``LinkEnded`` if there was no answer: waiting for one per address would take long, and a late answer would be
    taken for that to the next question.
    """
    if answer is None:
        raise LinkEnded("no answer")
    values = json.loads(answer or "[]")
    return values[0] if isinstance(values, list) and len(values) == 1 else None
