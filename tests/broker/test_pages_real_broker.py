"""Directories that real brokers write now, and page files damaged now: read as those brokers read them.

``PAGECTL_SEED`` makes other traffic and other damage; by default the seed changes with the calendar week.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from broker_jars import CURRENT, ended, oracle
from broker_messages import as_lines_have_it, differences, explained
from editions_of import EDITION_OF
from golden_cases import GOLDEN, GoldenCase, unpacked
from program import call

from pagefmt.check.broker_reader import read_as_broker

pytestmark = [pytest.mark.broker, pytest.mark.timeout(1800)]

SEED = os.environ.get("PAGECTL_SEED") or str(100 + datetime.datetime.now(datetime.UTC).isocalendar().week)
CASES = ("core-types", "amqp-sections", "large-core", "large-amqp", "mixed-protocols")
BESIDE = {"where", "file", "queues_state"}  # fields of a line that no broker has


def run(*words: str | Path) -> None:
    ended([*map(str, words)], 1200)


def wrong_messages(folder: Path, version: str) -> list[tuple[str, Any, Any]]:
    with tarfile.open(folder / "data.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    shown = ("--format", "jsonl", "--body", "size,sha256,text,value")
    answer = call("messages", "decode", "--in", "pages", folder / "data", *shown)
    lines = [{name: line[name] for name in line if name not in BESIDE} for line in answer.lines()]
    ours = {(line["store"], line["page"], line["number"]): line for line in lines}
    found, seen = [], 0
    for store in manifest["stores"]:
        for said in (message for page in store["pages"] for message in page["messages"]):
            seen += 1
            line = ours.pop((store["folder"], said["page"], said["number"]))
            theirs = as_lines_have_it({key: value for key, value in said.items() if key != "class"})
            theirs |= {"store": store["folder"], "store_address": store["address"]}
            found += [one for one in differences(theirs, line) if not explained(version, said, *one)]
    assert seen > 0
    assert ours == {}
    return found


@pytest.mark.parametrize("version", CURRENT)
def test_fresh_directories(version: str, tmp_path: Path) -> None:
    run(oracle() / "oracle", "case", *CASES, "--version", version, "--corpus", tmp_path, "--seed", SEED)
    for name in CASES:
        folder = tmp_path / version / name
        assert wrong_messages(folder, version) == [], f"{version}/{name}, seed {SEED}"


@pytest.mark.parametrize("version", ["hornetq-2.4.7", "artemis-1.5.6", "2.10.1", "2.17.0"])
def test_fresh_directories_of_old_brokers(version: str, tmp_path: Path) -> None:
    program = oracle() / "legacy" / "legacy.py"
    for name in ("types", "large", "tx", "torn"):
        folder = tmp_path / name
        run(sys.executable, program, version, "make", name, folder, "--seed", SEED, "--holdout")
        run(sys.executable, program, version, "dump", folder)
        assert wrong_messages(folder, version) == [], f"{version}/{name}, seed {SEED}"


@pytest.mark.parametrize("version", CURRENT)
@pytest.mark.parametrize("name", ["core-types", "amqp-sections", "large-core"])
def test_fresh_damage(version: str, name: str, tmp_path: Path) -> None:
    program = oracle() / "damage.py"
    case = _as_corpus_case(GoldenCase(version, name), tmp_path)
    verdict, pages = tmp_path / "verdict.json", tmp_path / "pages"
    run(sys.executable, program, "judge-pages", case, verdict, "--version", version, "--seed", SEED)
    run(sys.executable, program, "pages", case, pages, "--seed", SEED)
    for item in json.loads(verdict.read_text("utf-8"))["items"]:
        reading = read_as_broker((pages / f"{item['name']}.page").read_bytes(), EDITION_OF[version])
        suspects = [{"position": reading.suspect[0], "message": reading.suspect[1]}] if reading.suspect else []
        ours = (reading.records, reading.bytes_read, suspects, reading.error is not None)
        theirs = (item["records"], item["bytes_read"], item["suspects"], item["error"] is not None)
        assert ours == theirs, f"{item['name']}, seed {SEED}"


def _as_corpus_case(case: GoldenCase, to: Path) -> Path:
    assert case.archive.is_relative_to(GOLDEN)
    folder = to / case.version / case.name
    folder.parent.mkdir(parents=True)
    folder.symlink_to(unpacked(case.archive))
    return folder
