"""Traces that end with a crash: what the engine says is there, and what a broker left that was killed at that instant.

Each operation of a scenario is its client's first, or comes when the one before has its answer, so that a broker that
is slower to answer does not move the times of the trace.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pageengine.model.outcome import CrashLoss
from pageengine.replay.replaying import Configuration
from pageengine.trace.operations import NS_PER_MS, Browse, Crash, Operation
from pageengine.trace.reading import open_trace
from pagefmt.editions import Edition

Line = dict[str, Any]
EDITIONS = {edition.release: edition for edition in Edition}
CONFIGURATION = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
<journal-min-files>2</journal-min-files><journal-pool-files>2</journal-pool-files><journal-file-size>1M</journal-file-size>
<message-expiry-scan-period>-1</message-expiry-scan-period><address-queue-scan-period>-1</address-queue-scan-period>
<max-disk-usage>100</max-disk-usage>{core}<address-settings><address-setting match="#">
<auto-delete-queues>false</auto-delete-queues><auto-delete-addresses>false</auto-delete-addresses>
<max-size-bytes>-1</max-size-bytes></address-setting><address-setting match="paged.#">
<max-size-bytes>{size}</max-size-bytes><page-size-bytes>{page}</page-size-bytes></address-setting>
</address-settings></core></configuration>
"""


@dataclass
class CrashScenario:
    """``instants``: in ms, when the broker is killed; after them no operation begins."""

    name: str
    instants: tuple[int, ...]
    core: str = "<page-sync-timeout>1000000000</page-sync-timeout>"
    size: int = 1
    page: int = 100_000
    ops: list[Line] = field(default_factory=list)
    seqs: int = 0

    def at(self, ms: float, op: str, /, **keys: Any) -> CrashScenario:
        self.ops.append({"op": op, "t": int(ms * NS_PER_MS), **keys})
        return self

    def send(self, ms: float, address: str = "paged.a", /, **keys: Any) -> CrashScenario:
        """Add the sending of the next message, in a session of its own unless ``session`` is given."""
        self.seqs += 1
        keys = {"session": f"s{self.seqs}", "size": 100, **keys}
        return self.at(ms, "send", address=address, seq=self.seqs, **keys)

    def queue(self, name: str, **keys: Any) -> CrashScenario:
        return self.at(0, "create_queue", queue=name, **keys)

    def session(self, name: str, kind: str) -> CrashScenario:
        return self.at(0, "open_session", session=name, kind=kind)

    @property
    def configuration(self) -> str:
        return CONFIGURATION.format(core=self.core, size=self.size, page=self.page)

    def until(self, instant: int, kind: str | None = "kill") -> list[Line]:
        """Return the operations before the instant in milliseconds, followed by the crash."""
        before = sorted((op for op in self.ops if op["t"] < instant * NS_PER_MS), key=lambda op: op["t"])
        return [*before, {"op": "crash", "t": instant * NS_PER_MS} | ({"kind": kind} if kind else {})]

    def broken(self, lines: list[Line], answered: list[int], observed: dict[str, set[int]]) -> list[int]:
        """Return ``seq`` of durable messages whose send or commit was confirmed and that are lost.

        Only messages of a single queue count. Sends of ``async`` sessions do not count, nor does anything if there are
        consumers or the journal does not sync, because the broker then guarantees nothing.
        """
        if "-transactional>false<" in self.core or any(op["op"] == "open_consumer" for op in lines):
            return []
        done = [lines[i] for i in answered]
        ended = {op["session"] for op in done if op["op"] == "commit"}
        open_ = {op["session"] for op in lines if op["op"] == "open_session"}
        return [
            op["seq"]
            for op in done
            if op["op"] == "send" and op.get("durable", True) and not op["session"].startswith("async")
            if op["session"] in ended or op["session"] not in open_
            if op["seq"] not in observed.get(op["address"], observed.get("d1", set()))
        ]


@dataclass
class Promise:
    """By durable queue: the messages that must be there, and those that may be."""

    sure: dict[str, set[int]]
    possible: dict[str, set[int]]
    loss: CrashLoss
    paged: dict[str, int]
    """How many of the messages are in pages."""

    def wrong(self, observed: dict[str, set[int]]) -> list[str]:
        """Describe the messages of a broker's disk that contradict the promise, by queue."""
        found = []
        for queue in sorted({*self.sure, *observed}):
            there = observed.get(queue, set())
            sure, possible = self.sure.get(queue, set()), self.possible.get(queue, set())
            if missing := sure - there:
                found.append(f"{queue}: not there: {sorted(missing)}")
            if more := there - possible:
                found.append(f"{queue}: there all the same: {sorted(more)}")
        return found


