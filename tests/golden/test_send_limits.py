"""What restarted brokers did with the first message, from directories at, below and above their limits."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest
from pagectl.opening.watched_broker import WatchedBroker
from pagectl.options.disk import DiskOptions, disk_query
from pagectl.options.shared import EditionChoice
from pagectl.outputs.page_metrics import send_metrics
from program import ROOT, call

CASES = sorted((ROOT / "tests" / "recorded" / "limits").glob("*/expect.json"))
STATVFS = os.statvfs
BLOCKS, BLOCKS_FREE, BLOCKS_AVAILABLE = 2, 3, 4


@pytest.fixture(params=CASES, ids=lambda path: path.parent.name)
def case(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], Path, Path]:
    """Return the broker's verdict, the configuration and the data directory of a recorded case.

    Cases ``disk-*`` were recorded with max-disk-usage 2 on a file system that was fuller. The file system of the tests
    may be empty, as a memory file system is, so it is reported as half full.
    """
    found: Path = request.param
    if found.parent.name.startswith("disk-"):
        monkeypatch.setattr(os, "statvfs", half_full)
    with tarfile.open(found.parent / "data.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    return json.loads(found.read_text()), found.parent / "broker.xml", tmp_path / "data"


def half_full(path: str | Path) -> os.statvfs_result:
    stats = list(STATVFS(path))
    stats[BLOCKS_FREE] = stats[BLOCKS_AVAILABLE] = stats[BLOCKS] // 2
    return os.statvfs_result(stats)


def edition(expected: dict[str, Any]) -> str:
    return "artemis-" + expected["broker"].rpartition(".")[0]


def test_check_says_what_the_broker_did(case: tuple[dict[str, Any], Path, Path]) -> None:
    expected, config, data = case
    answer = call("messages", "check", data, "--config", config, "--edition", edition(expected), "--format", "json")
    found = {one["address"]: one for one in json.loads(answer.out)["addresses"]}
    for one in expected["addresses"]:
        said = found[one["address"]]
        assert {key: said[key] for key in ("page_full", "refused_now", "reason")} == {
            key: one[key] for key in ("page_full", "refused_now", "reason")
        }
        assert {queue: said["queues"].get(queue) for queue in one["queues"]} == one["queues"]
    assert answer.status == (2 if any(one["refused_now"] for one in expected["addresses"]) else 0)
    line = call("messages", "check", data, "--config", config, "--edition", edition(expected)).out
    words = {"refused": "refuses", "dropped": "drops", "blocked": "blocks"}
    for one in expected["addresses"]:
        if one["refused_now"]:
            assert f"{one['address']}: {words[one['how']]}" in line
            assert str(one["reason"]) in line


def test_ls_has_the_flag_of_the_broker(case: tuple[dict[str, Any], Path, Path]) -> None:
    expected, config, data = case
    if not (data / "paging").is_dir():
        assert not any(one["pages"] for one in expected["addresses"]), "nothing to list"
        return
    answer = call("pages", "ls", data, "--config", config, "--format", "json")
    found = {store["address"]: store for store in json.loads(answer.out)["stores"]}
    for one in expected["addresses"]:
        if one["address"] in found:
            assert found[one["address"]]["page_full"] == one["page_full"]
        else:
            assert not one["page_full"]
    assert answer.status == 0


def test_the_exporter_says_the_same(case: tuple[dict[str, Any], Path, Path]) -> None:
    expected, config, data = case
    query = disk_query(data, DiskOptions(broker_xml=config, edition=EditionChoice(edition(expected))))
    broker = WatchedBroker(query, 1.0)
    broker.pages.once()
    seen = broker.pages.seen().value
    assert seen is not None
    gauges = {
        gauge.name: {labels["address"]: value for labels, value in gauge.samples} for gauge in send_metrics(seen.sends)
    }
    for one in expected["addresses"]:
        assert gauges["artemis_producers_refused"][one["address"]] == one["refused_now"]
    found = json.loads(
        call("messages", "check", data, "--config", config, "--edition", edition(expected), "--format", "json").out
    )
    limited = {one["address"]: one["page_limit"] for one in found["addresses"] if one["page_limit"] is not None}
    ratios = gauges["artemis_page_limit_used_ratio"]
    assert {name: round(100 * ratio, 1) for name, ratio in ratios.items()} == {
        name: limit["used_percent"] for name, limit in limited.items()
    }


def test_half_of_a_heap_that_nobody_named_refuses_nothing(tmp_path: Path) -> None:
    case = ROOT / "tests" / "recorded" / "limits" / "global-full-2.56.0"
    with tarfile.open(case / "data.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    config = tmp_path / "broker.xml"
    text = (case / "broker.xml").read_text("utf-8")
    limit = "<global-max-size>100K</global-max-size>"
    assert limit in text
    for written, status in ((limit, 2), ("", 0), ("<global-max-size>-1</global-max-size>", 0)):
        config.write_text(text.replace(limit, written), "utf-8")
        assert call("messages", "check", tmp_path / "data", "--config", config).status == status
