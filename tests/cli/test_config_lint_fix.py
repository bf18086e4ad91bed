"""``config lint --fix``: sure repairs alone, byte for byte, in the files that were named and no others."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from brokerconf.evidence.rule import Example
from brokerconf.linting.examples import xml_of
from brokerconf.rules import rules
from doc_examples import DOCS
from lint_calls import CLEAN, HEAD, TAIL, found, rules_of, write
from pagectl.app import run

from pagefmt.editions import NEWEST

SETTINGS = '    <address-settings>\n      <address-setting match="#">{}</address-setting>\n    </address-settings>\n'
# finding, what stands in the core, what stands there after the repair; None: it is left alone
REPAIRS: list[tuple[str, str, str | None]] = [
    ("invalid-value", SETTINGS.format("<address-full-policy> Page </address-full-policy>"),
     SETTINGS.format("<address-full-policy>PAGE</address-full-policy>")),
    ("invalid-value", SETTINGS.format("<address-full-policy>Pages</address-full-policy>"), None),
    ("invalid-value", SETTINGS.format("<address-full-policy>${a:Page}</address-full-policy>"), None),
    ("invalid-value", SETTINGS.format("<address-full-policy>P&#97;ge</address-full-policy>"), None),
    ("reject-threshold-notation",
     SETTINGS.format("<max-size-bytes-reject-threshold>10M</max-size-bytes-reject-threshold>"),
     SETTINGS.format("<max-size-bytes-reject-threshold>10485760</max-size-bytes-reject-threshold>")),
    ("ignored-in-version", SETTINGS.format("\n  <page-max-cache-size>5</page-max-cache-size> \n <!-- kept -->"),
     SETTINGS.format("\n <!-- kept -->")),
    ("ignored-in-version", SETTINGS.format("<page-max-cache-size>5</page-max-cache-size>"), SETTINGS.format("")),
    ("ignored-in-version", SETTINGS.format("<page-max-cache-size>5<!-- a --></page-max-cache-size>"), None),
    ("ignored-in-version", "<read-whole-page>true</read-whole-page>\n", ""),
    ("never-read", "<wild-card-routing-enabled>true</wild-card-routing-enabled>\n", ""),
    ("boolean-one", "<persistence-enabled>1</persistence-enabled>\n", None),
]  # fmt: skip
PROPERTIES = [
    ("addressSettings.a.b.maxSizeBytes = 5\n", 'addressSettings."a.b".maxSizeBytes = 5\n'),
    ("addressSettings.a.b.nothing=5\n", None),
    ("addressSettings.a\\:b.c.maxSizeBytes=5\n", None),
    (
        "# größe\r\n\taddressSettings.x.pageSizeBytes:10 MiB\r\n",
        "# größe\r\n\taddressSettings.x.pageSizeBytes:10485760\r\n",
    ),
    ("addressSettings.a.b.pageSizeBytes=1K", 'addressSettings."a.b".pageSizeBytes=1024'),
    ("journalFileSize=1\\\n  M\n", None),
    ("pageSizeBytes=99999999999G\n", None),
    ("pageSizeBytes=much\n", None),
]
REPAIRED_RULES = {
    "encoding", "encoding-ignored", "ignored-in-version", "invalid-value", "never-read", "properties-size-notation",
    "properties-unquoted-dots", "reject-threshold-notation",
}  # fmt: skip


LATIN = b"<?xml version='1.0' encoding='latin1'?>"


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "NO_COLOR", "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def effective(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the effective values for two addresses and of the broker, without their sources."""
    capsys.readouterr()
    run(
        [
            "config",
            "effective",
            "broker.xml",
            "orders",
            "a.b",
            "--format",
            "json",
            "--edition",
            NEWEST.value,
            "--anyway",
        ]
    )
    answer = json.loads(capsys.readouterr().out)
    parts = {address: found["settings"] for address, found in answer["addresses"].items()} | {
        "broker": answer["broker"]
    }
    return {
        f"{part} {name}": setting["value"] for part, settings in parts.items() for name, setting in settings.items()
    }


@pytest.mark.parametrize(("rule", "before", "after"), REPAIRS)
def test_repairs_in_xml(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, rule: str, before: str, after: str | None
) -> None:
    path = Path(write(tmp_path, before))
    argv = (str(path), "--edition", NEWEST.value, "--only", rule)
    assert rule in rules_of(found(capsys, *argv)[1])
    values = effective(capsys)
    report = found(capsys, *argv, "--fix")[1]
    if after is None:
        assert path.read_text() == HEAD + before + TAIL and rule in rules_of(report)
        return
    assert path.read_text() == HEAD + after + TAIL and rules_of(report) == []
    changed = {name for name, value in effective(capsys).items() if value != values[name]}
    assert {name.split()[1] for name in changed} <= {
        "address-full-policy",
        "max-size-bytes-reject-threshold",
        "read-whole-page",
    }
    run(["config", "lint", *argv, "--fix"])
    assert path.read_text() == HEAD + after + TAIL and "repaired" not in capsys.readouterr().err


