"""A crash: what killed brokers left (recorded), what the account says of it, what a loss of power adds."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path

import pytest
from crash_scenarios import CrashScenario, Line, promised

from pageengine.data_directory.writing import write_data_directory
from pageengine.model.outcome import CrashLoss
from pageengine.replay.findings import findings
from pageengine.replay.replaying import Configuration, recorded
from pageengine.trace.reading import open_trace
from pagefmt.codec.pages.page import open_page
from pagefmt.directory.paging import read_paging

OBSERVED = Path(__file__).parents[1] / "recorded" / "crashes" / "observed.jsonl.xz"
NEWEST, BEFORE_BATCHES = "2.56.0", "2.28.0"
TIMER = "<page-sync-timeout>1000000000</page-sync-timeout>"


@cache
def observations() -> list[Line]:
    return [json.loads(line) for line in lzma.decompress(OBSERVED.read_bytes()).splitlines()]


@pytest.mark.parametrize("version", ["2.56.0", "2.44.0", "2.28.0"])
def test_killed_brokers_left_what_is_promised(version: str, tmp_path: Path) -> None:
    wrong = []
    seen = [one for one in observations() if one["version"] == version]
    for one in seen:
        scenario = CrashScenario(one["name"], (), one["core"], one["size"], one["page"])
        promise = promised(scenario.configuration, one["lines"], version, tmp_path)
        observed = {name: set(seqs) for name, seqs in one["delivered"].items()}
        where = f"{one['name']} at {one['lines'][-1]['t'] // 1_000_000} ms"
        wrong += [f"{where}: {text}" for text in promise.wrong(observed)]
        wrong += [f"{where}: answered: {seq}" for seq in scenario.broken(one["lines"], one["answered"], observed)]
    assert not wrong
    assert len(seen) >= 60


def loss_of(one: CrashScenario, instant: int, kind: str | None, folder: Path, version: str = NEWEST) -> CrashLoss:
    return promised(one.configuration, one.until(instant, kind), version, folder).loss


def windows() -> CrashScenario:
    """Return a scenario with one message in memory, two in pages, and one that is not durable.

    The second paged message still waits for the page timer.
    """
    one = CrashScenario("windows", (), TIMER).queue("paged.a").queue("memory")
    return one.send(0).send(100).send(1300).send(1400, "memory", durable=False)


def test_at_rest_nothing_is_under_way(tmp_path: Path) -> None:
    assert loss_of(windows(), 1500, None, tmp_path) == CrashLoss(lost={"memory": [4]})


def test_the_timer_of_pages(tmp_path: Path) -> None:
    assert loss_of(windows(), 1500, "kill", tmp_path).lost == {"paged.a": [3], "memory": [4]}
    assert loss_of(windows(), 2500, "kill", tmp_path) == CrashLoss(lost={"memory": [4]})


def test_before_2_40_only_a_loss_of_power_may_lose_a_page(tmp_path: Path) -> None:
    assert loss_of(windows(), 1500, "kill", tmp_path, BEFORE_BATCHES) == CrashLoss(lost={"memory": [4]})
    power = loss_of(windows(), 1500, "power", tmp_path, BEFORE_BATCHES)
    assert power == CrashLoss(lost={"memory": [4]}, perhaps_lost={"paged.a": [3]})
    assert loss_of(windows(), 2500, "power", tmp_path, BEFORE_BATCHES) == CrashLoss(lost={"memory": [4]})


def test_pages_that_nobody_syncs(tmp_path: Path) -> None:
    off = "<journal-sync-non-transactional>false</journal-sync-non-transactional>"
    one = CrashScenario("unsynced", (), TIMER + off, page=600).queue("paged.a")
    for n in range(5):
        one.send(200 * n)
    loss = loss_of(one, 2500, "power", tmp_path)
    # two records a page; a page is synced when the next one is begun
    assert loss.perhaps_lost == {"paged.a": [1, 4, 5]}
    assert loss.answered == [1, 4, 5]


def test_without_times_nothing_is_under_way(tmp_path: Path) -> None:
    one = CrashScenario("no times", (), TIMER).queue("paged.a").send(0).send(0)
    assert loss_of(one, 0, "kill", tmp_path) == CrashLoss()


def test_an_acknowledgement_in_the_journals_buffer(tmp_path: Path) -> None:
    buffer = "<journal-buffer-timeout>400000000</journal-buffer-timeout>"
    one = CrashScenario("acknowledged", (), buffer).queue("memory").send(0, "memory").send(10, "memory")
    one.at(1000, "open_consumer", consumer="c", queue="memory")
    one.at(1010, "receive", consumer="c", ack="each").at(1020, "receive", consumer="c")
    early = loss_of(one, 1200, "kill", tmp_path)
    assert (early.again, early.perhaps_again) == ({"memory": [2]}, {"memory": [1]})
    late = loss_of(one, 1500, "kill", tmp_path)
    assert (late.again, late.perhaps_again) == ({"memory": [2]}, {})


def test_a_commit_that_waits_for_its_pages_is_undone(tmp_path: Path) -> None:
    one = CrashScenario("undone", (), TIMER).queue("paged.a").queue("memory").session("tx", "local").send(0)
    one.send(10, "memory").send(100).at(1500, "open_consumer", consumer="c", queue="memory", session="tx")
    one.at(1500, "open_consumer", consumer="d", queue="paged.a", session="tx")
    one.at(1510, "receive", consumer="c", ack="each").at(1520, "receive", consumer="d", max=2, ack="each")
    one.send(1600, session="tx").send(1600, "memory", session="tx").at(1700, "commit", session="tx")
    promise = promised(one.configuration, one.until(2000), NEWEST, tmp_path)
    assert promise.loss.lost == {"paged.a": [4], "memory": [5]}
    assert promise.loss.again == {"paged.a": [1, 3], "memory": [2]}
    assert promise.sure == {"paged.a": {1, 3}, "memory": {2}}
    promise = promised(one.configuration, one.until(3000), NEWEST, tmp_path)
    assert promise.sure == {"paged.a": {4}, "memory": {5}}


def test_the_account_tells_of_crashes_and_of_answers(tmp_path: Path) -> None:
    one = windows()
    promised(one.configuration, [*one.until(1500), {"op": "wait", "ms": 0}], NEWEST, tmp_path)
    recording = recorded(Configuration(tmp_path / "broker.xml"), open_trace(tmp_path / "trace.jsonl"))
    sentences = [one.message for one in findings(recording)]
    assert "by the crash at operation 6, of address paged.a: 1 message lost" in sentences
    assert "by the crash at operation 6, of address memory: 1 message lost" in sentences
    assert (
        "2 sends to pages of paged.a waited 1 s for the answer on average, at most 1 s (page-sync-timeout)" in sentences
    )


def test_what_is_written_after_a_crash_has_no_lost_message(tmp_path: Path) -> None:
    one = windows()
    promised(one.configuration, one.until(1500), NEWEST, tmp_path)
    reader = open_trace(tmp_path / "trace.jsonl")
    engine = Configuration(tmp_path / "broker.xml").engine(reader)
    for op in reader:
        engine.apply(op)  # type: ignore[arg-type]
    write_data_directory(engine, tmp_path / "data")
    (store,) = read_paging(tmp_path / "data" / "paging").stores()
    records = 0
    for page in store.pages:
        with open_page(page.path) as opened:
            records += sum(1 for _ in opened.records())
    assert records == 1
