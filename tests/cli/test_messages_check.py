"""``messages check`` as a monitoring system calls it: statuses, one line, what is not known."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest
from golden_cases import GoldenCase, cases_of_each_kind, spread
from made_pages import message, store
from pagectl.terminal.nagios import Status
from plugin_output import PluginOutput, read_plugin_output
from program import ROOT, call, tree

NAMES = ("messages", "bytes", "pages", "held", "oldest")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return GoldenCase("2.56.0", "scattered-acks").copy(tmp_path_factory.mktemp("check"))


def check(*words: str | Path) -> tuple[int, PluginOutput]:
    answer = call("messages", "check", *words)
    read = read_plugin_output(answer.out)
    assert Status(answer.status).name == read.status
    return answer.status, read


def largest(data: Path) -> dict[str, object]:
    rows = json.loads(call("messages", "top", data, "--sort", "waiting", "--format", "json").out)["queues"]
    return dict(rows[0])


@pytest.mark.parametrize("case", spread(cases_of_each_kind(), 2), ids=str)
def test_it_agrees_with_outstanding(case: GoldenCase) -> None:
    told = call("pages", "outstanding", case.data(), "--format", "json")
    answer = call("messages", "check", case.data(), "--in", "pages", "--format", "json")
    found = json.loads(answer.out)
    assert answer.status == found["exit_status"]
    assert {(row["address"], row["id"]): row["messages"] for row in found["backlogs"]} == {
        (one["address"], queue["id"]): queue["messages"]
        for one in json.loads(told.out)["stores"]
        for queue in one["queues"]
    }
    known = all(row["messages"] is not None for row in found["backlogs"])
    assert known or answer.status == Status.UNKNOWN
    assert (answer.status == 0) == (not found["remarks"]), "without thresholds only what is wrong alerts"


@pytest.mark.parametrize("case", spread(cases_of_each_kind(), 2), ids=str)
def test_it_agrees_with_ls(case: GoldenCase) -> None:
    found = json.loads(call("messages", "check", case.data(), "--format", "json").out)["backlogs"]
    seen = {row["id"]: (row["messages"], row["journal"]) for row in found}
    for queue in json.loads(call("messages", "ls", case.data(), "--format", "json").out)["queues"]:
        if queue["messages"] is not None and queue["address"] is not None and seen[queue["id"]][0] is not None:
            assert seen[queue["id"]] == (queue["messages"], queue["journal"]), queue


def test_a_queue_in_the_journal_alone_is_alarmed() -> None:
    case = GoldenCase("2.56.0", "multicast-acks")
    data = case.data()
    (row,) = (
        row
        for row in json.loads(call("messages", "ls", data, "--in", "journal", "--format", "json").out)["queues"]
        if row["messages"]
    )
    queue = ("--queue", row["queue"])
    assert check(data, *queue, "--in", "journal", "-c", "messages=0")[0] == 2
    assert check(data, *queue, "--in", "journal", "-c", f"messages={row['messages']}")[0] == 0


@pytest.mark.parametrize("words", [("find", "--id", "1"), ("top",), ("check",)], ids=str)
def test_what_has_moved_names_what_answers_now(words: tuple[str, ...], data: Path) -> None:
    answer = call("pages", words[0], data, *words[1:])
    assert answer.status == (3 if words[0] == "check" else 2)
    assert f"is now 'pagectl messages {words[0]}'" in answer.out + answer.err


@pytest.mark.parametrize(
    ("words", "now"),
    [
        (("messages", "ls", "--broker-xml", "x"), "--broker-xml is now --config"),
        (("messages", "check", "--broker-xml", "x"), "--broker-xml is now --config"),
        (("disk", "watch", "--interval", "3"), "--interval is now --every"),
        (("pages", "decode", "--user-id", "x"), "--user-id is now --message-id"),
    ],
)
def test_options_that_were_renamed_name_what_they_are_called_now(words: tuple[str, ...], now: str, data: Path) -> None:
    answer = call(*words[:2], data, *words[2:])
    assert answer.status == (3 if words[1] == "check" else 2)
    assert now in answer.out + answer.err


def test_thresholds_at_their_ends(data: Path) -> None:
    row = largest(data)
    count = row["messages"]
    assert isinstance(count, int)
    for words, status in (
        (["-w", f"messages={count}"], 0),
        (["-w", f"messages={count - 1}"], 1),
        (["-c", f"messages={count - 1}"], 2),
        (["-w", f"messages=@{count}"], 1),
        (["-c", "oldest=1s"], 2),
        (["-c", "oldest=1d", "-w", "pages=100"], 2),
        (["-w", "held=1K"], 1),
        (["-w", "bytes=1G", "-c", "held=1G"], 0),
        (["-w", "pages=0"], 1),
        (["--queue", str(row["queue"]), "-w", f"messages={count - 1}"], 1),
        (["--address", str(row["address"]), "-w", f"messages={count - 1}"], 1),
        (["--by", "address", "-w", "messages=0"], 1),
    ):
        assert check(data, *words)[0] == status, words


def test_performance_values(data: Path) -> None:
    row = largest(data)
    _, read = check(data, "-w", "messages=5", "-c", "oldest=1h")
    assert tuple(read.values) == NAMES and read.more == []
    assert (read.values["messages"].value, read.values["messages"].warn) == (row["messages"], "5")
    assert (read.values["oldest"].unit, read.values["oldest"].crit) == ("s", "3600")
    _, named = check(data, "--queue", str(row["queue"]))
    assert set(named.values) == {f"{row['queue']} {name}" for name in NAMES}
    assert len(check(data, "-v")[1].more) >= 1


@pytest.mark.parametrize("gone", ["bindings", "journal", "paging"])
def test_an_unknown_backlog_is_never_ok(tmp_path: Path, gone: str) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    queue = str(largest(data)["queue"])
    (data / gone).rename(tmp_path / "away")
    for words in ([], ["--queue", queue], ["--by", "address"]):
        assert check(data, *words)[0] == 3, words


@pytest.mark.parametrize("folder", ["journal", "bindings"])
def test_a_journal_that_is_damaged_says_nothing_about_a_queue_without_pages(folder: str, tmp_path: Path) -> None:
    # Damaged records may have been for the queue, so its count is not 0.
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    for pages in (data / "paging").iterdir():
        shutil.rmtree(pages)
    assert check(data, "-c", "messages=100")[0] == 0
    for path in (data / folder).glob("activemq-*"):
        content = bytearray(path.read_bytes())
        content[40:3000] = b"\xff" * 2960
        path.write_bytes(content)
    assert check(data, "-c", "messages=100")[0] == 3


def test_damage_is_a_warning_and_what_it_hides_is_unknown(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    pages = sorted(data.rglob("*.page"))
    pages[-1].write_bytes(pages[-1].read_bytes()[:-1])
    assert check(data)[0] == 1
    pages[0].unlink()
    pages[0].symlink_to(pages[-1])
    status, _ = check(data)
    assert status in (1, 3)
    next(data.rglob("address.txt")).unlink()
    assert check(data)[0] == 3


def test_names_that_nothing_has_and_calls_that_make_no_sense(data: Path, tmp_path: Path) -> None:
    page = next(data.rglob("*.page"))
    for words in (
        [data, "--queue", "nobody"],
        [data, "--address", "nowhere"],
        [page],
        [page.parent, "--queue", "x"],
        [tmp_path],
        [tmp_path / "nowhere"],
        [data, "-w", "messages"],
        [data, "-w", "age=1"],
        [data, "-c", "oldest=5x"],
        [data, "-w", "held=a"],
        [data, "-c", "oldest=1h30"],
        [data, "--queue", "x", "--address", "y"],
        [data, "--queue", "x", "--by", "address"],
        [data, "--by", "page"],
    ):
        status, read = check(*words)
        assert (status, read.more) == (3, []), words
    assert check(page.parent)[0] == 0


def test_a_queue_without_pages_is_ok(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    row = largest(data)
    for page in data.rglob("*.page"):
        page.unlink()
    for folder in (data / "paging").iterdir():
        (folder / "address.txt").unlink()
        folder.rmdir()
    assert check(data, "--queue", str(row["queue"]), "--in", "pages", "-w", "messages=0")[0] == 0
    assert check(data)[0] == 0 and check(data, "--address", str(row["address"]), "--by", "address")[0] == 0


def test_quiet_and_hostile_names(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    before = tree(data)
    assert call("messages", "check", data, "--quiet").out == ""
    assert tree(data) == before, "nothing is changed"
    next(data.rglob("address.txt")).write_text("evil | 'x'=1 \x1b]0;x\x07\n")
    answer = call("messages", "check", data, "-v")
    assert "\x1b" not in answer.out and answer.out.splitlines()[0].count(" | ") == 1


@pytest.mark.parametrize(
    ("words", "meant"), [(("--queue", "red.new"), "red.news"), (("--address", "nws"), "news")], ids=str
)
def test_a_name_that_is_nearly_right(words: tuple[str, str], meant: str) -> None:
    answer = call("messages", "check", GoldenCase("2.56.0", "multicast-acks").data(), *words)
    assert answer.status == 3 and f"did you mean '{meant}'?" in answer.out


def test_it_ends_in_time(tmp_path: Path) -> None:
    folder = store(tmp_path / "paging", "a", {1: message(1, "a", "x") * 200_000})
    os.mkfifo(folder / "pipe.page")
    answer = call("messages", "check", tmp_path, "-t", "0.1")
    assert answer.status == 3


@pytest.fixture
def at_limit(tmp_path: Path) -> tuple[Path, Path]:
    """Return data directory and configuration of an address with as many pages as page-limit-bytes allows."""
    case = ROOT / "tests" / "recorded" / "limits" / "bytes-fail-at-2.56.0"
    with tarfile.open(case / "data.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / "data", case / "broker.xml"


def test_page_limit_is_a_number_to_alert_about(at_limit: tuple[Path, Path]) -> None:
    data, config = at_limit
    known = (data, "--config", config)
    for words, status in (
        ([], 0),
        (["-w", "page-limit=80"], 1),
        (["-c", "page-limit=80"], 2),
        (["-w", "page-limit=100"], 0),
        (["-c", "page-limit=80", "--address", "vault"], 2),
        (["-c", "page-limit=80", "--by", "address"], 2),
    ):
        assert check(*known, *words)[0] == status, words
    _, read = check(*known, "-w", "page-limit=80")
    assert (read.values["page-limit"].value, read.values["page-limit"].unit) == (100, "%")
    assert call("messages", "check", *known, "-w", "page-limits=80").status == 3


def test_a_page_limit_that_nobody_knows_is_unknown(at_limit: tuple[Path, Path]) -> None:
    data, config = at_limit
    assert check(data)[0] == 0
    assert check(data, "-w", "page-limit=80")[0] == 3
    assert check(data, "--config", config, "--in", "pages", "-w", "page-limit=80")[0] == 3
    found = json.loads(call("messages", "check", data, "--format", "json").out)["addresses"]
    assert {(one["page_full"], one["refused_now"], one["page_limit"]) for one in found} == {(None, None, None)}


def test_a_broker_that_never_paged_has_no_paging_directory(tmp_path: Path) -> None:
    # If the journal mentions no pages either, the broker never paged; otherwise the pages are missing.
    case = ROOT / "tests" / "recorded" / "limits" / "fail-full-2.56.0"
    with tarfile.open(case / "data.tar.gz") as packed:
        packed.extractall(tmp_path / "never", filter="data")
    never = tmp_path / "never" / "data"
    assert not (never / "paging").exists()
    assert check(never)[0] == 0
    assert [call("messages", name, never).status for name in ("ls", "top")] == [0, 0]
    assert call("messages", "xml", never, "--to", tmp_path / "xml").status == 0
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    shutil.rmtree(data / "paging")
    assert check(data)[0] == 3
    assert check(data, "--in", "journal")[0] == 0
    for words in (("messages", "ls"), ("messages", "top"), ("messages", "decode"), ("pages", "ls"), ("large", "ls")):
        answer = call(*words, data)
        assert answer.status == 1, words
        assert "no paging directory" in answer.err, words
