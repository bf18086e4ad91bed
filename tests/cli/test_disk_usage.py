"""``disk usage``: every byte counted once, large messages with their owners, on what real brokers wrote."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import program
import pytest
from golden_cases import GoldenCase, cases
from pagectl.app import run

from pagefmt.directory.usage import DirectoryUsage, count_stores

Call = Callable[..., tuple[int, str, str]]
NAMES = ("basic", "natural", "large", "large-core", "large-amqp", "large-compressed", "odd-addresses")
SOME = [case for case in cases() if case.name in NAMES]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    def usage(*words: object) -> tuple[int, str, str]:
        capfd.readouterr()
        status = run(["disk", "usage", *map(str, words)])
        told = capfd.readouterr()
        return status, told.out, told.err

    return usage


def measured(folder: Path) -> tuple[int, int]:
    """Count files and bytes below a folder with ``find``."""
    done = subprocess.run(
        ["find", str(folder), "-type", "f", "-printf", "%s\\n"], capture_output=True, text=True, check=True
    )
    sizes = [int(line) for line in done.stdout.split()]
    return len(sizes), sum(sizes)


def json_answer(call: Call, *words: object) -> dict[str, Any]:
    status, out, err = call(*words, "--format", "json")
    assert status == 0, err
    assert "warning" not in err
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.mark.parametrize("case", SOME, ids=str)
def test_every_byte_is_counted_once(call: Call, case: GoldenCase) -> None:
    found = json_answer(call, case.data())
    assert (found["total"]["files"], found["total"]["bytes"]) == measured(case.data())
    for part, folder in (("paging", "paging"), ("journal", "journal"), ("bindings", "bindings")):
        assert (found[part]["files"], found[part]["bytes"]) == measured(case.data() / folder), part


@pytest.mark.parametrize("case", SOME, ids=str)
def test_pages_by_address_are_those_of_the_manifest(call: Call, case: GoldenCase) -> None:
    expected = {
        store["folder"]: (store["address"], sum(page["size"] for page in store["pages"]))
        for store in case.manifest()["stores"]
    }
    found = {row["folder"]: (row["address"], row["page_bytes"]) for row in json_answer(call, case.data())["addresses"]}
    assert {folder: found[folder] for folder in expected} == expected


@pytest.mark.parametrize("case", [case for case in SOME if case.name.startswith("large")], ids=str)
def test_every_large_message_has_an_owner(call: Call, case: GoldenCase) -> None:
    found = json_answer(call, case.data())
    assert found["large_messages"]["files"] > 0
    owned = sum(row["large_messages"] for row in found["addresses"])
    unknown = found["large_messages"]["files"] - owned
    assert unknown == len(orphans(case))


def orphans(case: GoldenCase) -> set[int]:
    """Return ids of large-message files that neither pages nor journal name in the broker's manifest."""
    manifest = case.manifest()
    names = {int(name["id"]) for name in manifest["large_messages"]}
    return names - paged(manifest) - in_journal(manifest)


def paged(manifest: dict[str, Any]) -> set[int]:
    return {
        m["large_id"] for store in manifest["stores"] for page in store["pages"] for m in page["messages"] if m["large"]
    }


def in_journal(manifest: dict[str, Any]) -> set[int]:
    """Return the ids of messages with a reference in the journal."""
    return {reference["message"] for reference in manifest["journal"]["references"]}


def test_large_messages_of_the_journal_go_to_the_queue_s_address(call: Call) -> None:
    case = GoldenCase("2.56.0", "large-compressed")
    manifest = case.manifest()
    owned = in_journal(manifest) & {int(name["id"]) for name in manifest["large_messages"]}
    assert owned, "the case has large messages in the journal"
    found = json_answer(call, case.data())
    assert sum(row["large_messages"] for row in found["addresses"]) >= len(owned)


