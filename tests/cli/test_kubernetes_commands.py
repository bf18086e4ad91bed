"""Kubernetes YAML as an input of the ``config`` commands."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import sys
import tarfile
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from lxml import etree
from pagectl.app import run
from pagectl.options.formats import LintFormat

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


@pytest.mark.parametrize("format", LintFormat)
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
    assert lines[at].split(": ")[0].endswith("broker.yaml:14:41")
    assert lines[at + 1] == '  14 |       addressSettings."a".pageSizeBytes=10M'
    assert lines[at + 2].index("^") == lines[at + 1].index("10M")


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


RESOURCE = f"""\
apiVersion: broker.amq.io/v1beta1
kind: ActiveMQArtemis
metadata: {{name: orders}}
spec:
  version: "2.44.0"
  deploymentPlan:
    journalType: aio
    extraMounts: {{secrets: [a-bp, b-bp]}}
  addressSettings:
    addressSetting:
      - match: '#'
        maxSizeBytes: "10M"
      - match: orders.#
        maxDeliveryAttempts: 3
  brokerProperties:
    - globalMaxSize=512m
    - addressSettings."orders.#".maxSizeBytes=50M
    - broker-1.maxDiskUsage=80
---
apiVersion: v1
kind: Secret
metadata: {{name: a-bp}}
stringData:
  z.properties: |
    minDiskFree=7654321
    globalMaxSize=7654321
    {PASSWORD}
