"""The pages commands over what real brokers wrote: answers, formats, statuses, and that nothing is changed."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from broker_messages import as_lines_have_it, differences, explained
from editions_of import EDITION_OF
from golden_cases import GoldenCase, cases, cases_of_each_kind, spread
from pagectl.decoding import run
from program import DECODE, call, environment, tree

BASIC = GoldenCase("2.56.0", "basic")
ACKS = GoldenCase("2.56.0", "multicast-acks")
DAMAGED = GoldenCase("2.10.1", "bad-end")
READING = (
    ("ls",), ("ls", "--format", "json"), ("ls", "--format", "csv"), ("inspect", "--hex"), ("decode",),
    ("decode", "--format", "jsonl", "--body", "text,value,hex"), ("verify",), ("outstanding",), ("seal",),
    ("outstanding", "--format", "json", "--positions"),
)  # fmt: skip


def manifest_messages(case: GoldenCase) -> dict[tuple[str, int, int], dict[str, Any]]:
    return {
        (store["folder"], message["page"], message["number"]): {
            "store": store["folder"],
            "store_address": store["address"],
        }
        | as_lines_have_it({key: value for key, value in message.items() if key != "class"})
        for store in case.manifest()["stores"]
        for page in store["pages"]
        for message in page["messages"]
    }


@pytest.mark.parametrize("case", cases(), ids=str)
def test_decode_says_what_the_broker_said(case: GoldenCase) -> None:
    shown = ("--format", "jsonl", "--body", "size,sha256,text,value")
    answer = call("messages", "decode", "--in", "pages", case.data(), *shown)
    beside = {"where", "file", "queues_state"}
    lines = [{name: line[name] for name in line if name not in beside} for line in answer.lines()]
    ours = {(line["store"], line["page"], line["number"]): line for line in lines}
    theirs = manifest_messages(case)
    assert ours.keys() == theirs.keys()
    for position, said in theirs.items():
        found = [
            (path, was, now)
            for path, was, now in differences(said, ours[position])
            if not explained(case.version, said, path, was, now)
        ]
        assert found == [], position
    edition = ("--edition", "artemis-2.56")  # without the journal nothing tells the broker that wrote it
    lines = call("messages", "decode", "--in", "pages", case.data(), *shown, *edition).lines()
    more = beside | {"acked_by"}
    as_they_lie = call("pages", "decode", case.data(), *shown, *edition).lines()
    assert as_they_lie == [{name: line[name] for name in line if name not in more} for line in lines]


@pytest.mark.parametrize("case", cases("2.56.0", "2.17.0", "hornetq-2.4.7"), ids=str)
def test_ls_and_verify_count_what_the_broker_counted(case: GoldenCase) -> None:
    stores = case.manifest()["stores"]
    listed = {
        row["folder"]: row for row in json.loads(call("pages", "ls", case.data(), "--format", "json").out)["stores"]
    }
    assert {
        folder: (row["address"], row["pages"], row["messages"], row["bytes"]) for folder, row in listed.items()
    } == {
        store["folder"]: (
            store["address"],
            len(store["pages"]),
            sum(page["records"] for page in store["pages"]),
            sum(page["size"] for page in store["pages"]),
        )
        for store in stores
    }
    answer = call("pages", "verify", case.data(), "--format", "jsonl", "--edition", EDITION_OF[case.version].value)
    pages = {(line["store"], line["page"]): line for line in answer.lines() if "page" in line}
    for store in stores:
        for page in store["pages"]:
            ours = pages[store["folder"], page["page"]]
            said = {key: page[key] for key in ("file", "size", "records", "bytes_read", "suspects")}
            assert {key: ours[key] for key in said} == said
            assert (ours["error"] is None) == (page["error"] is None)


def test_outstanding_is_what_decode_outstanding_shows() -> None:
    answer = call("pages", "outstanding", ACKS.data(), "--format", "json", "--positions")
    assert answer.status == 0
    (store,) = json.loads(answer.out)["stores"]
    names = {queue["queue"] for queue in store["queues"]}
    assert names == {"all.news", "none.news", "part.news", "red.news"}
    for queue in store["queues"]:
        lines = call(
            "messages",
            "decode",
            "--in",
            "pages",
            ACKS.data(),
            "--outstanding",
            "--queue",
            queue["queue"],
            "--format",
            "jsonl",
        ).lines()
        assert [[line["page"], line["number"]] for line in lines] == queue["positions"]
        assert len(lines) == queue["messages"]
        assert sum(line["length"] + 6 for line in lines) == queue["bytes"]
    holders = {page["page"]: set(page["held_by"]) for page in store["pages"]}
    expected = defaultdict(set)
    for queue in store["queues"]:
        for page, _ in queue["positions"]:
            expected[page].add(queue["queue"])
    assert holders == {page: expected[page] for page in holders}


def test_decode_picks_by_queue_selector_page_and_limit() -> None:
    def positions(*words: str) -> list[tuple[int, int]]:
        lines = call(*DECODE, ACKS.data(), "--format", "jsonl", *words).lines()
        return [(line["page"], line["number"]) for line in lines]

    everything = positions()
    by_id = {message["id"]: message for message in manifest_messages(ACKS).values()}
    assert len(everything) == len(by_id) == 89
    red = positions("--where", "color = 'red'")
    assert 0 < len(red) < 89
    assert red == positions("--where", "NOT (color <> 'red')")
    assert sorted(red + positions("--where", "color <> 'red'")) == everything
    assert positions("--queue", "red.news") == red, "the queue's filter is color = 'red'"
    assert positions("--page", "3:4") == [at for at in everything if at[0] in (3, 4)]
    assert positions("--page", "11:") == [at for at in everything if at[0] >= 11]
    assert positions("--page", "2") == [at for at in everything if at[0] == 2]
    assert positions("--limit", "5") == everything[:5]
    assert positions("--limit", "0") == []
    assert positions("--where", "AMQPriority < 0") == []


@pytest.mark.parametrize("case", spread(cases_of_each_kind(), 3), ids=str)
def test_few_messages_are_told_as_many_are(case: GoldenCase, monkeypatch: pytest.MonkeyPatch) -> None:
    # Small directories are read record by record.
    calls = [("--format", "jsonl", "--body", "size,sha256,text,value,base64"), ("--body", "text")]
    every = [("pages", "decode", case.data(), *words) for words in calls]
    every += [("messages", "decode", case.data(), *words) for words in (*calls, ("--format", "csv", "--outstanding"))]
    few = [call(*words) for words in every]
    monkeypatch.setattr(run, "PLAIN", -1)
    assert few == [call(*words) for words in every]


@pytest.mark.parametrize("command", ["pages", "messages"])
def test_few_messages_are_shown_without_arrow(command: str) -> None:
    code = (
        "import sys, pagectl.app; pagectl.app.run(sys.argv[1:]);"
        "print({'pyarrow', 'pandas', 'brokerconf.linting.lint', 'pagefmt.selector'} & set(sys.modules))"
    )
    words = [sys.executable, "-c", code, command, "decode", BASIC.data(), "--format", "csv"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_decode_csv_has_the_same_messages() -> None:
    columns = "store,page,number,id,body_sha256,queues,properties"
    lines = call("pages", "decode", BASIC.data(), "--format", "jsonl", "--body", "size,sha256").lines()
    rows = list(
        csv.DictReader(io.StringIO(call("pages", "decode", BASIC.data(), "--format", "csv", "--columns", columns).out))
    )
    assert [(row["store"], row["page"], row["number"], row["id"], row["body_sha256"]) for row in rows] == [
        (line["store"], str(line["page"]), str(line["number"]), str(line["id"]), line["body_sha256"]) for line in lines
    ]
    assert [row["queues"] for row in rows] == [", ".join(map(str, line["queues"])) for line in lines]


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ("none", set()),
        ("size", {"body_size"}),
        ("sha256,hex", {"body_sha256", "body_hex"}),
        ("text", {"body_text"}),
        ("base64", {"body_base64"}),
    ],
)
def test_body_keys_are_those_asked_for(body: str, keys: set[str]) -> None:
    for line in call("pages", "decode", BASIC.data(), "--format", "jsonl", "--body", body).lines():
        assert {key for key in line if key.startswith("body_")} == keys


def test_compressed_bodies_are_inflated_only_when_asked() -> None:
    data = GoldenCase("2.56.0", "large-compressed").data()
    stored = call("pages", "decode", data, "--format", "jsonl", "--body", "hex").lines()
    inflated = call("pages", "decode", data, "--format", "jsonl", "--body", "hex", "--inflate").lines()
    assert len(stored) == len(inflated) > 5
    for before, after in zip(stored, inflated, strict=True):
        raw = bytes.fromhex(before["body_hex"])
        assert zlib.decompress(raw).hex() == after["body_hex"]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_reading_changes_nothing_and_is_deterministic(words: tuple[str, ...]) -> None:
    for case in (ACKS, DAMAGED, GoldenCase("2.56.0", "large-core")):
        before = tree(case.root())
        first = call("pages", words[0], case.root(), *words[1:])
        again = call("pages", words[0], case.root(), *words[1:])
        assert first == again
        assert first.status in (0, 1)
        assert tree(case.root()) == before


def test_what_dir_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = BASIC.root()
    (folder,) = (root / "data" / "paging").iterdir()
    expected = call("pages", "decode", root, "--format", "jsonl").out
    for given in (root, root / "data", root / "data" / "paging", folder):
        assert call("pages", "decode", given, "--format", "jsonl").out == expected, given
    one = call("pages", "decode", folder / "000000002.page", "--format", "jsonl").lines()
    assert one == [json.loads(line) for line in expected.split("\n") if line and json.loads(line)["page"] == 2]
    assert "is read as a store folder" in call("pages", "ls", folder).err
    monkeypatch.setenv("ARTEMIS_INSTANCE", str(root))
    assert call("pages", "decode", "--format", "jsonl").out == expected
    monkeypatch.delenv("ARTEMIS_INSTANCE")
    assert call("pages", "decode").status == 2


def test_directories_that_were_moved_apart(tmp_path: Path) -> None:
    data = BASIC.copy(tmp_path)
    for name in ("paging", "journal", "bindings", "large-messages"):
        (data / name).rename(tmp_path / f"other-{name}")
    config = tmp_path / "instance" / "etc" / "broker.xml"
    config.parent.mkdir(parents=True)
    places = "".join(
        f"<{tag}>{tmp_path}/other-{name}</{tag}>"
        for tag, name in (
            ("paging-directory", "paging"),
            ("journal-directory", "journal"),
            ("bindings-directory", "bindings"),
            ("large-messages-directory", "large-messages"),
        )
    )
    config.write_text(
        f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{places}</core></configuration>'
    )
    expected = call("pages", "decode", BASIC.root(), "--format", "jsonl").out
    assert call("pages", "decode", tmp_path / "instance", "--format", "jsonl").out == expected
    assert call("pages", "decode", "--config", config, "--format", "jsonl").out == expected


def test_the_directories_may_be_links_and_nothing_below_them(tmp_path: Path) -> None:
    data = BASIC.copy(tmp_path)
    (data / "paging").rename(tmp_path / "pages")
    (data / "paging").symlink_to(tmp_path / "pages")
    assert len(call("pages", "decode", data, "--format", "jsonl").lines()) == 50
    (folder,) = (tmp_path / "pages").iterdir()
    page = folder / "000000003.page"
    page.rename(tmp_path / "elsewhere")
    page.symlink_to(tmp_path / "elsewhere")
    lines = call("pages", "decode", data, "--format", "jsonl").lines()
    assert lines
    assert {line["page"] for line in lines} == {1, 2, 4, 5}
    answer = call("pages", "verify", data, "--format", "jsonl")
    assert answer.status == 1
    assert [line["check"] for line in answer.lines() if "000000003.page" in line.get("place", "")] == ["special-file"]


def test_a_file_that_is_deleted_while_it_is_sealed_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A running broker deletes pages and bodies that are no longer needed.
    from pagefmt.check import seal

    data = BASIC.copy(tmp_path)
    whole = call("pages", "seal", data)
    listed = seal.sealed_files
    monkeypatch.setattr(seal, "sealed_files", lambda place: [*listed(place), ("paging/gone/1.page", data / "gone")])
    answer = call("pages", "seal", data)
    assert (answer.status, answer.out) == (0, whole.out)
    assert "while this was sealed" in answer.err


def test_seal_finds_rot_loss_and_additions(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "large-core").copy(tmp_path)
    seal = tmp_path / "seal.jsonl"
    assert call("pages", "seal", data, "--to", seal).status == 0
    assert call("pages", "seal", data).out == seal.read_text("utf-8")
    clean = call("pages", "verify", data, "--manifest", seal, "--format", "jsonl")
    assert not [line for line in clean.lines() if line.get("check", "").startswith("seal-")]

    pages = sorted((data / "paging").glob("*/*.page"))
    rotten = bytearray(pages[0].read_bytes())
    rotten[200] ^= 1
    pages[0].write_bytes(rotten)
    pages[1].unlink()
    pages[0].with_name("000000099.page").write_bytes(b"")
    body = sorted((data / "large-messages").glob("*.msg"))[0]
    body.write_bytes(body.read_bytes()[:-1])
    answer = call("pages", "verify", data, "--manifest", seal, "--format", "jsonl")
    assert answer.status == 1
    found = {line["place"]: line["check"] for line in answer.lines() if line.get("check", "").startswith("seal-")}
    folder = pages[0].parent.name
    assert found == {
        f"paging/{folder}/{pages[0].name}": "seal-changed",
        f"paging/{folder}/{pages[1].name}": "seal-missing",
        f"paging/{folder}/000000099.page": "seal-new",
        f"large-messages/{body.name}": "seal-changed",
    }


def test_inspect_shows_every_byte() -> None:
    (page,) = (BASIC.data() / "paging").glob("*/000000001.page")
    shown: list[str] = []
    for line in call("pages", "inspect", page, "--hex").out.split("\n"):
        if re.match("[0-9a-f]{8}  ", line):
            shown += line[10:33].split()
    assert bytes.fromhex("".join(shown)) == page.read_bytes()
    records = call("pages", "inspect", page, "--hex", "--format", "jsonl").lines()
    assert bytes.fromhex("".join(field["hex"] for record in records for field in record["fields"])) == page.read_bytes()


def test_inspect_shows_damage_and_what_lies_behind() -> None:
    answer = call("pages", "inspect", DAMAGED.data(), "--page", "2")
    assert answer.status == 1
    assert "bad-end at offset 3942" in answer.out
    assert "after it: 3 whole records" in answer.out


def test_text_fits_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagectl.terminal.streams.line_width", lambda: 80)
    for words in (("ls", ACKS.data()), ("outstanding", ACKS.data()), ("inspect", BASIC.data(), "--hex")):
        for line in call("pages", *words).out.split("\n"):
            assert len(line) <= 80 or line.startswith("page ") or " " not in line.strip(), line


def test_decode_to_a_file_that_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "messages.jsonl"
    assert call("pages", "decode", BASIC.data(), "--to", target).status == 0
    assert target.read_text("utf-8") == call("pages", "decode", BASIC.data(), "--format", "jsonl").out
    target.write_text("as it was")
    assert call(*DECODE, BASIC.data(), "--to", target, "--outstanding", "--queue", "nobody").status == 2
    assert target.read_text() == "as it was"
    assert [path.name for path in tmp_path.iterdir()] == ["messages.jsonl"]
    inside = call("pages", "decode", BASIC.data(), "--to", BASIC.data() / "paging" / "x.jsonl")
    assert inside.status == 2
    assert "only read" in inside.err


def test_without_the_journal_it_says_what_it_cannot_know(tmp_path: Path) -> None:
    data = BASIC.copy(tmp_path)
    (data / "journal").rename(tmp_path / "gone")
    assert all("acked_by" not in line for line in call("pages", "decode", data, "--format", "jsonl").lines())
    for words in (("outstanding",), ("decode", "--outstanding")):
        answer = call("pages", words[0], data, *words[1:])
        assert answer.status == 2
        assert "journal" in answer.err
    (row,) = json.loads(call("pages", "ls", data, "--format", "json").out)["stores"]
    assert row["outstanding"] is None
