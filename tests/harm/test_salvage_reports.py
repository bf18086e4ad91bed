"""What salvage says: losses in messages, what will come again, what to do next; and what a failing disk costs."""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path

import pytest
from harmed import (
    OTHER_FOLDER,
    data_directory,
    faults,
    golden,
    json_of,
    no_trace,
    pagectl,
    pages_of,
    peak,
    permissions_count,
    record,
    spans,
    store,
    stores_of,
    without_override,
)
from program import DECODE, call, pasted

from pagefmt.change.salvage.loose import LooseRecords, MessageIds
from pagefmt.change.salvage.segments import SegmentOutcome, rebuild
from pagefmt.change.salvage.store import read_around
from pagefmt.codec.pages.record import Layout

MIB = 1 << 20
BAD = "000000003.page"


def torn(tmp_path: Path) -> Path:
    """Return a directory in whose first page the third of five messages is destroyed."""
    page = bytearray(b"".join(record(n) for n in range(1, 6)))
    at = spans(bytes(page))[2][0]
    page[at + 20 : at + 60] = b"\xff" * 40
    page[at : at + 5] = bytes(5)
    return data_directory(tmp_path, {1: bytes(page), 2: record(6)})


def test_salvage_speaks_of_messages(tmp_path: Path) -> None:
    answer = call("pages", "salvage", torn(tmp_path), "--out", tmp_path / "out")
    assert answer.status == 1, answer
    assert "lost: 1 message," in answer.out and "2 in new pages" in answer.out, answer


def test_what_to_do_next(tmp_path: Path) -> None:
    data, out = torn(tmp_path), tmp_path / "out"
    told = call("pages", "salvage", data, "--out", out).out
    steps = [told.find(word) for word in ("stop the broker", "mv ", "pagectl pages verify", "start the broker")]
    assert -1 not in steps and steps == sorted(steps), told
    assert pasted(told).endswith("done\n")
    assert {line["id"] for line in call("pages", "decode", data, "--format", "jsonl").lines()} == {1, 2, 4, 5, 6}


def test_a_store_by_itself_is_swapped_without_a_second_folder_of_the_address(tmp_path: Path) -> None:
    data, out = torn(tmp_path), tmp_path / "out"
    told = call("pages", "salvage", stores_of(data)[0], "--out", out).out
    assert pasted(told) == "done\n"
    assert [path.name for path in (data / "paging").iterdir()] == [stores_of(data)[0].name]
    assert len(call("pages", "decode", data, "--format", "jsonl").lines()) == 5


def test_machines_get_the_numbers(tmp_path: Path) -> None:
    answer = call("pages", "salvage", torn(tmp_path), "--out", tmp_path / "out", "--format", "json")
    (told,) = json_of(answer)["stores"]
    assert (told["lost_messages"], told["delivered_again"]) == (1, 0)
    assert ["stays an orphan" in remark for remark in told["remarks"]] == [True]
    assert [(loss["messages"], loss["ids"]) for loss in told["lost"]] == [(1, [])]


def test_ids_where_they_are_known(tmp_path: Path) -> None:
    # The payload is damaged after the id, which can still be read.
    page = bytearray(b"".join(record(n) for n in range(41, 46)))
    _start, end = spans(bytes(page))[2]
    page[end - 13 : end - 9] = b"\xff" * 4  # queue count
    data = data_directory(tmp_path, {1: bytes(page)})
    answer = call("pages", "salvage", data, "--out", tmp_path / "out", "--format", "json")
    (told,) = json_of(answer)["stores"]
    assert [loss["ids"] for loss in told["lost"]] == [[43]]
    assert "message 43" in call("pages", "verify", data).out


@pytest.mark.parametrize("command", ["verify", "outstanding", "ls"])
def test_damage_is_told_in_messages(command: str, tmp_path: Path) -> None:
    answer = call("pages", command, torn(tmp_path))
    said = answer.out + answer.err
    assert answer.status == 1
    assert re.search(r"\b2 whole (messages|records)", said) and "salvage" in said, answer


@pytest.mark.parametrize(
    ("tail", "messages"),
    [
        (record(9)[:60], 1),
        (record(9)[:3], {"at_least": 0, "at_most": 1}),
        (bytes(4096), {"at_least": 0, "at_most": 77}),
        (b"\xff" * 300, {"at_least": 1, "at_most": 5}),
    ],
    ids=["torn record", "a few bytes", "zeros", "garbage"],
)
def test_bounds_where_nobody_can_know(tail: bytes, messages: object, tmp_path: Path) -> None:
    data = data_directory(tmp_path, {1: record(1) + tail, 2: record(2)})
    (told,) = json_of(call("pages", "salvage", data, "--out", tmp_path / "out", "--format", "json"))["stores"]
    assert told["lost_messages"] == messages and told["kept"] == 2


