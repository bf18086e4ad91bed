"""What root makes the broker can use: owner, group, mode, access lists and extended attributes follow the original."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harmed import as_root_or_skip, golden, pagectl, pages_of, permissions_count, snapshot, stores_of, without_chown

USER, GROUP = 12345, 12346
NAMED_USER = 23456
ALL = 0xFFFFFFFF


def torn(tmp_path: Path) -> Path:
    data = golden("two-addresses").copy(tmp_path)
    page = pages_of(data)[2]
    page.write_bytes(page.read_bytes()[:-7])
    return data


def sound(tmp_path: Path) -> Path:
    return golden("scattered-acks").copy(tmp_path)


def salvaged(data: Path) -> Path:
    """Salvage the directory and return the new paging directory."""
    out = data.parent / "out"
    assert pagectl("pages", "salvage", data, "--out", out).status in (0, 1)
    return out


def copied(data: Path) -> Path:
    out = data.parent / "out"
    assert pagectl("pages", "compact", data, "--out", out).status == 0
    return out / "paging"


def dropped(data: Path) -> Path:
    out = data.parent / "out"
    assert pagectl("queue", "drop", data, "scatter", "--out", out).status == 0
    return out / "paging"


def purged(data: Path) -> Path:
    out = data.parent / "out"
    assert pagectl("queue", "purge", data, "scatter", "--all", "--out", out).status == 0
    return out / "paging"


def converted(data: Path) -> Path:
    out = data.parent / "out"
    assert pagectl("convert", data, "--edition", "artemis-2.56", "--out", out).status == 0
    return out / "paging"


def in_place(data: Path) -> Path:
    assert pagectl("pages", "compact", data, "--in-place").status == 0
    return data / "paging"


def restored(data: Path) -> Path:
    in_place(data)
    assert pagectl("pages", "restore", data).status == 0
    return data / "paging"


WRITERS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], Path]]] = {
    "salvage": (torn, salvaged),
    "compact --out": (sound, copied),
    "queue drop": (sound, dropped),
    "queue purge": (sound, purged),
    "convert": (sound, converted),
    "compact --in-place": (sound, in_place),
    "restore": (sound, restored),
}
EACH = pytest.mark.parametrize("name", WRITERS)


def below(folder: Path) -> list[Path]:
    """List the folder and everything inside, sorted by path."""
    return [folder, *sorted(folder.rglob("*"))]


def compare(before: dict[str, Any], result: Path, fact: Callable[[Path], Any], new: Any) -> None:
    """Assert that ``fact`` of each file is that of its original, or ``new`` for files without one."""
    wrong = {
        path.relative_to(result).as_posix(): (fact(path), wanted)
        for path in below(result)
        if fact(path) != (wanted := before.get(path.relative_to(result).as_posix(), new))
    }
    assert wrong == {}


def facts(data: Path, fact: Callable[[Path], Any]) -> dict[str, Any]:
    paging = data / "paging"
    return {path.relative_to(paging).as_posix(): fact(path) for path in below(paging)}


def owner(path: Path) -> tuple[int, int]:
    return path.lstat().st_uid, path.lstat().st_gid


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.lstat().st_mode))


@EACH
def test_owner_and_group_follow(name: str, tmp_path: Path) -> None:
    as_root_or_skip()
    make, write = WRITERS[name]
    data = make(tmp_path)
    for path in below(data):
        os.chown(path, USER, GROUP)
    before = facts(data, owner)
    compare(before, write(data), owner, (USER, GROUP))


def test_the_compacted_copy_belongs_to_the_broker_from_the_top(tmp_path: Path) -> None:
    as_root_or_skip()
    data = sound(tmp_path)
    for path in below(data):
        os.chown(path, USER, GROUP)
    copied(data)
    assert {owner(path) for path in below(tmp_path / "out")} == {(USER, GROUP)}


@EACH
@pytest.mark.parametrize(("of_file", "of_folder"), [(0o600, 0o700), (0o640, 0o2750), (0o664, 0o775)])
def test_modes_follow(name: str, of_file: int, of_folder: int, tmp_path: Path) -> None:
    make, write = WRITERS[name]
    data = make(tmp_path)
    for path in below(data / "paging"):
        path.chmod(of_folder if path.is_dir() else of_file)
    before = facts(data, mode)
    compare(before, write(data), mode, oct(of_file))


def test_modes_of_one_page_follow(tmp_path: Path) -> None:
    data = torn(tmp_path)
    for path in below(data / "paging"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    out = tmp_path / "out"
    assert pagectl("pages", "salvage", pages_of(data)[2], "--out", out).status in (0, 1)
    assert {mode(path) for path in below(out) if path.is_file()} == {"0o600"}
    assert {mode(path) for path in below(out) if path.is_dir()} == {"0o700"}


def access_list(mask: int) -> bytes:
    """Encode an access list with a named user and this mask as the kernel stores it.

    Its entries: user::rw- user:NAMED_USER:rw- group::rw- mask::mask other::---
    """
    entries = ((1, 6, ALL), (2, 6, NAMED_USER), (4, 6, ALL), (16, mask, ALL), (32, 0, ALL))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def attributes(path: Path) -> dict[str, bytes]:
    return {name: os.getxattr(path, name, follow_symlinks=False) for name in os.listxattr(path, follow_symlinks=False)}


def give(path: Path, name: str, value: bytes) -> None:
    if not hasattr(os, "setxattr"):
        pytest.skip("no extended attributes here")
    try:
        os.setxattr(path, name, value)
    except OSError as err:
        pytest.skip(f"the file system keeps no {name}: {err.strerror}")


@EACH
@pytest.mark.parametrize(
    ("attribute", "value"),
    [("system.posix_acl_access", access_list(4)), ("user.backup.policy", b"nightly")],
    ids=["access list", "attribute"],
)
def test_access_lists_and_attributes_follow(name: str, attribute: str, value: bytes, tmp_path: Path) -> None:
    # With a mask of r-- the mode's group bits show the mask; as the group's own bits they would grant too much.
    make, write = WRITERS[name]
    data = make(tmp_path)
    for path in below(data / "paging"):
        if path.is_file():
            give(path, attribute, value)
    before = facts(data, attributes)
    modes = facts(data, mode)
    result = write(data)
    some = next(what for path, what in before.items() if path.endswith(".page"))
    compare(before, result, attributes, some)
    compare(modes, result, mode, next(what for path, what in modes.items() if path.endswith(".page")))


TABLES = ["x.parquet", "x.arrow", "x.csv", "x.jsonl", "x.txt"]


@pytest.mark.parametrize("of_pages", [0o600, 0o640, 0o400], ids=oct)
@pytest.mark.parametrize("name", [*TABLES, "x.seal"])
def test_what_is_made_of_private_pages_is_private(name: str, of_pages: int, tmp_path: Path) -> None:
    data = sound(tmp_path)
    for path in pages_of(data):
        path.chmod(of_pages)
    out = tmp_path / name
    words = ("pages", "seal" if name == "x.seal" else "decode", data, "--to", out)
    answer = pagectl(*words, prepare=lambda: os.umask(0o022) and None)
    assert answer.status == 0, answer
    others = stat.S_IMODE(out.stat().st_mode) & 0o077 & ~of_pages
    assert not others, f"{name}: {mode(out)} of pages that are {oct(of_pages)}"


def test_one_private_store_is_enough(tmp_path: Path) -> None:
    data = golden("two-addresses").copy(tmp_path)
    for path in pages_of(stores_of(data)[1]):
        path.chmod(0o600)
    out = tmp_path / "x.parquet"
    assert pagectl("pages", "decode", data, "--to", out).status == 0
    assert mode(out) == "0o600"


def test_a_table_that_is_replaced_keeps_its_rights(tmp_path: Path) -> None:
    data = sound(tmp_path)
    for path in pages_of(data):
        path.chmod(0o600)
    out = tmp_path / "x.jsonl"
    out.write_text("")
    out.chmod(0o600)
    assert pagectl("pages", "decode", data, "--to", out).status == 0
    assert mode(out) == "0o600"


@pytest.mark.parametrize("name", [*TABLES, "x.seal", "trace.jsonl", "trace.parquet"])
def test_a_file_of_somebody_else_that_is_replaced_stays_theirs(name: str, tmp_path: Path) -> None:
    as_root_or_skip()
    data, out = sound(tmp_path), tmp_path / name
    out.write_text("")
    out.chmod(0o640)
    os.chown(out, USER, GROUP)
    words = ("replay", "generate", "steady", "--messages", "5")
    if not name.startswith("trace"):
        words = ("pages", "seal" if name == "x.seal" else "decode", str(data))
    assert pagectl(*words, "--to", out).status == 0
    assert (owner(out), mode(out)) == ((USER, GROUP), "0o640") and out.stat().st_size


def of_the_broker(data: Path) -> Path:
    """Give all files to another user, and make them writable by everyone."""
    for path in below(data):
        path.chmod(0o777 if path.is_dir() else 0o666)
        os.chown(path, USER, GROUP)
    return data


@pytest.mark.parametrize("words", [("--in-place",), ("--in-place", "--no-backup")], ids=" ".join)
def test_another_user_compacts_nothing_in_place(words: tuple[str, ...], tmp_path: Path) -> None:
    # That user cannot give files to the broker's user, who could then not write to its own pages.
    as_root_or_skip()
    permissions_count()
    data = of_the_broker(sound(tmp_path))
    before = snapshot(data / "paging")
    answer = pagectl("pages", "compact", data, *words, prepare=without_chown)
    assert snapshot(data / "paging") == before
    said = [line for line in answer.err.splitlines() if line.startswith("pagectl:")]
    assert answer.status == 2 and len(said) == 1 and "owner" in said[0], answer


def test_another_user_restores_what_the_broker_can_use(tmp_path: Path) -> None:
    as_root_or_skip()
    permissions_count()
    data = of_the_broker(sound(tmp_path))
    before = snapshot(data / "paging")
    in_place(data)
    assert pagectl("pages", "restore", data, prepare=without_chown).status == 0
    assert snapshot(data / "paging") == before


@pytest.mark.parametrize("name", ["salvage", "compact"])
def test_another_user_gets_a_folder_of_their_own(name: str, tmp_path: Path) -> None:
    as_root_or_skip()
    permissions_count()
    data = of_the_broker(torn(tmp_path) if name == "salvage" else sound(tmp_path))
    answer = pagectl("pages", name, data, "--out", tmp_path / "out", prepare=without_chown)
    assert answer.status in (0, 1), answer
    assert {owner(path) for path in below(tmp_path / "out")} == {(os.geteuid(), os.getegid())}
    assert "owner" in answer.err, "whose it has to be before the broker uses it"


@pytest.mark.slow
def test_an_export_of_private_pages_is_private(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")
    data = sound(tmp_path)
    for path in pages_of(data):
        path.chmod(0o600)
    out = tmp_path / "table"
    assert pagectl("export", data, "--to", out, "--master", "local[1]", seconds=280).status == 0
    assert all(not stat.S_IMODE(path.stat().st_mode) & 0o077 for path in below(out))
