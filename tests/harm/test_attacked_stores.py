"""What ``messages``, ``journal``, ``large``, ``convert`` and ``recover`` do with a directory that somebody prepared.

Pipes and links under the names of files, no rights, names that are no text: an answer in time, in words.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from harmed import golden, json_of, no_trace, pagectl, snapshot
from program import Answer, call

CASE = "journal-mix"
CALLS = (
    "messages ls {data}", "messages decode {data}", "messages find {data} --contains a", "messages verify {data}",
    "messages xml {data} --to {out}.xml", "journal ls {data}", "journal inspect {data}", "journal verify {data}",
    "journal compact {data} --out {out}", "large ls {data}", "large verify {data}",
    "convert {data} --edition artemis-2.56 --out {out}", "recover {data} --out {out}",
)  # fmt: skip
ALL_IS_WELL = {"large ls", "large verify", "convert", "recover"}
"""Calls that may end with 0: what is missing is no matter of theirs, or mended."""
NOBODY = 65534


def first(folder: Path, pattern: str) -> Path:
    return sorted(folder.rglob(pattern))[0]


def asked(words: str, data: Path, out: Path) -> Answer:
    answer = pagectl(*(word.format(data=data, out=out) for word in words.split()), seconds=60)
    no_trace(answer)
    return answer


def name_of(words: str) -> str:
    return words.partition(" {")[0]


@pytest.mark.parametrize("words", CALLS, ids=name_of)
def test_a_pipe_is_not_waited_for(words: str, tmp_path: Path) -> None:
    data = golden(CASE).copy(tmp_path)
    for path in (first(data, "*.amq"), first(data, "*.page")):
        path.unlink()
        os.mkfifo(path)
    os.mkfifo(data / "large-messages" / "77.msg")
    answer = asked(words, data, tmp_path / "out")
    assert answer.status or name_of(words) in ALL_IS_WELL, answer
    assert "not a regular file" in answer.out + answer.err
    assert "up to 0 messages" not in answer.out + answer.err, "nobody knows what the file held"


@pytest.mark.parametrize("words", CALLS, ids=name_of)
def test_a_link_is_not_followed_in_silence(words: str, tmp_path: Path) -> None:
    data = golden(CASE).copy(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    for path in (first(data, "*.amq"), first(data, "*.page")):
        path.symlink_to(shutil.move(path, outside / path.name))
    answer = asked(words, data, tmp_path / "out")
    assert answer.status or name_of(words) in ALL_IS_WELL, answer
    assert "not a regular file" in answer.out + answer.err or "symbolic link" in answer.err


def put_in_place(page: Path, kind: str) -> None:
    """Replace a page by a symbolic link or a FIFO."""
    if kind == "link":
        page.symlink_to(shutil.move(page, page.parents[3] / page.name))
    else:
        page.unlink()
        os.mkfifo(page)


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_page_that_is_not_read_is_told(kind: str, tmp_path: Path) -> None:
    # ``--page`` decides whether the page is asked for.
    data = golden("multicast-acks").copy(tmp_path)
    page = sorted(data.rglob("*.page"))[2]
    put_in_place(page, kind)
    for words in CALLS:
        if name_of(words) in ("messages ls", "messages decode", "messages find", "messages xml"):
            answer = asked(words, data, tmp_path / "out")
            assert answer.status == 1 and page.name in answer.err, (words, answer)
    for words, status in (((), 1), (("--page", "3"), 1), (("--page", "4:"), 0)):
        answer = call("pages", "decode", data, *words, "--format", "jsonl")
        assert (answer.status, page.name in answer.err) == (status, bool(status)), answer


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_a_linked_page_holds_is_not_counted_as_nothing(kind: str, tmp_path: Path) -> None:
    data = golden("multicast-acks").copy(tmp_path)
    for page in data.rglob("*.page"):
        put_in_place(page, kind)
    answer = call("messages", "ls", data, "--format", "json")
    assert {each["pages"] for each in json_of(answer)["queues"] if each["address"] == "news"} == {None}
    assert answer.err.count("not a regular file: it is not read") == 1 and "000000001.page and 11 others" in answer.err


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """Yield a folder that every user may write to."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
@pytest.mark.parametrize("words", CALLS, ids=name_of)
def test_a_user_without_rights_is_told(words: str, elsewhere: Path) -> None:
    data = golden(CASE).copy(elsewhere)
    call(*(word.format(data=data, out=elsewhere / "by root") for word in words.split()))  # imports what it needs
    first(data, "*.amq").chmod(0)
    first(data, "*.page").chmod(0)
    os.seteuid(NOBODY)
    try:
        answer = call(*(word.format(data=data, out=elsewhere / "out") for word in words.split()))
    finally:
        os.seteuid(0)
    no_trace(answer)
    assert answer.status or name_of(words) in ALL_IS_WELL, answer
    assert "ermission denied" in answer.out + answer.err


