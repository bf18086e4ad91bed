"""Which queues take the messages of an address: its own, and those of wildcard addresses that match it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pageengine.broker.routing import Bindings, table_order

if TYPE_CHECKING:
    from pageengine.broker.broker import Broker
    from pageengine.queues.queue import Queue


@lru_cache(maxsize=4096)
def _pattern(address: str, delimiter: str, any_words: str, single_word: str) -> re.Pattern[str] | None:
    words = address.split(delimiter)
    if any_words not in words and single_word not in words:
        return None
    step = re.escape(delimiter)
    word = f"[^{step}]+"
    text = ""
    for at, one in enumerate(words):
        lead = step if at else ""
        if one == any_words:
            text += f"(?:{lead}{word}(?:{step}{word})*)?" if at else f"(?:{word}(?:{step}{word})*)?"
        else:
            text += lead + (word if one == single_word else re.escape(one))
    return re.compile(text)


def belongs(broker: Broker, bound: str, address: str) -> bool:
    """Whether what is bound to one address, or to a wildcard, takes messages of another."""
    if bound == address:
        return True
    settings = broker.settings
    if not settings.wildcard_routing:
        return False
    pattern = _pattern(bound, settings.delimiter, settings.any_words, settings.single_word)
    return pattern is not None and pattern.fullmatch(address) is not None


def bindings_of(broker: Broker, address: str) -> Bindings | None:
    """The bindings of an address; None where no queue belongs to it."""
    if "::" in address:
        name, queue_name = address.split("::", 1)
        queue = broker.queues.get(queue_name)
        return Bindings([[queue]], [0]) if queue is not None and queue.address == name else None
    by_name: dict[str, list[Queue]] = {}
    for queue in broker.queues.values():
        if belongs(broker, queue.address, address):
            by_name.setdefault(queue.address if queue.anycast else queue.name, []).append(queue)
    if not by_name:
        return None
    names = table_order(list(by_name))
    found = Bindings([by_name[name] for name in names], [0] * len(names))
    if len(names) == 1 and len(found.names[0]) == 1:
        queue = found.names[0][0]
        if queue.filter is None and not queue.purge_on_no_consumers:
            found.single = queue
    return found
