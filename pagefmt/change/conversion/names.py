"""Names of HornetQ and Artemis 1.x as 2.x has them (docs/spec/journal.md 11).

===============  ==================  ==========================================================================
address          in 2.x              its queues
===============  ==================  ==========================================================================
``jms.queue.x``  ``x``, anycast      anycast; ``jms.queue.x`` is named ``x``
``jms.topic.x``  ``x``, multicast    multicast; subscriptions keep their names. The queue ``jms.topic.x``, whose
                                     filter nothing matches, stood for the topic itself: it goes
any other        itself, multicast   multicast, by the same name
===============  ==================  ==========================================================================

So does the importer of 2.x brokers. Properties and filters have the names of HornetQ (``_HQ_…``) in its directories.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

MULTICAST: Final = 0
ANYCAST: Final = 1


class JmsPrefix(NamedTuple):
    """The prefix of a destination's name in 1.x, and in ``JMSReplyTo`` of 2.x."""

    old: str
    reply_to: str
    routing: int | None


PREFIXES: Final = (
    JmsPrefix("jms.queue.", "queue://", ANYCAST),
    JmsPrefix("jms.topic.", "topic://", MULTICAST),
    JmsPrefix("jms.tempqueue.", "temp-queue://", None),
    JmsPrefix("jms.temptopic.", "temp-topic://", None),
)
BRIDGE_CACHE: Final = "BRIDGE."  # prefix of an address in the name of its cache of ids that bridges assigned
TOPIC_FILTERS: Final = frozenset(("__HQX=-1", "__AMQX=-1"))
_PROPERTY: Final = (("__HQ_", "__AMQ_"), ("_HQ_", "_AMQ_"))
_FILTER_WORD: Final = re.compile(
    r"'(?:[^']|'')*'|\b(?:__?HQ_\w+|HQ(?:UserID|Priority|Timestamp|Durable|Expiration|Size)\b)"
)


@dataclass(frozen=True, slots=True)
class NewNames:
    """Gives destinations their names in the new broker. ``keep``: they keep their prefixes."""

    keep: bool = False

    def address(self, name: str) -> str:
        """Return the new name of an address or queue: without the prefix of JMS, unless prefixes are kept."""
        for prefix in PREFIXES:
            if not self.keep and prefix.routing is not None and name.startswith(prefix.old):
                return name.removeprefix(prefix.old)
        return name

    def cache(self, name: str) -> str:
        """Return the new name of a cache of duplicate ids."""
        inner = name.removeprefix(BRIDGE_CACHE)
        return name.removesuffix(inner) + self.address(inner)

    def reply_to(self, text: str) -> str:
        """Return the new value of ``JMSReplyTo``."""
        for prefix in PREFIXES:
            if text.startswith(prefix.old):
                return prefix.reply_to + (text if self.keep else text.removeprefix(prefix.old))
        return text


def routing_of(address: str) -> int | None:
    """Return the routing type of a JMS address. Return None for any other address, which is multicast."""
    return next((prefix.routing for prefix in PREFIXES if address.startswith(prefix.old)), None)


def new_property(name: str) -> str:
    """Return HornetQ's name of a property as Artemis has it."""
    for old, new in _PROPERTY:
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name


def new_filter(text: str | None) -> str | None:
    """Replace HornetQ's words in a filter by those of Artemis, except in quoted strings."""
    return None if text is None else _FILTER_WORD.sub(_new_word, text)


def _new_word(match: re.Match[str]) -> str:
    word = match.group()
    if word.startswith("'"):
        return word
    return new_property(word) if word.startswith("_") else "AMQ" + word.removeprefix("HQ")