def promised(configuration: str, lines: list[Line], version: str, folder: Path) -> Promise:
    """Predict what is on disk after the crash that ends the trace; write trace and configuration to the folder."""
    path = folder / "trace.jsonl"
    header = {"trace": 1, "name": "crash", "seq_property": "seq", "producer_window": -1}
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *lines)))
    (folder / "broker.xml").write_text(configuration)
    reader = open_trace(path)
    engine = Configuration(folder / "broker.xml", EDITIONS[version]).engine(reader, check=True)
    loss = CrashLoss()
    for op in reader:
        assert isinstance(op, Operation)
        result = engine.apply(op)
        assert result.r != "failed", result
        if isinstance(op, Crash):
            loss = result.loss or loss
    now = engine.broker.now
    kept = {
        name: set(engine.apply(Browse(name, i=0, t=now)).got or ())
        for name, queue in list(engine.broker.queues.items())
        if queue.durable
    }
    paged = {name: queue.reader.counter.value for name, queue in engine.broker.queues.items() if queue.reader}
    sure = {name: seqs - {*loss.perhaps_lost.get(name, ())} for name, seqs in kept.items()}
    possible = {name: seqs | {*loss.perhaps_again.get(name, ())} for name, seqs in kept.items()}
    return Promise(sure, possible, loss, paged)


def scenarios() -> Iterator[CrashScenario]:
    """Yield hand-written scenarios.

    The page timer runs for a second, and operations are far enough apart that each clearly precedes or follows the
    crash.
    """
    one = CrashScenario("one message in the window", (600, 900, 1250)).queue("paged.a")
    yield one.send(0).send(100)

    one = CrashScenario("runs of the timer follow each other", (1250, 1650, 2250)).queue("paged.a")
    yield one.send(0).send(100).send(350).send(550).send(1150).send(1400)

    one = CrashScenario("durable or not", (700, 1700)).queue("paged.a").queue("memory")
    one.send(0).send(0, "memory").send(50, "memory", durable=False)
    yield one.send(200).send(250, durable=False).send(300, durable=False).send(1300, "memory")

    one = CrashScenario("more than a page waits", (700, 1250, 2300), page=500).queue("paged.a")
    one.send(0)
    for n in range(8):
        one.send(100 + 10 * n)
    yield one

    one = CrashScenario("more than a page waits of one connection", (700, 1250, 2300, 3300), page=500).queue("paged.a")
    one.send(0)
    for n in range(8):
        one.send(100 + 10 * n, session="async")
    yield one

    one = CrashScenario("pages that roll", (600, 1600), page=700).queue("paged.a")
    one.send(0)
    for n in range(3):
        one.send(200 + n)
    for n in range(3):
        one.send(1300 + n)
    yield one

    one = CrashScenario("sends without waiting", (400, 1500)).queue("paged.a").queue("memory")
    one.send(0)
    for n in range(20):
        one.send(100 + n, session="async")
    for n in range(20):
        one.send(150 + n, "memory", session="async memory")
    yield one

    one = CrashScenario("transaction", (300, 700, 1250, 1500), page=700).queue("paged.a").session("tx", "local")
    one.send(0)
    for n in range(6):
        one.send(100 + n, session="tx")
    yield one.at(350, "commit", session="tx").send(1400)

    one = CrashScenario("transaction in memory", (250, 450)).queue("memory").session("tx", "local")
    for n in range(5):
        one.send(100 + n, "memory", session="tx", durable=n != 3)
    yield one.at(300, "commit", session="tx")

    one = CrashScenario("transaction in memory and in pages", (800, 1400)).queue("paged.a").queue("memory")
    one.session("tx", "local").send(0)
    yield one.send(200, session="tx").send(210, "memory", session="tx").at(400, "commit", session="tx")

    one = CrashScenario("rolled back", (800, 1400)).queue("paged.a").queue("memory").session("tx", "local").send(0)
    one.send(100, session="tx").send(110, "memory", session="tx").at(300, "rollback", session="tx")
    yield one.send(600, "memory")

    one = CrashScenario("two addresses, two timers", (650, 1250, 1450)).queue("paged.a").queue("paged.b")
    yield one.send(0).send(0, "paged.b").send(100).send(350, "paged.b").send(850)

    one = CrashScenario("two queues of an address", (500, 1500)).queue("d1", address="paged.m", routing="multicast")
    one.queue("d2", address="paged.m", routing="multicast").queue(
        "v", address="paged.m", routing="multicast", durable=False
    )
    yield one.send(0, "paged.m").send(100, "paged.m").send(1300, "paged.m")

    one = CrashScenario("delivered and acknowledged", (2250, 2700)).queue("paged.a")
    one.send(0).send(100).send(200).send(300)
    one.at(1500, "open_consumer", consumer="c", queue="paged.a").at(1700, "receive", consumer="c", max=2, ack="each")
    yield one.at(2100, "receive", consumer="c", max=1).send(2400)

    one = CrashScenario(
        "the journal's buffer waits", (1250, 1650), "<journal-buffer-timeout>400000000</journal-buffer-timeout>"
    ).queue("memory")
    yield one.send(1000, "memory").send(1050, "memory").send(1060, "memory", durable=False).send(1070, "memory")

    one = (
        CrashScenario(
            "sends that are not synced",
            (400, 900),
            "<journal-sync-non-transactional>false</journal-sync-non-transactional>",
        )
        .queue("memory")
        .session("tx", "local")
    )
    one.send(100, "memory").send(200, "memory").send(300, "memory")
    yield one.send(500, "memory", session="tx").at(600, "commit", session="tx").send(800, "memory")

    one = (
        CrashScenario(
            "commits that are not synced", (400, 900), "<journal-sync-transactional>false</journal-sync-transactional>"
        )
        .queue("memory")
        .session("tx", "local")
    )
    one.send(100, "memory", session="tx").send(110, "memory", session="tx").at(200, "commit", session="tx")
    yield one.send(600, "memory")

    buffer = "<journal-buffer-timeout>400000000</journal-buffer-timeout>"
    off = "<journal-sync-non-transactional>false</journal-sync-non-transactional>"
    one = CrashScenario("answered, in a buffer that waits", (1110, 1700, 3000), buffer + off).queue("memory")
    yield one.send(500, "memory").send(1000, "memory").send(1020, "memory").send(1040, "memory")

    off = "<journal-sync-transactional>false</journal-sync-transactional>"
    one = CrashScenario("a commit answered, in a buffer that waits", (1110, 1700), buffer + off).queue("memory")
    one.session("tx", "local").send(500, "memory").send(1000, "memory", session="tx").send(1010, "memory", session="tx")
    yield one.at(1030, "commit", session="tx")

    one = CrashScenario("settings as they come", (150, 250), "").queue("paged.a").queue("memory").session("tx", "local")
    for n in range(10):
        one.send(n * 10).send(n * 10 + 3, "memory").send(n * 10 + 5, session="tx")
    one.at(120, "commit", session="tx").send(200)
    yield one

    one = CrashScenario("prepared branches", (1500, 2500)).queue("paged.a").queue("memory").session("x", "xa").send(0)
    one.at(100, "begin", session="x", xid="b").send(150, session="x").send(160, "memory", session="x")
    one.at(200, "prepare", session="x", xid="b")
    yield one.at(1700, "commit", session="x", xid="b")


