"""A page too large to be read whole is seen through a window: the answers are those of a page that is read whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_cases import damage_verdicts, unpacked
from pagectl.reports.pages_verify import VerifiedPage
from program import call

from pagefmt.check.broker_verdict import PageContext
from pagefmt.check.page_reports import verify_page
from pagefmt.codec.pages.page import open_page
from pagefmt.editions import Edition
from pagefmt.storage import files
from pagefmt.storage.files import FileWindow, NotReadable, file_pieces

ARCHIVES = damage_verdicts("pages")


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every page be read as a large one."""
    monkeypatch.setattr(files, "WHOLE", 0)
    monkeypatch.setattr(files, "_AHEAD", 4096)


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: f"{path.parent.name}/{path.name[6:-8]}")
def test_the_verdict_is_the_same(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = sorted(unpacked(archive).glob("*.page"))[::7]
    whole = [list(answers(path)) for path in pages]
    monkeypatch.setattr(files, "WHOLE", 0)
    monkeypatch.setattr(files, "_AHEAD", 4096)
    for path, wanted in zip(pages, whole, strict=True):
        assert list(answers(path)) == wanted, path


def answers(path: Path) -> Iterator[object]:
    for edition in (None, Edition.ARTEMIS_1_5, Edition.HORNETQ_2_4):
        yield VerifiedPage.of_verdict(verify_page(path, PageContext("store", 1), edition))
    with open_page(path) as page:
        yield list(page.routes()), page.damage
        yield list(page.records()), page.damage
        yield [record.offset for record in page.recovered()]


def test_what_lies_behind_the_window_is_given_back(narrow: None, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(range(256)) * 256)
    with FileWindow(path, 1 << 20) as window:
        for start in range(0, 65536, 1024):
            assert window.reach(start, start + 1024)
            assert bytes(window.buf[start : start + 1024]) == bytes(range(256)) * 4
        assert bytes(window.buf[:4096]) == bytes(4096)
        assert window.reach(0, 512) and bytes(window.buf[:256]) == bytes(range(256))
        assert window.problem is None


def test_a_large_page_that_is_cut_while_it_is_looked_at(narrow: None, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(65536))
    with FileWindow(path, 1 << 20) as window:
        assert window.reach(0, 4096)
        with path.open("r+b") as file:
            file.truncate(20_000)
        assert window.reach(16_000, 20_000)
        assert not window.reach(20_000, 30_000)
        assert window.readable == 20_000 and "shorter" in str(window.problem)


def test_pieces_are_the_whole_file(narrow: None, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(range(256)) * 50)
    assert b"".join(file_pieces(path)) == path.read_bytes()
    path.unlink()
    with pytest.raises(NotReadable):
        next(file_pieces(path))


def test_a_page_of_zeros(narrow: None, tmp_path: Path) -> None:
    folder = tmp_path / "paging" / "11111111-1111-11ee-8111-111111111111"
    folder.mkdir(parents=True)
    (folder / "address.txt").write_text("orders\n")
    (folder / "000000001.page").write_bytes(bytes(3 << 20))
    answer = call("pages", "decode", tmp_path / "paging", "--format", "jsonl", "--body", "none")
    assert answer.status == 1 and "3145728 zero bytes to the end of the file" in answer.err
    (row,) = json.loads(call("pages", "ls", tmp_path / "paging", "--format", "json").out)["stores"]
    assert row["condition"] == "suspect"
