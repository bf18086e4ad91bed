"""A damaged journal is told wherever acknowledgements matter, with what it means: messages delivered again."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from harmed import golden, json_of, no_trace, pages_of, snapshot
from program import Answer, call

from pagefmt.journal.files import JournalHeader, encode_header
from pagefmt.journal.records import JournalRecord, RecordKind, encode
from pagefmt.journal.scan import TornRecords, scan
from pagefmt.journal.writing import FORMAT

WAITING = 28

LOST = "lost"
AGAIN = "delivered again"


def main_file(data: Path) -> Path:
    return max((data / "journal").glob("*.amq"), key=lambda path: len(path.read_bytes().rstrip(b"\0")))


def torn(data: Path) -> None:
    """Overwrite 500 bytes of the acknowledgements with bytes that are no records."""
    path = main_file(data)
    content = bytearray(path.read_bytes())
    end = len(content.rstrip(b"\0"))
    content[end - 600 : end - 100] = b"\xff" * 500
    path.write_bytes(content)


def zeroed_sector(data: Path) -> None:
    path = main_file(data)
    content = bytearray(path.read_bytes())
    end = len(content.rstrip(b"\0"))
    at = (end - 600) // 512 * 512
    content[at : at + 512] = bytes(512)
    path.write_bytes(content)


def cut(data: Path) -> None:
    path = main_file(data)
    content = path.read_bytes()
    path.write_bytes(content[: len(content.rstrip(b"\0")) - 600])


def one_file_is_garbage(data: Path) -> None:
    main_file(data).write_bytes(b"garbage" * 1000)


WAYS = [torn, zeroed_sector, one_file_is_garbage]
EACH = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return golden("scattered-acks").copy(tmp_path)


def tells(answer: Answer, *more: str) -> None:
    said = " ".join((answer.out + answer.err).split())
    no_trace(answer)
    assert "journal" in said and LOST in said and AGAIN in said, answer
    assert answer.status == 1, answer
    assert all(word in said for word in more), answer


@EACH
@pytest.mark.parametrize(
    "words",
    [
        ("pages", "ls"),
        ("pages", "outstanding"),
        ("messages", "decode", "--outstanding"),
        ("pages", "verify"),
        ("pages", "compact"),
        ("disk", "usage"),
    ],
    ids=" ".join,
)
def test_it_is_told(way: Callable[[Path], None], words: tuple[str, ...], directory: Path) -> None:
    way(directory)
    tells(call(*words[:2], directory, *words[2:]))


@EACH
def test_salvage_tells_it(way: Callable[[Path], None], directory: Path, tmp_path: Path) -> None:
    way(directory)
    page = pages_of(directory)[1]
    page.write_bytes(page.read_bytes()[:-7])
    tells(call("pages", "salvage", directory, "--out", tmp_path / "out"))


@EACH
def test_machines_are_told(way: Callable[[Path], None], directory: Path) -> None:
    way(directory)
    answer = call("pages", "ls", directory, "--format", "json")
    (row,) = json_of(answer)["stores"]
    assert any(AGAIN in remark for remark in row["remarks"]) and answer.status == 1, row
    (store,) = json_of(call("pages", "outstanding", directory, "--format", "json"))["stores"]
    assert any(AGAIN in remark for remark in store["remarks"]), store


def test_how_many_messages(directory: Path) -> None:
    torn(directory)
    tells(call("pages", "outstanding", directory), "messages may be delivered again")


@pytest.mark.parametrize("how", [("--in-place",), ("--out", "{out}")], ids=" ".join)
def test_compact_waits_for_consent(how: tuple[str, ...], directory: Path, tmp_path: Path) -> None:
    torn(directory)
    before = snapshot(directory)
    rest = [word.format(out=tmp_path / "out") for word in how]
    refused = call("pages", "compact", directory, *rest)
    assert refused.status == 2 and "--accept-lost-acknowledgements" in refused.err, refused
    assert snapshot(directory) == before and not (tmp_path / "out").exists()
    accepted = call("pages", "compact", directory, *rest, "--accept-lost-acknowledgements")
    assert accepted.status == 1, accepted
    waiting = call("pages", "outstanding", tmp_path / "out" if "--out" in how else directory, "--format", "json")
    (store,) = json_of(waiting)["stores"]
    assert store["queues"][0]["messages"] > WAITING


def test_a_sound_journal_needs_no_consent(directory: Path) -> None:
    answer = call("pages", "compact", directory, "--in-place", "--no-backup")
    assert answer.status == 0 and LOST not in answer.out + answer.err, answer


@pytest.mark.parametrize("case", ["halt", "halt-acks", "tx-halt"])
def test_the_tail_of_a_broker_that_was_halted_is_no_damage(case: str, tmp_path: Path) -> None:
    # Every crash leaves a cut last record or open transactions, of which no client had a confirmation.
    data = golden(case).copy(tmp_path)
    for words in (("ls",), ("outstanding",)):
        answer = call("pages", *words, data)
        assert LOST not in answer.out + answer.err, answer


def test_a_record_of_former_use_whose_begin_is_overwritten_is_no_damage() -> None:
    # Texts of four bytes in it look like records of file 4; a broker that compacts leaves such a file.
    header = JournalHeader(FORMAT, 0, 4)
    live = encode(JournalRecord(RecordKind.DELETE, id=7), 4, FORMAT)
    former = b"key" + b"\x0a\0\0\0\x04k\x007\0\0\0" + bytes(400)
    contents = live + former, live + live[:-3] + former, live + bytes(64) + live[:-3]
    for content, torn in zip(contents, (False, True, True), strict=True):
        found = TornRecords()
        assert len(list(scan(encode_header(header) + content, header, found))) == 1
        assert (found.count > 0, found.tail) == (torn, torn)


@pytest.mark.parametrize("way", [torn, zeroed_sector, cut], ids=lambda way: way.__name__)
def test_one_bound_for_all(way: Callable[[Path], None], tmp_path: Path) -> None:
    data = golden("journal-mix").copy(tmp_path)
    way(data)
    unsure = re.findall(r"unsure: at most (\d+) message", call("recover", data).out)
    for words in (
        "messages verify",
        "messages find --id 13",
        "messages ls",
        "pages verify",
        "journal verify",
        "disk usage",
    ):
        group, name, *options = words.split()
        answer = call(group, name, data, *options)
        said = " ".join((answer.out + answer.err).split())
        assert set(re.findall(r"up to (\d+) messages? may be", said)) == {unsure[-1]}, (words, said)
