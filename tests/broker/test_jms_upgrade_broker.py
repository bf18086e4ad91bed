"""Messages that a JMS application receives from HornetQ or 1.5.6, and from a 2.x broker on the converted directory.

Bodies, destinations, replies, ids, properties and delivery counts are compared in order.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from broker_jars import class_path, compiled, ended, legacy_launcher, oracle
from test_conversion_data_broker import CONFIGURATION

from pagefmt.change.conversion.apply import convert
from pagefmt.change.conversion.plan import plan_conversion
from pagefmt.directory.locate import within
from pagefmt.editions import Edition

pytestmark = [pytest.mark.broker, pytest.mark.timeout(1200)]
SOURCE = Path(__file__).parents[1] / "oracle_java" / "JmsUpgrade.java"
CONFIGURATIONS = {
    "hornetq-2.4.7": CONFIGURATION.replace('<core xmlns="urn:activemq:core">', "")
    .replace("</core>", "").replace("urn:activemq", "urn:hornetq")
    .replace("<acceptor name=\"in-vm\">vm://0</acceptor>", '<acceptor name="in-vm"><factory-class>'
             "org.hornetq.core.remoting.impl.invm.InVMAcceptorFactory</factory-class></acceptor>")
    .replace("<journal-pool-files>2</journal-pool-files>", "").replace("<max-disk-usage>100</max-disk-usage>", ""),
    "artemis-1.5.6": CONFIGURATION,
}  # fmt: skip
ONLY_NEW = (
    "<auto-create-queues>false</auto-create-queues>",
    "<auto-delete-queues>false</auto-delete-queues>",
    "<auto-delete-addresses>false</auto-delete-addresses>",
)


class Application:
    """The program, with the jars of one broker."""

    def __init__(self, version: str, folder: Path) -> None:
        folder.mkdir()
        source = SOURCE.read_text("utf-8")
        if version.startswith("hornetq"):
            source = source.replace("org.apache.activemq.artemis", "org.hornetq").replace("ActiveMQ", "HornetQ")
        (folder / SOURCE.name).write_text(source, "utf-8")
        current = version in ("2.56.0", "2.44.0", "2.28.0")
        jars = (
            class_path(version) if current else os.pathsep.join(map(str, legacy_launcher().jars(version).glob("*.jar")))
        )
        self.path = compiled(folder / SOURCE.name, jars, folder)
        self.opens = [word for each in legacy_launcher().OPENS for word in ("--add-opens", f"{each}=ALL-UNNAMED")]

    def run(self, instance: Path, what: str, *words: str) -> list[str]:
        """Run the JMS program in an instance and return its lines about received messages."""
        os.chdir(instance)
        said = ended(["java", "-Xmx512m", *self.opens, "-cp", self.path, "JmsUpgrade", what, "broker.xml", *words], 240)
        return [line.partition(" ")[2] for line in said.splitlines() if line.startswith("MESSAGE ")]


def by_priority(lines: list[str]) -> list[str]:
    """Sort lines by queue and priority, keeping the order within each.

    A message of higher priority overtakes those already in memory. Scheduled messages come last, because the clock
    decides when they are delivered. The delivery time is removed, because only some brokers keep it in the message.
    """

    def place(line: str) -> tuple[str, str, str]:
        queue, seq, *_ = line.split()
        found = re.search(r" ID:\S+ \S+ \S+ \d (\d) ", line)
        assert found is not None, line
        return queue, "scheduled" if seq.endswith("7") else found[1], line if seq.endswith("7") else ""

    plain = (line.replace("_HQ_", "_AMQ_") for line in lines)
    return sorted((re.sub(r"_AMQ_SCHED_DELIVERY=\d+, ", "", line) for line in plain), key=place)


@pytest.mark.parametrize("version", list(CONFIGURATIONS))
@pytest.mark.parametrize("target", [Edition.ARTEMIS_2_56, Edition.ARTEMIS_2_28], ids=lambda edition: edition.value)
def test_the_application_is_given_the_same(
    version: str, target: Edition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    oracle()
    monkeypatch.chdir(tmp_path)
    configuration = CONFIGURATIONS[version].replace("40960", "20480")
    for part in ONLY_NEW:
        configuration = configuration.replace(part, "")
    instance, copy, new = tmp_path / "instance", tmp_path / "copy", tmp_path / "new"
    for folder in (instance, new):
        folder.mkdir()
    (instance / "broker.xml").write_text(configuration, "utf-8")
    (new / "broker.xml").write_text(CONFIGURATION, "utf-8")
    old = Application(version, tmp_path / "old")
    old.run(instance, "write", "__HQX=-1" if version.startswith("hornetq") else "__AMQX=-1")
    subprocess.run(["cp", "-a", str(instance), str(copy)], check=True)
    plan = plan_conversion(within(instance / "data"), target)
    convert(plan, new / "data")
    assert not plan.lost and plan.paged > 20 and plan.kinds["ADD_MESSAGE"] > 5
    before = old.run(copy, "read")
    after = Application(target.release, tmp_path / "newer").run(new, "read")
    with capfd.disabled():
        print(f"\n{version} to {target.value}: {len(before)} messages, in order by priority equal: ", end="")
        print(sum(map(str.__eq__, by_priority(before), by_priority(after))))
    assert len(before) >= 75 and any("JMSXDeliveryCount=2" in line for line in before)
    assert by_priority(after) == by_priority(before)
