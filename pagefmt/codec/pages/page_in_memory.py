"""Messages that lie elsewhere, laid out as the records of a page, so that whatever reads pages reads them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple

from pagefmt.codec.pages.record import END_MARK, START_MARK

_HEAD: Final = Struct(">Biqb")
_SIZE: Final = Struct(">i")
_END: Final = bytes((END_MARK,))


class PageInMemory(NamedTuple):
    """A page made from loose records.

    ``content``: records behind one another. It is no page of a store: its number is 0.
    """

    content: bytes
    number: int = 0
    name: str = ""

    @property
    def size(self) -> int:
        """Return the number of bytes."""
        return len(self.content)


class LooseRecord(NamedTuple):
    """A message as it is encoded, the ids of its queues, and its transaction, -1 for none.

    ``large_type`` as in a page (docs/spec/page-files.md 4); ``sized``: its size stands in front of it, as in front of
    large core messages and all messages of the old layout.
    """

    message: bytes
    queues: tuple[int, ...]
    tx: int
    large_type: int
    sized: bool


def laid_out(records: Iterable[LooseRecord]) -> PageInMemory:
    """Return a page with these records."""
    parts: list[bytes] = []
    for message, queues, tx, large_type, sized in records:
        count = len(queues)
        size = _SIZE.pack(len(message)) if sized else b""
        length = 13 + len(size) + len(message) + 8 * count
        parts += (_HEAD.pack(START_MARK, length, tx, large_type), size, message)
        parts += (_queues(count).pack(count, *queues), _END)
    return PageInMemory(b"".join(parts))


@lru_cache(256)
def _queues(count: int) -> Struct:
    return Struct(f">i{count}q")
