"""What queues will be given from pages that are being written, counted as they are written, or without writing them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pagefmt.bytes.writing import Disk
from pagefmt.outstanding.ack_state import LIVE, AckState, PageRule
from pagefmt.pages.in_memory import PageInMemory
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import ADDRESS_FILE, java_number
from pagefmt.pages.record import FRAME
from pagefmt.recovery.message_outcomes import NamesOfPages


class PageTally(Disk):
    """A disk that looks into the pages that it is given. ``to``: where they are written; None: nowhere.

    ``named`` takes what becomes of each message. ``rule``: of a page, by the address of its folder and its number.

    By queue: ``outstanding`` and ``in_doubt``; ``counted`` and ``bytes`` as a broker up to 2.27 counts them.
    ``largest``: messages that one queue is given of one page, at most. ``ignored``: messages of transactions that the
    journal does not know. ``large``: ids of large messages → whether some queue is given it. ``pages``: address of the
    folder and number of each.
    """

    def __init__(
        self, rule: Callable[[str | None, int], PageRule], to: Disk | None, named: NamesOfPages | None = None
    ) -> None:
        super().__init__()
        self._rule, self._to, self._told = rule, to, named
        self._addresses: dict[Path, str] = {}
        self.outstanding: Counter[int] = Counter()
        self.in_doubt: Counter[int] = Counter()
        self.counted: Counter[int] = Counter()
        self.bytes: Counter[int] = Counter()
        self.largest = 0
        self.ignored = 0
        self.large: dict[int, bool] = {}
        self.pages: set[tuple[str | None, int]] = set()

    def create(self, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None) -> None:
        """Count what is in it, if it is a page; then write it."""
        if path.name == ADDRESS_FILE:
            parts = [b"".join(parts)]
            self._addresses[path.parent] = bytes(parts[0]).splitlines()[0].decode("utf-8", "replace")
        elif path.name.endswith(".page") and (number := java_number(path.name)) is not None:
            content = b"".join(parts)
            self.pages.add((self._addresses.get(path.parent), number))
            self._count(self._addresses.get(path.parent), number, content)
            parts = [content]
        if self._to is not None:
            self._to.create(path, parts, like)

    def make_folder(self, path: Path, like: Path | None = None) -> None:
        """As any disk."""
        if self._to is not None:
            self._to.make_folder(path, like)

    @contextmanager
    def below(self, *folders: Path) -> Iterator[None]:
        """As any disk."""
        if self._to is None:
            yield
        else:
            with self._to.below(*folders):
                yield

    def _count(self, address: str | None, number: int, content: bytes) -> None:
        rule = self._rule(address, number)
        here: Counter[int] = Counter()
        with open_page(PageInMemory(content, number)) as page:
            for nr, _, length, tx, large, message, queues in page.routes():
                waited = False
                for queue, ack_state in rule.ack_states(nr, tx, queues):
                    match ack_state:
                        case AckState.OUTSTANDING:
                            here[queue] += 1
                        case AckState.IN_DOUBT_ACK | AckState.IN_DOUBT_SEND:
                            self.in_doubt[queue] += 1
                        case AckState.IGNORED:
                            self.ignored += 1
                    waited |= ack_state in LIVE
                    if self._told is not None:
                        self._told(message, queue, ack_state)
                    if ack_state in (AckState.OUTSTANDING, AckState.IN_DOUBT_ACK):
                        self.counted[queue] += 1
                        self.bytes[queue] += length + FRAME
                if large:
                    self.large[message] = self.large.get(message, False) or waited
        self.outstanding.update(here)
        self.largest = max(self.largest, *here.values(), 0) if here else self.largest
