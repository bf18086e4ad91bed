"""Pages carry no checksums: 512 aligned zero bytes inside of a body are what a lost sector looks like, and are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from harmed import data_directory, golden, no_trace, pages_of, record
from program import call

SECTOR = 512


def sector_findings(data: Path) -> list[dict[str, str]]:
    answer = call("pages", "verify", data, "--format", "jsonl")
    no_trace(answer)
    return [line for line in answer.lines() if "zero" in str(line.get("check")) or "sector" in str(line.get("check"))]


def with_hole(tmp_path: Path, start: int, size: int, text: str = "x" * 4000) -> Path:
    page = bytearray(record(1) + record(2, text) + record(3))
    assert start + size < len(page) - len(record(3))
    page[start : start + size] = bytes(size)
    return data_directory(tmp_path, {1: bytes(page)})


@pytest.mark.parametrize("size", [SECTOR, 4096])
def test_a_lost_sector_is_told(size: int, tmp_path: Path) -> None:
    (finding,) = sector_findings(with_hole(tmp_path, SECTOR, size))
    assert finding["severity"] in ("notice", "warning")
    assert "000000001.page" in finding["place"] and "512" in finding["detail"], finding


def test_the_message_is_named(tmp_path: Path) -> None:
    (finding,) = sector_findings(with_hole(tmp_path, 1024, SECTOR))
    assert "message 2" in finding["detail"] and "1024" in finding["detail"], finding


def test_one_remark_for_many(tmp_path: Path) -> None:
    page = bytearray(b"".join(record(n, "x" * 4000) for n in range(1, 11)))
    for at in range(1024, len(page) - 9000, 8192):
        page[at : at + SECTOR] = bytes(SECTOR)
    found = sector_findings(data_directory(tmp_path, {1: bytes(page)}))
    assert 1 <= len(found) <= 2


@pytest.mark.parametrize("start", [515, 700])
def test_zeros_that_lie_elsewhere_are_somebodys(start: int, tmp_path: Path) -> None:
    # Start 513 is left out: every second byte of the text is zero, so it would equal a lost sector.
    assert sector_findings(with_hole(tmp_path, start, SECTOR)) == []


@pytest.mark.parametrize(
    "name", ["basic", "core-types", "large-core", "amqp-sections", "mixed-protocols", "one-per-page"]
)
def test_what_brokers_wrote_has_none(name: str) -> None:
    assert sector_findings(golden(name).data()) == []


def test_a_body_of_zeros_is_one(tmp_path: Path) -> None:
    # Clients send bodies of nothing but zeros; a lost sector has other bytes beside it.
    data = data_directory(tmp_path, {1: record(1, "\0" * 4000)})
    assert sector_findings(data) == [] or all(finding["severity"] == "notice" for finding in sector_findings(data))
    assert len(pages_of(data)) == 1
