"""What a broker says of an address where this user may ask it: its management address answers over AMQP."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from pagectl.sending.peer import LinkEnded, Peer

REMEMBERED: Final = 20000
"""The ids of an address that a broker remembers where nothing else is set."""


class AddressRules(NamedTuple):
    """``ids``: of messages that are remembered, None: it is not known. ``drops``: without a word where it is full.
    ``forgets``: the ids are gone when the broker stops."""

    ids: int | None
    drops: bool
    forgets: bool


def rules_of(peer: Peer, addresses: Iterable[str]) -> dict[str, AddressRules]:
    """Those of the addresses. Raises ``ConnectionLost``."""
    found = dict.fromkeys(addresses, AddressRules(None, False, False))
    if "artemis" not in (peer.product or ""):
        return found
    try:
        remembered = _count(_only(peer.ask({"_AMQ_Attribute": "IDCacheSize"}, None)))
        forgets = _only(peer.ask({"_AMQ_Attribute": "PersistIDCache"}, None)) is False
        for each in found:
            answer = peer.ask({"_AMQ_OperationName": "getAddressSettingsAsJSON"}, json.dumps([each]))
            settings = json.loads(str(_only(answer)))
            if isinstance(settings, dict):
                ids = _count(settings.get("idCacheSize", remembered))
                found[each] = AddressRules(ids, settings.get("addressFullMessagePolicy") == "DROP", forgets)
    except (LinkEnded, ValueError, RecursionError):
        return found
    return found


def _count(value: object) -> int | None:
    """Return a number of ids, or None for anything else."""
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def _only(answer: str | None) -> Any:
    """Return the one value of an answer, which is a list in JSON.

    Raises ``LinkEnded`` without an answer: to wait for each of many would take long, and a late one be taken for that
    of the next question.
    """
    if answer is None:
        raise LinkEnded("no answer")
    found = json.loads(answer or "[]")
    return found[0] if isinstance(found, list) and len(found) == 1 else None