@pytest.mark.parametrize("case", SOME, ids=str)
def test_live_records_of_the_journal_are_those_of_the_broker(call: Call, case: GoldenCase) -> None:
    manifest = case.manifest()
    found = json_answer(call, case.data())["journal_content"]
    records = manifest["journal"]["records"]
    assert found["live_records"] == len(records) + sum(len(tx["records"]) for tx in manifest["journal"]["prepared"])
    if not manifest["journal"]["prepared"]:
        assert found["live_bytes"] == sum(23 + record["size"] for record in records)
    journals = program.call("journal", "ls", case.data(), "--format", "json")
    freeable = {each["journal"]: each["freeable"] for each in json.loads(journals.out)["journals"]}
    assert found["reclaimable_bytes"] == freeable["messages"]
    files = [file for file in manifest["journal"]["files"] if file["name"].endswith((".amq", ".hq"))]
    assert (found["files"], found["bytes"]) == (len(files), sum(file["size"] for file in files))


def test_nothing_is_reclaimable_after_a_compaction(call: Call, tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "journal-mix").copy(tmp_path)
    assert json_answer(call, data)["journal_content"]["reclaimable_bytes"] > 0
    assert program.call("journal", "compact", data, "--in-place", "--no-backup").status == 0
    assert json_answer(call, data)["journal_content"]["reclaimable_bytes"] == 0


def test_rows_are_sorted_and_limited(call: Call, tmp_path: Path) -> None:
    for n in range(5):
        store(tmp_path / "data", f"store-{n}", f"a.{n}", [100 * n, 10])
    found = json_answer(call, tmp_path / "data")["addresses"]
    assert [(row["address"], row["bytes"] - len("a.0\n")) for row in found] == [
        (f"a.{n}", 100 * n + 10) for n in (4, 3, 2, 1, 0)
    ]
    text = call(tmp_path / "data", "--limit", "2")[1]
    assert [line.split()[0] for line in text.splitlines() if line.startswith("a.")] == ["a.4", "a.3"]
    assert "and 3 more" in text
    assert "more" not in call(tmp_path / "data", "--limit", "0")[1]


def store(data: Path, folder: str, address: str | None, sizes: list[int]) -> Path:
    where = data / "paging" / folder
    where.mkdir(parents=True)
    (data / "journal").mkdir(exist_ok=True)
    if address is not None:
        (where / "address.txt").write_text(f"{address}\n")
    for n, size in enumerate(sizes, 1):
        (where / f"{n:09d}.page").write_bytes(bytes(size))
    return where


def test_csv(call: Call, tmp_path: Path) -> None:
    store(tmp_path / "data", "one", "=danger", [7])
    status, out, _ = call(tmp_path / "data", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert status == 0
    assert [(row["part"], row["address"], row["page_bytes"]) for row in rows] == [
        ("paging", "", ""),
        ("address", "'=danger", "7"),
    ]


def test_the_rest_of_an_instance(call: Call, tmp_path: Path) -> None:
    home = tmp_path / "broker"
    (home / "etc").mkdir(parents=True)
    (home / "etc" / "broker.xml").write_text(
        '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"/></configuration>'
    )
    store(home / "data", "one", "a", [50])
    for name, size in (("log/artemis.log", 1000), ("tmp/x/y", 20), ("data/paging-old/z/page", 300), ("readme", 4)):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(bytes(size))
    for given in (home, home / "etc" / "broker.xml"):
        found = json_answer(call, home) if given == home else json_answer(call, home, "--config", given)
        rest = {name: part["bytes"] for name, part in found["rest"].items()}
        assert (rest["log"], rest["tmp"], rest["data/paging-old"], rest["files"]) == (1000, 20, 300, 4)
        assert "etc" in rest
        assert (found["total"]["files"], found["total"]["bytes"]) == measured(home)


def test_links_and_pipes_are_not_followed(call: Call, tmp_path: Path) -> None:
    data = tmp_path / "data"
    folder = store(data, "one", "a", [5])
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "big").write_bytes(bytes(10_000))
    (folder / "000000009.page").symlink_to(tmp_path / "outside" / "big")
    (data / "paging" / "link").symlink_to(tmp_path / "outside")
    os.mkfifo(folder / "000000010.page")
    found = json_answer(call, data)
    assert found["total"]["bytes"] < 1000
    assert [row["folder"] for row in found["addresses"]] == ["one"]


