"""Compaction in tests: what is due before and after, and the tree that it leaves."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from pagefmt.change.compaction.apply import apply, open_backup
from pagefmt.change.compaction.plan import CompactionPlan
from pagefmt.change.compaction.planning import make_plan
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.record import FRAME
from pagefmt.directory.locate import DataLocation
from pagefmt.editions import Edition
from pagefmt.outstanding.ack_state import LIVE, AckState
from pagefmt.storage.writing import Disk
from pagefmt.vectors import load_state


def due(place: DataLocation) -> dict[tuple[int, AckState], list[tuple[int, int, int, bytes]]]:
    """Return everything that must survive compaction in order, by queue and acknowledgement state.

    Values: (page, number, message id, bytes of the record).
    """
    assert place.paging is not None
    state = load_state(place.paging, place.journal, place.bindings)
    found: dict[tuple[int, AckState], list[tuple[int, int, int, bytes]]] = defaultdict(list)
    for store in state.stores():
        for page in store.store.pages:
            with open_page(page.path) as opened:
                for route, ack_states in store.ack_states(page):
                    for queue, ack_state in ack_states:
                        if ack_state in LIVE:
                            number, offset, length, *_ = route
                            body = bytes(opened.buf[offset : offset + length + FRAME])
                            found[queue, ack_state].append((page.number, number, route[5], body))
    return dict(found)


def tree(root: Path) -> dict[str, bytes]:
    """Return the contents of all files without trailing zeros, with which journal files are filled."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes().rstrip(b"\0")
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def compact(place: DataLocation, edition: Edition | None = None, backup: Path | None = None) -> CompactionPlan:
    plan = make_plan(place, edition)
    disk = Disk()
    kept = open_backup(disk, backup, plan) if backup else None
    apply(plan, disk, kept)
    return plan
