"""The picture of ``disk watch``: a block for every file system, then the addresses that are largest."""

from __future__ import annotations

import time
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pagectl.outputs.disk_report import limit_text
from pagectl.running.disk_live import LiveDisks
from pagectl.terminal.sanitise import one_line
from pageengine.disk.forecast import time_left, trend
from pageengine.disk.monitor import DiskLimit
from pageengine.disk.state import DiskState, FileStoreState
from pagefmt.quantities import SECOND, duration_text, rate_text, size_text

# seconds beyond the interval without an answer, after which the screen reports it
STALE = 5.0


class Screen:
    """Rendered anew at every refresh, to the size that the terminal has then."""

    def __init__(self, live: LiveDisks) -> None:
        self.live = live

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        state = self.live.state
        if state is None:
            yield Text("reading …")
            return
        head = list(self._head(state, options.max_width))
        stores = [part for store in state.stores for part in self._store(state, store, options.max_width)]
        foot = Text("q or Ctrl-C to quit", style="dim")
        room = options.max_height - len(head) - len(stores) - 2
        yield Group(*head, *stores, *self._addresses(room - 1), foot)

    def _head(self, state: DiskState, width: int) -> Iterator[Text]:
        title = _cut(one_line(f"pagectl disk watch  {self.live.root}"), width - 10)
        clock = time.strftime("%H:%M:%S%z")
        yield Text(title + clock.rjust(max(1, width - len(title))), style="bold")
        limit = state.limit
        limit_words = limit_text(limit) if isinstance(limit, DiskLimit) else f"no disk monitor: {limit.value}"
        yield _line(f"{limit_words}, {state.edition.value}", width, "dim")
        silent = time.monotonic() - self.live.looked
        if silent > self.live.interval + STALE:
            yield _line(f"no answer from the file system for {duration_text(silent * SECOND)}", width, "bold red")
        for name in state.missing:
            yield _line(f"the {name} directory does not exist: the broker does not watch it", width, "yellow")

    def _store(self, state: DiskState, store: FileStoreState, width: int) -> Iterator[Text]:
        system = store.file_system
        word, style = _word(state, store)
        yield Text()
        name = _cut(one_line(f"{system.mount} ({', '.join(system.names)})"), width - len(word) - 2)
        yield Text(name.ljust(width - len(word)), style="bold").append(word, style=style)
        yield _bar(store, width, style)
        yield _line(_numbers(store), width, "")
        yield _line(self._outlook(store), width, "")

    def _outlook(self, store: FileStoreState) -> str:
        growth = trend(self.live.samples.store(store.file_system.mount))
        if growth is None:
            return "learning the rate"
        left = time_left(store.margin, growth)
        rate_words = f"{rate_text(growth.rate)} over {duration_text(growth.span * SECOND)}"
        if not store.within or left is None:
            return rate_words
        return f"{rate_words}: {duration_text(left.seconds * SECOND)} left, sureness {growth.sureness}"

    def _addresses(self, room: int) -> Iterator[RenderableType]:
        rows = self.live.addresses
        if not rows or room < 3:
            return
        table = Table(box=None, pad_edge=False, expand=True, padding=(0, 2, 0, 0))
        table.add_column("ADDRESS", no_wrap=True, overflow="ellipsis", ratio=1)
        for name in ("BYTES", "PAGES", "GROWTH"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in rows[: room - 2]:
            growth = self.live.growth(row.folder)
            shown = one_line(row.address if row.address is not None else f"({row.folder})")
            cells = (size_text(row.bytes), str(row.pages.files), "" if growth is None else rate_text(growth))
            table.add_row(Text(shown), *map(Text, cells))
        yield Text()
        yield table


def _word(state: DiskState, store: FileStoreState) -> tuple[str, str]:
    if not store.within:
        return "BLOCKED", "bold red"
    if not isinstance(state.limit, DiskLimit):
        return "not monitored", "yellow"
    return "ok", "green"


def _bar(store: FileStoreState, width: int, style: str) -> Text:
    """Return a bar of the used space, the space until the broker blocks, and the space that it never uses."""
    inner = max(10, width - 8)
    used = min(inner, max(0, round(inner * store.space.usage)))
    total = store.space.total
    edge = inner if store.blocks_at is None or not total else round(inner * (1 - min(1.0, store.blocks_at / total)))
    bar = Text()
    bar.append("█" * used, style=style)
    bar.append("░" * max(0, edge - used), style="dim")
    bar.append("▕" + "·" * max(0, inner - max(edge, used) - 1) if max(edge, used) < inner else "", style="dim")
    return bar.append(f"{store.usage_percent:6.1f}%")


def _numbers(store: FileStoreState) -> str:
    sizes = f"{size_text(store.space.usable)} usable of {size_text(store.space.total)}"
    if store.blocks_at is None or store.margin is None:
        return sizes
    if not store.within:
        return f"{sizes}, blocks at {size_text(store.blocks_at)}: {size_text(store.to_free)} must be freed"
    return f"{sizes}, blocks at {size_text(store.blocks_at)}: {size_text(store.margin)} to go"


def _line(text: str, width: int, style: str) -> Text:
    return Text(_cut(one_line(text), width), style=style)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"