def test_names_of_queues_that_are_no_text(tmp_path: Path) -> None:
    # The first letter is a lone surrogate.
    data = GoldenCase("2.56.0", CASE).copy(tmp_path)
    names = ["a.mixed".encode(form) for form in ("utf-16-be", "utf-16-le")]
    for bindings in (data / "bindings").glob("*.bindings"):
        content = bindings.read_bytes()
        content = content.replace(names[0], b"\xd8\0" + names[0][2:])
        bindings.write_bytes(content.replace(names[1], b"\0\xd8" + names[1][2:]))
    forms = ("--format csv", "--format jsonl", f"--to {tmp_path}/a.parquet", f"--to {tmp_path}/a.arrow")
    named = ("messages ls {data}", *(f"messages decode {{data}} {form}" for form in forms))
    for words in (*named, "pages decode {data} --columns id,queue_names --to {out}.parquet", *CALLS):
        answer = call(*(word.format(data=data, out=tmp_path / "out") for word in words.split()))
        no_trace(answer)
        assert answer.status == 0, (words, answer)
        said = answer.out + answer.err
        assert said.encode() and (r"\ud800" in said or not words.startswith("messages ls"))
        shutil.rmtree(tmp_path / "out", ignore_errors=True)


@pytest.mark.parametrize("target", ["nowhere", "{name}"], ids=["nowhere", "itself"])
@pytest.mark.parametrize("name", ["paging", "journal", "bindings", "large-messages"])
def test_a_directory_that_is_not_seen_is_not_an_empty_one(name: str, target: str, tmp_path: Path) -> None:
    # Such a link may lead to where nothing is mounted.
    data = golden(CASE).copy(tmp_path)
    shutil.rmtree(data / name)
    (data / name).symlink_to(target.format(name=name))
    for words in ("pages ls {data}", "pages salvage {data} --out {out}", "disk usage {data}", *CALLS):
        answer = call(*(word.format(data=data, out=tmp_path / "out") for word in words.split()))
        no_trace(answer)
        assert answer.status == 2 and str(data / name) in answer.err, (words, answer)
        assert "symbolic link" in answer.err, (words, answer)


WHOLE = (
    *(words for words in CALLS if words.startswith("messages")),
    "pages ls {data}", "pages verify {data}", "pages outstanding {data}", "pages decode {data}", "messages top {data}",
    "messages check {data} -w messages=1000000", "pages compact {data}", "pages compact {data} --out {out}",
    "convert {data} --edition artemis-2.56", "recover {data}", "pages salvage {data} --out {out}",
)  # fmt: skip


def test_a_store_that_is_a_link_is_not_left_out_in_silence(tmp_path: Path) -> None:
    # A broker follows the link. pagectl does not, and must not count as if the store did not exist.
    data = golden(CASE).copy(tmp_path)
    (folder,) = (page.parent for page in data.glob("paging/*/000000001.page"))
    folder.symlink_to(shutil.move(folder, tmp_path / "elsewhere"))
    for words in WHOLE:
        answer = call(*(word.format(data=data, out=tmp_path / "out") for word in words.split()))
        no_trace(answer)
        assert answer.status in (1, 2, 3) and "symbolic link" in answer.out + answer.err, (words, answer)
        shutil.rmtree(tmp_path / "out", ignore_errors=True)


