"""``disk exporter``: what a scrape says is what the other commands say; what is not known has no sample."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from exporters import Samples, exporter, fetched, of, resident, samples
from golden_cases import GoldenCase
from harmed import acknowledgement, bound_queue, data_directory, journal_with, record
from made_pages import message, store
from pagectl.opening.watched_broker import BacklogReading, WatchedBroker
from pagectl.options.disk import DiskOptions, broker_name, disk_query
from pagectl.outputs.disk_metrics import forecast_metrics
from pagectl.outputs.forecast_report import Forecast
from pagectl.outputs.page_metrics import page_metrics
from pagectl.running import repeated
from pagectl.running.collector import USUAL
from pagectl.running.repeated import Repeated
from pagectl.serving.metrics import FAIR_SHARE, REQUESTS, MetricsServer
from program import call, tree

from pageengine.disk.monitor import DiskSettings
from pageengine.disk.samples import DiskSample, DiskSamples
from pageengine.disk.state import DiskState
from pagefmt.editions import NEWEST
from pagefmt.outstanding.backlog import Backlog
from pagefmt.outstanding.watch import BrokerBacklog
from pagefmt.outstanding.watched_store import WatchedStore
from pagefmt.storage.filesystems import FileSystem


def watched(*places: Path) -> list[WatchedBroker]:
    return [WatchedBroker(disk_query(place, DiskOptions()), 1.0) for place in places]


@contextmanager
def serving(brokers: list[WatchedBroker]) -> Iterator[str]:
    with MetricsServer("127.0.0.1", 0, brokers) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.port}"
        server.shutdown()


def scraped(*places: Path) -> Samples:
    brokers = watched(*places)
    for broker in brokers:
        broker.disks.once()
        broker.pages.once()
    with serving(brokers) as url:
        return samples(fetched(f"{url}/metrics")[1])


def outstanding(data: Path) -> Samples:
    """Build the samples that match the answers of ``pages outstanding`` and ``messages check``."""
    found: Samples = {}
    labels: frozenset[tuple[str, str]]
    for each in json.loads(call("pages", "outstanding", data, "--format", "json").out)["stores"]:
        address = {"broker": broker_name(data), "address": each["address"]}
        found["artemis_page_files", frozenset(address.items())] = len(each["pages"])
        found["artemis_page_bytes", frozenset(address.items())] = sum(page["bytes"] for page in each["pages"])
        for queue in each["queues"]:
            labels = frozenset((address | {"queue": queue["queue"]}).items())
            found["artemis_held_page_files", labels] = queue["pages_held"]
            found["artemis_held_page_bytes", labels] = queue["bytes_held"]
            found["artemis_held_alone_page_bytes", labels] = queue["bytes_held_alone"]
    for row in json.loads(call("messages", "check", data, "--format", "json").out)["backlogs"]:
        queue = {"broker": broker_name(data), "address": row["address"], "queue": row["queue"]}
        labels = frozenset(queue.items())
        found["artemis_outstanding_bytes", labels] = row["bytes"]
        found["artemis_in_doubt_messages", labels] = row["in_doubt"]
        found["artemis_waiting_messages", labels | {("where", "journal")}] = row["journal"]
        found["artemis_waiting_messages", labels | {("where", "pages")}] = row["messages"] - row["journal"]
    return found


@pytest.mark.parametrize("name", ["scattered-acks", "two-addresses", "multicast-acks", "many-queues", "odd-addresses"])
def test_counts_are_those_of_outstanding(name: str, tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", name).copy(tmp_path)
    before = tree(data)
    found, wanted = scraped(data), outstanding(data)
    assert wanted and wanted.items() <= found.items()
    names = ("artemis_held_page", "artemis_held_alone", "artemis_waiting")
    for key in found.keys() - wanted.keys():
        assert not key[0].startswith(names) or found[key] == 0, key
    assert tree(data) == before


def test_disk_metrics_are_those_of_disk_check(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    checked = samples(call("disk", "check", data, "--format", "prometheus").out)
    found = scraped(data)
    assert checked and checked.keys() <= found.keys()


def test_two_brokers_are_told_apart(tmp_path: Path) -> None:
    one, other = two_brokers(tmp_path)
    found = scraped(one, other)
    assert (outstanding(one) | outstanding(other)).items() <= found.items()
    assert set(of(found, "pagectl_up").values()) == {1.0} and len(of(found, "pagectl_up")) == 4


def two_brokers(folder: Path) -> tuple[Path, Path]:
    one, other = (GoldenCase("2.56.0", name).copy(folder / name) for name in ("scattered-acks", "multicast-acks"))
    assert broker_name(one) != broker_name(other)
    return one, other


def test_brokers_of_one_name_are_named_by_the_call(tmp_path: Path) -> None:
    places = [GoldenCase("2.56.0", "scattered-acks").copy(tmp_path / name / "orders") for name in ("one", "other")]
    assert [broker_name(place) for place in places] == ["orders", "orders"]
    answer = call("disk", "exporter", *places)
    assert answer.status == 2 and "are both called" in answer.err and "--broker" in answer.err
    answer = call("disk", "exporter", *places, "--broker", "east")
    assert answer.status == 2 and "--broker names 1 of 2 brokers" in answer.err
    with exporter(*places, "--broker", "east", "--broker", "west") as (_, url):
        until(lambda: len(of(samples(fetched(url)[1]), "pagectl_disk_status")) == 2)
        found = samples(fetched(url)[1])
    assert {dict(labels)["broker"] for _, labels in found} == {"east", "west"}


NASTY = 'a"b\\c\nd{e="f"} é 漢 \x1b[31m'


def test_names_are_escaped(tmp_path: Path) -> None:
    store(tmp_path / "data" / "paging", NASTY.replace("\n", " "), {1: message(1, "x", "y")})
    found = scraped(tmp_path / "data")
    (labels,) = of(found, "artemis_page_files")
    assert dict(labels)["address"] == NASTY.replace("\n", " ")
    queue = Backlog(NASTY, "f", NASTY + "\ud800", 9, 1, 2, 3, 4, 5, 6, None)
    brokers = watched(tmp_path / "data")
    seen = BacklogReading(BrokerBacklog((WatchedStore(NASTY, 1, 2, 0, (queue,)),), False, False, 0), {})
    brokers[0].pages = Repeated("x", lambda: seen, 1.0)
    brokers[0].pages.once()
    with serving(brokers) as url:
        (labels,) = of(samples(fetched(f"{url}/metrics")[1]), "artemis_held_page_files")
    assert (dict(labels)["address"], dict(labels)["queue"]) == (NASTY, NASTY + "\\ud800")


def test_unknown_is_absent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    shutil.rmtree(data / "journal")
    found = scraped(data)
    assert not of(found, "artemis_waiting_messages") and not of(found, "artemis_held_page_files")
    assert set(of(found, "artemis_outstanding_unknown").values()) == {1.0}
    assert list(of(found, "artemis_page_files").values()) == [len(list((data / "paging").rglob("*.page")))]
    (broker,) = watched(data)
    broker.pages.once()
    broker.disks.once()
    shutil.rmtree(data)
    capsys.readouterr()
    for _ in range(4):
        broker.pages.once()
        broker.disks.once()
    told = capsys.readouterr().err.splitlines()
    assert len(told) == len(set(told)) and 2 <= len(told) <= 4, "each is told once"
    with serving([broker]) as url:
        found = samples(fetched(f"{url}/metrics")[1])
    assert {key[0] for key in found} == {
        "pagectl_up",
        "pagectl_look_age_seconds",
        "pagectl_look_cpu_seconds",
        "pagectl_disk_status",
    }
    assert set(of(found, "pagectl_up").values()) == {0.0}
    assert list(of(found, "pagectl_disk_status").values()) == [3.0]


def test_a_page_that_is_half_there(tmp_path: Path) -> None:
    data = data_directory(tmp_path, {1: record(1), 2: record(2)[:30]})
    bound_queue(data)
    found = scraped(data)
    assert list(of(found, "artemis_damaged_page_files").values()) == [1.0]
    assert of(found, "artemis_waiting_messages") == of(outstanding(data), "artemis_waiting_messages")


@pytest.mark.parametrize(
    ("sent", "age"), [(None, None), (1_000_000, 9_000.0), (10_000_000, 0.0), (10_050_000, 0.0), (99_000_000, None)]
)
def test_age_of_the_first_message(sent: int | None, age: float | None) -> None:
    # A clock slightly ahead makes the message new; one far ahead makes its age unknown.
    backlog = BrokerBacklog(
        (WatchedStore("a", 1, 2, 0, (Backlog("a", "f", "q", 9, 1, 2, 3, 4, 5, 6, sent),)),), False, False, 0
    )
    gauges = {gauge.name: gauge.samples for gauge in page_metrics(backlog, 10_000.0)}
    assert [value for _, value in gauges["artemis_oldest_outstanding_seconds"]] == ([] if age is None else [age])


def test_folders_of_one_address_are_added_up() -> None:
    stores = tuple(
        WatchedStore("a", 1, 2, 0, (Backlog("a", "f", "q", 9, 1, 2, 3, 4, 5, 6, sent),)) for sent in (None, 1_000)
    )
    gauges = {gauge.name: gauge.samples for gauge in page_metrics(BrokerBacklog(stores, True, True, 0), 2.0)}
    assert gauges.pop("artemis_held_together_page_bytes") == ()
    values = [value for ((_, value),) in gauges.values()]
    assert values == [2, 4, 0, 0, 2, 4, 6, 8, 10, 12, 1.0, 1, 1]
    unknown = WatchedStore("a", 1, 2, 0, None)
    gauges = {
        gauge.name: gauge.samples for gauge in page_metrics(BrokerBacklog((*stores, unknown), True, True, 0), 2.0)
    }
    assert not gauges["artemis_waiting_messages"] and gauges["artemis_outstanding_unknown"][0][1] == 1


def test_what_is_long_ago_counts_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    look = Repeated("x", lambda: 5, 1.0)
    assert look.seen() == (None, None, None)
    assert look.once() >= 1.0
    assert look.seen().value == 5
    now = time.monotonic()
    monkeypatch.setattr(repeated.time, "monotonic", lambda: now + 901)
    assert look.seen().value is None and (look.seen().age or 0) > 900


def test_paths(tmp_path: Path) -> None:
    brokers = watched(GoldenCase("2.56.0", "scattered-acks").data())
    with serving(brokers) as url:
        assert fetched(f"{url}/healthz") == (200, "alive\n")
        assert fetched(f"{url}/-/ready")[0] == 503
        brokers[0].pages.once()
        assert fetched(f"{url}/-/ready") == (200, "ready\n")
        assert fetched(f"{url}/")[0] == fetched(f"{url}/metricsx")[0] == 404
        assert of(samples(fetched(f"{url}/metrics?name[]=x")[1]), "artemis_page_files")
        request = urllib.request.Request(f"{url}/metrics", headers={"Accept": "application/openmetrics-text"})
        with urllib.request.urlopen(request) as answer:
            assert answer.read().endswith(b"# EOF\n")


def test_silent_clients_keep_nobody_out_for_long() -> None:
    with serving(watched(GoldenCase("2.56.0", "scattered-acks").data())) as url:
        where = ("127.0.0.1", int(url.rpartition(":")[2]))
        silent = [socket.create_connection(where) for _ in range(REQUESTS)]
        time.sleep(0.2)
        with socket.create_connection(where) as one, pytest.raises(ConnectionError):
            one.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            if not one.recv(100):
                raise ConnectionResetError
        for each in silent:
            each.close()
        time.sleep(0.2)
        assert fetched(f"{url}/healthz")[0] == 200


def test_clients_that_send_a_byte_now_and_then_make_way() -> None:
    # Each byte restarts the timeout of its connection, so such clients would keep their places for ever.
    with serving(watched(GoldenCase("2.56.0", "scattered-acks").data())) as url:
        where = ("127.0.0.1", int(url.rpartition(":")[2]))
        slow = [socket.create_connection(where) for _ in range(2 * REQUESTS)]
        for _ in range(2):
            for each in slow:
                with suppress(OSError):
                    each.sendall(b"GET /metrics HTTP/1.1\r\nX: a"[:9])
            time.sleep(0.6 * FAIR_SHARE)
        assert [fetched(f"{url}/metrics")[0] for _ in range(3)] == [200, 200, 200]
        for each in slow:
            each.close()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_beside_a_growing_directory_until_it_is_ended(tmp_path: Path) -> None:
    data = data_directory(tmp_path, {1: record(1)})
    queue = bound_queue(data)
    (folder,) = (data / "paging").iterdir()

    with exporter(data) as (running, url):

        def is_as_outstanding() -> bool:
            found = samples(fetched(url)[1])
            return outstanding(data).items() <= found.items()

        until(is_as_outstanding)
        acks = []
        for number in range(2, 6):
            content = b"".join(record(number * 10 + n, queues=(queue,)) for n in range(5))
            (folder / f"{number:09d}.page").write_bytes(content)
            until(is_as_outstanding)
            acks.append(acknowledgement(number, 3, queue, 900_000 + number))
            journal_with(data, acks)
            until(is_as_outstanding)
        (folder / "000000002.page").unlink()
        until(is_as_outstanding)
        running.send_signal(signal.SIGTERM)
        assert running.wait(10) == 0
        assert running.stderr and running.stderr.read() == "" and running.stdout and running.stdout.read() == ""


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    with exporter(GoldenCase("2.56.0", "scattered-acks").data()) as (running, _):
        running.send_signal(signal.SIGINT)
        assert running.wait(10) == 130


def test_a_directory_that_comes_later(tmp_path: Path) -> None:
    (tmp_path / "late").mkdir()
    (broker,) = watched(tmp_path / "late")
    broker.pages.once()
    assert broker.pages.seen().value is None
    shutil.copytree(GoldenCase("2.56.0", "scattered-acks").data(), tmp_path / "late", dirs_exist_ok=True)
    broker.pages.once()
    seen = broker.pages.seen().value
    assert seen is not None and seen.backlog.stores


def test_a_paging_directory_that_the_broker_makes_later_counts_at_the_next_look(tmp_path: Path) -> None:
    # A broker creates the directory when it pages for the first time.
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    (data / "paging").rename(tmp_path / "kept")
    (broker,) = watched(data)
    broker.pages.once()
    seen = broker.pages.seen().value
    assert seen is not None and not seen.backlog.stores
    (tmp_path / "kept").rename(data / "paging")
    broker.pages.once()
    with serving([broker]) as url:
        found = samples(fetched(f"{url}/metrics")[1])
    assert outstanding(data).items() <= found.items()


def test_calls_that_cannot_be_carried_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").data()
    monkeypatch.delenv("ARTEMIS_INSTANCE", raising=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for words, reason in {
            (data, "--listen", f"127.0.0.1:{port}"): f"--listen 127.0.0.1:{port}: Address already in use",
            (data, "--listen", "127.0.0.1"): "write HOST:PORT",
            (data, "--listen", "127.0.0.1:66000"): "write HOST:PORT",
            (data, "--listen", "192.0.2.1:0"): "Cannot assign requested address",
            (data, "--listen", "no such host:1"): "write HOST:PORT",
            (tmp_path / "nowhere",): "no such folder",
            (next((data / "paging").rglob("*.page")),): "no such folder",
            (data, "--every", "nan"): "not a number of seconds",
            (data, "--every", "inf"): "not a number of seconds",
            (data, data): "named twice",
            (): "no DIR given",
            (data, tmp_path, "--config", "x"): "one DIR only",
        }.items():
            answer = call("disk", "exporter", *words)
            assert answer.status == 2 and answer.out == ""
            (line,) = answer.err.splitlines()
            assert reason in line


@pytest.mark.slow
def test_memory_stays_flat(tmp_path: Path) -> None:
    data = data_directory(tmp_path, {1: record(1)})
    queue = bound_queue(data)
    (folder,) = (data / "paging").iterdir()
    (broker,) = watched(data)
    sizes = []
    for number in range(2, 2002):
        (folder / f"{number:09d}.page").write_bytes(record(number, queues=(queue,)) * 20)
        journal_with(data, [acknowledgement(number, n, queue, 900_000 + n) for n in range(number % 20)])
        (folder / f"{number - 50:09d}.page").unlink(missing_ok=True)
        broker.pages.once()
        broker.disks.once()
        if number % 500 == 0:
            sizes.append(resident(os.getpid()))
    assert max(sizes) - sizes[0] < 8 << 20, sizes


def test_garbage_is_collected_in_what_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A start collects no garbage, to be fast; an exporter that did so kept journals in memory for hours.
    before = gc.get_threshold()
    monkeypatch.setattr(MetricsServer, "serve_forever", lambda _self: None)
    monkeypatch.setattr(Repeated, "start", lambda _self: None)
    gc.set_threshold(100_000)
    try:
        assert call("disk", "exporter", "--listen", "127.0.0.1:0", data_directory(tmp_path, {1: record(1)})).status == 0
        assert gc.get_threshold() == USUAL
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


@pytest.mark.parametrize(("used", "left"), [([0, 10, 20, 30], 7.0), ([0, 10, 5, 30], None), ([30, 20, 10, 0], None)])
def test_time_left_is_told_where_growth_is_certain(used: list[int], left: float | None) -> None:
    # An alert on a guess from few samples would be a false alarm.
    state = DiskState.of(DiskSettings(90, None), NEWEST, [FileSystem("/", ("path",), 80, 80, 100, 10, 5)])
    samples = DiskSamples("x")
    for second, bytes_used in enumerate(used):
        samples = samples.added(DiskSample(float(second), {"/": (bytes_used, 100)}))
    gauges = {gauge.name: gauge.samples for gauge in forecast_metrics(Forecast.of(state, samples, None, None))}
    assert [round(value, 6) for _, value in gauges["pagectl_disk_seconds_left"]] == ([] if left is None else [left])
    assert gauges["pagectl_disk_fill_bytes_per_second"]
