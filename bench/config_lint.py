"""CPU time of ``pagectl config lint`` as a process, against ``xmllint --schema`` and xmlschema alone, as ratios.

    python bench/config_lint.py [--rounds 5]

A configuration as a broker is created with, one with 5,000 address settings, and as many properties in lines, in
YAML and in a custom resource of Kubernetes. CPU seconds of the child process (user and system), the smallest of the
rounds.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "schemas" / "brokerconf" / "xsd" / "artemis-2.56" / "server.xsd"
POLICIES = ("PAGE", "BLOCK", "DROP", "FAIL")
DEFAULT = """<?xml version="1.0"?>
<configuration xmlns="urn:activemq">
  <core xmlns="urn:activemq:core">
    <name>0.0.0.0</name>
    <persistence-enabled>true</persistence-enabled>
    <max-redelivery-records>1</max-redelivery-records>
    <journal-type>ASYNCIO</journal-type>
    <paging-directory>data/paging</paging-directory>
    <bindings-directory>data/bindings</bindings-directory>
    <journal-directory>data/journal</journal-directory>
    <large-messages-directory>data/large-messages</large-messages-directory>
    <journal-datasync>true</journal-datasync>
    <journal-min-files>2</journal-min-files>
    <journal-pool-files>10</journal-pool-files>
    <journal-device-block-size>4096</journal-device-block-size>
    <journal-file-size>10M</journal-file-size>
    <journal-buffer-timeout>1236000</journal-buffer-timeout>
    <journal-max-io>4096</journal-max-io>
    <disk-scan-period>5000</disk-scan-period>
    <max-disk-usage>90</max-disk-usage>
    <critical-analyzer>true</critical-analyzer>
    <critical-analyzer-timeout>120000</critical-analyzer-timeout>
    <critical-analyzer-check-period>60000</critical-analyzer-check-period>
    <critical-analyzer-policy>HALT</critical-analyzer-policy>
    <page-sync-timeout>1236000</page-sync-timeout>
    <global-max-messages>-1</global-max-messages>
    <acceptors>
      <acceptor name="artemis">tcp://0.0.0.0:61616?tcpSendBufferSize=1048576;protocols=CORE,AMQP,OPENWIRE</acceptor>
      <acceptor name="amqp">tcp://0.0.0.0:5672?protocols=AMQP;amqpCredits=1000;amqpLowCredits=300</acceptor>
    </acceptors>
    <security-settings>
      <security-setting match="#">
        <permission type="createAddress" roles="amq"/>
        <permission type="send" roles="amq"/>
        <permission type="consume" roles="amq"/>
        <permission type="manage" roles="amq"/>
      </security-setting>
    </security-settings>
    <address-settings>
      <address-setting match="activemq.management.#">
        <dead-letter-address>DLQ</dead-letter-address>
        <expiry-address>ExpiryQueue</expiry-address>
        <redelivery-delay>0</redelivery-delay>
        <max-size-bytes>-1</max-size-bytes>
        <message-counter-history-day-limit>10</message-counter-history-day-limit>
        <address-full-policy>PAGE</address-full-policy>
      </address-setting>
      <address-setting match="#">
        <dead-letter-address>DLQ</dead-letter-address>
        <expiry-address>ExpiryQueue</expiry-address>
        <redelivery-delay>0</redelivery-delay>
        <message-counter-history-day-limit>10</message-counter-history-day-limit>
        <address-full-policy>PAGE</address-full-policy>
        <auto-create-queues>true</auto-create-queues>
        <auto-create-addresses>true</auto-create-addresses>
      </address-setting>
    </address-settings>
    <addresses>
      <address name="DLQ"><anycast><queue name="DLQ"/></anycast></address>
      <address name="ExpiryQueue"><anycast><queue name="ExpiryQueue"/></anycast></address>
    </addresses>
  </core>
