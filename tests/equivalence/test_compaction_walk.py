"""The walk over a page at once beside the careful one: the same answer for every page, sound or damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import golden_cases
import pytest
from both_decoders import state_of, stores_of
from golden_cases import GoldenCase
from page_routes import whole_page

from pagefmt.change.compaction.page_walk import examine
from pagefmt.change.compaction.plan import EditionRules, ExaminedPage
from pagefmt.change.compaction.planning import _PlanWalk, layout_of_bindings
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import Layout
from pagefmt.codec.pages.stubs import STUB_SIZE
from pagefmt.directory.counters import counters, pending_pages
from pagefmt.outstanding.state import StoreState
from pagefmt.storage.file_snapshot import fingerprint
from pagefmt.vectors.routes.route_columns import IrregularPage

FIELDS = (
    "layout",
    "records",
    "dead",
    "dead_bytes",
    "unknown",
    "saved",
    "offsets",
    "ids",
    "bodies",
    "held",
    "held_bytes",
)


def both(walk: _PlanWalk, store: StoreState, page: PageFile, content: bytes) -> bool:
    """Return False if the page is irregular; otherwise assert that the fast and the careful walk agree."""
    fast, careful = ExaminedPage(page, fingerprint(page.path)), ExaminedPage(page, fingerprint(page.path))
    try:
        examine(fast, [whole_page(content)], store.rule(page.number), walk.live, STUB_SIZE[walk.rules.layout])
    except IrregularPage:
        return False
    walk.careful(store, careful, Page(content))
    assert {name: getattr(fast, name) for name in FIELDS} == {name: getattr(careful, name) for name in FIELDS}
    assert careful.damage is None
    return True


@pytest.mark.parametrize("keep_unknown", [False, True], ids=["", "keep unknown"])
@pytest.mark.parametrize("case", golden_cases.cases_of_each_kind(), ids=str)
def test_golden_pages(case: GoldenCase, keep_unknown: bool) -> None:
    state = state_of(case)
    assert state.bindings is not None
    pending = pending_pages(counters(state.journal).values())
    walk = _PlanWalk(
        EditionRules(layout_of_bindings(state.bindings), None), keep_unknown, pending, None, state.journal.ack_index
    )
    taken = total = 0
    for store in stores_of(case):
        for page in store.store.pages:
            taken += both(walk, store, page, page.path.read_bytes())
            total += 1
    damaged = case.name in ("torn", "torn-head", "zero-tail", "bad-end", "bad-start", "halt", "tx-halt")
    assert taken == total or damaged


@pytest.mark.parametrize(
    "archive", golden_cases.damage_verdicts("pages"), ids=lambda path: f"{path.parent.name}-{path.name[6:-8]}"
)
def test_damaged_pages(archive: Path) -> None:
    folder = golden_cases.unpacked(archive)
    old = archive.parent.name.startswith(("hornetq", "artemis-1"))
    state = state_of(GoldenCase("hornetq-2.4.7" if old else "2.56.0", "types" if old else "basic"))
    walk = _PlanWalk(EditionRules(Layout.OLD if old else Layout.NEW, None), False, set(), None, state.journal.ack_index)
    store = next(iter(state.stores()))
    files = sorted(folder.glob("*.page"))
    assert len(files) > 100
    for number, path in enumerate(files, 1):
        both(
            walk,
            replace(store, queues=None),
            PageFile(number % 3 + 1, path.parent, path.name, path.stat().st_size),
            path.read_bytes(),
        )
