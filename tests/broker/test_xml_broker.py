"""``messages xml`` brought into new brokers by their own importer, which then deliver what the old ones would have.

Bodies of AMQP messages are not compared: they come back as core messages, whose form ``test_exported_xml.py`` holds
against the brokers' exporter. The importer of 2.56 refuses queues on addresses with wildcards.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import golden_cases
import pytest
from broker_drains import Queue, drains, failure, queues
from broker_jars import CURRENT, class_path, compiled, oracle
from program import call

pytestmark = [pytest.mark.broker, pytest.mark.timeout(1800)]
PROGRAM = Path(__file__).resolve().parents[1] / "oracle_java" / "XmlImport.java"
CONVERTED = ("amqp-jms", "amqp-sections", "large-amqp", "mixed-protocols")
WILDCARDS = {"2.56.0": ("mqtt",)}


def _same(before: Queue, after: Queue, bodies: bool) -> bool:
    """``seq``, body and priority in order; the hash of a body is not known where it was large."""
    pairs = zip(before.by_priority, after.by_priority, strict=False)
    return len(before.messages) == len(after.messages) and all(
        (one[1], one[3]) == (other[1], other[3]) and (not bodies or None in (one[2], other[2]) or one[2] == other[2])
        for one, other in pairs
    )


@pytest.mark.parametrize("version", CURRENT)
def test_an_imported_file_delivers_the_same(version: str, tmp_path: Path) -> None:
    oracle()
    words: list[str] = []
    folders: dict[golden_cases.GoldenCase, Path] = {}
    for case in golden_cases.cases(version):
        folder = tmp_path / case.name
        file = tmp_path / f"{case.name}.xml"
        assert call("messages", "xml", case.data(), "--to", file).status < 2
        if case.name not in WILDCARDS.get(version, ()):
            shutil.copytree(case.root(), folder, ignore=shutil.ignore_patterns("data", "*.json"))
            folders[case] = folder
            words += [str(file), str(folder / "data")]
    jars = class_path(version)
    (tmp_path / "classes").mkdir()
    classes = compiled(PROGRAM, jars, tmp_path / "classes")
    done = subprocess.run(
        ["java", "-Xmx600m", "-XX:+UseSerialGC", "-cp", classes, "XmlImport", *words],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.count("done ") == len(folders), done.stdout
    told = drains(version, list(folders.values()))
    equal, different = 0, []
    for case, folder in folders.items():
        assert failure(told[folder]) is None, (case, failure(told[folder]))
        after = queues(told[folder])
        for name, queue in queues(case.drain()).items():
            if not queue.messages or _same(queue, after[name], case.name not in CONVERTED):
                equal += 1
            else:
                different.append(f"{case}: {name}")
    print(f"{version}: {equal} queues of {len(folders)} directories deliver the same, {len(different)} differ")
    assert not different