def test_salvage_of_a_directory_without_pages(tmp_path: Path) -> None:
    data = golden(CASE).copy(tmp_path)
    shutil.rmtree(data / "paging")
    answer = call("pages", "salvage", data, "--out", tmp_path / "out")
    assert answer.status == 2 and "no paging directory" in answer.err, answer


def test_an_unfinished_compaction_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    # Half of the compaction may be done: only its control file shows which files count.
    data = golden(CASE).copy(tmp_path)
    control = data / "journal" / "journal-rename-control.ctr"
    control.symlink_to(tmp_path / "elsewhere")
    unfinished = data / "journal" / "activemq-data-9.amq.cmp"
    shutil.copy(first(data, "*.amq"), unfinished)
    before = snapshot(data)
    assert "is not known" in asked("journal verify {data}", data, tmp_path / "out").out
    for words in ("journal compact {data} --in-place", "journal compact {data} --out {out}"):
        answer = asked(words, data, tmp_path / "out")
        assert answer.status == 2 and control.name in answer.err, answer
    assert snapshot(data) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
@pytest.mark.parametrize("name", ["paging", "journal", "large-messages"])
def test_what_may_be_listed_and_not_looked_at_is_told(name: str, elsewhere: Path) -> None:
    # Sizes that the system does not reveal are not zero.
    data = golden("large-core").copy(elsewhere)
    folder = next((data / "paging").iterdir()) if name == "paging" else data / name
    call("disk", "usage", data)  # imports what it needs
    folder.chmod(0o444)
    os.seteuid(NOBODY)
    try:
        answer = call("disk", "usage", data)
    finally:
        os.seteuid(0)
    no_trace(answer)
    assert answer.status == 1 and "ermission denied" in answer.err, answer


BODIES = (
    "messages decode {data}", "messages decode {data} --body text", "messages decode {data} --to {out}/a.csv",
    "pages decode {data} --body sha256", "messages xml {data} --to {out}/a.xml", "messages find {data} --contains a",
    "large ls {data}", "large verify {data}", "messages verify {data}",
)  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
@pytest.mark.parametrize("words", BODIES)
def test_a_body_that_may_not_be_looked_at_is_not_a_missing_one(words: str, elsewhere: Path) -> None:
    data, out = golden("large-core").copy(elsewhere), elsewhere / "out"
    for folder in (elsewhere / "by root", out):
        folder.mkdir()
        folder.chmod(0o777)
    call(*(word.format(data=data, out=elsewhere / "by root") for word in words.split()))  # imports what it needs
    (data / "large-messages").chmod(0o444)
    os.seteuid(NOBODY)
    try:
        answer = call(*(word.format(data=data, out=out) for word in words.split()))
    finally:
        os.seteuid(0)
    no_trace(answer)
    said = " ".join((answer.out + answer.err).split())  # lines may be folded
    assert "ermission denied" in said or "17 bodies could not be searched" in said, answer
    assert "is not there" not in said and (answer.status in (1, 2) or "could not be searched" in said), answer


def test_what_a_folder_that_is_not_seen_may_hold_is_not_counted_as_nothing(tmp_path: Path) -> None:
    # A store that is a link may have messages of any queue.
    data = golden(CASE).copy(tmp_path)
    (folder,) = (page.parent for page in data.glob("paging/*/000000001.page"))
    folder.symlink_to(shutil.move(folder, tmp_path / "elsewhere"))
    answer = call("messages", "ls", data, "--format", "json")
    rows = json.loads(answer.out)["queues"]
    assert answer.status == 1 and rows
    assert all(row["pages"] is None and "symbolic link" in row["unknown"] for row in rows), answer
    dropped = call("queue", "drop", data, rows[0]["queue"])
    assert "symbolic link" in dropped.out + dropped.err, dropped
