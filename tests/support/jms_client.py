"""JMS applications of brokers on this machine: the client of Artemis ("core"), and that of Qpid ("amqp").

One program, with the jars of one release, whatever the broker's.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from broker_jars import class_path, compiled
from target_broker import listed

SOURCE = Path(__file__).resolve().parents[1] / "oracle_java" / "JmsClient.java"
RELEASE = "2.56.0"
Fields = dict[str, str]


@dataclass(slots=True, eq=False)
class JmsClient:
    """A Java program that sends and receives JMS messages on request."""

    process: subprocess.Popen[str]

    def _asked(self, *words: object) -> list[str]:
        *lines, end = listed(self.process, "\t".join(map(str, words)))
        assert end.removeprefix("end ").isdigit(), f"{words}: {end}"
        return lines

    def subscribe(self, port: int, topic: str, name: str) -> None:
        self._asked("subscribe", port, "core", topic, name)

    def send(self, port: int, client: str, destination: str, seed: int) -> None:
        self._asked("send", port, client, destination, seed)

    def take(self, port: int, client: str, destination: str, count: int) -> list[Fields]:
        """Receive messages, and return headers, properties and body of each by name."""
        return [
            {name: _plain(text) for name, _, text in (part.partition("=") for part in line.split("\t"))}
            for line in self._asked("take", port, client, destination, count)
        ]


def _plain(text: str) -> str:
    return re.sub(r"\\u(....)", lambda found: chr(int(found[1], 16)), text)


@contextmanager
def jms_client(folder: Path) -> Iterator[JmsClient]:
    """Yield a running JMS client, whose classes are compiled to ``folder``."""
    folder.mkdir()
    path = compiled(SOURCE, class_path(RELEASE), folder)
    words = ["java", "-Xmx300m", "-XX:+UseSerialGC", "-cp", path, "JmsClient"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
    ) as process:
        try:
            yield JmsClient(process)
        finally:
            process.kill()
