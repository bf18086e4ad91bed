"""A real broker that messages are sent to, in a process of its own."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from broker_jars import class_path, compiled, oracle

SOURCE = Path(__file__).resolve().parents[1] / "oracle_java" / "TargetBroker.java"
CONFIG = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
<name>oracle</name><persistence-enabled>true</persistence-enabled><security-enabled>{secured}</security-enabled>
<journal-type>NIO</journal-type><journal-file-size>1M</journal-file-size><journal-min-files>2</journal-min-files>
<critical-analyzer>false</critical-analyzer><disk-scan-period>60000</disk-scan-period><max-disk-usage>99</max-disk-usage>
<paging-directory>{folder}/data/paging</paging-directory><bindings-directory>{folder}/data/bindings</bindings-directory>
<journal-directory>{folder}/data/journal</journal-directory>
<large-messages-directory>{folder}/data/large-messages</large-messages-directory>
<acceptors><acceptor name="a">tcp://127.0.0.1:{port}?protocols=CORE,AMQP{acceptor}</acceptor></acceptors>
<address-settings><address-setting match="#"><auto-delete-queues>false</auto-delete-queues>
<auto-delete-addresses>false</auto-delete-addresses>{settings}</address-setting></address-settings>
<security-settings><security-setting match="#">{rights}</security-setting></security-settings>
</core></configuration>
"""


@dataclass(slots=True)
class TargetBroker:
    """A running broker to which messages are sent, controlled through its standard input."""

    process: subprocess.Popen[str]
    folder: Path
    port: int

    def start(
        self,
        folder: Path,
        settings: str = "",
        acceptor: str = "",
        *,
        secured: bool = False,
        certificates: Mapping[str, str] | None = None,
    ) -> None:
        """Restart the broker on another folder or with other settings.

        ``certificates``: user by the name in a client's certificate.
        """
        folder.mkdir(parents=True, exist_ok=True)
        known = "".join(f"{user}=CN={name}\n" for name, user in (certificates or {}).items())
        (folder / "certificates.properties").write_text(known)
        (folder / "roles.properties").write_text("".join(f"{role}={role}\n" for role in _RIGHTS))
        assert self.ask(f"start {_configured(folder, self.port, settings, acceptor, secured)}") == "started"

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

    def due(self, queue: str) -> int:
        return int(self.ask(f"due {queue}"))

    def prune(self, queue: str) -> int:
        return int(self.ask(f"prune {queue}"))

    def dump(self, queue: str) -> list[str]:
        """Receive all messages of a queue with a core client, scheduled ones included; return a line for each."""
        return listed(self.process, f"dump {queue}")[:-1]


def listed(process: subprocess.Popen[str], command: str) -> list[str]:
    """Send a command to a program and return the lines of its answer, up to the one that starts with "end"."""
    assert process.stdin and process.stdout
    process.stdin.write(f"{command}\n")
    process.stdin.flush()
    lines = [""]
    while lines[-1].split(" ")[0] != "end":
        lines.append(process.stdout.readline().rstrip("\n"))
        assert lines[-1], "the program has ended"
    return lines[1:]


_RIGHTS = {
    "keeper": (
        "send",
        "consume",
        "browse",
        "manage",
        *(f"{what}{kind}" for what in ("create", "delete") for kind in ("DurableQueue", "NonDurableQueue", "Address")),
    ),
    "sender": ("send", "consume", "createDurableQueue", "createAddress"),
    "reader": ("consume", "createDurableQueue", "createAddress"),
}


def _configured(folder: Path, port: int, settings: str = "", acceptor: str = "", secured: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "broker.xml"
    roles = {right: [role for role, rights in _RIGHTS.items() if right in rights] for right in _RIGHTS["keeper"]}
    rights = "".join(f'<permission type="{right}" roles="{",".join(found)}"/>' for right, found in roles.items())
    file.write_text(
        CONFIG.format(
            folder=folder,
            port=port,
            settings=settings,
            acceptor=acceptor.replace("&", "&amp;"),
            rights=rights,
            secured=str(secured).lower(),
        )
    )
    return file


@contextmanager
def target_broker(version: str, folder: Path, settings: str = "") -> Iterator[TargetBroker]:
    """Yield a running broker whose data and configuration are in ``folder``."""
    oracle()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    file = _configured(folder, port, settings)
    classes = folder.with_name(f"{folder.name}-classes")
    classes.mkdir(exist_ok=True)
    path = compiled(SOURCE, class_path(version), classes)
    words = ["java", "-Xmx600m", "-XX:+UseSerialGC", "-cp", path, "TargetBroker", str(file), str(port)]
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
