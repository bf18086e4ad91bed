"""Compaction: what is due stays the same, whatever is freed; restore; refusals; stubs as the spec prints them."""

from __future__ import annotations

from array import array
from pathlib import Path

import golden_cases
import pytest
from compactions import compact, due, tree
from editions_of import EDITION_OF as EDITIONS
from golden_cases import GoldenCase

from pagefmt.change.compaction import apply as apply_module
from pagefmt.change.compaction.apply import CompactionStopped, apply, open_backup, rewritten
from pagefmt.change.compaction.backup import BackupError, discard, read_backup, restore
from pagefmt.change.compaction.copy_out import copy_out
from pagefmt.change.compaction.plan import KeepReason, RemoveFile, RewritePage
from pagefmt.change.compaction.planning import CannotCompact, make_plan
from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import FRAME, Layout
from pagefmt.codec.pages.stubs import STUB_SIZE, stub, stubs
from pagefmt.directory.locate import DataLocation, within
from pagefmt.editions import Edition
from pagefmt.storage.writing import Disk

CASES = golden_cases.cases()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace ``os.fsync`` by nothing, because the simulator itself tracks what was synced."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


def test_stubs_are_those_of_the_spec() -> None:
    new = (
        "7b0000003dffffffffffffffff00"
        "01000000000000002a0000000022"
        "0000000d000000000000002a000000010000000000000000000000000000000004000000"
        "00007d"
    )
    old = (
        "7b00000037ffffffffffffffff0000000026"
        "0000001100000033000000000000002a000000ff0000000000000000000000000000000004000000"
        "00007d"
    )
    assert stub(Layout.NEW, 42).hex() == new
    assert stub(Layout.OLD, 42).hex() == old
    for layout in Layout:
        page = Page(stub(layout, 42) * 3)
        assert [(route[0], route[3:]) for route in page.routes()] == [(n, (-1, 0, 42, ())) for n in range(3)]
        assert page.layout() is layout and page.damage is None
        assert len(stub(layout, 42)) == STUB_SIZE[layout]
        ids = [0, 1, 42, 2**63 - 1, -(2**63), 0x0102030405060708]
        assert stubs(layout, array("q", ids)) == b"".join(stub(layout, number) for number in ids)


NAMED = [pytest.param(case, True, id=f"{case}-its edition") for case in CASES]
ANY = [
    pytest.param(case, False, id=f"{case}-any edition")
    for case in golden_cases.cases("hornetq-2.3.25", "2.10.1", "2.44.0")
]


@pytest.mark.parametrize(("case", "named"), NAMED + ANY)
def test_compaction_keeps_what_is_due(case: GoldenCase, named: bool, tmp_path: Path) -> None:
    data = case.copy(tmp_path)
    place = within(data)
    before, files = due(place), tree(data)
    edition = EDITIONS[case.version] if named else None
    plan = compact(place, edition, tmp_path / "backup")
    assert due(place) == before
    after = tree(data)
    changed = {name for name in files if files[name] != after.get(name)}
    assert {step.path.relative_to(data).as_posix() for step in plan.steps()} == changed
    assert set(after) <= set(files)
    assert sum(map(len, files.values())) - sum(map(len, after.values())) == plan.freed
    assert all(name.endswith((".page", ".msg")) for name in changed)
    assert plan.freed <= plan.bound
    again = make_plan(place, edition)
    assert list(again.steps()) == [] and again.freed == 0
    restore(Disk(), read_backup(tmp_path / "backup", plan.roots))
    assert tree(data) == files and not (tmp_path / "backup").exists()


@pytest.mark.parametrize("case", golden_cases.cases("hornetq-2.4.7", "2.44.0"), ids=str)
def test_a_compacted_copy_is_the_same_as_in_place(case: GoldenCase, tmp_path: Path) -> None:
    place = within(case.data())
    files = tree(case.data())
    copy_out(make_plan(place), tmp_path / "new")
    data = case.copy(tmp_path)
    compact(within(data))
    assert tree(tmp_path / "new") == tree(data)
    assert tree(case.data()) == files


def dead(case: GoldenCase, tmp_path: Path) -> tuple[DataLocation, Path]:
    data = case.copy(tmp_path)
    return within(data), data


ACKED = GoldenCase("2.56.0", "scattered-acks")


@pytest.mark.parametrize("block", [1, 500, 10_000])
def test_a_rewritten_page_record_by_record(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply_module, "BLOCK", block)
    store = GoldenCase("2.56.0", "basic").data() / "paging"
    path = max(store.rglob("*.page"), key=lambda page: page.stat().st_size)
    content = path.read_bytes()
    with open_page(path) as page:
        found = [(offset, length + FRAME, message) for _, offset, length, _, _, message, _ in page.routes()]
    for chosen in ({0}, {len(found) - 1}, set(range(len(found))), set(range(0, len(found), 3)), {2, 3, 4, 7}):
        dead = [row for row in range(len(found)) if row in chosen]
        offsets, ids = (array("q", [found[row][which] for row in dead]) for which in (0, 2))
        step = RewritePage(
            path.parent, PageFile(1, path.parent, path.name, len(content)), (0, 0, 0), Layout.NEW, offsets, ids, 0
        )
        expected = b"".join(
            stub(Layout.NEW, message) if row in chosen else content[offset : offset + size]
            for row, (offset, size, message) in enumerate(found)
        )
        assert b"".join(rewritten(content, step)) == expected


def test_mode_and_times_of_the_rest_stay(tmp_path: Path) -> None:
    place, data = dead(ACKED, tmp_path)
    for page in data.rglob("*.page"):
        page.chmod(0o640)
    journals = {path: path.stat().st_mtime_ns for path in (data / "journal").iterdir()}
    plan = compact(place)
    assert plan.freed
    assert {page.stat().st_mode & 0o777 for page in data.rglob("*.page")} == {0o640}
    assert {path: path.stat().st_mtime_ns for path in (data / "journal").iterdir()} == journals


