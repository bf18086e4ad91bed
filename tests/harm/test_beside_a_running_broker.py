"""A soak: a real broker pages under transactional traffic over loopback, and every reading command is called beside it.

No crash, no false error, nothing opened for writing, each count between what the broker says before and after the call
(but for what was sent and consumed meanwhile), and equal to it while the traffic rests.
``make test-broker``; ``PAGECTL_SOAK_SECONDS`` (600) says how long.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from broker_jars import class_path, compiled
from exporters import Samples, exporter, fetched, of, processor_seconds, resident, samples
from harmed import pagectl
from program import Answer

SECONDS = int(os.environ.get("PAGECTL_SOAK_SECONDS", "600"))
pytestmark = [pytest.mark.broker, pytest.mark.timeout(SECONDS + 1200)]
VERSION = "2.56.0"
SOURCE = Path(__file__).resolve().parents[1] / "oracle_java" / "SoakBroker.java"
CONFIG = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
<persistence-enabled>true</persistence-enabled><security-enabled>false</security-enabled>
<journal-type>NIO</journal-type><journal-file-size>1M</journal-file-size><journal-min-files>2</journal-min-files>
<journal-compact-min-files>3</journal-compact-min-files><journal-compact-percentage>40</journal-compact-percentage>
<paging-directory>{data}/paging</paging-directory><bindings-directory>{data}/bindings</bindings-directory>
<journal-directory>{data}/journal</journal-directory><large-messages-directory>{data}/large-messages</large-messages-directory>
<acceptors><acceptor name="a">tcp://127.0.0.1:{port}</acceptor></acceptors>
<address-settings><address-setting match="#"><max-size-bytes>200000</max-size-bytes>
<page-size-bytes>60000</page-size-bytes><address-full-policy>PAGE</address-full-policy></address-setting></address-settings>
</core></configuration>
"""
COMMANDS = {
    "ls": ("pages", "ls", "{data}", "--format", "json"),
    "outstanding": ("pages", "outstanding", "{data}", "--format", "json"),
    "top": ("messages", "top", "{data}", "--every", "0.2", "--format", "json"),
    "check": ("messages", "check", "{data}", "--format", "json"),
    "verify": ("pages", "verify", "{data}"),
    "decode": ("pages", "decode", "{data}", "--format", "jsonl", "--body", "none"),
    "decode --outstanding": (
        "messages",
        "decode",
        "--in",
        "pages",
        "{data}",
        "--outstanding",
        "--format",
        "jsonl",
        "--body",
        "none",
    ),
    "decode --to": ("pages", "decode", "{data}", "--to", "{out}/x.parquet"),
    "compact": ("pages", "compact", "{data}", "--format", "json"),
    "seal": ("pages", "seal", "{data}", "--to", "{out}/x.seal"),
    "inspect": ("pages", "inspect", "{data}"),
    "messages ls": ("messages", "ls", "{data}", "--format", "json"),
    "messages decode": ("messages", "decode", "{data}", "--format", "jsonl"),
    "messages decode --outstanding": (
        "messages",
        "decode",
        "{data}",
        "--outstanding",
        "--queue",
        "soak",
        "--format",
        "jsonl",
    ),
    "messages find": ("messages", "find", "{data}", "--contains", "o", "--format", "jsonl"),
    "messages verify": ("messages", "verify", "{data}"),
    "disk usage": ("disk", "usage", "{data}"),
    "disk check": ("disk", "check", "{data}"),
}


@dataclass(frozen=True, slots=True)
class Count:
    """Message counts of the clients and the broker at one moment.

    The clients have committed ``sent`` and ``consumed``. The broker reports the ``messages`` of the queue, the
    ``paged`` ones that are not acknowledged, and the ``pages`` of the address.
    """

    sent: int
    consumed: int
    messages: int
    paged: int
    pages: int


