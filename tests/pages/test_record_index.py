"""Offsets of records found while a page is looked at already: the same as the reference finds, in bounded memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_cases import GoldenCase, cases_of_each_kind
from made_pages import message, store

from pagefmt.codec.pages.frames import DamageKind
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.directory.locate import locate, stores
from pagefmt.directory.paging import read_store
from pagefmt.storage.files import NotReadable
from pagefmt.vectors.pages import record_index
from pagefmt.vectors.pages.record_index import RecordIndex


def made(folder: Path, content: bytes) -> PageFile:
    return read_store(store(folder / "paging", "a", {1: content})).pages[0]


def scanned(page: PageFile) -> RecordIndex:
    index = RecordIndex(page)
    for _ in index.scan():
        pass
    return index


@pytest.mark.parametrize("case", cases_of_each_kind(), ids=str)
def test_frames_and_damage_are_those_of_the_reference(case: GoldenCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_index, "MARKS", 3)
    for each in stores(locate(case.data())):
        for page in each.pages:
            index = scanned(page)
            with open_page(page) as opened:
                frames = list(opened.frames())
                assert (index.count, index.passed, index.damage) == (opened.count, opened.bytes_read, opened.damage)
                assert index.behind == (sum(1 for _ in opened.recovered()) if opened.damage else 0)
                for number, offset, length in reversed(frames):
                    assert index.frame(number) == (offset, length)
                    assert index.at(offset) == index.at(offset + length + 5) == number
                    part = index.record(number)
                    assert bytes(part.buf) == bytes(opened.buf[offset : offset + length + 6])
                    assert part.strict_layout() == opened.strict_layout()


def test_what_was_passed_can_be_asked_for(tmp_path: Path) -> None:
    page = made(tmp_path, b"".join(message(n, "a", "x" * 2000) for n in range(4000)))
    index = RecordIndex(page)
    steps = index.scan()
    next(steps)
    assert 0 < index.count < 4000 and not index.done
    last = index.frame(index.count - 1)
    for _ in steps:
        assert len(index._marks.offsets) <= record_index.MARKS
    assert index.done and index.count == 4000 and index.damage is None
    assert index.at(last[0] + 7) == index.at(last[0])


def test_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"".join(message(n, "a", f"text {n}") for n in range(200))
    index = scanned(made(tmp_path, content))
    needles = ["text 150".encode("utf-16-le")]
    for size in (1 << 20, 64, 17):
        monkeypatch.setattr(record_index, "_SEARCHED", size)
        place = index.find(needles, 0, lambda: True)
        assert place == content.find(needles[0]) and index.at(place) == 150
    assert index.find(needles, place + 1, lambda: True) is None
    assert index.find(needles, 0, lambda: False) is None


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"", None), (b"x", DamageKind.FRAGMENT), (bytes(100), DamageKind.ZERO_TAIL), (b"{" * 100, DamageKind.TORN)],
)
def test_pages_without_a_record(tmp_path: Path, content: bytes, kind: DamageKind | None) -> None:
    index = scanned(made(tmp_path, content))
    assert (index.count, index.done, index.damage and index.damage.kind) == (0, True, kind)


def test_a_page_that_goes_away(tmp_path: Path) -> None:
    page = made(tmp_path, b"".join(message(n, "a", "x") for n in range(10)))
    index = scanned(page)
    page.path.unlink()
    gone = scanned(page)
    assert gone.damage is not None and gone.damage.kind is DamageKind.GONE
    with pytest.raises(NotReadable):
        index.record(3)
