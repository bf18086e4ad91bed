"""The fast decoder gives the rows of the reference decoder, on every page that a broker wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from both_decoders import pages_of
from golden_cases import GoldenCase, cases, cases_of_each_kind
from reference_rows import comparable, reference_rows, same_rows

from pagefmt.codec.pages.frames import FrameScan
from pagefmt.describe.arrow_schema import Detail
from pagefmt.table.table import PageSource, TableDamage, TableQuery, page_batches
from pagefmt.vectors.page_columns import decode_page
from pagefmt.vectors.pages.chunks import read_chunks
from pagefmt.vectors.pages.gather import PageBytes
from pagefmt.vectors.pages.scan import scan

CASES = cases()


def pages(case: GoldenCase) -> list[Path]:
    return sorted(case.data().glob("paging/*/*.page"))


# These hold many odd records. In all others the reference decoder is asked for one record in twenty at most: else the
# fast decoder would not be fast.
ODD = ("amqp-odd", "amqp-sections", "large-amqp", "large-compressed", "mixed-protocols", "schedule-kinds")


# with those of 1.5.6 and 2.17.0 they have every form of a record
OTHERWISE = ("amqp-jms", "amqp-sections", "core-types", "large-amqp", "large-compressed", "mixed-protocols", "openwire")


@pytest.mark.parametrize("case", cases_of_each_kind(), ids=str)
def test_golden_pages_give_the_reference_rows(case: GoldenCase) -> None:
    irregular = records = 0
    for path in pages(case):
        content = path.read_bytes()
        levels = (
            list(Detail) if case.version in ("artemis-1.5.6", "2.17.0") or case.name in OTHERWISE else [Detail.BODIES]
        )
        for level in levels:
            got = decode_page(PageBytes(content), 7, level)
            assert same_rows(got.table, content, level), path.name
        irregular, records = irregular + len(got.irregular), records + len(got.table)
    assert irregular <= 0.05 * records or case.name in ODD


def test_there_are_enough_golden_records() -> None:
    assert sum(1 for case in CASES for path in pages(case) for _ in FrameScan(path.read_bytes())) > 8000


def test_damage_ends_the_table_where_the_reference_reader_stops() -> None:
    content = pages(next(case for case in CASES if str(case) == "2.56.0/basic"))[0].read_bytes()
    frames = scan(PageBytes(content))
    third = int(frames.offset[3])
    for broken in (content[:third] + b"\0" + content[third + 1 :], content[: third + 9], content[:third] + bytes(50)):
        got = decode_page(PageBytes(broken), 7, Detail.BODIES)
        assert not got.whole and got.good_bytes == third
        assert same_rows(got.table, broken, Detail.BODIES)


@pytest.mark.parametrize("step", [199, pytest.param(37, marks=pytest.mark.slow)])
@pytest.mark.parametrize("version", ["hornetq-2.4.7", "2.56.0"])
def test_flipped_bits_never_part_the_two_decoders(version: str, step: int) -> None:
    case = next(case for case in CASES if case.version == version and case.name in ("types", "core-types"))
    content = pages(case)[-1].read_bytes()[:6000]
    for bit in range(0, len(content) * 8, step):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << (bit % 8)
        page = PageBytes(bytes(flipped))
        got = decode_page(page, 7, Detail.BODIES)
        assert same_rows(got.table, bytes(flipped), Detail.BODIES), bit


@pytest.mark.parametrize("piece", [1, 700, 5000])
def test_pieces_of_any_size_give_the_same_rows(piece: int) -> None:
    """Compare pages decoded in pieces, which reuse one buffer, with the reference rows.

    The smallest piece is shorter than a record, so the buffer must grow. Rows of earlier pieces must keep their values.
    """
    case = next(case for case in CASES if str(case) == "2.56.0/one-per-page")
    for path in [*pages(case), *pages(next(case for case in CASES if str(case) == "2.56.0/mixed-protocols"))]:
        tables = [
            decode_page(content, 7, Detail.BODIES, frames).table
            for content, frames in read_chunks(path, piece, reuse=True)
        ]
        rows = [row for table in tables for row in table.to_pylist()]
        assert comparable(rows) == comparable(reference_rows(path.read_bytes(), Detail.BODIES).to_pylist())


@pytest.mark.parametrize("case", cases_of_each_kind(), ids=str)
def test_state_columns_follow_the_rule(case: GoldenCase) -> None:
    columns = ["number", "tx", "queues", "acked_by", "outstanding"]
    for store, page in pages_of(case):
        rule = store.rule(page.number)
        source = PageSource(page.path, page.number, store.store.name, store.store.address, rule)
        for batch in page_batches(source, TableQuery()):
            if isinstance(batch, TableDamage):
                continue
            for row in batch.select(columns).to_pylist():
                assert tuple(row["acked_by"]) == rule.acked_by(row["number"], row["queues"])
                assert tuple(row["outstanding"]) == rule.outstanding(row["number"], row["tx"], row["queues"])


def test_a_record_that_does_not_close_is_not_read_to_its_end(tmp_path: Path) -> None:
    # A damaged length may be anything: reading 1 GiB of a page would need 1 GiB of memory.
    path = tmp_path / "1.page"
    largest = []
    for end in (b"}", b"\0"):
        path.write_bytes(b"{" + (5000).to_bytes(4, "big") + bytes(5000) + end + bytes(3000))
        largest.append(max(content.size for content, _ in read_chunks(path, 100)))
    assert largest[0] == 5006 and largest[1] <= 100
