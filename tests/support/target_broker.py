"""A real broker that messages are sent to, in a process of its own."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from broker_jars import class_path, compiled, oracle

SOURCE = Path(__file__).resolve().parents[1] / "oracle_java" / "TargetBroker.java"
CONFIG = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
<name>oracle</name><persistence-enabled>true</persistence-enabled><security-enabled>false</security-enabled>
<journal-type>NIO</journal-type><journal-file-size>1M</journal-file-size><journal-min-files>2</journal-min-files>
<critical-analyzer>false</critical-analyzer><disk-scan-period>60000</disk-scan-period><max-disk-usage>99</max-disk-usage>
<paging-directory>data/paging</paging-directory><bindings-directory>data/bindings</bindings-directory>
<journal-directory>data/journal</journal-directory>
<large-messages-directory>data/large-messages</large-messages-directory>
<acceptors><acceptor name="a">tcp://127.0.0.1:{port}?protocols=CORE,AMQP</acceptor></acceptors>
<address-settings><address-setting match="#"><auto-delete-queues>false</auto-delete-queues>
<auto-delete-addresses>false</auto-delete-addresses>{settings}</address-setting></address-settings>
</core></configuration>
"""


class Dump(NamedTuple):
    """``messages`` as lines, in order within each priority; ``scheduled``: not given before their time."""

    messages: tuple[str, ...]
    scheduled: int


@dataclass(slots=True)
class TargetBroker:
    process: subprocess.Popen[str]
    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"amqp://127.0.0.1:{self.port}"

    def ask(self, command: str) -> str:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def count(self, queue: str) -> int:
        return int(self.ask(f"count {queue}"))

    def empty(self, queue: str) -> int:
        return int(self.ask(f"empty {queue}"))

    def dump(self, queue: str) -> Dump:
        """What a client is given, and how many messages are scheduled."""
        lines = [self.ask(f"dump {queue}")]
        assert self.process.stdout
        while not lines[-1].startswith("end "):
            lines.append(self.process.stdout.readline().rstrip("\n"))
            assert lines[-1], "the broker has ended"
        return Dump(tuple(sorted(lines[:-1], key=lambda line: -int(line[0]))), int(lines[-1].split()[1]))

    def stop(self) -> None:
        assert self.ask("stop") == "stopped"
        self.process.wait(30)


@contextmanager
def target_broker(version: str, folder: Path, settings: str = "") -> Iterator[TargetBroker]:
    """``folder`` gets ``data`` and the configuration. Relative directories: of the folder."""
    oracle()
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "broker.xml").write_text(CONFIG.format(port=port, settings=settings))
    classes = folder.with_name(f"{folder.name}-classes")
    classes.mkdir(exist_ok=True)
    path = compiled(SOURCE, class_path(version), classes)
    words = ["java", "-Xmx600m", "-XX:+UseSerialGC", "-cp", path, "TargetBroker", str(folder / "broker.xml"), str(port)]
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        cwd=folder,
    ) as process:
        assert process.stdout
        try:
            assert process.stdout.readline() == "started\n"
            yield TargetBroker(process, folder, port)
        finally:
            process.kill()
