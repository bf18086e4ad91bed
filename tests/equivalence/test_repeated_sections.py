"""AMQP messages of many shapes, of whose headers, annotations and broker's own properties few differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from amqp_pages import compound, entries, page, section, text, usual
from both_decoders import EVERY_FORM, SIZE, assert_same_lines, pages_of
from golden_cases import cases
from reference_rows import same_rows

from pagefmt.codec.pages.page_file import PageFile
from pagefmt.describe.arrow_schema import Detail
from pagefmt.describe.message_json import MessageOptions
from pagefmt.editions import Edition
from pagefmt.outstanding.state import StoreState
from pagefmt.vectors.amqp import structure as amqp_structure
from pagefmt.vectors.amqp.parts import amqp_parts
from pagefmt.vectors.amqp.structure import Structure, structure
from pagefmt.vectors.page_columns import decode_page
from pagefmt.vectors.pages.gather import PageBytes
from pagefmt.vectors.pages.scan import scan

FORMS = [SIZE, MessageOptions(EVERY_FORM), MessageOptions(frozenset(), edition=Edition.ARTEMIS_2_17)]
ODD = 2 * 67
"""What is found of every third of 200 messages that do not decode: the damage, and a line of what is known."""
KEY = text("x-opt-jms-dest", 0xA3)
HEADERS = {
    "all fields": compound(0xC0, b"\x42", b"\x50\x63", b"\x70\x00\x01\x86\xa0", b"\x41", b"\x52\x07"),
    "nulls": compound(0xD0, b"\x40", b"\x40", b"\x40", b"\x40", b"\x40"),
    "empty": b"\x45",
    "no flag": compound(0xC0, b"\x50\x01"),
    "too many": compound(0xC0, *[b"\x40"] * 6),
    "null": b"\x40",
}
MAPS = {
    "an ulong": compound(0xC1, KEY, b"\x80" + b"\xff" * 8),
    "a list": compound(0xC1, text("a\tb"), compound(0xC0, b"\x41", text("x"))),
    "a name twice": compound(0xC1, text("a"), b"\x41", text("a"), b"\x42"),
    "a number for a name": compound(0xC1, b"\x54\x01", b"\x42"),
    "no value": compound(0xC1, text("a")),
    "no entry": compound(0xD1),
    "null": b"\x40",
    "long": compound(0xD1, text("a"), text("x" * 1100, 0xB1)),
    "surrogate": compound(0xC1, text("a"), text(b"\xed\xa0\x80")),
    "cut": compound(0xC1, text("a"), b"\xa1\x09x"),
}


def shaped(n: int, **other: bytes) -> bytes:
    """Encode the usual message with a varying choice of application properties, so that no plan fits many messages."""
    chosen = [each for k in range(6) if n * 2654435761 >> (7 + k) & 1 for each in entries(n)[2 * k : 2 * k + 2]]
    return usual(n, application=section(4, compound(0xD1, *chosen)), **other)


def built(content: bytes) -> Structure:
    buffer = PageBytes(content)
    frames = scan(buffer)
    return structure(buffer, amqp_parts(buffer, frames.offset + 5, frames.length))


@pytest.fixture(autouse=True)
def without_known_plans() -> None:
    amqp_structure.RECENT_PLANS.clear()


@pytest.fixture(scope="module")
def known() -> tuple[StoreState, PageFile]:
    return next(pages_of(next(case for case in cases("2.56.0") if case.name == "scattered-acks")))


def assert_lines(known: tuple[StoreState, PageFile], folder: Path, content: bytes) -> int:
    """Assert that both decoders give the same lines, and return how many the fast one left to the other."""
    state, first = known
    found = first._replace(folder=folder, size=len(content))
    found.path.write_bytes(content)
    (made, every), *_ = assert_same_lines(found, state, FORMS)
    return every - made


def test_few_that_differ_are_found_and_many_are_not() -> None:
    few = [shaped(n, header=b"" if n % 3 else section(0, compound(0xC0, b"\x41", b"\x50\x04"))) for n in range(200)]
    found = built(page(few)).repeated(0)
    assert found is not None and found.different == [compound(0xC0, b"\x41", b"\x50\x04")]
    assert found.rows.tolist() == list(range(0, 200, 3)) and not found.which.any()
    many = [shaped(n, header=section(0, compound(0xC0, b"\x41", b"\x50" + bytes([n])))) for n in range(200)]
    assert built(page(many)).repeated(0) is None


@pytest.mark.parametrize("name", HEADERS)
def test_headers(known: tuple[StoreState, PageFile], tmp_path: Path, name: str) -> None:
    headers = [section(0, HEADERS[name]), section(0, compound(0xC0, b"\x41", b"\x50\x07")), b""]
    content = page([shaped(n, header=headers[n % 3]) for n in range(200)])
    assert assert_lines(known, tmp_path, content) == (ODD if name in ("no flag", "null") else 0)


@pytest.mark.parametrize("kind", [1, 2, 8])
@pytest.mark.parametrize("name", MAPS)
def test_maps(known: tuple[StoreState, PageFile], tmp_path: Path, name: str, kind: int) -> None:
    maps = [section(kind, MAPS[name]), section(kind, compound(0xC1, KEY, text("same"))), b""]
    where = {1: "annotations", 2: "annotations", 8: "footer"}[kind]
    content = page([shaped(n, **{where: maps[n % 3]}) for n in range(200)])
    assert assert_lines(known, tmp_path, content) == (ODD if name in ("no value", "cut") else 0)
    for level in (Detail.PROPERTIES, Detail.BODIES):
        assert same_rows(decode_page(PageBytes(content), 7, level).table, content, level)


@pytest.mark.parametrize("persister", [2, 3, 5])
def test_properties_of_the_broker(known: tuple[StoreState, PageFile], tmp_path: Path, persister: int) -> None:
    content = page([shaped(n) for n in range(200)], persister, ("orders", "", 'quo"te', "é\ud800"))
    assert assert_lines(known, tmp_path, content) == 0


def test_properties_of_the_broker_that_all_differ(known: tuple[StoreState, PageFile], tmp_path: Path) -> None:
    content = page([shaped(n) for n in range(200)], 5, tuple(f"orders{n}" for n in range(200)))
    assert assert_lines(known, tmp_path, content) == 0


def test_properties_of_the_broker_that_do_not_decode(known: tuple[StoreState, PageFile], tmp_path: Path) -> None:
    # No property has the type 99.
    content = page([shaped(n) for n in range(200)], 5, ("wrong", "orders", "orders"))
    name, address = ("_AMQ_AD".encode("utf-16-le"), "wrong".encode("utf-16-le"))
    sound, broken = (name + bytes([code, 0, 0, 0, len(address)]) + address for code in (10, 99))
    assert content.count(sound) == 67
    assert assert_lines(known, tmp_path, content.replace(sound, broken)) == ODD
