"""Converted configurations, compared by brokers' classes with the files that they come from."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from broker_jars import CURRENT, class_path, compiled, logging_binding
from brokerconf.errors import BrokerConfError
from brokerconf.properties.application import apply_all
from brokerconf.properties.writing import as_properties
from brokerconf.reading.properties import EMPTY_XML, entries_in
from brokerconf.reading.reading import read
from brokerconf.settings.conversion import as_entries, as_xml
from config_cases import EDITIONS, configs

pytestmark = pytest.mark.broker

JUDGE = Path(__file__).resolve().parents[1] / "oracle_java" / "ConversionJudge.java"
OPENED = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "util")]
# of the file itself; of the journal that is not in use (the oracle has no libaio); random or worked out later; ENC()
# that an acceptor decodes itself; legacy lists that a start fills; a setting whose absence is true
APART = re.compile(
    r"\.(jsonStatus|configurationUrl|schema|rootElement|parsed|resolveProtocols|keysToRedact|transientChecksum|journalType"
    r"|journal(BufferTimeout|BufferSize|MaxIO)_|pageSyncTimeout .*-> 3333333|mirrorSNF|securityRoleNameMappings"
    r"|metricsPlugin|broker[A-Z]\w+Plugins|divertConfigurations.*routingName|.*\.transportConfigurations"
    r"|acceptorConfigs\S* ENC|coreQueueConfigurations\[\S*enabled)"
)
# a cluster connection whose connector is not declared: an element is dropped as it is read, a property at the start
DROPPED = re.compile(r"\.clusterConfigurations\[\w+\]\.\w+ null -> ")


@pytest.mark.parametrize("release", CURRENT)
def test_beans_of_both_forms_are_equal(release: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty.xml"
    empty.write_text(EMPTY_XML, "utf-8")
    jobs: dict[str, bool] = {}
    for number, path in enumerate(
        sorted([*(configs() / "valid").rglob("*.xml"), *(configs() / "mutants").glob("*.xml")])
    ):
        try:
            given = read(path, edition=EDITIONS[release])
            converted = as_entries(given)
        except BrokerConfError:
            continue
        if not given.cores:
            continue
        raw = as_properties(converted.pairs).encode("ascii")
        properties, back = tmp_path / f"{number}.properties", tmp_path / f"{number}.xml"
        properties.write_bytes(raw)
        text, left = as_xml(apply_all(entries_in(raw, properties.name), given.edition), given.edition)
        back.write_text(text, "utf-8")
        jobs[f"{path}\t{empty}\t{properties}"] = not converted.without_equivalent
        jobs[f"{path}\t{back}\t"] = not converted.without_equivalent and not left
    listed = tmp_path / "list"
    listed.write_text("".join(f"{job}\n" for job in jobs), "utf-8")
    jars = os.pathsep.join([class_path(release), logging_binding()])
    words = ["java", *OPENED, "-Dfile.encoding=UTF-8", "-cp", compiled(JUDGE, jars, tmp_path), "ConversionJudge"]
    done = subprocess.run([*words, str(listed)], capture_output=True, text=True, timeout=300, errors="replace")
    said = [line.split("\1") for line in done.stdout.split("\n") if "\1" in line and ".xml" in line]
    assert len(said) >= len(jobs), done.stderr[-2000:]
    compared = 0
    for (job, whole), (path_said, *facts) in zip(jobs.items(), said, strict=True):
        if facts[:1] and facts[0].startswith("refused"):
            continue
        assert job.startswith(path_said)
        assert not [one for one in facts if one.startswith("fails") or re.search(r'"errors":\[\{', one)] or not whole, (
            job
        )
        differing = [one.removeprefix("differs ") for one in facts if one.startswith("differs ")]
        differing = [one for one in differing if not APART.match(one) and not DROPPED.match(one)]
        assert not whole or differing == [], job
        compared += whole
    assert compared > 20
