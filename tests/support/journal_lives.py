"""Lives of real brokers whose journals hold everything at once, and were compacted by the broker while it ran.

A life is several stretches on one directory: of each the broker is started, has traffic (``JournalLife.java``) and is
stopped, or killed in the middle of it.
"""

from __future__ import annotations

import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from broker_jars import class_path, compiled

PROGRAM = Path(__file__).resolve().parents[1] / "oracle_java" / "JournalLife.java"
JAVA = ("java", "-Xmx500m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp")
SHORT_TIMES = 1
"""Seconds. By then every time of a message is over that is not a day away: what is due is no matter of the clock."""
_PAGED = (
    "<max-size-bytes>60000</max-size-bytes><page-size-bytes>20480</page-size-bytes>"
    "<max-read-page-messages>-1</max-read-page-messages><max-read-page-bytes>-1</max-read-page-bytes>"
)
_RED, _FEW = "<filter string=\"color = 'red'\"/>", '<filter string="n &lt; 3"/>'
CONFIGURATION = f"""<configuration xmlns="urn:activemq">
  <core xmlns="urn:activemq:core">
    <name>life</name>
    <persistence-enabled>true</persistence-enabled>
    <security-enabled>false</security-enabled>
    <journal-type>NIO</journal-type>
    <paging-directory>data/paging</paging-directory>
    <bindings-directory>data/bindings</bindings-directory>
    <journal-directory>data/journal</journal-directory>
    <large-messages-directory>data/large-messages</large-messages-directory>
    <journal-file-size>200K</journal-file-size>
    <journal-buffer-size>65536</journal-buffer-size>
    <journal-min-files>2</journal-min-files>
    <journal-pool-files>2</journal-pool-files>
    <journal-compact-min-files>4</journal-compact-min-files>
    <journal-compact-percentage>60</journal-compact-percentage>
    <journal-buffer-timeout>100000</journal-buffer-timeout>
    <journal-datasync>false</journal-datasync>
    <disk-scan-period>60000</disk-scan-period>
    <max-disk-usage>99</max-disk-usage>
    <critical-analyzer>false</critical-analyzer>
    <message-expiry-scan-period>500</message-expiry-scan-period>
    <configuration-file-refresh-period>-1</configuration-file-refresh-period>
    <id-cache-size>50</id-cache-size>
    <acceptors>
      <acceptor name="artemis">tcp://127.0.0.1:${{oracle.port:61616}}?protocols=CORE,AMQP;useEpoll=false</acceptor>
    </acceptors>
    <address-settings>
      <address-setting match="#">
        <dead-letter-address>DLQ</dead-letter-address>
        <expiry-address>EXPIRY</expiry-address>
        <max-delivery-attempts>4</max-delivery-attempts>
        <auto-delete-queues>false</auto-delete-queues>
        <auto-delete-addresses>false</auto-delete-addresses>
        <max-size-bytes>-1</max-size-bytes>
        <page-size-bytes>20480</page-size-bytes>
        <address-full-policy>PAGE</address-full-policy>
      </address-setting>
      <address-setting match="retry"><redelivery-delay>86400000</redelivery-delay></address-setting>
      <address-setting match="paged">{_PAGED}</address-setting>
      <address-setting match="wide">{_PAGED}</address-setting>
    </address-settings>
    <addresses>
      <address name="DLQ"><anycast><queue name="DLQ"/></anycast></address>
      <address name="EXPIRY"><anycast><queue name="EXPIRY"/></anycast></address>
      <address name="orders"><anycast><queue name="orders"/></anycast></address>
      <address name="jobs"><anycast><queue name="jobs"/></anycast></address>
      <address name="news">
        <multicast>
          <queue name="news.all"/><queue name="news.red">{_RED}</queue><queue name="news.few">{_FEW}</queue>
        </multicast>
      </address>
      <address name="prices"><anycast><queue name="prices" last-value-key="key"/></anycast></address>
      <address name="state">
        <anycast><queue name="state" last-value-key="key" non-destructive="true"/></anycast>
      </address>
      <address name="ring"><anycast><queue name="ring" ring-size="15"/></anycast></address>
      <address name="log"><anycast><queue name="log" non-destructive="true"/></anycast></address>
      <address name="retry"><anycast><queue name="retry"/></anycast></address>
      <address name="paged"><anycast><queue name="paged"/></anycast></address>
      <address name="wide">
        <multicast>
          <queue name="wide.all"/><queue name="wide.red">{_RED}</queue><queue name="wide.few">{_FEW}</queue>
        </multicast>
      </address>
    </addresses>
  </core>
</configuration>
"""


@dataclass(frozen=True, slots=True)
class Life:
    """``folder``: ``data`` and the configuration as they were left. ``said``: what was done, stretch by stretch."""

    folder: Path
    said: list[str]


def lived(version: str, folder: Path, seed: int, stretches: int = 3, operations: int = 450) -> Life:
    """Run a broker several times on a new folder; an even seed stops the last run cleanly, an odd one kills it."""
    folder.mkdir(parents=True)
    configuration = folder / "broker.xml"
    configuration.write_text(CONFIGURATION)
    classes = folder.with_name("classes")
    classes.mkdir(exist_ok=True)
    jars = compiled(PROGRAM, class_path(version), classes)
    said = []
    for stretch in range(stretches):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = [*JAVA, jars, "JournalLife", str(configuration), str(port), str(seed * 10 + stretch), str(operations)]
        said.append(_stretch(words, stop=(seed + stretch + stretches) % 2 == 1, errors=folder.with_suffix(".err")))
    (folder / "data" / "journal" / "server.lock").unlink(missing_ok=True)
    time.sleep(SHORT_TIMES)
    return Life(folder, said)


def _stretch(words: list[str], *, stop: bool, errors: Path) -> str:
    with errors.open("a") as told:
        running = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told, text=True)
    assert running.stdin is not None and running.stdout is not None
    try:
        said = running.stdout.readline().strip()
        assert said.startswith("done"), (said, errors.read_text()[-2000:])
        if stop:
            running.stdin.write("stop\n")
            running.stdin.flush()
            assert running.stdout.readline() == "stopped\n", errors.read_text()[-2000:]
    finally:
        running.kill()
        running.wait()
    return f"{said}; {'stopped' if stop else 'killed'}"