def random_scenario(seed: object) -> CrashScenario:
    """Return a random scenario whose crashes come between operations.

    Operations begin at multiples of 400 ms; timers end and crashes come between them. Transactions end at different
    times, because the order of simultaneous clients is undefined.
    """
    rng = random.Random(f"crash/{seed}")
    timeout = rng.choice((600, 1000))
    one = CrashScenario(f"random {seed}", (), f"<page-sync-timeout>{timeout * NS_PER_MS}</page-sync-timeout>")
    one.page = rng.choice((700, 2500, 100_000))
    one.queue("paged.a").queue("paged.b").queue("memory")
    addresses = ("paged.a", "paged.a", "paged.b", "memory")
    one.send(0).send(0, "paged.b")
    ms, ends = 400, 400
    for n in range(rng.randint(4, 10)):
        ms += 400 * rng.randint(0, 1)
        if rng.random() < 0.3:
            name = f"tx{n}"
            one.session(name, "local")
            ends_with = rng.choice(("commit", "commit", "rollback"))
            # when a page of rolled back records is done with depends on when its queues are asked: they get none here
            places = addresses if ends_with == "commit" else ("memory",)
            for k in range(rng.randint(1, 4)):
                one.send(ms + k, rng.choice(places), session=name, durable=rng.random() < 0.8)
            one.at(ms + 430 + 3 * n, ends_with, session=name)
        else:
            one.send(ms + n, rng.choice(addresses), durable=rng.random() < 0.7, size=rng.randint(0, 300))
        ends = max(ends, ms + 400)
    return replace(one, instants=tuple(sorted(rng.sample(range(500, ends + timeout + 200, 200), 2))))


def all_scenarios(seed: int, randoms: int = 8) -> list[CrashScenario]:
    return [*scenarios(), *(random_scenario(f"{seed}/{n}") for n in range(randoms))]


def observation(
    one: CrashScenario, lines: list[Line], version: str, answered: list[int], delivered: dict[str, list[int]]
) -> Line:
    """Build a line of ``tests/recorded/crashes``: the scenario, the broker's release and the observed result."""
    setup = {"core": one.core, "size": one.size, "page": one.page}
    seen = {"answered": answered, "delivered": delivered}
    return {"name": one.name, "version": version, **setup, "lines": lines, **seen}