def test_backup_is_refused_when_a_broker_has_run(tmp_path: Path) -> None:
    place, data = dead(ACKED, tmp_path)
    plan = compact(place, backup=tmp_path / "backup")
    journal = sorted((data / "journal").glob("*.amq"))[0]
    journal.write_bytes(journal.read_bytes()[:-1] + b"\1")
    with pytest.raises(BackupError, match="a broker has run"):
        restore(Disk(), read_backup(tmp_path / "backup", plan.roots))
    with pytest.raises(BackupError, match="earlier compaction"):
        open_backup(Disk(), tmp_path / "backup", make_plan(place))
    compacted = tree(data)
    assert discard(Disk(), read_backup(tmp_path / "backup", plan.roots)) > plan.freed
    assert tree(data) == compacted and not (tmp_path / "backup").exists()


def test_a_page_that_changes_stops_the_run(tmp_path: Path) -> None:
    place, _ = dead(ACKED, tmp_path)
    plan = make_plan(place)
    step = next(step for step in plan.steps() if isinstance(step, RewritePage))
    step.path.write_bytes(step.path.read_bytes() + b"{")
    with pytest.raises(CompactionStopped, match="changed while the compaction ran"):
        apply(plan, Disk(), None)


class Clock:
    """Each look at it takes a millisecond."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def test_a_journal_that_changes_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Journals are checked again when a check costs a twentieth of the time: here after two steps.
    place, data = dead(ACKED, tmp_path)
    plan = make_plan(place)
    steps = list(plan.steps())
    assert len(steps) > 3
    monkeypatch.setattr(apply_module, "monotonic", clock := Clock())
    done: list[int] = []

    def passed(size: int) -> None:
        done.append(size)
        clock.now += 0.012
        if len(done) == 1:
            journal = sorted((data / "journal").glob("*.amq"))[0]
            journal.write_bytes(journal.read_bytes())

    with pytest.raises(CompactionStopped, match=r"amq: changed while the compaction ran"):
        apply(plan, Disk(), None, passed)
    assert len(done) == 2


def test_what_no_compaction_is_sound_for(tmp_path: Path) -> None:
    place, data = dead(ACKED, tmp_path)
    with pytest.raises(CannotCompact, match="cannot read"):
        make_plan(place, Edition.ARTEMIS_1_5)
    with pytest.raises(CannotCompact, match="bindings"):
        make_plan(DataLocation(data, place.kind, place.paging, place.journal, None, place.large_messages))
    (data / "journal" / "journal-rename-control.ctr").write_bytes(b"")
    with pytest.raises(CannotCompact, match="rename-control"):
        make_plan(place)


def test_pages_that_no_queue_needs(tmp_path: Path) -> None:
    # Some editions allow missing pages in the middle; others only at the front.
    place, data = dead(GoldenCase("2.56.0", "basic"), tmp_path)
    pages = sorted(data.rglob("*.page"))

    def removed(edition: Edition | None) -> list[str]:
        return [step.path.name for step in make_plan(place, edition).steps() if isinstance(step, RemoveFile)]

    pages[2].write_bytes(b"")
    assert removed(Edition.ARTEMIS_2_17) == removed(None) == []
    assert removed(Edition.ARTEMIS_2_28) == removed(Edition.ARTEMIS_2_56) == [pages[2].name]
    kept = make_plan(place).stores[0].kept
    assert [(page.page, page.why) for page in kept] == [(3, KeepReason.REMOVAL)]
    pages[0].write_bytes(b"")
    assert removed(None) == removed(Edition.ARTEMIS_2_17) == [pages[0].name]
    for page in pages:
        page.write_bytes(b"")
    assert removed(None) == [page.name for page in pages[:-1]]


def test_damaged_pages_and_their_bodies_stay(tmp_path: Path) -> None:
    place, data = dead(GoldenCase("2.56.0", "large-core"), tmp_path)
    (data / "large-messages" / "999999.msg").write_bytes(b"x" * 100)
    assert "999999.msg" in {body.path.name for body in make_plan(place).bodies}
    page = sorted(data.rglob("*.page"))[0]
    page.write_bytes(page.read_bytes()[:-3])
    plan = make_plan(place)
    assert plan.bodies == () and plan.bodies_kept and "damaged" in plan.bodies_kept
    assert page not in {step.path for step in plan.steps()}


def test_unknown_transactions_may_stay() -> None:
    place = within(GoldenCase("2.56.0", "tx").data())
    dropped, kept = make_plan(place), make_plan(place, keep_unknown=True)
    assert sum(store.unknown for store in dropped.stores) > 0
    assert kept.freed < dropped.freed


def test_a_record_that_hides_others_is_not_replaced(tmp_path: Path) -> None:
    # A broker reads it as one record, so replacing it would lose the records inside.
    place, data = dead(ACKED, tmp_path)
    page = sorted(data.rglob("*.page"))[0]
    assert page in {step.path for step in make_plan(place).steps()}
    content = bytearray(page.read_bytes())
    with open_page(page) as opened:
        routes = list(opened.routes())
    offset, end = routes[0][1], routes[1][1] + routes[1][2] + FRAME
    content[offset + 1 : offset + 5] = (end - offset - FRAME).to_bytes(4, "big")
    page.write_bytes(content)
    plan = make_plan(place)
    assert page not in {step.path for step in plan.steps()}
    assert KeepReason.DAMAGED in {kept.why for store in plan.stores for kept in store.kept}
