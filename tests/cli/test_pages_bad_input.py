"""Bad input, nasty texts, closed pipes, interrupts: one clear line, the right status, nothing raw on a terminal."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from made_pages import FOLDER, message, store
from program import DECODE, call, started, tree

from pagefmt.outstanding import loaded_journals as knowledge
from pagefmt.storage import files as disk
from pagefmt.storage.files import NotReadable
from pagefmt.vectors.pages import chunks

BASIC = GoldenCase("2.56.0", "basic")
COMMANDS = (("ls",), ("inspect",), ("decode",), ("verify",), ("seal",), ("outstanding",))
RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
NASTY = (
    "\x1b[31mred\x1b[0m \x07 \x9b2J \u202eevil\u202c \u200bzero \u2066iso\u2069 \x7f tag\U000e0041 [bold]markup[/bold]"
)


def failed(*words: str | Path, status: int = 2) -> str:
    """Run a call that must fail, and return the only line of its error message."""
    answer = call("pages", *words)
    assert answer.status == status, answer
    lines = [line for line in answer.err.splitlines() if not line.startswith(("note:", "warning:"))]
    assert len(lines) == 1, answer.err
    assert "Traceback" not in answer.err
    assert "internal error" not in answer.err
    return lines[0]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_paths_that_are_nothing_of_the_kind(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "no such file" in failed(*words, tmp_path / "absent").lower()
    assert "no paging, journal or bindings folder" in failed(*words, tmp_path / "empty")
    assert "neither a folder nor a regular file" in failed(*words, tmp_path / "fifo")
    assert "symbolic links" in failed(*words, tmp_path / "loop")
    assert "neither a folder nor a regular file" in failed(*words, "/dev/zero")
    assert "ARTEMIS_INSTANCE" in failed(*words)


def test_usage_errors_end_with_2() -> None:
    data = BASIC.data()
    assert "column 9" in failed("decode", data, "--where", "color = ")
    assert "not a range" in failed("decode", data, "--page", "3-4")
    assert "'txt' is not one of" in failed("decode", data, "--body", "txt")
    assert "none cannot be combined with others" in failed("decode", data, "--body", "none,size")
    assert "did you mean orders?" in call("messages", "decode", data, "--queue", "order").err
    assert "json only" in failed("outstanding", data, "--positions")
    assert "no such page" in failed("inspect", data, "--page", "77")
    assert "'--edition'" in failed("verify", data, "--edition", "artemis-9")
    assert "No such option" in failed("ls", data, "--nonsense")


def test_manifests_that_are_none(tmp_path: Path) -> None:
    for content, complaint in (
        ("", "line 1"),
        ("{}\n", "not a seal"),
        ("garbage\x00", "line 1"),
        ('{"seal":"pagectl","version":1,"checksum":"crc32c"}\n{"file":"x"}\n', "line 2"),
    ):
        (tmp_path / "seal").write_text(content)
        assert complaint in failed("verify", BASIC.data(), "--manifest", tmp_path / "seal")
    failed("verify", BASIC.data(), "--manifest", tmp_path / "absent")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_files_that_may_not_be_read(tmp_path: Path) -> None:
    data = BASIC.copy(tmp_path)
    unreadable = next((data / "paging").glob("*/000000002.page"))
    unreadable.chmod(0)
    assert "ermission denied" in failed("decode", unreadable)
    answer = call("pages", "verify", data, "--format", "jsonl")
    assert answer.status == 1
    (line,) = [line for line in answer.lines() if line.get("page") == 2]
    assert "ermission denied" in line["error"]


@pytest.mark.parametrize(
    ("content", "status", "kinds"),
    [
        (b"", 0, []),
        (bytes(4096), 1, ["zero-tail"]),
        (b"\x7f\x45\x4c\x46" + bytes(range(256)) * 8, 1, ["bad-start"]),
        (b"{\x7f\xff\xff\xff" + bytes(64), 1, ["torn"]),
        (b"{\xff\xff\xff\xff" + bytes(64), 1, ["bad-length"]),
        (b"{\x00\x00\x00\x00}", 1, ["undecodable"]),
        (b"{\x00\x00", 1, ["fragment"]),
    ],
)
def test_page_files_of_all_kinds(content: bytes, status: int, kinds: list[str], tmp_path: Path) -> None:
    folder = store(tmp_path / "paging", "orders", {1: content})
    for given in (tmp_path / "paging", folder / "000000001.page"):
        answer = call("pages", "verify", given, "--format", "jsonl")
        assert answer.status == status
        (page,) = [line for line in answer.lines() if "page" in line]
        assert [fault["kind"] for fault in page["faults"]] == kinds
        for words in (("ls",), ("inspect", "--hex"), ("decode",), ("decode", "--format", "jsonl")):
            assert call("pages", words[0], given, *words[1:]).status in (0, 1)


def test_conditions_of_ls(tmp_path: Path) -> None:
    paging = tmp_path / "paging"
    good = message(1, "a", "text")
    names = [f"{n}0000000-1111-11ee-8111-111111111111" for n in range(1, 8)]
    store(paging, "fine", {1: good}, names[0])
    store(paging, "torn", {1: good + good[:50]}, names[1])
    store(paging, "unclear", {1: b"{\x00\x00\x00\x01x}"}, names[2])
    store(paging, "empty", {1: b""}, names[3])
    store(paging, "twice", {1: good}, names[4])
    store(paging, "twice", {1: good}, names[5])
    (store(paging, "x", {1: good}, names[6]) / "address.txt").unlink()
    answer = call("pages", "ls", paging, "--format", "json")
    rows = {row["folder"]: row for row in json.loads(answer.out)["stores"]}
    assert answer.status == 1
    assert [rows[name]["condition"] for name in names] == [
        "ok",
        "suspect",
        "undecodable",
        "empty",
        "duplicate",
        "duplicate",
        "no address",
    ]
    assert rows[names[0]]["oldest"] == 1_700_000_000_000
    text = call("pages", "ls", paging).out
    assert "no address.txt" in text
    assert call("pages", "ls", GoldenCase("2.56.0", "unicode-ascii-locale").data(), "--format", "csv").out.count(
        "orphan"
    )
    assert call("pages", "ls", paging / names[0]).status == 0


def test_a_directory_that_is_written_while_it_is_read(tmp_path: Path) -> None:
    # Counts may differ; statuses and lines must not.
    folder = store(
        tmp_path / "paging", "orders", {1: message(1, "orders", "x") * 2000, 2: message(2, "orders", "y") * 2000}
    )
    process = started(*DECODE, tmp_path, "--format", "jsonl")
    try:
        with (folder / "000000002.page").open("ab") as page:
            for n in range(200):
                page.write(message(n, "orders", "z" * n)[: 10 + n])
                page.flush()
        (folder / "000000001.page").rename(folder / "gone")
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode in (0, 1, 2)
    assert "Traceback" not in err
    for line in out.splitlines():
        json.loads(line)


@pytest.mark.parametrize(
    "words",
    [
        ("ls",),
        ("inspect", "--hex"),
        ("decode", "--body", "text"),
        ("decode", "--format", "jsonl", "--body", "text"),
        ("decode", "--format", "csv", "--body", "text"),
        ("verify",),
        ("ls", "--format", "json"),
        ("seal",),
    ],
    ids=" ".join,
)
def test_texts_of_messages_reach_no_terminal_raw(words: tuple[str, ...], tmp_path: Path) -> None:
    page = message(1, NASTY, NASTY + "\ud800", {NASTY: NASTY, "=1+1": "@SUM(A1)"})
    store(tmp_path / "paging", NASTY, {1: page, 2: page[:60]})
    (tmp_path / "paging" / FOLDER / f"{NASTY.replace('/', '')}.page").write_bytes(b"")
    answer = call("pages", words[0], tmp_path, *words[1:])
    assert answer.status in (0, 1)
    assert "red" in answer.out
    assert not RAW.search(answer.out), RAW.search(answer.out)
    assert not RAW.search(answer.err), RAW.search(answer.err)


def test_json_keeps_what_it_escapes(tmp_path: Path) -> None:
    store(tmp_path / "paging", "orders", {1: message(1, "orders", NASTY, {"p\u2028": NASTY})})
    out = call(*DECODE, tmp_path, "--format", "jsonl", "--body", "text").out
    assert len(out.splitlines()) == 1
    line = json.loads(out)
    assert line["body_text"] == NASTY
    assert line["properties"] == {"p\u2028": NASTY} and line["property_types"] == {}


def test_csv_cells_are_no_formulas(tmp_path: Path) -> None:
    store(tmp_path / "paging", "=cmd|' /C calc'!A0", {1: message(1, "@SUM(1)", "-1+1")})
    out = call(
        "messages",
        "decode",
        "--in",
        "pages",
        tmp_path,
        "--format",
        "csv",
        "--columns",
        "store_address,address,body_text,tx",
    ).out
    (row,) = csv.DictReader(io.StringIO(out))
    assert row["store_address"].startswith("'=cmd")
    assert row["address"] == "'@SUM(1)"
    assert row["body_text"] == "'-1+1"
    assert row["tx"] == "-1", "numbers stay numbers"


def many(tmp_path: Path, pages: int = 5) -> Path:
    records = b"".join(message(n, "orders", "text " * 20, {"n": str(n)}) for n in range(3000))
    store(tmp_path / "paging", "orders", dict.fromkeys(range(1, pages + 1), records))
    return tmp_path


@pytest.mark.parametrize("words", [("decode",), ("decode", "--format", "jsonl"), ("inspect", "--hex")], ids=" ".join)
def test_a_closed_pipe_ends_it_quietly(words: tuple[str, ...], tmp_path: Path) -> None:
    process = started("pages", words[0], many(tmp_path), *words[1:])
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 141
    assert [line for line in err.splitlines() if not line.startswith("note:")] == []


@pytest.mark.parametrize(
    "words",
    [("decode", "--format", "csv", "--body", "hex"), ("seal",), ("verify",), ("ls", "--format", "csv")],
    ids=" ".join,
)
def test_a_progress_bar_takes_nothing_from_the_output(words: tuple[str, ...], tmp_path: Path) -> None:
    data = many(tmp_path / "data", 15 if words[0] == "decode" else 2)
    ours, theirs = pty.openpty()
    process = started("pages", words[0], data, *words[1:], stderr=theirs, env={"TERM": "xterm"})
    os.close(theirs)
    with ThreadPoolExecutor(1) as beside:
        drained = beside.submit(_drained, ours)
        assert process.stdout is not None
        out = process.stdout.read()
        process.stdout.close()
        assert process.wait(timeout=60) in (0, 1)
        shown = drained.result(timeout=60)
    os.close(ours)
    assert out == call("pages", words[0], data, *words[1:]).out
    assert b"Traceback" not in shown
    if words[0] == "decode":
        assert b"reading pages" in shown


def _drained(terminal: int) -> bytes:
    """Read from a terminal until the other side is closed."""
    shown = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 65536):
            shown += chunk
    return shown


def test_ctrl_c_ends_it_with_130_and_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    data = many(tmp_path, pages=30)
    process = started(*DECODE, data, "--to", target / "x.jsonl", stdout=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while not list(target.iterdir()) and time.monotonic() < until:
        time.sleep(0.02)
    assert list(target.iterdir()), "it has begun to write"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "interrupted" in err
    assert list(target.iterdir()) == []


def test_ctrl_c_during_the_start_has_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    call = [sys.executable, "-m", "pagectl", "pages", "ls", BASIC.data()]
    done = subprocess.run(call, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_a_full_disk_is_an_error_not_a_success() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    for words in (("decode", "--to", "/dev/full"), ("seal", "--to", "/dev/full")):
        assert "space" in failed(words[0], BASIC.data(), *words[1:]).lower()


def test_nothing_is_left_in_the_directory_by_a_failed_call(tmp_path: Path) -> None:
    data = BASIC.copy(tmp_path)
    before = tree(data)
    for words in (
        ("decode", data, "--where", "("),
        ("decode", data, "--queue", "nobody"),
        ("verify", data, "--manifest", data),
    ):
        assert call("pages", *words).status == 2
    assert tree(data) == before


def test_a_page_that_goes_away_is_named_and_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = disk.open_file

    def vanishing(path: Path) -> object:
        if path.name == "000000002.page":
            raise NotReadable(f"{path}: cannot be read: No such file or directory")
        return opened(path)

    for module in (disk, chunks):
        monkeypatch.setattr(module, "open_file", vanishing)
    answer = call(*DECODE, BASIC.data(), "--format", "jsonl", "--body", "hex")
    assert answer.status == 1
    assert {line["page"] for line in answer.lines()} == {1, 3, 4, 5}
    assert "000000002.page: offset 0: unreadable: " in answer.err and "No such file or directory" in answer.err
    listed = call("pages", "ls", BASIC.data(), "--format", "json")
    (row,) = json.loads(listed.out)["stores"]
    assert (listed.status, row["condition"]) == (1, "suspect")
    assert "000000002.page: offset 0: unreadable: " in row["remarks"][0]


def test_a_journal_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(folder: object) -> None:
        raise NotReadable("journal/activemq-data-1.amq: cannot be read: Input/output error")

    monkeypatch.setattr(knowledge, "load_journal", refused)
    answer = call("pages", "verify", BASIC.data(), "--format", "jsonl")
    assert answer.status == 1
    assert [line["check"] for line in answer.lines() if "check" in line] == ["journal-unreadable"]
    decoded = call(*DECODE, BASIC.data(), "--format", "jsonl", "--body", "none")
    assert decoded.status == 1
    assert "the journal cannot be read: journal/activemq-data-1.amq: cannot be read: Input/output" in decoded.err
    assert all("acked_by" not in line for line in decoded.lines())
    assert call("pages", "outstanding", BASIC.data()).status == 2
