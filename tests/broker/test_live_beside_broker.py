"""``pages outstanding --jolokia`` beside a real instance with its console."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from broker_jars import ended, oracle
from golden_cases import GoldenCase
from program import Answer, call

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]
VERSIONS = ("2.56.0", "2.44.0")
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
SECRET = "s3cret pw"


@dataclass(frozen=True, slots=True)
class Running:
    """A broker instance that runs, with its console URL and the port of its acceptor."""

    folder: Path
    console: str
    port: int

    def command(self, verb: str, *words: str) -> list[str]:
        """Return a call of the broker's own ``artemis`` program on the queue orders."""
        return [
            str(self.folder / "bin" / "artemis"),
            verb,
            "--url",
            f"tcp://127.0.0.1:{self.port}",
            "--user",
            "admin",
            "--password",
            SECRET,
            "--destination",
            "queue://orders",
            *words,
        ]

    def beside(self, *words: str, password: str = SECRET, place: Path | None = None) -> Answer:
        (self.folder / "user.txt").write_text(f"admin:{password}\n")
        where = place or self.folder
        return call(
            "pages", "outstanding", where, "--jolokia", self.console, "--credentials", self.folder / "user.txt", *words
        )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def distribution(version: str) -> Path:
    """Return the folder of a release's full distribution, which Maven downloads once."""
    oracle()
    kept = Path(os.environ["ORACLE_HOME_DIR"]) / "distributions"
    home = kept / f"apache-artemis-{version}"
    if not home.is_dir():
        ended(
            [
                "mvn",
                "-q",
                "-B",
                COPY,
                f"-Dartifact=org.apache.activemq:apache-artemis:{version}:tar.gz:bin",
                f"-DoutputDirectory={kept}",
            ],
            500,
        )
        with tarfile.open(kept / f"apache-artemis-{version}-bin.tar.gz") as packed:
            packed.extractall(kept, filter="data")
    return home


@pytest.fixture(scope="module", params=VERSIONS)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    home, folder = distribution(request.param), tmp_path_factory.mktemp("instance") / "orders"
    port, web = free_port(), free_port()
    ended(
        [
            str(home / "bin" / "artemis"),
            "create",
            str(folder),
            "--user",
            "admin",
            "--password",
            SECRET,
            "--require-login",
            "--host",
            "127.0.0.1",
            "--http-host",
            "127.0.0.1",
            "--http-port",
            str(web),
            "--default-port",
            str(port),
            "--no-amqp-acceptor",
            "--no-hornetq-acceptor",
            "--no-mqtt-acceptor",
            "--no-stomp-acceptor",
            "--no-autotune",
            "--nio",
        ],
        120,
    )
    xml = folder / "etc" / "broker.xml"
    limits = "<max-size-bytes>100000</max-size-bytes><page-size-bytes>20000</page-size-bytes>"
    text = xml.read_text("utf-8").replace("<max-size-bytes>-1</max-size-bytes>", "")
    text = text.replace("<page-size-bytes>10M</page-size-bytes>", "").replace(
        "<max-size-messages>-1</max-size-messages>", ""
    )
    xml.write_text(text.replace('<address-setting match="#">', f'<address-setting match="#">{limits}'), "utf-8")
    with (folder / "told").open("w") as told:
        process = subprocess.Popen([str(folder / "bin" / "artemis"), "run"], stdout=told, stderr=told)
    try:
        found = Running(folder, f"http://127.0.0.1:{web}", port)
        until_it_answers(found.console)
        yield found
    finally:
        process.terminate()
        process.wait(60)


def until_it_answers(url: str) -> None:
    for _ in range(120):
        try:
            with urllib.request.urlopen(f"{url}/console/", timeout=5):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(1)
    pytest.fail("the console does not come up")


def live(answer: Answer) -> tuple[dict[str, Any], list[str]]:
    found = json.loads(answer.out)
    (row,) = [row for row in found["live"] if row["queue"] == "orders"]
    return row, [each["rule"] for each in found["differences"]]


@contextmanager
def reading(words: list[str]) -> Iterator[None]:
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def test_beside_a_real_console(running: Running) -> None:
    ended(running.command("producer", "--message-count", "600", "--message-size", "1000"), 120)
    ended(running.command("consumer", "--message-count", "150"), 120)
    row, rules = live(running.beside("--format", "json"))
    assert (row["messages"], row["in_files"], row["paging"], rules) == (450, 450, True, [])
    assert row["in_pages"] > 0
    with reading(running.command("producer", "--message-count", "20000", "--message-size", "500")):
        time.sleep(3)
        for _ in range(3):
            assert live(running.beside("--format", "json"))[1] == []
    with reading(running.command("consumer", "--message-count", "1000", "--sleep", "60000")):
        time.sleep(6)
        row, rules = live(running.beside("--format", "json"))
        assert (row["consumers"], rules) == (1, ["not-reading"])


def test_who_may_not(running: Running) -> None:
    assert "user or password is wrong" in running.beside(password="no").err
    assert "name the console of that broker" in running.beside(place=GoldenCase("2.56.0", "scattered-acks").data()).err
    refused = call(
        "pages",
        "outstanding",
        running.folder,
        "--jolokia",
        running.console.replace("127.0.0.1", "localhost"),
        "--credentials",
        running.folder / "user.txt",
    )
    assert refused.status == 2 and SECRET not in refused.err
