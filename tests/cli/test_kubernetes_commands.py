"""Kubernetes YAML as an input of the ``config`` commands."""

from __future__ import annotations

import base64
import io
import json
import sys
from pathlib import Path

import jsonschema
import pytest
from lxml import etree
from pagectl.app import run

SCHEMAS = Path(__file__).parents[1] / "recorded" / "output_schemas"
PASSWORD = "hunter2"
ENCODED = base64.b64encode(f"maxDiskUsage={PASSWORD}\nglobalMaxSize={PASSWORD}\n".encode()).decode()
FAULTY = f"""\
apiVersion: broker.amq.io/v1beta1
kind: ActiveMQArtemis
metadata:
  name: orders
spec:
  adminPasword: {PASSWORD}
  adminPassword: {PASSWORD}
  env:
    - name: STORE_PASSWORD
      value: {PASSWORD}
  brokerProperties:
    - "acceptorConfigurations.tls.params.keyStorePassword={PASSWORD}"
    - |
      addressSettings."a".pageSizeBytes=10M
      connectorConfigurations.x.params.trustStorePassword={PASSWORD}
---
apiVersion: v1
kind: Secret
metadata:
  name: x-bp
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{{"stringData":{{"p":"{PASSWORD}"}}}}'
stringData:
  a.properties: |
    maxDiskUsage={PASSWORD}
    {PASSWORD}
    addressSettings."a".pageSizeBytes={PASSWORD}
data: {{b.properties: {ENCODED}, b.properties: "{PASSWORD}!"}}
"""


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "NO_COLOR", "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)


def faulty(folder: Path, text: str = FAULTY) -> str:
    path = folder / "broker.yaml"
    path.write_text(text, "utf-8")
    return str(path)


@pytest.mark.parametrize("format", ["text", "json", "sarif", "junit", "github"])
def test_every_format_and_no_password_in_any(format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "lint", "--format", format, faulty(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert PASSWORD not in captured.out + captured.err
    assert "broker.yaml" in captured.out
    if format == "sarif":
        schema = json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text("utf-8"))
        jsonschema.Draft4Validator(schema).validate(json.loads(captured.out))
    if format == "junit":
        etree.XMLSchema(etree.parse(str(SCHEMAS / "junit-10.xsd"))).assertValid(etree.fromstring(captured.out.encode()))


@pytest.mark.parametrize("cut", range(60, len(FAULTY), 41))
def test_no_password_of_a_file_that_is_torn(cut: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{FAULTY[:cut]}\n\t'{FAULTY[cut:]}"
    run(["config", "lint", faulty(tmp_path, f"kind: Secret\n---\n{text}")])
    captured = capsys.readouterr()
    assert PASSWORD not in captured.out + captured.err


def test_the_line_of_the_yaml_is_quoted_with_a_caret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["config", "lint", faulty(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    at = next(n for n, line in enumerate(lines) if "properties-size-notation" in line)
    assert lines[at].split(": ")[0].endswith("broker.yaml:14:7")
    assert lines[at + 1] == '  14 |       addressSettings."a".pageSizeBytes=10M'
    assert lines[at + 2].index("^") == lines[at + 1].index("addressSettings")


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FAULTY.encode())))
    assert run(["config", "lint", "--format", "json", "-"]) == 1
    rules = [one["rule"] for one in json.loads(capsys.readouterr().out)["files"][0]["findings"]]
    assert "kubernetes-unknown-field" in rules


def test_a_folder_of_manifests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faulty(tmp_path)
    (tmp_path / "web.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n", "utf-8")
    assert run(["config", "lint", "--format", "json", str(tmp_path)]) == 1
    assert [Path(one["file"]).name for one in json.loads(capsys.readouterr().out)["files"]] == ["broker.yaml"]


def test_a_manifest_without_a_broker_is_no_all_clear(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = faulty(tmp_path, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n")
    assert run(["config", "lint", web]) == 1
    assert "kubernetes-no-broker" in capsys.readouterr().out


def test_a_huge_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"apiVersion: v1\nkind: ConfigMap\n" + b"# a comment\n" * 1_500_000)
    assert run(["config", "lint", str(path)]) == 1
    assert "too-large" in capsys.readouterr().out
