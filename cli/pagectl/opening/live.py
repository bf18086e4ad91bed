"""``--jolokia``: the running broker of a directory, asked before its files are read and again behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.opening.broker import OpenedBroker
from pagectl.running.jolokia import Console, console
from pagectl.running.live_broker import (
    LiveBroker,
    LiveComparison,
    QueueFiles,
    QueueName,
    differences,
    find_broker,
    look_at,
    second_look,
)
from pagectl.terminal.streams import warning
from pagefmt.directory.locks import node_id

if TYPE_CHECKING:
    from pagefmt.outstanding.overview import StoreVerdict
    from pagefmt.outstanding.state import PagingState, StoreSummary


class LiveBeside:
    """The first look; what ``watched`` sees of the files; ``compare`` takes the second look.

    ``differs``: whether the comparison has a difference.
    """

    def __init__(self, url: str, credentials: Path | None, opened: OpenedBroker) -> None:
        self._console: Console = console(url, credentials)
        if self._console.in_clear:
            warning("the password is sent over the network unencrypted; use https if the console accepts it")
        place = opened.place
        config = opened.configuration
        name = config.document.core.child("name") if config is not None and config.document.core is not None else None
        node = node_id(place.journal)
        configured = name.text.strip() if name is not None else None
        self.broker: LiveBroker = find_broker(self._console, place.given, node, configured)
        if node is None and configured is None:
            warning(f"{place.given} does not say which broker it belongs to; {self.broker.name} is assumed")
        self._before = look_at(self._console, self.broker)
        self._pages: dict[QueueName, int | None] = {}
        self._unknown: set[str | None] = set()
        self.differs = False

    def watched(
        self, stores: Iterable[tuple[StoreSummary, StoreVerdict]]
    ) -> Iterator[tuple[StoreSummary, StoreVerdict]]:
        """Yield the stores, and remember what they have."""
        for summary, verdict in stores:
            if not verdict.counted:
                self._unknown.add(summary.address)
            elif summary.address is not None:
                for queue in summary.queues:
                    name = summary.address, queue.name
                    self._pages[name] = (self._pages.get(name) or 0) + queue.messages
            yield summary, verdict

    def compare(self, state: PagingState) -> LiveComparison:
        """Read the running broker a second time, and compare it with the first reading and with the files."""
        if not state.live:
            warning(
                f"{state.paging.path}: no broker holds the lock of its journal; are these the files of a running one?"
            )
        waiting = Counter(queue for _, queue, done in state.journal.references() if not done)
        files = {}
        for number, queue in (state.bindings.queues if state.bindings is not None else {}).items():
            name = queue.address, queue.name
            is_known = queue.address not in self._unknown and state.unknown is None
            files[name] = QueueFiles(number, waiting[number], (self._pages.get(name) or 0) if is_known else None)
        after = second_look(self._console, self.broker, self._before)
        pages: Counter[str] = Counter()
        for (address, _), count in self._pages.items():
            pages[address] += count or 0
        comparison = LiveComparison(self.broker, after, files, differences(self._before, after, files, pages))
        self.differs = bool(comparison.differences)
        return comparison
