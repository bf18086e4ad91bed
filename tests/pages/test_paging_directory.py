"""What lies below a paging directory, seen as a broker sees it, and nothing followed out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pagefmt.codec.messages.large import LargeMessages
from pagefmt.directory.paging import EntryKind, java_number, read_address, read_paging, read_store
from pagefmt.directory.store_findings import StoreFault, store_findings
from pagefmt.storage.files import NotReadable


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("000000001.page", EntryKind.PAGE),
        ("2147483647.page", EntryKind.PAGE),
        ("000000000.page", EntryKind.OVERLOOKED),
        ("1.page", EntryKind.OVERLOOKED),
        ("0000000001.page", EntryKind.OVERLOOKED),
        ("+00000001.page", EntryKind.OVERLOOKED),
        ("5.copy.page", EntryKind.OVERLOOKED),
        ("2147483648.page", EntryKind.BAD_NAME),
        ("x.page", EntryKind.BAD_NAME),
        (".page", EntryKind.BAD_NAME),
        ("000000001.PAGE", EntryKind.FOREIGN),
        ("000000001.page.invalidPage", EntryKind.PUT_ASIDE),
        ("000000001.page.bak", EntryKind.FOREIGN),
        ("address.txt", EntryKind.ADDRESS),
    ],
)
def test_names(name: str, kind: EntryKind, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"")
    store = read_store(tmp_path)
    if kind is EntryKind.PAGE:
        assert ([page.name for page in store.pages], store.others) == ([name], ())
    else:
        assert [(entry.name, entry.kind) for entry in store.others] == [(name, kind)]


@pytest.mark.parametrize(
    ("raw", "address", "fallback"),
    [
        (b"orders\n", "orders", False),
        (b"orders\r\n", "orders", False),
        (b"orders", "orders", False),
        (b" a b \nsecond\n", " a b ", False),
        (b"\nsecond\n", "", False),
        ("Bestellungen.ä€".encode() + b"\n", "Bestellungen.ä€", False),
        ("ä".encode("latin-1") + b"\n", "ä", True),
        (b"", None, False),
    ],
)
def test_address(raw: bytes, address: str | None, fallback: bool, tmp_path: Path) -> None:
    (tmp_path / "address.txt").write_bytes(raw)
    text = read_address(tmp_path / "address.txt")
    assert (text.address, text.fallback) == (address, fallback)
    assert (text.problem is None) == (address is not None)


def test_links_and_special_files_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "000000001.page").write_bytes(b"secret")
    (outside / "7.msg").write_bytes(b"secret")
    paging = tmp_path / "paging"
    store = paging / "store"
    store.mkdir(parents=True)
    (paging / "linked").symlink_to(outside)
    (store / "000000001.page").symlink_to(outside / "000000001.page")
    os.mkfifo(store / "000000002.page")
    (store / "address.txt").symlink_to(outside / "000000001.page")
    found = read_paging(paging)
    assert (found.listing, found.strays, found.links) == (("store",), (), ("linked",))
    linked, seen = found.stores()
    assert linked.pages == () and linked.address is None and "symbolic link" in str(linked.problem)
    assert seen.pages == ()
    assert seen.address is None
    assert {entry.kind for entry in seen.others} == {EntryKind.SPECIAL}
    (paging / "8.msg").symlink_to(outside / "7.msg")
    large = LargeMessages(paging)
    assert large.find(8) is None
    assert large.files() == []
    assert [file.name for file in LargeMessages(outside).files()] == ["000000001.page", "7.msg"]


@pytest.mark.parametrize(
    ("name", "address", "fault"),
    [
        ("oldreplica.3", None, {StoreFault.REPLICA}),
        ("oldreplica.3", b"a\n", set()),
        ("store", None, {StoreFault.NO_ADDRESS}),
        ("store", b"?\n", set()),
        ("store", b"\xe4\n", {StoreFault.CHARSET}),
        ("store", b"a\n", set()),
    ],
)
def test_what_is_said_of_a_folder(name: str, address: bytes | None, fault: set[StoreFault], tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    if address is not None:
        (folder / "address.txt").write_bytes(address)
    assert {finding.rule for finding in store_findings(read_store(folder))} == fault


def test_no_such_directory(tmp_path: Path) -> None:
    with pytest.raises(NotReadable, match="nowhere"):
        read_paging(tmp_path / "nowhere")
    assert LargeMessages(tmp_path / "nowhere").files() == []


def test_numbers_as_java_parses_them() -> None:
    assert [java_number(f"{digits}.page") for digits in ("007", "-1", "+2", "", "1_0", "99999999999")] == [
        7,
        -1,
        2,
        None,
        None,
        None,
    ]
