"""One disk check as a monitoring line, as text and as an object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pagectl.options.disk_thresholds import Thresholds
from pagectl.terminal.nagios import Perf, Range, Status, lines
from pageengine.disk.monitor import DiskLimit, LimitKind
from pageengine.disk.state import DiskState, FileStoreState
from pagefmt.quantities import size_text

if TYPE_CHECKING:
    from pagectl.reports.disk_check import CheckedFileSystem, DiskCheck, StoreWord
    from pageengine.disk.config import WhenBlocked

SERVICE = "DISK"
# addresses that a line of text names at most; JSON names all
NAMED = 10


class DiskReport(NamedTuple):
    """The state of the disks with the thresholds and the effect on producers.

    ``supposed`` is the reason why the limit may be another, ``assumed`` the origin of an edition that was not named.
    """

    state: DiskState
    thresholds: Thresholds
    when_blocked: tuple[WhenBlocked, ...] = ()
    supposed: str = ""
    assumed: str = ""

    @property
    def notes(self) -> list[str]:
        """Return the remarks about the figures."""
        edition = f"judged as {self.state.edition.value} ({self.assumed}); --edition names another"
        return [
            *self.state.notes(),
            *([f"the limit is assumed: {self.supposed}"] if self.supposed else []),
            *([edition] if self.assumed else []),
        ]

    @property
    def closed(self) -> str:
        """Return the protocols whose connections break on a send while the broker blocks, "" if it never blocks."""
        from pageengine.disk.effect import closed_connections

        return closed_connections(self.state.edition) if isinstance(self.state.limit, DiskLimit) else ""

    @property
    def status(self) -> Status:
        """Return the status of the whole check."""
        return self.thresholds.worst(self.state.stores)

    def word(self, store: FileStoreState) -> StoreWord:
        """``blocked``, ``near``, ``ok`` or ``unmonitored``."""
        if not isinstance(self.state.limit, DiskLimit):
            return "unmonitored"
        if not store.within:
            return "blocked"
        return "near" if self.thresholds.near(store) else "ok"

    @property
    def overall(self) -> StoreWord:
        """Return the broker's state in one word."""
        words = {self.word(store) for store in self.state.stores}
        gravest_first: tuple[StoreWord, ...] = ("blocked", "near", "ok", "unmonitored")
        return next(word for word in gravest_first if word in words)


def summary(report: DiskReport) -> str:
    """Return a sentence about the deciding store: its usage, the limit, and the distance to it."""
    state = report.state
    bad = [store for store in state.stores if report.thresholds.status(store) is report.status]
    store = state.deciding or bad[0]
    if store.within and report.status is not Status.OK:
        store = bad[0]
    used = f"{store.usage_percent:.1f}% used{_df_beside(store)}"
    where = f"{store.file_system.mount} {used}, {size_text(store.space.usable)} usable"
    more = f"; {len(state.stores)} file systems" if len(state.stores) > 1 else ""
    more += f"; limit assumed: {report.supposed}" if report.supposed else ""
    return f"{where}; {_distance(report, store)}{_inodes(report, store)}{more}"


def _df_beside(store: FileStoreState) -> str:
    """Return the percentage that ``df`` shows, if it differs."""
    df = store.file_system.df_percent
    return f" (df: {df}%)" if df is not None and abs(df - store.usage_percent) > 1 else ""


def _distance(report: DiskReport, store: FileStoreState) -> str:
    limit = report.state.limit
    if not isinstance(limit, DiskLimit):
        return f"no disk monitor: {limit.value}"
    if store.blocks_at is None or store.margin is None:
        return f"the broker never blocks at {limit_text(limit)} here"
    at = f"{size_text(store.blocks_at)} usable ({limit_text(limit)})"
    if store.never_within:
        return f"the broker blocks: beyond the limit even when empty, {at}"
    if not store.within:
        return f"the broker blocks at {at}: {size_text(store.to_free)} must be freed"
    return f"the broker blocks at {at}: {size_text(store.margin)} to go"


def limit_text(limit: DiskLimit) -> str:
    """Return a limit's setting and value for people."""
    value = f"{limit.value}%" if limit.kind is LimitKind.USAGE else size_text(limit.value)
    return f"{limit.kind.value} {value}"


def _inodes(report: DiskReport, store: FileStoreState) -> str:
    percent = store.file_system.inodes_percent
    if percent is None:
        return ""
    limits = (report.thresholds.inodes_warn, report.thresholds.inodes_crit)
    alerting = any(limit is not None and limit.alerts(percent) for limit in limits)
    return f"; inodes {percent:.1f}% used" if alerting or store.file_system.inodes_usable <= 0 else ""


