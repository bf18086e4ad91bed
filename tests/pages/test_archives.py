"""Backup archives as inputs: what tar would unpack is what is read, and nothing that they name does harm."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import subprocess
import tarfile
import tempfile
import zipfile
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from pagefmt.directory.locate import LocateError, locate, stores
from pagefmt.directory.privacy import private_mode
from pagefmt.storage import archives
from pagefmt.storage import remote_paths as far_paths
from pagefmt.storage.files import FileGone, NotReadable, open_file, read_start
from pagefmt.storage.remote_paths import FarPath, NotLocal, UnpackedArchives, any_path, share_archive, take_archive

CONTENT = b"page " * 1000


def regular(name: str, content: bytes = CONTENT) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    return info, content


def special(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b""


def checked_zst(content: bytes) -> bytes:
    """Compress with a checksum of the content, as the program ``zstd`` does."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


def tar(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as out:
        for info, content in members:
            out.addfile(info, io.BytesIO(content))
    forms: dict[str, Callable[[bytes], bytes]] = {
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".zst": checked_zst,
        ".xz": lzma.compress,
    }
    pack = forms.get(path.suffix, bytes)
    path.write_bytes(pack(raw.getvalue()))
    return path


def archive(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    """Write a zip or tar archive, as the path's suffix says."""
    if path.suffix != ".zip":
        return tar(path, *members)
    with zipfile.ZipFile(path, "w") as out:
        for info, content in members:
            out.writestr(info.name, content)
    return path


def inside(path: Path) -> list[str]:
    """List the regular files of an archive."""
    found: list[str] = []
    folders = [any_path(path)]
    while folders:
        for each in folders.pop().iterdir():
            if each.is_dir():
                folders.append(each)
            elif each.is_file():
                found.append("/".join(each.parts[len(path.parts) :]))
    return sorted(found)


@pytest.mark.parametrize("form", ["tar", "tar.gz", "tar.zst"])
def test_names_are_taken_as_tar_takes_them(tmp_path: Path, form: str) -> None:
    # Nothing is written to the disk, wherever a name leads.
    names = ("/etc/paging/1.page", "../../paging/2.page", "a/../../paging/3.page", "./paging//4.page", "paging/..")
    path = tar(tmp_path / f"x.{form}", *map(regular, names))
    before = sorted(tmp_path.parent.rglob("*"))
    assert inside(path) == ["etc/paging/1.page", "paging/2.page", "paging/3.page", "paging/4.page"]
    assert read_start(any_path(path) / "paging/3.page", 1 << 20) == CONTENT
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_the_last_of_several_members_counts(tmp_path: Path) -> None:
    path = tar(tmp_path / "x.tar", regular("paging/1.page", b"old"), regular("./paging/1.page", b"newer"))
    assert read_start(any_path(path) / "paging" / "1.page", 99) == b"newer"
    replaced = tar(
        tmp_path / "y.tar", regular("paging/1.page"), special("paging/1.page", tarfile.SYMTYPE, "/etc/passwd")
    )
    assert inside(replaced) == []


def test_links_and_devices_are_not_followed(tmp_path: Path) -> None:
    members = (
        regular("paging/1.page"),
        special("paging/2.page", tarfile.SYMTYPE, "/etc/passwd"),
        special("paging/3.page", tarfile.CHRTYPE),
        special("paging/4.page", tarfile.FIFOTYPE),
        special("paging/5.page", tarfile.LNKTYPE, "paging/1.page"),
        special("paging/6.page", tarfile.LNKTYPE, "/etc/passwd"),
    )
    folder = any_path(tar(tmp_path / "x.tar", *members)) / "paging"
    assert inside(tmp_path / "x.tar") == ["paging/1.page", "paging/5.page"]
    assert read_start(folder / "5.page", 5) == CONTENT[:5]
    for name in ("2.page", "3.page", "4.page", "6.page"):
        with pytest.raises(NotReadable, match="not a regular file"):
            open_file(folder / name)
    with pytest.raises(FileGone):
        open_file(folder / "7.page")


@pytest.mark.parametrize("form", ["oldgnu", "pax", "gnu"])
def test_holes_of_a_sparse_member_are_zeros(tmp_path: Path, form: str) -> None:
    page = tmp_path / "paging" / "000000001.page"
    page.parent.mkdir()
    with page.open("wb") as out:
        for at in (0, 1 << 20, (3 << 20) + 5):
            out.seek(at)
            out.write(b"data" * 2000)
        out.truncate(8 << 20)
    given = ["--format=pax", "--sparse-version=1.0"] if form == "pax" else [f"--format={form}"]
    for ending, more in (("tar", ()), ("tar.gz", ("-z",))):
        path = tmp_path / f"x.{ending}"
        subprocess.run(["tar", "-C", str(tmp_path), "-S", *given, *more, "-cf", str(path), "paging"], check=True)
        assert path.stat().st_size < 1 << 20
        found = any_path(path) / "paging" / page.name
        file = open_file(found)
        assert found.stat().st_size == file.size() == 8 << 20
        for at in (0, 7990, (1 << 20) - 10, (3 << 20) + 1, (8 << 20) - 9):
            assert file.read_at(100, at) == page.read_bytes()[at : at + 100]
        assert read_start(found, 8 << 20) == page.read_bytes()


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"GNU.sparse.map": "0,50,20,50", "GNU.sparse.size": "200"}, "holes is wrong at 20"),
        ({"GNU.sparse.map": "5,3,1,9", "GNU.sparse.size": "200"}, "holes is wrong at 1"),
        ({"GNU.sparse.map": "-5,10", "GNU.sparse.size": "200"}, "holes is wrong at -5"),
        ({"GNU.sparse.map": "0,10", "GNU.sparse.size": "-2"}, "holes is wrong at 0"),
        ({"GNU.sparse.map": "0,10,90,20", "GNU.sparse.size": "100"}, "holes is wrong at 90"),
        ({"mtime": "9e999"}, "has a time that is no number"),
        ({"mtime": "nan"}, "has a time that is no number"),
    ],
)
def test_numbers_that_cannot_be_are_told(tmp_path: Path, headers: dict[str, str], said: str) -> None:
    name = "paging/x/000000001.page"
    for form in ("tar", "tar.gz"):
        info, content = regular(name)
        info.pax_headers.update(headers | ({"GNU.sparse.name": name} if len(headers) == 2 else {}))
        path = tar(tmp_path / f"x.{form}", (info, content))
        with pytest.raises(LocateError, match=f"cannot be read as an archive: .*{said}"):
            locate(any_path(path))


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "zip"])
def test_a_page_does_not_hide_behind_what_lies_below_its_name(tmp_path: Path, ending: str) -> None:
    # Two members have names of which one is a folder of the other, and it is unclear which is meant.
    members = [regular("paging/x/000000001.page"), regular("paging/x/000000001.page/below")]
    for turn, given in enumerate((members, members[::-1])):
        path = archive(tmp_path / f"{turn}.{ending}", *given)
        with pytest.raises(LocateError, match=r"holds paging/x/000000001\.page and, as if that were a folder, below"):
            locate(any_path(path))
    other = tar(tmp_path / "other.tar", regular("log/x"), regular("log/x/y"), regular("paging/x/000000001.page"))
    assert "paging/x/000000001.page" in inside(other)


