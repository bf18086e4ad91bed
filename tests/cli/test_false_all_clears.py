"""What an all-clear was once given for, or refused as something else: each is told for what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from program import call

SUBSYSTEM = """<server xmlns="urn:jboss:domain:10.0"><profile>
<subsystem xmlns="urn:jboss:domain:messaging-activemq:8.0"><server name="default">
<address-setting name="#" {}="1048576" page-size-bytes="1048576"/></server></subsystem></profile></server>"""
RESOURCE = """apiVersion: broker.amq.io/v1beta1
kind: ActiveMQArtemis
metadata: {{name: a}}
spec:
  brokerProperties: [{}]
"""
SETTINGS = '<address-settings><address-setting match="#"><{0}>1M</{0}></address-setting></address-settings>'


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("standalone.xml", SUBSYSTEM.format("max-size-byte"), ("unknown-attribute", 3, 27)),
        ("standalone.xml", SUBSYSTEM.format("max-size-bytes"), ("page-size-not-below-max-size", 3, 52)),
        (
            "standalone.xml",
            SUBSYSTEM.replace("activemq:8.0", "activemq:99.0").format("max-size-bytes"),
            ("unknown-subsystem", 2, 1),
        ),
        ("broker.properties", "maxDiskUsag=20\n", ("properties-unknown-key", 1, 1)),
        ("broker.properties", 'addressSettings."#".maxSizeByte=1\n', ("properties-unknown-key", 1, 21)),
        ("broker.json", '{"addressSettings": {"#": {"maxSizeByte": 1}}}', ("properties-unknown-key", 1, 28)),
        ("broker.yaml", "addressSettings:\n  '#':\n    maxSizeByte: 1\n", ("properties-unknown-key", 3, 5)),
        ("operator.yaml", RESOURCE.format("maxDiskUsag=20"), ("properties-unknown-key", 5, 22)),
        ("snippet.xml", SETTINGS.format("max-size-byte"), ("unknown-element", 1, 46)),
    ],
)
def test_what_is_wrong_is_said(name: str, text: str, found: tuple[str, int, int], tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    answer = call("config", "lint", tmp_path / name, "--format", "json")
    findings = json.loads(answer.out)["files"][0]["findings"]
    errors = [(one["rule"], one["line"], one["column"]) for one in findings if one["severity"] == "error"]
    assert (answer.status, errors) == (1, [found])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("snippet.xml", SETTINGS.format("max-size-bytes")),
        ("broker.json", '{"maxDiskUsage": 20}'),
        ("broker.yaml", "maxDiskUsage: 20\n"),
        ("operator.yaml", RESOURCE.format("maxDiskUsage=20")),
    ],
)
def test_what_is_sound_is_not_refused_as_no_broker_xml(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert call("config", "lint", tmp_path / name, "--fail-on", "error").status == 0


def test_a_messaging_subsystem_is_no_hornetq(tmp_path: Path) -> None:
    (tmp_path / "standalone.xml").write_text(SUBSYSTEM.format("max-size-bytes"))
    answer = call("config", "effective", tmp_path / "standalone.xml", "a")
    assert answer.status == 0 and "1048576" in answer.out
    assert "artemis-2.10 (messaging-activemq:8.0 of JBoss EAP 7.3" in answer.err and "hornetq" not in answer.err


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("broker.xml", "", "not-well-formed"),
        ("broker.xml", "<configuration><core><name>x", "not-well-formed"),
        ("broker.xml", "<!DOCTYPE a><configuration/>", "document-type"),
        ("map.yaml", "kind: ConfigMap\napiVersion: v1\ndata:\n  broker.xml: '<core'\n", "not-well-formed"),
        ("map.yaml", "kind: ConfigMap\napiVersion: v1\na: [", "yaml-syntax"),
        ("broker.json", '{"a"', "properties-unreadable"),
    ],
)
def test_a_file_that_is_not_read_is_reported_whatever_rules_were_asked_for(
    tmp_path: Path, name: str, text: str, rule: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    answer = call("config", "lint", file, "--only", "shadowed-match")
    assert answer.status == 1 and f"[{rule}]" in answer.out, answer
    answer = call("config", "lint", file, "--only", "shadowed-match", "--ignore", rule)
    assert f"[{rule}]" not in answer.out, answer