def cut_inside(page: Path, number: int, length: int) -> None:
    content = bytearray(page.read_bytes())
    at = spans(bytes(content))[number][0]
    del content[at + 20 : at + 20 + length]
    page.write_bytes(content)


def acknowledged(page: int, behind: int) -> int:
    lines = call(*DECODE, golden("scattered-acks").data(), "--format", "jsonl").lines()
    return sum(bool(line["acked_by"]) for line in lines if line["page"] == page and line["number"] > behind)


def test_what_will_be_delivered_again(tmp_path: Path) -> None:
    # Acknowledged messages after a gap of unknown length lose their numbers, so they are delivered again.
    data = golden("scattered-acks").copy(tmp_path)
    cut_inside(pages_of(data)[1], 1, 40)
    again = acknowledged(2, 1)
    answer = call("pages", "salvage", data, "--out", tmp_path / "out", "--format", "json")
    (told,) = json_of(answer)["stores"]
    assert told["delivered_again"] == again > 0
    assert f"{again} messages will be delivered again" in call("pages", "salvage", data, "--out", tmp_path / "o").out


def test_without_a_journal_nobody_knows_what_comes_again(tmp_path: Path) -> None:
    data = torn(tmp_path)
    shutil.rmtree(data / "journal")
    (told,) = json_of(call("pages", "salvage", data, "--out", tmp_path / "out", "--format", "json"))["stores"]
    assert told["rescued"] == 2 and told["delivered_again"] is None
    assert "is not known" in call("pages", "salvage", data, "--out", tmp_path / "other").out


