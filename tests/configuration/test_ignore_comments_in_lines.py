"""``# pagectl: ignore RULE`` in properties and in YAML."""

from __future__ import annotations

from pathlib import Path

import pytest
from brokerconf.checks.ignore_comments import line_silences_of
from brokerconf.linting.catalogue import known_ids
from brokerconf.reading.sources import plain_source
from brokerconf.reading.yaml_tree import YamlSource
from lint_calls import CLEAN, found, rules_of, write

RANGE = "maxDiskUsage=101\n"
IGNORE = "# pagectl: ignore properties-range"


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "NO_COLOR", "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (RANGE, 1),
        (f"{IGNORE}\n{RANGE}", 0),
        (f"  ! pagectl:ignore properties-range , drop-policy  because of the old disks\r\n{RANGE}", 0),
        (f"{IGNORE}\n\n# another comment\n{RANGE}", 0),
        (f"{IGNORE}\n{RANGE}diskScanPeriod=0\n", 1),
        (f"{IGNORE}\n{RANGE}  diskScanPeriod=0\n", 1),
        (f"{IGNORE}\nmaxDiskUsage=\\\n  101\ndiskScanPeriod=0\n", 1),
        (f"{RANGE}{IGNORE}\n", 1),
        (f"maxDiskUsage=101 {IGNORE}\n", 0),  # all of it is the value
        (f"name=x {IGNORE}\n{RANGE}", 1),
        (f"# pagectl: ignore drop-policy\n{RANGE}", 1),
        (f"{RANGE}{IGNORE}", 1),
    ],
)
def test_in_properties(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, left: int) -> None:
    (tmp_path / "broker.properties").write_bytes(text.encode("latin-1"))
    report = found(capsys, write(tmp_path, CLEAN), "--only", "properties-range,unknown-rule")[1]
    assert rules_of(report) == ["properties-range"] * left


@pytest.mark.parametrize(
    ("comment", "line", "said"),
    [
        ("# pagectl: ignore", 1, "write # pagectl: ignore RULE on the line above"),
        ("  # pagectl: disable properties-range", 1, "write # pagectl: ignore RULE on the line above"),
        ("# pagectl: ignore properties-rnage", 1, "did you mean 'properties-range'?"),
        ("\n# pagectl: ignore properties-range;", 2, "write # pagectl: ignore RULE"),
    ],
)
def test_mistakes_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, comment: str, line: int, said: str
) -> None:
    (tmp_path / "broker.properties").write_text(f"{comment}\n{RANGE}", "latin-1")
    report = found(capsys, write(tmp_path, CLEAN), "--only", "properties-range,unknown-rule")[1]
    fault, _ = report["files"][0]["findings"]  # type: ignore[index]
    assert fault["rule"] == "unknown-rule" and fault["line"] == line and said in fault["help"]


MAP = """apiVersion: v1
kind: ConfigMap
metadata: {{name: a}}
data:
  {above}
  broker.properties: |
    {inside}
    maxDiskUsage=101
    diskScanPeriod=0
  other: text
"""
LIST = """apiVersion: broker.amq.io/v1beta1
kind: ActiveMQArtemis
metadata: {{name: a}}
spec:
  {above}
  brokerProperties:
    {inside}
    - maxDiskUsage=101 {behind}
    - diskScanPeriod=0
"""


@pytest.mark.parametrize(
    ("text", "where", "left"),
    [
        (MAP, "", 2),
        (MAP, "above", 0),
        (MAP, "inside", 1),
        (LIST, "", 2),
        (LIST, "above", 0),
        (LIST, "inside", 1),
        (LIST, "behind", 1),
    ],
)
def test_in_yaml(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, where: str, left: int) -> None:
    path = tmp_path / "objects.yaml"
    path.write_text(text.format(**{"above": "", "inside": "", "behind": ""} | ({where: IGNORE} if where else {})))
    report = found(capsys, str(path), "--only", "properties-range,unknown-rule")[1]
    assert rules_of(report) == ["properties-range"] * left


def test_in_yaml_of_properties(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(
        "# pagectl: ignore properties-unknown-key\naddressSettings:\n  '#':\n    maxSizeByte: 1\nmaxDiskUsag: 20\n"
    )
    report = found(capsys, str(path), "--only", "properties-unknown-key,unknown-rule")[1]
    assert rules_of(report) == ["properties-unknown-key"]


@pytest.mark.parametrize(
    "text", ["#" * 10**6, "# pagectl:\n" * 10**4, "#" + " " * 10**6, "\n" * 10**6, "a: # pagectl: b\n" * 10**4]
)
@pytest.mark.timeout(60)
def test_a_hostile_file_does_not_hold_up(text: str) -> None:
    for source in (plain_source("a", text, markup=False), YamlSource("a", text)):
        line_silences_of(source, known_ids())
