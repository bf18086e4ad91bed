"""Names of properties that nothing has, and the name that was probably meant.

A selector takes any name for a property, and a property that is absent just does not match; a column of it is empty: a
misspelt name selects nothing and nobody is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Final

from pagefmt.bytes.wire import Undecodable
from pagefmt.findings import did_you_mean
from pagefmt.messages.persisted import Message
from pagefmt.pages.frames import Damage
from pagefmt.pages.page import open_page
from pagefmt.selector.identifiers import RENAMED
from pagefmt.selector.message import ANNOTATIONS, HOPS, OF_AMQP

SAMPLE: Final = 1_000
"""Messages that are looked through for a name; most selectors are settled by the first."""
HEADERS: Final = frozenset({*RENAMED, *RENAMED.values(), *OF_AMQP, "AMQSize", "AMQAddress"})
_CLOSENESS: Final = 0.8


def near_names(names: Iterable[str], pages: Iterable[Path]) -> Iterator[str]:
    """A remark for each name that no header and none of the first messages has, and that resembles one of theirs; and
    for any other one where these are all messages."""
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