</configuration>
"""


def large(count: int) -> str:
    """Return a configuration with so many address settings, no two alike."""
    settings = "\n".join(
        f'<address-setting match="unit.{n % 97}.line.{n}.#">\n<dead-letter-address>dead.{n}</dead-letter-address>\n'
        f"<max-size-bytes>{n % 50 + 1}M</max-size-bytes>\n<page-size-bytes>{n % 9 + 1}00K</page-size-bytes>\n"
        f"<address-full-policy>{POLICIES[n % 4]}</address-full-policy>\n"
        f"<max-delivery-attempts>{n % 11}</max-delivery-attempts>\n</address-setting>"
        for n in range(count)
    )
    return (
        '<?xml version="1.0"?>\n<configuration xmlns="urn:activemq">\n<core xmlns="urn:activemq:core">\n'
        f"<address-settings>\n{settings}\n</address-settings>\n</core>\n</configuration>\n"
    )


RESOURCE = "apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemis\nmetadata: {name: x}\nspec:\n"


def properties(count: int) -> str:
    """Return a custom resource with ``count`` broker properties."""
    items = (f'    - addressSettings."unit.{n % 97}.{n}.#".maxSizeBytes={n % 50 + 1}M\n' for n in range(count))
    return f"{RESOURCE}  brokerProperties:\n{''.join(items)}"


def settings(count: int) -> str:
    """Return a custom resource with ``count`` address settings."""
    items = (f'      - match: unit.{n % 97}.{n}.#\n        maxSizeBytes: "{n % 50 + 1}M"\n' for n in range(count))
    return f"{RESOURCE}  addressSettings:\n    addressSetting:\n{''.join(items)}"


def lines(count: int) -> str:
    """Return a ``broker.properties`` file with ``count`` address settings."""
    return "".join(f'addressSettings."unit.{n % 97}.{n}.#".maxSizeBytes={n % 50 + 1}M\n' for n in range(count))


def nested(count: int) -> str:
    """Return a YAML properties file with ``count`` address settings."""
    items = (f"  unit.{n % 97}.{n}.#:\n    maxSizeBytes: {n % 50 + 1}M\n" for n in range(count))
    return f"addressSettings:\n{''.join(items)}"


def cpu(call: list[str], rounds: int) -> float:
    """Return the CPU seconds of a call, the minimum of all rounds."""
    best = float("inf")
    paths = os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas"))
    surroundings = {**os.environ, "PYTHONPATH": paths}
    # as it is installed: with its modules compiled
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=surroundings)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def calls(path: Path) -> dict[str, list[str]]:
    lint = {"pagectl config lint": [sys.executable, "-m", "pagectl", "config", "lint", str(path)]}
    if path.suffix != ".xml":
        return lint
    alone = f"import xmlschema; xmlschema.XMLSchema({str(SCHEMA)!r}).is_valid({str(path)!r})"
    bare = f"from lxml import etree; etree.XMLSchema(etree.parse({str(SCHEMA)!r})).validate(etree.parse({str(path)!r}))"
    found = {**lint, "lxml alone": [sys.executable, "-c", bare], "xmlschema alone": [sys.executable, "-c", alone]}
    if shutil.which("xmllint"):
        found["xmllint --schema"] = ["xmllint", "--noout", "--nonet", "--schema", str(SCHEMA), str(path)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with TemporaryDirectory() as folder:
        files = [
            ("default file", "broker.xml", DEFAULT),
            ("5,000 address settings", "broker.xml", large(5000)),
            ("5,000 properties", "broker.properties", lines(5000)),
            ("5,000 properties in YAML", "site.yaml", nested(5000)),
            ("5,000 properties of a custom resource", "broker.yaml", properties(5000)),
            ("5,000 address settings of a custom resource", "broker.yaml", settings(5000)),
        ]
        for name, file, text in files:
            path = Path(folder) / file
            path.write_text(text, "utf-8")
            times = {what: cpu(call, rounds) for what, call in calls(path).items()}
            own = times["pagectl config lint"]
            print(name)
            for what, seconds in times.items():
                print(f"  {what:22} {seconds:6.3f} s CPU   lint is {own / seconds:5.2f} times that")


if __name__ == "__main__":
    main()