@pytest.mark.parametrize(("before", "after"), PROPERTIES)
def test_repairs_in_properties(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, before: str, after: str | None
) -> None:
    write(tmp_path, CLEAN)
    path = tmp_path / "broker.properties"
    path.write_bytes(before.encode("latin-1"))
    argv = (".", "--only", "properties-size-notation,properties-unquoted-dots")
    values = effective(capsys)
    report = found(capsys, *argv, "--fix")[1]
    assert path.read_bytes().decode("latin-1") == (after or before)
    if after is not None:
        assert rules_of(report) == []
        changed = {name.split()[1] for name, value in effective(capsys).items() if value != values[name]}
        assert changed <= {"max-size-bytes", "page-size-bytes", "max-read-page-bytes", "prefetch-page-bytes"}
    assert found(capsys, *argv, "--fix")[1] == report


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbf\xef\xbb\xbf<?xml version='1.0'?>", b"<?xml version='1.0'?>"),
        (b"<?xml version='1.0' encoding = 'ISO-8859-1' ?>", b"<?xml version='1.0' encoding = 'UTF-8' ?>"),
        (LATIN + b"<!-- \xc3\xa4 -->", LATIN.replace(b"latin1", b"UTF-8") + b"<!-- \xc3\xa4 -->"),
        (LATIN + b"<!-- \xe4 -->", None),
        ("<?xml version='1.0'?>".encode("utf-16"), None),
    ],
)
def test_repairs_of_encodings(capsys: pytest.CaptureFixture[str], before: bytes, after: bytes | None) -> None:
    inside = (HEAD + CLEAN + TAIL).partition("\n")[2].replace("\n", "\r\n")
    body = inside.encode("utf-16-le" if before.startswith(b"\xff") else "utf-8")
    Path("broker.xml").write_bytes(before + body)
    report = found(capsys, "broker.xml", "--fix")[1]
    assert Path("broker.xml").read_bytes() == (before if after is None else after) + body
    assert ("encoding" in " ".join(rules_of(report))) is (after is None)


def failing() -> list[tuple[str, Example]]:
    return [(rule.id, rule.failing()) for rule in rules()]


