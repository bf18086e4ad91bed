"""What a broker says of an address where this user may ask it: its management address answers over AMQP."""

from __future__ import annotations

import json
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


UNKNOWN: Final = AddressRules(None, False, False)


def rules_of(peer: Peer, address: str) -> AddressRules:
    """Those of the address. Raises ``ConnectionLost``."""
    if "artemis" not in (peer.product or ""):
        return UNKNOWN
    try:
        settings = json.loads(
            _only(peer.ask({"_AMQ_OperationName": "getAddressSettingsAsJSON"}, json.dumps([address])))
        )
        ids = settings.get("idCacheSize") or _only(peer.ask({"_AMQ_Attribute": "IDCacheSize"}, None))
        kept = _only(peer.ask({"_AMQ_Attribute": "PersistIDCache"}, None))
    except (LinkEnded, ValueError, AttributeError, TypeError):
        return UNKNOWN
    return AddressRules(
        ids if isinstance(ids, int) else None, settings.get("addressFullMessagePolicy") == "DROP", kept is False
    )


def _only(answer: str | None) -> Any:
    """The one value of an answer, which is a list in JSON."""
    found = json.loads(answer or "[]")
    return found[0] if isinstance(found, list) and len(found) == 1 else None