def nagios(report: DiskReport, *, details: bool = False) -> str:
    """Return the plugin's line, followed by more lines with ``details``."""
    return lines(SERVICE, report.status, summary(report), performance(report), detail_lines(report) if details else ())


def performance(report: DiskReport) -> Iterator[Perf]:
    """Yield usage in percent, bytes to the limit, usable bytes, and used inodes in percent of each file system."""
    thresholds = report.thresholds
    for store in report.state.stores:
        mount = store.file_system.mount
        warn, crit = ((t.range if t and not t.of_margin else None) for t in (thresholds.warn, thresholds.crit))
        yield Perf(f"{mount} usage", store.usage_percent, "%", warn, crit or _usage_limit(report), 0, 100)
        if store.margin is not None:
            crit = thresholds.crit.range if thresholds.crit and thresholds.crit.of_margin else Range(1, float("inf"))
            yield Perf(f"{mount} margin", store.margin, "B", thresholds.margin_warn(store), crit)
        yield Perf(f"{mount} usable", store.space.usable, "B", low=0, high=store.space.total)
        if store.file_system.inodes_percent is not None:
            used = store.file_system.inodes_percent
            yield Perf(f"{mount} inodes", used, "%", thresholds.inodes_warn, thresholds.inodes_crit, 0, 100)


def _usage_limit(report: DiskReport) -> Range | None:
    limit = report.state.limit
    usage = isinstance(limit, DiskLimit) and limit.kind is LimitKind.USAGE
    return Range(0, limit.value) if usage and isinstance(limit, DiskLimit) else None


def detail_lines(report: DiskReport) -> Iterator[str]:
    """Every store, ``df`` beside the broker, what producers feel, notes."""
    for store in report.state.stores:
        system = store.file_system
        yield (
            f"{system.mount} ({', '.join(system.names)}): {report.word(store)}; {store.usage_percent:.1f}% used by the "
            f"broker's formula, {system.usable} of {system.total} bytes usable; {_exact(report, store)}"
        )
        yield from (f"  {text}" for text in _beside(store))
    for group in report.when_blocked:
        more = len(group.addresses) - NAMED
        who = ", ".join(group.addresses[:NAMED]) + (f" and {more} more" if more > 0 else "")
        yield f"when blocked, {who}: {group.what}"
    if report.closed:
        yield f"when blocked, {report.closed} connections: closed at their next send (AMQ229119)"
    for note in report.notes:
        yield f"note: {note}"


def _exact(report: DiskReport, store: FileStoreState) -> str:
    if store.blocks_at is None or store.margin is None:
        return _distance(report, store)
    there = f"{store.margin} to go" if store.within else f"{store.to_free} to be freed"
    return f"blocks at {store.blocks_at} usable bytes, {there}"


def _beside(store: FileStoreState) -> Iterator[str]:
    system = store.file_system
    df = system.df_percent
    if df is not None:
        why = f": {size_text(system.reserved)} are reserved, which the broker counts as used" if system.reserved else ""
        yield f"df says {df}%{why if _df_beside(store) else ''}"
    if system.inodes_percent is not None:
        yield f"inodes: {system.inodes_percent:.1f}% used, {system.inodes_usable} of {system.inodes} left"


def disk_check(report: DiskReport, took_for: str, broker: str) -> DiskCheck:
    """Return the answer as an object; ``took_for``: what the path was recognised as."""
    from pagectl.reports.disk_check import BlockedProducers, DiskCheck, LimitInForce

    limit = report.state.limit
    return DiskCheck(
        status=report.status.word,
        exit_status=report.status.value,
        state=report.overall,
        text=summary(report),
        broker=broker,
        took_for=took_for,
        edition=report.state.edition.value,
        limit=LimitInForce.of(limit) if isinstance(limit, DiskLimit) else None,
        unmonitored=None if isinstance(limit, DiskLimit) else str(limit.value),
        stores=[_checked(report, store) for store in report.state.stores],
        missing=list(report.state.missing),
        when_blocked=list(map(BlockedProducers.of, report.when_blocked)),
        closed_at_send=report.closed,
        notes=report.notes,
    )


def _checked(report: DiskReport, store: FileStoreState) -> CheckedFileSystem:
    from pagectl.reports.disk_check import CheckedFileSystem

    system = store.file_system
    return CheckedFileSystem(
        mount=system.mount,
        directories=list(system.names),
        state=report.word(store),
        status=report.thresholds.status(store).word,
        usable=system.usable,
        total=system.total,
        usage_percent=store.usage_percent,
        blocks_at=store.blocks_at,
        margin=store.margin,
        to_free=store.to_free,
        df_percent=system.df_percent,
        reserved=system.reserved,
        inodes=system.inodes,
        inodes_usable=system.inodes_usable,
        inodes_percent=system.inodes_percent,
    )