@dataclass(slots=True)
class Broker:
    """A running broker with clients, which reports its counts on request."""

    process: subprocess.Popen[str]
    data: Path

    def ask(self, word: str = "count") -> Count:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the broker has ended"
        return Count(*map(int, line.split()))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder = tmp_path_factory.mktemp("soak")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "broker.xml").write_text(CONFIG.format(data=folder / "data", port=port))
    path = compiled(SOURCE, class_path(VERSION), tmp_path_factory.mktemp("classes"))
    words = ["java", "-Xmx500m", "-XX:+UseSerialGC", "-cp", path, "SoakBroker", str(folder / "broker.xml"), str(port)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        assert process.stdout
        try:
            assert process.stdout.readline() == "started\n"
            running = Broker(process, folder / "data")
            until_it_pages(running)
            yield running
        finally:
            process.kill()


def until_it_pages(broker: Broker) -> None:
    for _ in range(120):
        if broker.ask().pages > 5:
            return
        time.sleep(0.5)
    pytest.fail("the broker does not page")


def asked(name: str, broker: Broker, out: Path) -> Answer:
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    return pagectl(*(word.format(data=broker.data, out=out) for word in COMMANDS[name]), seconds=60)


def test_no_false_error_and_no_crash(broker: Broker, tmp_path: Path) -> None:
    end, calls, wrong = time.monotonic() + SECONDS, Counter[str](), list[tuple[str, str, Answer]]()
    while time.monotonic() < end:
        for name in COMMANDS:
            before = broker.ask()
            answer = asked(name, broker, tmp_path / "out")
            after = broker.ask()
            calls[name] += 1
            misfit = "" if answer.status else misfits(name, answer, before, after)
            if answer.status or "Traceback" in answer.err or misfit:
                wrong.append((name, misfit, Answer(answer.status, answer.out[-2000:], answer.err[-2000:])))
                print(calls.total(), wrong[-1], before, after, flush=True)
    print(f"{calls.total()} calls {dict(calls)}, {len(wrong)} wrong, at last {after}")
    assert not wrong, f"{len(wrong)} of {calls.total()}: {Counter(name for name, *_ in wrong)}: {wrong[:3]}"


def misfits(name: str, answer: Answer, before: Count, after: Count) -> str:
    """Describe an answer that contradicts the counts before and after it, or return an empty text.

    Clients send and consume during the call, so the outstanding messages may differ from both counts by that much.
    """
    least = before.paged - (after.consumed - before.consumed) - CONSUMING
    most = before.paged + (after.sent - before.sent) + SENDING
    found = outstanding(name, answer)
    if found is not None and not least <= found <= most:
        return f"{found} outstanding, not {least} to {most}"
    if name == "outstanding":
        free = [page["page"] for page in store_of(answer)["pages"][-2:] if page["held_by"] == []]
        return f"pages {free} are said to be free" if free else ""
    return ""


SENDING, CONSUMING = 2 * 20, 12
"""Messages of transactions that the broker has committed and the clients (two send, one consumes) have not counted."""


def outstanding(name: str, answer: Answer) -> int | None:
    """Return how many outstanding messages an answer reports, or None if the command gives no number."""
    match name:
        case "ls":
            return int(store_of(answer)["outstanding"])
        case "top":
            return sum(queue["messages"] for queue in json.loads(answer.out)["queues"])
        case "check":
            return sum(row["messages"] for row in json.loads(answer.out)["backlogs"])
        case "outstanding":
            return sum(queue["messages"] for queue in store_of(answer)["queues"])
        case "decode --outstanding":
            return len(answer.lines())
    return None


def store_of(answer: Answer) -> Any:
    """Return the store of the address ``soak``."""
    (store,) = [store for store in json.loads(answer.out)["stores"] if store["address"] == "soak"]
    return store


def test_exact_while_the_traffic_rests(broker: Broker, tmp_path: Path) -> None:
    for _ in range(5):
        broker.ask("pause")
        try:
            time.sleep(1)
            counted = broker.ask()
            shown = {
                name: asked(name, broker, tmp_path / "out") for name in ("ls", "outstanding", "decode --outstanding")
            }
            again = broker.ask()
        finally:
            broker.ask("go")
        assert counted == again and counted.paged > 0
        found = {name: outstanding(name, answer) for name, answer in shown.items()}
        assert found == dict.fromkeys(shown, counted.paged), counted
        time.sleep(2)


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_opened_for_writing(name: str, broker: Broker, tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    import sys

    from program import environment

    (tmp_path / "out").mkdir()
    words = [word.format(data=broker.data, out=tmp_path / "out") for word in COMMANDS[name]]
    log = tmp_path / "strace"
    subprocess.run(
        ["strace", "-f", "-e", "trace=openat,open,creat", "-o", str(log), sys.executable, "-m", "pagectl", *words],
        env=environment(),
        capture_output=True,
        timeout=120,
    )
    opened = [line for line in log.read_text("utf-8", "replace").splitlines() if str(broker.data) in line]
    assert opened or name == "disk check"
    assert not [line for line in opened if "O_WRONLY" in line or "O_RDWR" in line or "O_CREAT" in line]


@pytest.mark.parametrize("words", [("compact", "--in-place"), ("compact", "--out", "new"), ("restore",)], ids=" ".join)
def test_changes_are_refused(words: tuple[str, ...], broker: Broker, tmp_path: Path) -> None:
    answer = pagectl("pages", words[0], broker.data, *words[1:], cwd=str(tmp_path))
    assert answer.status == 2 and not (tmp_path / "new").exists(), answer


def test_the_exporter_counts_what_the_broker_counts_in_flat_memory(broker: Broker) -> None:
    # Counts are compared while the traffic rests; memory and CPU time are measured while it flows.
    sizes, rests = list[int](), 0
    with exporter(broker.data, interval="5") as (running, url):
        began, end = time.monotonic(), time.monotonic() + SECONDS
        while time.monotonic() < end:
            time.sleep(15)
            found = samples(fetched(url)[1])
            assert set(of(found, "pagectl_up").values()) == {1.0}, found
            assert set(of(found, "artemis_damaged_page_files").values()) == {0.0}, found
            assert set(of(found, "artemis_broker_running").values()) == {1.0}
            sizes.append(resident(running.pid))
            if len(sizes) % 4 == 0:
                counted, found = broker.ask("pause"), at_rest(url)
                again = broker.ask()
                broker.ask("go")
                assert (counted.sent, counted.consumed, counted.paged) == (again.sent, again.consumed, again.paged)
                assert sum(of(found, "artemis_waiting_messages", where="pages").values()) == counted.paged, counted
                # pages that nobody needs any more go while the traffic rests
                assert again.pages <= sum(of(found, "artemis_page_files").values()) <= counted.pages, counted
                rests += 1
        share = processor_seconds(running.pid) / (time.monotonic() - began)
        print(f"{len(sizes)} scrapes, {rests} at rest; {share:.1%} of a core; MiB: {[size >> 20 for size in sizes]}")
        later = sizes[len(sizes) // 3 :]
        assert rests and share < 0.06 and max(later) - min(later) < 16 << 20


def at_rest(url: str) -> Samples:
    """Return the first scrape whose values were collected at least a second after this call."""
    began = time.monotonic()
    while time.monotonic() - began < 60:
        time.sleep(0.5)
        found = samples(fetched(url)[1])
        (age,) = of(found, "pagectl_look_age_seconds", part="pages").values()
        if age < time.monotonic() - began - 1:
            return found
    pytest.fail("no look within a minute")
