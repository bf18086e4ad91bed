"""Names of properties that no message has, and the name that was probably meant.

A selector accepts any name for a property, and an absent property just does not match: without a remark, a misspelt
name would silently select nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Final

from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.wire import Undecodable
from pagefmt.findings import did_you_mean
from pagefmt.selector.identifiers import RENAMED
from pagefmt.selector.message import ANNOTATIONS, HOPS, OF_AMQP

SAMPLE: Final = 1_000  # number of messages searched for a name; for most selectors the first is enough
HEADERS: Final = frozenset({*RENAMED, *RENAMED.values(), *OF_AMQP, "AMQSize", "AMQAddress"})
_CLOSENESS: Final = 0.8


def near_names(names: Iterable[str], pages: Iterable[Path]) -> Iterator[str]:
    """Yield a remark for each name that is no header and that none of the first messages has, if it resembles another.

    If these were all messages, a name that resembles none gets a remark, too.
    """
    missing = {name for name in names if name not in HEADERS and not name.startswith((ANNOTATIONS, HOPS))}
    seen: set[str] = set()
    messages = chain.from_iterable(map(_messages, pages))
    count = 0
    for message in islice(messages, SAMPLE) if missing else ():
        count += 1
        seen.update(_property_names(message))
        missing -= seen
        if not missing:
            return
    for name in sorted(missing):
        advice = did_you_mean(name, HEADERS | seen, cutoff=_CLOSENESS)
        if advice:
            yield f"no message seen has a property '{name}'; {advice}"
        elif 0 < count < SAMPLE:
            yield f"no message has a property '{name}'"


def _messages(page: Path) -> Iterator[Message]:
    with open_page(page) as opened:
        for _, record in opened.records():
            if not isinstance(record, Damage):
                yield record.message


def _property_names(message: Message) -> Iterable[str]:
    try:
        return message.properties()
    except Undecodable:
        return ()