def test_a_directory_that_is_a_link_is_not_taken_for_missing(tmp_path: Path) -> None:
    for name in ("paging", "journal"):
        path = tar(
            tmp_path / f"{name}.tar",
            special(f"data/{name}", tarfile.SYMTYPE, "/mnt/fast"),
            regular("data/bindings/activemq-bindings-1.bindings"),
        )
        with pytest.raises(LocateError, match=rf"data/{name}: a symbolic link, .*tar -h"):
            locate(any_path(path))


def test_what_is_not_whole_is_refused(tmp_path: Path) -> None:
    # The list of pages must never be shorter than the archive's.
    members = [regular(f"paging/x/{n}.page") for n in range(1, 9)]
    for ending in ("tar", "tar.gz", "tar.zst", "tar.xz", "zip"):
        whole = archive(tmp_path / f"whole.{ending}", *members)
        raw = whole.read_bytes()
        assert len(inside(whole)) == 8
        for cut in (5, len(raw) // 8, len(raw) // 2, len(raw) * 3 // 4):
            path = tmp_path / f"cut-{cut}.{ending}"
            path.write_bytes(raw[:cut])
            with pytest.raises((LocateError, NotReadable), match="archive"):
                locate(any_path(path))


def test_a_tar_that_is_cut_between_members_is_refused(tmp_path: Path) -> None:
    path = tar(tmp_path / "x.tar", *(regular(f"paging/x/{n}.page") for n in range(1, 9)))
    os.truncate(path, 3 * (512 + 5120))
    with pytest.raises(LocateError, match="without the zeros at the end of a tar"):
        locate(any_path(path))


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tar.bz2", "tar.zst", "tar.xz"])
def test_archives_put_together_are_refused(ending: str, tmp_path: Path) -> None:
    # tar unpacks only the first of two concatenated archives, which would be half of a broker.
    parts = [tar(tmp_path / f"{n}.{ending}", regular(f"paging/x/{n}.page")).read_bytes() for n in (1, 2)]
    path = tmp_path / f"both.{ending}"
    path.write_bytes(b"".join(parts))
    with pytest.raises(LocateError, match=r"another archive begins after its end, with 'paging/x/2\.page'"):
        locate(any_path(path))
    if ending in ("tar", "tar.gz"):  # as tapes are padded, and with what tar does not look at
        path.write_bytes(parts[0] + bytes(3000) + (b"leftover" * 999 if ending == "tar" else b""))
        assert inside(path) == ["paging/x/1.page"]


@pytest.mark.parametrize("ending", ["tar.gz", "tar.bz2", "tar.zst", "tar.xz"])
def test_a_stream_is_read_to_its_sums(ending: str, tmp_path: Path) -> None:
    # Damage after the last page makes the pages doubtful, and so do bytes after the stream.
    path = tar(tmp_path / f"x.{ending}", regular("paging/x/1.page", os.urandom(300_000)))
    raw = path.read_bytes()
    for wrong in (raw[:-8] + bytes([raw[-8] ^ 1]) + raw[-7:], raw[:-1], raw + b"something else"):
        path.write_bytes(wrong)
        with pytest.raises(LocateError, match="cannot be read as an archive"):
            locate(any_path(path))


def test_capitals_in_an_ending_make_no_difference(tmp_path: Path) -> None:
    for name in ("X.TAR", "X.Tar.GZ", "x.TBZ2", "X.ZIP"):
        path = tmp_path / name
        if name == "X.ZIP":
            with zipfile.ZipFile(path, "w") as out:
                out.writestr("paging/x/1.page", CONTENT)
        else:
            raw = tar(tmp_path / "plain.tar", regular("paging/x/1.page")).read_bytes()
            path.write_bytes({"Z": gzip.compress, "2": bz2.compress}.get(name[-1], bytes)(raw))
        assert inside(path) == ["paging/x/1.page"]


def test_what_is_packed_is_no_page(tmp_path: Path) -> None:
    raw = tar(tmp_path / "x.tar", regular("paging/x/1.page")).read_bytes()
    packed = {"gzip": gzip.compress(raw), "bz2": bz2.compress(raw), "tar": raw, "7-Zip": b"7z\xbc\xaf" + bytes(99)}
    for form, content in packed.items():
        path = tmp_path / "backup.old"
        path.write_bytes(content)
        with pytest.raises(LocateError, match=rf"packed with {form}, not a page; .* end with \.tar, \.zip"):
            locate(any_path(path))
        wrong = tmp_path / "x.tar.xz"
        wrong.write_bytes(content)
        with pytest.raises(LocateError, match=f"its name says xz, but it is packed with {form}"):
            locate(any_path(wrong))
    (tmp_path / "odd").write_bytes(CONTENT)
    assert locate(tmp_path / "odd").page is not None


def test_a_damaged_header_hides_nothing(tmp_path: Path) -> None:
    path = tar(tmp_path / "x.tar", *(regular(f"paging/x/{n}.page") for n in range(1, 9)))
    raw = bytearray(path.read_bytes())
    raw[3 * (512 + 5120) + 150] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(LocateError, match="no header"):
        locate(any_path(path))


def test_damage_of_a_zipped_page_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as out:
        out.writestr("paging/x/000000001.page", CONTENT)
    path.write_bytes(path.read_bytes().replace(b"page page", b"pagE page", 1))
    with pytest.raises(NotReadable, match="CRC"):
        read_start(any_path(path) / "paging/x/000000001.page", 1 << 20)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_of_a_compressed_page_in_a_zip_is_told(tmp_path: Path, method: int) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", method) as out:
        out.writestr("paging/x/000000001.page", os.urandom(3000))
    raw = bytearray(path.read_bytes())
    raw[1000:1100] = bytes(100)
    path.write_bytes(raw)
    with pytest.raises(NotReadable, match="cannot be read"):
        read_start(any_path(path) / "paging/x/000000001.page", 1 << 20)


def test_a_zip_of_a_version_to_come_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("paging/x/000000001.page", CONTENT)
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"PK\x01\x02") + 6] = 99
    path.write_bytes(raw)
    with pytest.raises(LocateError, match=r"cannot be read as an archive: zip file version 9\.9"):
        locate(any_path(path))