@pytest.mark.parametrize(("rule", "example"), failing(), ids=lambda part: part if isinstance(part, str) else "")
def test_an_example_is_repaired_or_stays_as_it_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, rule: str, example: Example
) -> None:
    (tmp_path / "broker.xml").write_text(xml_of(example))
    (tmp_path / "broker.properties").write_text(example.properties)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    report = found(capsys, ".", "--edition", example.edition.value, "--only", rule, "--fix")[1]
    changed = before != {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert changed is (rule in REPAIRED_RULES) and not (changed and rules_of(report))


def test_each_that_can_be_repaired_is_tried_here_and_told_in_the_readme() -> None:
    assert all(f"`{rule}`" in (DOCS / "jobs" / "review-broker-xml.md").read_text("utf-8") for rule in REPAIRED_RULES)
    assert {rule for rule, _, after in REPAIRS if after is not None} | {
        "encoding",
        "encoding-ignored",
        "properties-size-notation",
        "properties-unquoted-dots",
    } == REPAIRED_RULES


POLICY = SETTINGS.format("<address-full-policy>page</address-full-policy>")
SECRET = "correct-horse"  # no password of anything


def test_a_diff_changes_nothing_and_hides_secrets(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = write(tmp_path, f"<cluster-password>{SECRET}</cluster-password>\n" + "<!-- \x85 -->" + POLICY)
    before = Path(path).read_bytes()
    for argv in (["--diff"], ["--diff", "--fix"]):
        assert run(["config", "lint", "broker.xml", *argv]) == 1
        said = capsys.readouterr()
        assert SECRET not in said.out + said.err and "\x85" not in said.out
        lines = said.out.splitlines()
        assert lines[:2] == ["--- broker.xml", "+++ broker.xml"] and sum(line[:1] == "+" for line in lines[2:]) == 1
    assert Path(path).read_bytes() == before
    run(["config", "lint", "broker.xml", "--fix"])
    capsys.readouterr()
    assert run(["config", "lint", "broker.xml", "--diff"]) == 0 and capsys.readouterr().out == ""


def test_only_what_was_named_is_changed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main = (HEAD + TAIL).replace('"urn:activemq">', '"urn:activemq" xmlns:xi="http://www.w3.org/2001/XInclude">', 1)
    main = main.replace("  </core>", '<xi:include href="part.xml"/></core>')
    part = '<address-settings xmlns="urn:activemq:core"><address-setting match="#"><page-max-cache-size>5'
    part += "</page-max-cache-size></address-setting></address-settings>"
    Path("broker.xml").write_text(main)
    Path("part.xml").write_text(part)
    assert "ignored-in-version" in rules_of(found(capsys, "broker.xml", "--fix")[1])
    assert Path("part.xml").read_text() == part
    assert "ignored-in-version" not in rules_of(found(capsys, ".", "--fix")[1])
    assert "cache" not in Path("part.xml").read_text() and Path("broker.xml").read_text() == main


def test_rights_stay_and_links_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = Path(write(tmp_path, POLICY))
    path.chmod(0o640)
    assert run(["config", "lint", "broker.xml", "--fix"]) == 0
    assert "note: broker.xml: repaired: 1 invalid-value" in capsys.readouterr().err
    assert path.stat().st_mode & 0o777 == 0o640 and [each.name for each in tmp_path.iterdir()] == ["broker.xml"]
    Path(write(tmp_path, POLICY)).rename("real.xml")
    Path("link.xml").symlink_to("real.xml")
    assert run(["config", "lint", "link.xml", "--fix"]) == 2
    assert "is a symbolic link" in capsys.readouterr().err and "page<" in Path("real.xml").read_text()


@pytest.mark.parametrize("option", ["--fix", "--diff"])
def test_standard_input_is_no_file(capsys: pytest.CaptureFixture[str], option: str) -> None:
    assert run(["config", "lint", "-", option]) == 2
    assert "name a file" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everything")
def test_what_may_not_be_written_is_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write(tmp_path, POLICY)
    tmp_path.chmod(0o500)
    try:
        assert run(["config", "lint", "broker.xml", "--fix"]) == 2
    finally:
        tmp_path.chmod(0o700)
    assert "broker.xml: Permission denied" in capsys.readouterr().err


OBJECTS = """apiVersion: v1
kind: ConfigMap
metadata: {{name: a}}
data:
  broker.properties: |
    addressSettings.{}.maxSizeBytes=5
  broker.xml: |
    <configuration xmlns="urn:activemq">
      <core xmlns="urn:activemq:core">
        <address-settings>
          <address-setting match="#">
            {}
            <address-full-policy>{}</address-full-policy>
          </address-setting>
        </address-settings>
      </core>
    </configuration>
---
apiVersion: broker.amq.io/v1beta1
kind: ActiveMQArtemis
metadata: {{name: b}}
spec:
  brokerProperties:
    - "addressSettings.c.d.maxSizeBytes=5"
    - addressSettings.{}.maxSizeBytes=5
---
apiVersion: v1
kind: Secret
metadata: {{name: s}}
data:
  broker.properties: YWRkcmVzc1NldHRpbmdzLmEuYi5tYXhTaXplQnl0ZXM9NQo=
"""


def test_properties_of_every_form_are_repaired(capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "broker.properties": "addressSettings.x.pageSizeBytes={}\n",
        "p.json": '{{"addressSettings": {{"x": {{"pageSizeBytes": "{}"}}}}}}\n',
        "q.yaml": "addressSettings:\n  x:\n    pageSizeBytes: {}  # kept\n  'a.b': {{pageSizeBytes: '{}'}}\n",
    }
    for name, text in files.items():
        Path(name).write_text(text.format("10M", "10M"))
    assert "properties-size-notation" not in rules_of(found(capsys, *files, "--fix")[1])
    for name, text in files.items():
        assert Path(name).read_text() == text.format("10485760", "10485760")


def test_what_lies_in_kubernetes_objects_is_repaired_where_that_holds(capsys: pytest.CaptureFixture[str]) -> None:
    # Quotation marks would end a quoted text of YAML, and encoded text cannot be edited in place.
    path = Path("objects.yaml")
    path.write_text(OBJECTS.format("a.b", "<page-max-cache-size>5</page-max-cache-size>", "page", "a.b"))
    left = rules_of(found(capsys, "objects.yaml", "--fix")[1])
    assert path.read_text() == OBJECTS.format('"a.b"', "", "PAGE", '"a.b"')
    assert left.count("properties-unquoted-dots") == 2
    assert found(capsys, "objects.yaml", "--fix")[1] == found(capsys, "objects.yaml")[1]
    path.write_text(OBJECTS.format("a", "", "PAGE", "a"))
    capsys.readouterr()
    run(["config", "lint", "objects.yaml", "--diff", "--only", "properties-unquoted-dots"])
    assert capsys.readouterr().out == ""


def test_a_diff_of_properties_can_be_applied_and_hides_what_stands_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.properties"
    file.write_text('addressSettings."a".pageSizeBytes=1K\nname=a\n')
    assert run(["config", "lint", str(file), "--diff"]) == 1
    changed = ['-addressSettings."a".pageSizeBytes=1K', '+addressSettings."a".pageSizeBytes=1024']
    assert capsys.readouterr().out.split("\n")[2:] == ["@@ -1,2 +1,2 @@", *changed, " name=a", ""]
    for name, key in (("x.yaml", "clusterPassword"), ("x.json", '"clusterPassword"')):
        beside = tmp_path / name
        beside.write_text(f'{{"addressSettings": {{"a": {{"pageSizeBytes": "1K"}}}}, {key}: "correct-horse"}}')
        assert run(["config", "lint", str(beside), "--diff"]) == 1
        said = capsys.readouterr().out
        assert "1024" in said and "correct-horse" not in said


def test_what_no_repair_mends_is_told_beside_an_empty_diff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, SETTINGS.format("<address-full-policy>Pages</address-full-policy>"))
    for words in (["--diff"], ["--diff", "--fix"]):
        assert run(["config", "lint", str(file), *words]) == 1
        told = capsys.readouterr()
        assert told.out == "" and "without a certain repair" in told.err