def test_lost_acknowledgements_are_told_to_machines(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    (stores_of(data)[0] / "address.txt").unlink()
    file = max((data / "journal").glob("*.amq"), key=lambda path: len(path.read_bytes().rstrip(b"\0")))
    content = bytearray(file.read_bytes())
    end = len(content.rstrip(b"\0"))
    content[end - 600 : end - 100] = b"\xff" * 500
    file.write_bytes(content)
    answer = call("pages", "salvage", data, "--out", tmp_path / "out", "--format", "json")
    (told,) = json_of(answer)["stores"]
    assert answer.status == 1 and any("delivered again" in remark for remark in told["remarks"])


def test_at_most_so_many_again_where_the_gap_is_not_understood(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    page = pages_of(data)[1]
    content = bytearray(page.read_bytes())
    first, last = spans(bytes(content))[1][0], spans(bytes(content))[2][1]
    content[first:last] = b"\xff" * (last - first)
    page.write_bytes(content)
    (told,) = json_of(call("pages", "salvage", data, "--out", tmp_path / "out", "--format", "json"))["stores"]
    assert acknowledged(2, 2) <= told["delivered_again"] <= min(acknowledged(2, 0), told["rescued"])


def test_one_page_at_a_time(tmp_path: Path) -> None:
    # 80 MiB of damaged pages take as much memory as two pages.
    def damaged_pages(to: Path, count: int) -> Path:
        def page(first: int) -> bytes:
            return b"\xff" * 99 + b"".join(record(first + n, "x" * 1000) for n in range(480))  # about a megabyte

        return data_directory(to, {number: page(480 * number) for number in range(1, count + 1)})

    (tmp_path / "few").mkdir()
    _, few = peak("pages", "salvage", damaged_pages(tmp_path / "few", 2), "--out", tmp_path / "out2")
    answer, many = peak("pages", "salvage", damaged_pages(tmp_path, 80), "--out", tmp_path / "out80")
    assert answer.status == 1 and "38400 in new pages" in answer.out, answer
    assert many - few < 32 * MIB, f"{few / MIB:.0f} MiB for 2 pages, {many / MIB:.0f} for 80"


def test_a_full_disk_names_the_folder(tmp_path: Path) -> None:
    loose = LooseRecords(tmp_path)
    os.dup2(os.open("/dev/full", os.O_RDWR), loose._file.fileno())
    loose.add(b"record", 1, again=False)
    with pytest.raises(OSError, match=re.escape(str(tmp_path))):
        list(loose.pages(MessageIds()))


# ---------------------------------------------------------------- a failing disk


@pytest.mark.parametrize("way", ["no permission", "nothing of it", "from an offset on"])
def test_a_page_that_the_system_does_not_give(way: str, tmp_path: Path) -> None:
    """Assert that only the unreadable part of the page is lost.

    Nothing is written if only this user may not read the page.
    """
    data, out = golden("scattered-acks").copy(tmp_path), tmp_path / "out"
    usual = call("pages", "decode", data, "--format", "jsonl").lines()
    (page,) = [path for path in pages_of(data) if path.name == BAD]
    extra, reason, prepare = {}, "Input/output error", None
    if way == "no permission":
        permissions_count()
        page.chmod(0)
        prepare = without_override
    else:
        extra = faults().reads(BAD, 5000 if way == "from an offset on" else 0)
    answer = pagectl("pages", "salvage", data, "--out", out, "--format", "json", extra=extra, prepare=prepare)
    no_trace(answer)
    if way == "no permission":
        assert answer.status == 2 and "cannot be read as" in answer.err, answer
        assert not out.exists(), "what another user may read is not lost"
        return
    assert answer.status == 1, answer
    (told,) = json_of(answer)["stores"]
    assert [loss["file"] for loss in told["lost"]] == [BAD] and reason in told["lost"][0]["detail"]
    assert told["lost_messages"]["at_least"] == 1
    found = call("pages", "decode", out, "--format", "jsonl").lines()
    assert {line["id"] for line in usual if line["page"] != 3} <= {line["id"] for line in found}
    assert any(line["page"] == 3 for line in found) is (way == "from an offset on")


def test_what_lies_behind_a_bad_sector_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The record has both its marks, but a sector inside is missing.
    page = tmp_path / BAD
    page.write_bytes(b"".join(record(n, "x" * 1000) for n in range(1, 6)))
    read = os.preadv

    def failing(handle: int, buffers: list[memoryview], at: int) -> int:
        if at < 4096 and at + len(buffers[0]) > 3584:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read(handle, buffers, at)

    monkeypatch.setattr(os, "preadv", failing)
    monkeypatch.setattr(
        os, "pread", lambda handle, size, at: failing(handle, [memoryview(bytearray(size))], at) and b""
    )
    data, holes = read_around(page)
    assert [(hole.start, hole.end) for hole in holes] == [(3584, 4096)]
    found = rebuild(data, holes, Layout.NEW)
    assert [(each.number, each.message) for each in found.numbered] == [(n, n + 1) for n in range(5)]
    (lost,) = found.lost
    assert lost.outcome is SegmentOutcome.LOST and "Input/output error" in lost.detail and lost.message == 2


def test_a_pipe_in_place_of_a_page(tmp_path: Path) -> None:
    data = data_directory(tmp_path, {1: record(1), 3: record(3)})
    os.mkfifo(pages_of(data)[0].with_name("000000002.page"))
    answer = pagectl("pages", "salvage", data, "--out", tmp_path / "out", seconds=30)
    assert answer.status == 1 and "000000002.page is not a regular file" in answer.out, answer
    assert [path.name for path in pages_of(tmp_path / "out")] == ["000000001.page", "000000003.page"]


def test_each_message_once_from_two_folders(tmp_path: Path) -> None:
    # A second folder of the address has a page that the first has, and one that it does not have.
    data, out = data_directory(tmp_path, {1: record(1) + record(2)}), tmp_path / "out"
    store(data / "paging", {1: record(1) + record(2), 2: record(3) + record(3)}, "a", OTHER_FOLDER)
    answer = call("pages", "salvage", data, "--out", out, "--format", "json")
    (told,) = json_of(answer)["stores"]
    assert sorted(line["id"] for line in call("pages", "decode", out, "--format", "jsonl").lines()) in (
        [1, 2, 3],
        [1, 2, 3, 3],
    )
    assert told["kept"] + told["rescued"] + told["already_there"] == 6


def test_a_page_larger_than_brokers_read_is_read_no_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Such a file was not written by a broker; its beginning may still be rescued.
    monkeypatch.setattr("pagefmt.change.salvage.store.LARGEST_FILE", 4096)
    data = data_directory(tmp_path, {1: record(1, "x") + record(2, "y")})
    (page,) = data.glob("paging/*/*.page")
    os.truncate(page, 10 << 30)
    content, (hole,) = read_around(page)
    assert (len(content), hole.end) == (4096, 10 << 30)
    answer = call("pages", "salvage", data, "--out", tmp_path / "out")
    assert answer.status == 1, answer
    assert "2 messages in place" in answer.out
    assert "10737418240 bytes; no broker reads a page of 2 GiB or more" in answer.out