def test_zips_put_together_are_refused(tmp_path: Path) -> None:
    # unzip takes only the last of two concatenated archives; a self-extracting program before one is no archive.
    parts = []
    for n in (1, 2):
        with zipfile.ZipFile(tmp_path / f"{n}.zip", "w") as out:
            out.writestr(f"paging/x/{n}.page", CONTENT)
        parts.append((tmp_path / f"{n}.zip").read_bytes())
    path = tmp_path / "both.zip"
    path.write_bytes(b"".join(parts))
    with pytest.raises(LocateError, match="another archive stands in front of it"):
        locate(any_path(path))
    path.write_bytes(b"#!/bin/sh\n" + parts[1])
    assert inside(path) == ["paging/x/2.page"]


def test_backslashes_of_windows_part_folders(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as out:
        for system, name in ((0, "data\\paging\\x\\1.page"), (3, "data\\1.page")):
            info = zipfile.ZipInfo(name)
            info.create_system = system
            out.writestr(info, CONTENT)
    assert inside(path) == ["data/paging/x/1.page", "data\\1.page"]


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("paging/x/000000001.page", CONTENT)
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    with pytest.raises(LocateError, match="encrypted"):
        locate(any_path(path))


def test_a_zip_with_pages_that_python_cannot_unpack_is_refused(tmp_path: Path) -> None:
    # Windows creates such archives of large files. Other files in it do no harm.
    path = tmp_path / "x.zip"
    for name, refused in (("paging/x/1.page", True), ("log/huge.txt", False)):
        with zipfile.ZipFile(path, "w") as out:
            out.writestr(name, CONTENT)
            out.writestr("paging/x/2.page", CONTENT)
        raw = bytearray(path.read_bytes())
        raw[raw.index(b"PK\x01\x02") + 10] = 9
        path.write_bytes(raw)
        if refused:
            with pytest.raises(LocateError, match=r"compresses paging/x/1\.page by zip method 9"):
                locate(any_path(path))
        else:
            assert inside(path) == ["log/huge.txt", "paging/x/2.page"]


def test_a_huge_header_fills_no_memory(tmp_path: Path) -> None:
    # The header is a long name of 300 MiB, in 10 kB of zstd.
    head = tarfile.TarInfo("././@LongLink")
    head.type, head.size = tarfile.GNUTYPE_LONGNAME, 300 << 20
    path = tmp_path / "x.tar.zst"
    with path.open("wb") as out, zstandard.ZstdCompressor().stream_writer(out) as packed:
        packed.write(head.tobuf(tarfile.GNU_FORMAT))
        for _ in range(300):
            packed.write(bytes(1 << 20))
    assert path.stat().st_size < 100_000
    with pytest.raises(LocateError, match="header of"):
        locate(any_path(path))


def test_a_bomb_is_refused_before_it_fills_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total free")
    monkeypatch.setattr(archives.shutil, "disk_usage", lambda folder: usage(10_000_000, 1_500_000))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    path = tar(
        tmp_path / "x.tar.gz", regular("paging/x/1.page", bytes(100_000)), regular("paging/x/2.page", bytes(1 << 20))
    )
    with pytest.raises(LocateError, match="no room"):
        locate(any_path(path))
    other = tar(tmp_path / "y.tar.gz", regular("log/huge.txt", bytes(1 << 20)), regular("paging/x/1.page"))
    assert [page.name for store in stores(locate(any_path(other))) for page in store.pages] == []
    assert inside(other) == ["log/huge.txt", "paging/x/1.page"]
    with pytest.raises(NotReadable, match="not part of a data directory"):
        open_file(any_path(other) / "log/huge.txt")


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tar.zst", "tar.xz", "zip"])
def test_what_unpacks_into_more_than_any_backup_is_refused(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Headers show the sizes before anything is unpacked.
    for most, member in (("RATIO_FROM", "paging/x/1.page"), ("RATIO_FROM", "log/x.txt"), ("MOST_MEMBERS", "log/x.txt")):
        path = tmp_path / f"{most}-{member.replace('/', '-')}.{ending}"
        if ending == "zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
                for n in range(4):
                    out.writestr(f"{member}{n}", bytes(5 << 20))
        else:
            huge = tmp_path / member
            huge.parent.mkdir(parents=True, exist_ok=True)
            with huge.open("wb") as file:
                file.truncate(20 << 20)
            how = {"tar": ["--sparse"], "tar.gz": ["--sparse", "-z"], "tar.zst": ["--zstd"], "tar.xz": ["-J"]}[ending]
            subprocess.run(["tar", "-C", str(tmp_path), *how, "-cf", str(path), *[member] * 3], check=True)
        with monkeypatch.context() as patch:
            patch.setattr(archives, most, 2 if most == "MOST_MEMBERS" else 12 << 20)
            with pytest.raises(LocateError, match="times its own") as told:
                locate(any_path(path))
        assert "\n" not in str(told.value) and not [*tmp_path.glob("pagectl-*")]


def test_headers_without_end_are_no_archive(tmp_path: Path) -> None:
    raw = bytearray()
    for _ in range(5000):
        info = tarfile.TarInfo("paging")
        raw += info.create_pax_header({**info.get_info(), "path": "p" * 101}, "utf-8")[:-512]
    path = tmp_path / "x.tar"
    path.write_bytes(raw)
    with pytest.raises(LocateError, match="archive"):
        locate(any_path(path))


def test_streams_of_xz_follow_one_another(tmp_path: Path) -> None:
    # pxz writes such archives, with padding between the streams.
    raw = tar(tmp_path / "x.tar", regular("paging/x/000000001.page", bytes(range(256)) * 999)).read_bytes()
    path = tmp_path / "x.tar.xz"
    path.write_bytes(b"".join(lzma.compress(raw[at : at + 70_000]) + bytes(8) for at in range(0, len(raw), 70_000)))
    assert read_start(any_path(path) / "paging" / "x" / "000000001.page", 1 << 20) == bytes(range(256)) * 999


def test_the_temporary_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    path = tar(tmp_path / "x.tar.zst", regular("paging/x/000000001.page"))
    assert len(list(stores(locate(any_path(path))))) == 1 and not list(folder.iterdir())
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    far_paths._opened_archive.cache_clear()
    assert len(os.listdir("/proc/self/fd")) < before  # noqa: PTH208


def test_what_a_process_has_unpacked_others_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Others read it as long as the process keeps it; then each unpacks for itself.
    members = [regular(f"paging/x/{n:09d}.page", bytes([n]) * 70_000) for n in (3, 1, 2)]
    path, plain = tar(tmp_path / "x.tar.xz", *members), tar(tmp_path / "x.tar", *members)

    def content(archive: Path) -> list[tuple[str, bytes]]:
        return [(each.name, read_start(each, 1 << 20)) for each in (any_path(archive) / "paging" / "x").iterdir()]

    usual, times = archives.archive_of, []
    monkeypatch.setattr(archives, "archive_of", lambda *given: times.append(given) or usual(*given))
    with UnpackedArchives() as kept:
        shared = kept.share(any_path(path))
        assert shared is not None and len(times) == 1
        for is_kept, token in ((True, shared.unpacked.token), (True, bytes(16)), (False, shared.unpacked.token)):
            far_paths._opened_archive.cache_clear()
            if not is_kept:
                kept._archives.clear()
            else:  # as in another process, which has only what it is sent
                far_paths._open_archives.clear()
            taken = take_archive(shared._replace(unpacked=shared.unpacked._replace(token=token)))
            assert (taken is not None) == (is_kept and token == shared.unpacked.token)
            before = len(times)
            assert content(path) == content(plain)
            own = len([given for given in times[before:] if given[0] == path.name])
            assert own == (0 if taken is not None else 1)
            del taken
    assert share_archive(any_path(plain)) is None is share_archive(tmp_path)


def test_an_archive_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tar(tmp_path / "x.tar", regular("paging/x/000000001.page"))
    place = locate(any_path(path))
    assert len(next(iter(stores(place))).pages) == 1
    tar(path, *(regular(f"paging/x/{n:09d}.page", b"12345") for n in (1, 2, 3)))
    (store,) = stores(place)
    assert [read_start(page.path, 9) for page in store.pages] == [b"12345"] * 3


def test_the_folder_in_an_archive_is_found(tmp_path: Path) -> None:
    pages = ("paging/x/000000001.page", "journal/activemq-data-1.amq")
    for above in ("", "data/", "var/lib/broker/data/"):
        path = tar(tmp_path / f"{len(above)}.tar", *(regular(above + name) for name in pages))
        place = locate(any_path(path))
        assert str(place.paging) == f"{path}/{above}paging" and place.journal is not None
    two = tar(tmp_path / "two.tar", *(regular(f"{name}/paging/x/000000001.page") for name in "ab"))
    with pytest.raises(LocateError, match=r"name one of the directories in it, such as .*two\.tar/a"):
        locate(any_path(two))
    assert locate(any_path(f"{two}/b")).paging == FarPath(two) / "b/paging"
    store = tar(tmp_path / "store.tar", regular("000000001.page"), regular("address.txt", b"orders"))
    (only,) = stores(locate(any_path(store)))
    assert only.address == "orders"


def test_rights_are_those_of_the_archive(tmp_path: Path) -> None:
    path = tar(tmp_path / "x.tar", regular("paging/x/000000001.page"))
    for mode, expected in ((0o644, 0o666), (0o600, 0o600)):
        path.chmod(mode)
        assert private_mode(locate(any_path(path))) == expected


def test_such_a_path_never_reaches_the_system(tmp_path: Path) -> None:
    path = any_path(tar(tmp_path / "x.tar", regular("paging/1.page"))) / "paging" / "1.page"
    for use in (os.fspath, open, os.stat, lambda each: each.open(), lambda each: each.unlink()):
        with pytest.raises(NotLocal):
            use(path)  # type: ignore[operator]
    assert stat.S_ISREG(path.stat().st_mode) and path.parent.parent.parent == path.parent.parent
