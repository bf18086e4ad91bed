"""``disk exporter`` beside a real broker: at every rest of the traffic, each queue's count is that of its management.

Backlogs in the journal alone, in pages, of a subscription without a consumer, of one with a filter, scheduled messages,
large ones and dead letters. ``PAGECTL_SCRAPE_SECONDS`` (600) says how long.
"""

from __future__ import annotations

import os
import random
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from broker_jars import class_path, compiled
from exporters import Samples, exporter, fetched, of, samples

SECONDS = int(os.environ.get("PAGECTL_SCRAPE_SECONDS", "600"))
pytestmark = [pytest.mark.broker, pytest.mark.timeout(SECONDS + 600)]
VERSION = "2.56.0"
SOURCE = Path(__file__).resolve().parents[1] / "oracle_java" / "ScrapedBroker.java"
INTERVAL = 5  # seconds between two looks of the exporter
CONFIG = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
<persistence-enabled>true</persistence-enabled><security-enabled>false</security-enabled>
<journal-type>NIO</journal-type><journal-file-size>1M</journal-file-size><journal-min-files>2</journal-min-files>
<journal-compact-min-files>3</journal-compact-min-files><journal-compact-percentage>40</journal-compact-percentage>
<paging-directory>{data}/paging</paging-directory><bindings-directory>{data}/bindings</bindings-directory>
<journal-directory>{data}/journal</journal-directory><large-messages-directory>{data}/large-messages</large-messages-directory>
<acceptors><acceptor name="a">tcp://127.0.0.1:{port}</acceptor></acceptors>
<address-settings><address-setting match="#"><max-size-bytes>200000</max-size-bytes>
<page-size-bytes>60000</page-size-bytes><address-full-policy>PAGE</address-full-policy>
<max-delivery-attempts>2</max-delivery-attempts><dead-letter-address>dead</dead-letter-address></address-setting>
<address-setting match="small"><max-size-bytes>-1</max-size-bytes></address-setting>
<address-setting match="later"><max-size-bytes>-1</max-size-bytes></address-setting></address-settings>
<addresses>
<address name="small"><anycast><queue name="small"/></anycast></address>
<address name="orders"><anycast><queue name="orders"/></anycast></address>
<address name="later"><anycast><queue name="later"/></anycast></address>
<address name="dead"><anycast><queue name="dead"/></anycast></address>
<address name="empty"><anycast><queue name="empty"/></anycast></address>
<address name="events"><multicast><queue name="events.busy"/><queue name="events.idle"/>
<queue name="events.odd"><filter string="n &gt; 50"/></queue></multicast></address>
</addresses></core></configuration>
"""


@dataclass(slots=True)
class Broker:
    """A running broker that reports its message counts on request."""

    process: subprocess.Popen[str]
    data: Path

    def ask(self, word: str = "count") -> dict[str, int]:
        """Return the message count of each queue, as the broker's management reports it."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the broker has ended"
        pairs = (pair.rpartition("=") for pair in line.split())
        return {name: int(count) for name, _, count in pairs}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "broker.xml").write_text(CONFIG.format(data=tmp_path / "data", port=port))
    path = compiled(SOURCE, class_path(VERSION), tmp_path)
    words = ["java", "-Xmx500m", "-XX:+UseSerialGC", "-cp", path, "ScrapedBroker", str(tmp_path / "broker.xml")]
    with subprocess.Popen(
        [*words, str(port), "7"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stdout
        try:
            assert process.stdout.readline() == "started\n"
            yield Broker(process, tmp_path / "data")
        finally:
            process.kill()


def test_each_count_is_that_of_management(broker: Broker) -> None:
    chance = random.Random(7)
    rests, compared, in_journal, in_pages, seen = 0, 0, Counter[str](), Counter[str](), dict[str, set[int]]()
    with exporter(broker.data, "--broker", "scraped", interval=str(INTERVAL)) as (_, url):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            time.sleep(chance.uniform(1, 12))
            broker.ask("pause")
            time.sleep(1)  # until page counters, which the broker updates after a commit, are settled
            counted, found = broker.ask(), next_look(url)
            again = broker.ask()
            broker.ask("go")
            assert counted == again, "the broker's own counts change while nothing is sent or consumed"
            waiting = of(found, "artemis_waiting_messages", broker="scraped")
            shown = Counter[str]()
            for labels, value in waiting.items():
                queue, where = dict(labels)["queue"], dict(labels)["where"]
                shown[queue] += int(value)
                (in_journal if where == "journal" else in_pages)[queue] += int(value)
            # a queue without a sample is not told apart from one that is not there: only an empty one may lack it
            assert {name: shown[name] for name in counted} == counted, (rests, waiting)
            assert shown.keys() <= counted.keys()
            for name, count in counted.items():
                seen.setdefault(name, set()).add(count)
            rests, compared = rests + 1, compared + len(counted)
    print(f"{rests} rests, {compared} counts compared, all equal; journal {in_journal}, pages {in_pages}")
    print({name: (min(counts), max(counts), len(counts)) for name, counts in seen.items()})
    assert in_journal["small"] and not in_pages["small"] and in_journal["later"] and in_journal["dead"]
    assert in_pages["orders"] and in_pages["events.idle"] and in_pages["events.odd"]
    assert len(seen["orders"]) > rests // 2 and len(seen["events.busy"]) > rests // 2, "the traffic changes the counts"


def next_look(url: str) -> Samples:
    """Return the first scrape whose values were collected after this call."""
    began = time.monotonic()
    while time.monotonic() - began < 12 * INTERVAL:
        time.sleep(0.2)
        found = samples(fetched(url)[1])
        (age,) = of(found, "pagectl_look_age_seconds", part="pages").values()
        if age < time.monotonic() - began:
            assert set(of(found, "pagectl_up").values()) == {1.0}, found
            return found
    pytest.fail(f"no look within {12 * INTERVAL} seconds")
