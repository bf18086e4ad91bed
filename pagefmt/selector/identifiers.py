"""Names in selectors: what clients rename before a broker sees them, and what the broker fills from the header.

The JMS client of the broker rewrites ``JMSPriority`` and its like to ``AMQPriority`` …, and the literals of
``JMSDeliveryMode``; the HornetQ protocol does so with ``HQPriority`` …. A core filter already has the ``AMQ`` names.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pagefmt.selector.lexer import Token, TokenKind

RENAMED: Final = {
    "JMSDeliveryMode": "AMQDurable", "JMSPriority": "AMQPriority", "JMSTimestamp": "AMQTimestamp",
    "JMSMessageID": "AMQUserID", "JMSExpiration": "AMQExpiration", "JMSXGroupID": "AMQGroupID",
    "HQDurable": "AMQDurable", "HQPriority": "AMQPriority", "HQTimestamp": "AMQTimestamp",
    "HQUserID": "AMQUserID", "HQExpiration": "AMQExpiration", "HQSize": "AMQSize",
}  # fmt: skip
_DELIVERY_MODES: Final = {"PERSISTENT": "DURABLE", "NON_PERSISTENT": "NON_DURABLE"}


def translated(client_tokens: list[Token]) -> list[Token]:
    """Replace client names by the broker's, and delivery modes if ``JMSDeliveryMode`` occurs."""
    modes = any(token.kind is TokenKind.NAME and token.text == "JMSDeliveryMode" for token in client_tokens)
    return [_translated(token, modes) for token in client_tokens]


def _translated(token: Token, modes: bool) -> Token:
    if token.kind is TokenKind.NAME:
        return replace(token, text=RENAMED.get(token.text, token.text))
    if modes and token.kind is TokenKind.STRING:
        return replace(token, text=_DELIVERY_MODES.get(token.text, token.text))
    return token