def test_what_disappears_while_it_is_counted_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = store(tmp_path, "gone", "b", [5])
    store(tmp_path, "here", "a", [5])
    real = os.scandir

    def vanish(path: str) -> Any:
        if str(path) == str(gone):
            raise FileNotFoundError(2, "No such file or directory", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", vanish)
    usage = DirectoryUsage()
    count_stores(tmp_path / "paging", usage, lambda _n: None)
    assert sorted((row.folder, row.pages.files) for row in usage.addresses) == [("gone", 0), ("here", 1)]
    assert usage.unreadable == []


def test_what_may_not_be_read_is_named(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = store(tmp_path / "data", "closed", "b", [5])
    real = os.scandir

    def refuse(path: str) -> Any:
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    status, out, err = call(tmp_path / "data", "--format", "json")
    assert status == 1
    (said,) = json.loads(out)["unreadable"]
    assert re.fullmatch(f"{closed}: cannot be read as .+ \\(Permission denied\\); run as a user who may .+", said)
    assert err == f"warning: {said}\n"


def test_a_store_folder_alone(call: Call, tmp_path: Path) -> None:
    folder = store(tmp_path / "data", "one", "a", [50, 60])
    store(tmp_path / "data", "two", "b", [70])
    found = json_answer(call, folder)
    assert [(row["address"], row["page_bytes"]) for row in found["addresses"]] == [("a", 110)]


def test_bars_on_a_terminal_only(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tmp_path / "data", "one", "a\x1b[2J", [50, 60])
    assert "█" not in call(tmp_path / "data")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = call(tmp_path / "data")[1]
    assert "█" in out
    assert "\x1b[2J" not in out


def test_sizes_only_opens_no_journal(call: Call, tmp_path: Path) -> None:
    data = tmp_path / "data"
    store(data, "one", "a", [5])
    (data / "journal" / "activemq-data-1.amq").write_bytes(bytes(100))
    assert json_answer(call, data, "--sizes-only")["journal_content"] is None
    status, out, err = call(data, "--format", "json")
    assert (status, json.loads(out)["journal_content"]) == (1, None)
    assert "no file of the journal can be read" in err


def test_no_such_place(call: Call, tmp_path: Path) -> None:
    status, out, err = call(tmp_path / "none")
    assert (status, out, len(err.splitlines())) == (2, "", 1)


@pytest.mark.slow
def test_a_hundred_thousand_folders(call: Call, tmp_path: Path) -> None:
    paging = tmp_path / "data" / "paging"
    paging.mkdir(parents=True)
    for n in range(100_000):
        (paging / f"{n:032x}").mkdir()
        (paging / f"{n:032x}" / "address.txt").write_text(f"a.{n}\n")
    found = json_answer(call, tmp_path / "data")
    assert len(found["addresses"]) == 100_000


def test_a_large_message_file_that_nothing_refers_to(tmp_path: Path, call: Call) -> None:
    data = GoldenCase("2.56.0", "large-core").copy(tmp_path)
    (data / "large-messages" / "999999.msg").write_bytes(bytes(10))
    assert "1 that no queue waits for" in call(data)[1]
    next((data / "journal").glob("*.amq")).write_bytes(b"x")
    assert "1 that no queue waits for" not in call(data)[1]


def test_a_file_is_no_folder_to_count(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # Counting the folder around the file would answer another question.
    page = sorted(GoldenCase("2.56.0", "basic").copy(tmp_path).glob("paging/*/*.page"))[0]
    for file in (page, Path("/etc/hostname")):
        assert run(["disk", "usage", str(file)]) == 2
        told = capfd.readouterr()
        assert not told.out and "name its store folder, the data directory" in told.err