"""


def effective(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[dict[str, Any], str]:
    assert run(["config", "effective", "--format", "json", *argv]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def test_settings_of_a_resource(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = faulty(tmp_path, RESOURCE)
    found, notes = effective(capsys, file, "orders.x")
    settings, broker = found["addresses"]["orders.x"]["settings"], found["broker"]
    assert settings["max-size-bytes"] == {"value": 50 << 20, "source": {"file": file, "line": 17, "match": "orders.#"}}
    assert settings["max-delivery-attempts"]["value"] == 3
    assert settings["page-size-bytes"] == {"value": None, "source": "unknown"}
    assert broker["journal-type"] == {"value": "ASYNCIO", "source": {"file": file, "line": 7}}
    assert broker["max-disk-usage"] == {"value": None, "source": "unknown"}
    assert broker["min-disk-free"] == {"value": "****", "source": {"file": file, "line": 25}}
    # the Secret comes after the resource's own properties
    assert broker["global-max-size"]["source"]["line"] == 26
    assert "Secret b-bp is not in this file" in notes
    assert "only to pod 1" in notes
    assert "artemis-2.44 (its version)" in notes
    assert "7654321" not in json.dumps(found) + notes
    assert PASSWORD not in notes


def test_text_says_what_is_not_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "effective", "--all", faulty(tmp_path, RESOURCE)]) == 0
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()[2:]}
    assert rows["max-disk-usage"] == ["?", "not", "in", "this", "file"]
    assert rows["min-disk-free"][0] == "****"


def test_a_difference_between_secrets_is_told_without_their_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = faulty(tmp_path, RESOURCE), tmp_path / "other.yaml"
    other.write_text(RESOURCE.replace("minDiskFree=7654321", "minDiskFree=7654322"), "utf-8")
    for format in ("text", "json"):
        assert run(["config", "diff", "--format", format, one, str(other)]) == 1
        captured = capsys.readouterr()
        assert "min-disk-free" in captured.out
        assert "76543" not in captured.out + captured.err
    assert run(["config", "diff", one, one]) == 0


def test_a_difference_between_a_resource_and_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    xml = tmp_path / "broker.xml"
    xml.write_text(
        '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><max-disk-usage>70</max-disk-usage>'
        "<journal-type>ASYNCIO</journal-type></core></configuration>",
        "utf-8",
    )
    assert run(["config", "diff", "--format", "json", faulty(tmp_path, RESOURCE), str(xml)]) == 1
    told = {one["setting"]: (one["a"], one["b"]) for one in json.loads(capsys.readouterr().out)["broker"]}
    assert told.keys() == {"global-max-size", "max-disk-usage", "min-disk-free"}
    assert told["max-disk-usage"][0] == {"value": None, "source": "unknown"}
    assert told["max-disk-usage"][1]["value"] == 70


def test_settings_of_a_config_map_are_those_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = Path(__file__).parents[2] / "examples" / "news.tar.gz"
    with tarfile.open(archive) as opened:
        member = opened.extractfile("etc/broker.xml")
        assert member is not None
        text = member.read().decode()
    (tmp_path / "broker.xml").write_text(text, "utf-8")
    held = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  broker.xml: |\n" + indent(text, "    ")
    file, _ = effective(capsys, str(tmp_path / "broker.xml"), "news")
    inside, _ = effective(capsys, faulty(tmp_path, held), "news")
    moved = json.loads(re.sub(r"broker\.xml\b", "broker.yaml", json.dumps(file)))
    for values in (moved["broker"], moved["addresses"]["news"]["settings"]):
        for value in values.values():
            if value["source"] != "default":
                value["source"]["line"] += 5
    assert inside == moved


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{RESOURCE}---\n{RESOURCE.split('---')[0].replace('orders', 'other')}", "2 brokers"),
        ("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n", "looked for"),
        (RESOURCE.replace("spec:", "spec:\n\t"), "not YAML"),
        (RESOURCE.replace("    journalType: aio", "    journalType: aio\n    journalType: nio"), "a second time"),
        (f"apiVersion: v1\nkind: Secret\nstringData: {{broker.xml: '<configuration><{PASSWORD}'}}\n", "a Secret"),
    ],
)
def test_what_has_no_settings_is_an_error_of_one_line(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["config", "effective", faulty(tmp_path, text)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert PASSWORD not in captured.err


SUPPOSED = (
    "the broker.xml of the image is not known: settings that this file leaves out are taken as the broker's defaults"
)


def test_capacity_says_what_it_supposes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "capacity", "--format", "json", faulty(tmp_path, RESOURCE)]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert found["first"][0] == SUPPOSED and SUPPOSED in captured.err
    assert {one["address"]: one["memory"] for one in found["addresses"]}["orders.·"] == 50 << 20
    assert PASSWORD not in captured.out + captured.err


PROPERTIES = 'globalMaxSize=512m\naddressSettings."orders.#".maxSizeBytes=20000\nmaxDiskUsage=1\n'
FORMS = {
    "broker.properties": PROPERTIES,
    "settings.json": json.dumps(
        {"globalMaxSize": "512m", "maxDiskUsage": 1, "addressSettings": {"orders.#": {"maxSizeBytes": 20000}}}
    ),
    "resource.yaml": "apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemis\nmetadata: {name: o}\nspec:\n"
    "  brokerProperties:\n" + "".join(f"    - {line}\n" for line in PROPERTIES.splitlines()),
    "map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: o-bp}\ndata:\n  broker.properties: |\n"
    + indent(PROPERTIES, "    "),
    "secret.yml": "apiVersion: v1\nkind: Secret\nmetadata: {name: o-bp}\nstringData:\n  broker.properties: |\n"
    + indent(PROPERTIES, "    "),
    "held.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: o}\ndata:\n  broker.xml: |\n"
    "    <configuration xmlns='urn:activemq'><core xmlns='urn:activemq:core'><global-max-size>512m</global-max-size>\n"
    "    <max-disk-usage>1</max-disk-usage><address-settings><address-setting match='orders.#'>\n"
    "    <max-size-bytes>20000</max-size-bytes></address-setting></address-settings></core></configuration>\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_decides_a_replay_and_a_disk(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(FORMS[name], "utf-8")
    run(["replay", "generate", "steady", "--messages", "200", "--to", "trace.jsonl", "--addresses", "1"])
    Path("trace.jsonl").write_text(Path("trace.jsonl").read_text("utf-8").replace('"orders"', '"orders.a"'), "utf-8")
    Path("broker.xml").write_text(
        "<configuration xmlns='urn:activemq'><core xmlns='urn:activemq:core'><global-max-size>512m</global-max-size>"
        "<max-disk-usage>1</max-disk-usage><address-settings><address-setting match='orders.#'>"
        "<max-size-bytes>20000</max-size-bytes></address-setting></address-settings></core></configuration>",
        "utf-8",
    )
    capsys.readouterr()
    assert run(["replay", "compare", "trace.jsonl", "--config", "broker.xml", "--config", name, "--decisions"]) == 0
    assert "equal" in capsys.readouterr().out
    for more in (["--vary", "#:page-size-bytes=5000,9000", "--jobs", "2"], ["--vary", "#:page-size-bytes=5000"]):
        assert run(["replay", "sweep", "trace.jsonl", "--config", name, *more]) == 0
    assert run(["replay", "advise", "trace.jsonl", "--config", name, "--heap", "1G", "--disk", "1G"]) == 0
    Path("data/paging").mkdir(parents=True)
    full = SimpleNamespace(
        f_bavail=10, f_bfree=10, f_blocks=100, f_frsize=1 << 20, f_bsize=4096, f_files=1000, f_favail=900, f_ffree=900
    )
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    for given in ([name], [".", "--config", name]):
        assert run(["disk", "check", *given]) == 2
        assert "max-disk-usage 1%" in capsys.readouterr().out
    assert run(["disk", "usage", name]) == 0
    assert run(["disk", "forecast", name, "--state", "state"]) == 2
    assert run(["config", "capacity", name]) == 0


@pytest.mark.parametrize("command", [["replay", "run", "trace.jsonl", "--config"], ["disk", "check"]])
def test_a_secret_is_not_shown_where_it_decides(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(["replay", "generate", "steady", "--messages", "20", "--to", "trace.jsonl"])
    Path("data/paging").mkdir(parents=True)
    written = f"<configuration xmlns='urn:activemq'><core xmlns='urn:activemq:core'><max-disk-usage>{PASSWORD}"
    whole = f"{written}</max-disk-usage><global-max-size>7654321</global-max-size></core></configuration>"
    for text in (whole, written):
        held = "apiVersion: v1\nkind: Secret\nmetadata: {name: o}\nstringData:\n  broker.xml: |\n    " + text + "\n"
        Path("held.yaml").write_text(held, "utf-8")
        run([*command, "held.yaml", "--format", "json"])
        captured = capsys.readouterr()
        assert not any(value in captured.out + captured.err for value in (PASSWORD, "7654321"))


def test_what_lies_beside_the_file_is_no_part_of_the_pod(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broker.properties").write_text("maxDiskUsage=180\nno.such=1\n", "utf-8")
    file = faulty(tmp_path, RESOURCE.replace("globalMaxSize=7654321", "").replace(PASSWORD, ""))
    assert run(["config", "lint", file]) == 0
    capsys.readouterr()
    found, _ = effective(capsys, file)
    assert found["broker"]["max-disk-usage"]["source"] == "unknown"
    for command in ("lint", "effective"):
        assert run(["config", command, "--properties", str(tmp_path / "broker.properties"), file]) == 2
        assert "brokerProperties" in capsys.readouterr().err


def test_what_no_broker_reads_is_no_all_clear(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A named file that cannot be read is an error, and must not count as a broker with defaults.
    path = tmp_path / "broken.json"
    path.write_text("[1, 2", "utf-8")
    assert run(["disk", "check", "--config", str(path), str(tmp_path)]) == 3
    for command in (["config", "effective"], ["config", "capacity"], ["config", "convert", "--to", "yaml"]):
        assert run([*command, str(path)]) == 2
        assert "not JSON" in capsys.readouterr().err


def test_a_resource_is_converted_with_its_address_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = RESOURCE.partition("---")[0].replace("    - broker-1.maxDiskUsage=80\n", "")
    assert run(["config", "convert", "--to", "properties", faulty(tmp_path, text)]) == 0
    shown = capsys.readouterr().out
    assert "addressSettings.#.maxSizeBytes=10485760" in shown and "globalMaxSize=512m" in shown
    assert run(["config", "convert", "--to", "xml", faulty(tmp_path, text)]) == 2


def test_settings_of_a_config_map_with_includes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = (
        '<configuration xmlns="urn:activemq" xmlns:xi="http://www.w3.org/2001/XInclude">'
        '<core xmlns="urn:activemq:core">'
        '<xi:include href="../etc-override/settings.xml"/></core></configuration>'
    )
    part = (
        '<address-settings xmlns="urn:activemq:core"><address-setting match="#"><max-size-bytes>7M</max-size-bytes>'
        "</address-setting></address-settings>"
    )
    file = tmp_path / "map.yaml"
    data = f"  broker.xml: '{main}'\n  settings.xml: '{part}'\n"
    file.write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shop\ndata:\n{data}")
    found, _ = effective(capsys, str(file), "orders")
    assert found["addresses"]["orders"]["settings"]["max-size-bytes"]["value"] == 7 << 20
