"""Counts of what queues will receive from the pages of a new directory, whether or not these are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pagefmt.change.recovery.message_outcomes import NamesOfPages
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.codec.pages.record import FRAME
from pagefmt.directory.paging import ADDRESS_FILE, java_number
from pagefmt.outstanding.ack_state import LIVE, AckState, PageRule
from pagefmt.storage.writing import Disk


class PageTally(Disk):
    """A disk that counts the messages in the pages written to it. ``to``: where it writes them; None: nowhere.

    ``named`` is called with the state of each message for each queue. ``rule`` returns the rule of a page, by address
    and page number. By queue id: ``outstanding`` and ``in_doubt``; ``counted`` and ``bytes`` as a broker up to 2.27
    counts them. ``largest``: the largest number of messages of one page for one queue. ``ignored``: number of messages
    of transactions that the journal does not know. ``large``: ids of large messages → whether a queue receives it.
    ``pages``: address and number of each page.
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
        """Create a folder on the disk, if the tally writes at all."""
        if self._to is not None:
            self._to.make_folder(path, like)

    @contextmanager
    def below(self, *folders: Path) -> Iterator[None]:
        """Limit writes to the folders, if the tally writes at all."""
        if self._to is None:
            yield
        else:
            with self._to.below(*folders):
                yield

    def _count(self, address: str | None, number: int, content: bytes) -> None:
        rule = self._rule(address, number)
        outstanding: Counter[int] = Counter()
        with open_page(PageInMemory(content, number)) as page:
            for nr, _, length, tx, large, message, queues in page.routes():
                waited = False
                for queue, ack_state in rule.ack_states(nr, tx, queues):
                    match ack_state:
                        case AckState.OUTSTANDING:
                            outstanding[queue] += 1
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
        self.outstanding.update(outstanding)
        self.largest = max(self.largest, *outstanding.values(), 0) if outstanding else self.largest
