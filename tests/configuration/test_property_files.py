"""``broker.properties``, JSON and YAML: read with positions as brokers read them, linted alone, in force alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext
from brokerconf.properties.application import apply
from brokerconf.properties.outcomes import Fault
from brokerconf.reading.properties import entries_in, property_file, property_files
from brokerconf.reading.property_entries import PropertiesError
from brokerconf.rules.properties_unknown_key import ADVISED
from brokerconf.rules.properties_unknown_key import RULE as UNKNOWN_KEY
from pagectl.app import run

from pagefmt.editions import Edition
from pagefmt.findings import Severity

NEW, OLD = Edition.ARTEMIS_2_56, Edition.ARTEMIS_2_44

CUSTOM_RESOURCE = """apiVersion: broker.amq.io/v1beta1
kind: ActiveMQArtemis
metadata: {name: a}
spec:
  brokerProperties:
"""


def pairs(text: str | bytes, name: str, edition: Edition = NEW) -> list[tuple[str, str]]:
    raw = text if isinstance(text, bytes) else text.encode()
    return [(entry.key, entry.value) for entry in entries_in(raw, name, edition)]


def errors(text: str, name: str = "x.properties", edition: Edition = NEW) -> list[tuple[str, int, int]]:
    report = lint(text.encode(), name, LintContext(edition=edition))
    found = [one for one in report.findings if one.severity is Severity.ERROR]
    return [(one.rule, one.place.line, one.place.column) for one in found]


# as the classes of 2.56 read them
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 0x1F\nb: 0o17\nc: 017\nd: 1_000", ["0x1F", "0o17", "017", "1_000"]),
        ("a: yes\nb: on\nc: True\nd: true\ne: ~", ["yes", "on", "True", "true", "~"]),
        ("a: 1e3\nb: 1.50\nc: .inf\nd: -.INF\ne: .nan\nf: 1.", ["1000.0", "1.5", "Infinity", "-.INF", "NaN", "1.0"]),
        ("a: 10M\nb: +5\nc: -0\nd: 123456789.0\ne: 0.1e-5", ["10M", "+5", "0", "1.23456789E8", "1.0E-6"]),
        ("a: [1, b, true, null, 1.0, {c: d}, [x, y]]", ["1,b,true,null,1.0,{c=d},[x, y]"]),
        ("a:\nb: null\nc: 'null'", ["null"]),
        ("a: |\n  x\n  y\nb: >\n  x\n  y\n", ["x\ny\n", "x y\n"]),
    ],
)
def test_yaml_scalars_are_what_the_broker_makes_of_them(text: str, expected: list[str]) -> None:
    assert [value for _, value in pairs(text, "x.yaml")] == expected


def test_json_values_are_what_the_broker_makes_of_them() -> None:
    text = '{"a":1e3,"b":1.50,"c":-0,"d":100.0,"e":-0.0,"f":1e-10,"g":"\\u00e4","h":true,"i":[1,"b",{"c":1},null]}'
    expected = ["1E+3", "1.50", "0", "100.0", "0.0", "1E-10", "ä", "true", '1,b,{"c":1},null']
    assert [value for _, value in pairs(text, "x.json")] == expected


def test_keys_with_dots_are_put_between_marks() -> None:
    assert pairs('{"a.b":1,"c":{"d.e":2,"\\"f.g\\"":3}}', "x.json") == [
        ('"a.b"', "1"),
        ('c."d.e"', "2"),
        ('c."f.g"', "3"),
    ]
    text = "key.surround: $\naddressSettings:\n  a.b:\n    maxSizeBytes: 5\n"
    assert pairs(text, "x.yaml")[1] == ("addressSettings.$a.b$.maxSizeBytes", "5")


@pytest.mark.parametrize(
    ("name", "text", "line", "column"),
    [
        ("x.properties", "name=a\nmaxDiskUsage=\\u00g\n", 2, 14),
        ("x.json", '{"a": x}', 1, 7),
        ("x.json", '{"a":\n null}', 2, 2),
        ("x.json", "// c\n{}", 1, 1),
        ("x.json", '\ufeff{"a": 1}', 1, 1),
        ("x.json", "[1]", 1, 1),
        ("x.yaml", "a: 1\na: 2\n", 2, 1),
        ("x.yaml", "a: 1\n---\nb: 2\n", 3, 1),
        ("x.yaml", "5: x\n", 1, 1),
        ("x.yaml", "true: x\n", 1, 1),
        ("x.yaml", "a:\n\tb: 1\n", 2, 1),
        ("x.yaml", "- a\n", 1, 1),
        ("x.json", "{" + '"a":{' * 5000, 1, 1),
    ],
)
def test_what_brokers_leave_out_as_a_whole(name: str, text: str, line: int, column: int) -> None:
    file = property_file(text.encode(), name)
    assert file.entries == () and file.fault is not None
    assert (file.fault.position.line, file.fault.position.column) == (line, column) or text.count("{") > 9
    assert errors(text, name)[0][0] == "properties-unreadable"


def test_arrays_and_yaml_are_younger_than_2_44() -> None:
    text = '{"a": [1]}'
    assert pairs(text, "x.json")
    with pytest.raises(PropertiesError, match=r"2\.56"):
        pairs(text, "x.json", OLD)
    nested = "maxDiskUsage: 70\naddressSettings:\n  a:\n    maxSizeBytes: 5\n"
    assert [key for key, _ in pairs(nested, "x.yaml", OLD)] == ["maxDiskUsage", "addressSettings", "a", "maxSizeBytes"]
    assert errors(nested, "x.yaml", OLD) and not errors(nested, "x.yaml")
    report = lint(b"maxDiskUsage: 70\n", "x.yaml", LintContext(edition=OLD))
    assert [one.severity for one in report.findings] == [Severity.WARNING]


def test_places_of_keys_and_values() -> None:
    text = "# c\n  name \\\n    = \\\n  a\\tb\nmax\\u0044iskUsage: 9\n"
    first, second = entries_in(text.encode(), "x.properties")
    assert (first.key, first.value, first.position[1:], first.at_value and first.at_value[1:]) == (
        "name",
        "a\tb",
        (2, 3),
        (4, 3),
    )
    assert (second.key, second.at_value and second.at_value[1:]) == ("maxDiskUsage", (5, 20))
    nested = '{\n  "addressSettings": {"a.b": {\n    "maxSizeBytes": "5M"}}}'
    (entry,) = entries_in(nested.encode(), "x.json")
    assert (entry.position[1:], entry.at_value and entry.at_value[1:]) == ((3, 5), (3, 21))


@pytest.mark.parametrize(
    ("name", "text", "line", "column"),
    [
        ("x.yaml", 'addressSettings:\n  "#":\n    maxSizeByte: 1\n', 3, 5),
        ("x.yaml", 'addressSetings:\n  "#":\n    maxSizeBytes: 1\n', 1, 1),
        ("x.yaml", "a.maxDiskUsage.b: 1\n", 1, 1),
        ("x.json", '{"addressSettings": {"maxSizeByte": {"maxSizeByte": 1}}}', 1, 38),
        ("x.json", '{"addressSettings": {"\\u0061.\\"b": {"x": 1}}}', 1, 22),
        ("x.properties", "addressSettings.maxSizeByte.maxSizeByte=1\n", 1, 29),
        ("x.properties", "addressSettings.a\\ b\\u0063.maxSizeByte=1\n", 1, 28),
        ("x.properties", 'addressSettings."a".\\\n   maxSizeByte=1\n', 2, 4),
        ("x.yaml", CUSTOM_RESOURCE + '    - "addressSettings.\\"#\\".maxSizeByte=1"\n', 6, 30),
        ("x.yaml", CUSTOM_RESOURCE + "    - 'addressSettings.\"it''s\".maxSizeByte=1'\n", 6, 32),
        ("x.yaml", CUSTOM_RESOURCE + "    - >-\n      addressSettings.a.maxSizeByte=1\n", 7, 25),
    ],
)
def test_an_unknown_key_is_shown_where_it_stands(name: str, text: str, line: int, column: int) -> None:
    found = [one for one in errors(text, name) if one[0] == "properties-unknown-key"]
    assert found == [("properties-unknown-key", line, column)]
    assert column <= len(text.split("\n")[line - 1])


@pytest.mark.parametrize(
    ("line", "rule", "column"),
    [
        ("maxDiskUsag=20", "properties-unknown-key", 1),
        ('addressSettings."#".maxSizeByte=1', "properties-unknown-key", 21),
        ("addressSettings.a.pageSizeBytes=10M", "properties-size-notation", 33),
        ("persistenceEnabled=t", "properties-silent-value", 20),
        ("globalMaxSize=99999999999G", "properties-silent-value", 15),
        ("journalType=nio", "properties-bad-value", 13),
        ("globalMaxSize=1.5G", "properties-bad-value", 15),
        ("addressSettings.a.b.maxSizeBytes=5", "properties-unquoted-dots", 1),
        ("addressSettings.a=5M", "properties-whole-entry", 1),
        ("divertConfigurations=a,b", "properties-whole-entry", 1),
        ("maxDiskUsage=-", "properties-bad-value", 14),
        ("name=ENC(zz)", "properties-bad-value", 6),
        ("name=ENC()", "properties-bad-value", 6),
        ("name=ENC(5a)ENC(5a)", "properties-bad-value", 6),
        ("HAPolicyConfiguration.groupName=a", "properties-unknown-key", 23),
        ("name=a\nname=b", "properties-duplicate", 1),
        ("acceptorConfigurations.a.param.port=1", "properties-unknown-key", 26),
    ],
)
def test_a_file_alone(line: str, rule: str, column: int) -> None:
    found = errors(f"# c\n{line}\n")
    assert [(one, at) for one, _, at in found] == [(rule, column)] or (
        rule == "properties-unknown-key" and found[0][0] == rule
    )


# each as java.util.Properties and brokers 2.56.0, 2.44.0 and 2.28.0 read it
JAVA = [
    ("a=1\rb=2\r\nc=3\n", {"a": "1", "b": "2", "c": "3"}),
    ("a=1\\\r  b\rc=2\r", {"a": "1b", "c": "2"}),
    ("#x\ra=1\r!y\rb=2", {"a": "1", "b": "2"}),
    ("a=1\\\n#b\n", {"a": "1#b"}),
    ("a=1\\\r\rb=2", {"a": "1", "b": "2"}),
    ("\fa\f=\f1\f\n", {"a": "1\f"}),
    ("a=1\x0b2\x853\x1c4\n", {"a": "1\x0b2\x853\x1c4"}),
    ("\xa0a=1\n", {"\xa0a": "1"}),
    ('"a"=1\nb="c d"\n', {'"a"': "1", "b": '"c d"'}),
    ('a."c d".e=6\n', {'a."c': 'd".e=6'}),
    ('a."c\\ d".e=6\na."e\\=f\\:g".h=7\n', {'a."c d".e': "6", 'a."e=f:g".h': "7"}),
    ("a\nb 1\nc\t2\nd:3\ne==4\nf: =5\n", {"a": "", "b": "1", "c": "2", "d": "3", "e": "=4", "f": "=5"}),
    ("a\\u003d1\nb=\\141\\x\\q\n", {"a=1": "", "b": "141xq"}),
    ("a=1\\", {"a": "1"}),
    ("na\\\n  me=1\nb=\\\\\n", {"name": "1", "b": "\\"}),
    ("  \\\na=1\n", {"a": "1"}),
]


@pytest.mark.parametrize(("text", "expected"), JAVA)
def test_lines_are_read_as_by_java(text: str, expected: dict[str, str]) -> None:
    assert {one.key: one.value for one in entries_in(text.encode("latin-1"), "x.properties")} == expected


def test_a_finding_quotes_its_line_where_carriage_returns_end_lines() -> None:
    report = lint(b"name=a\rmaxDiskUsag=5\rnaem=6", "x.properties", LintContext())
    source = report.sources[-1]
    lines = [source.line(one.place.line) for one in report.findings if one.rule == "properties-unknown-key"]
    assert [source.original[slice(*line)] for line in lines if line] == ["maxDiskUsag=5", "naem=6"]


def test_what_was_meant_and_since_when() -> None:
    text = "max-disk-usage=5\naddressSettings.a.diskFullMessagePolicy=DROP\n"
    report = lint(text.encode(), "x.properties", LintContext(edition=OLD))
    first, second = report.findings[:2]
    assert first.help == "did you mean 'maxDiskUsage'?" and first.path == "max-disk-usage"
    assert "has no diskFullMessagePolicy; artemis-2.56 " in second.message


def test_rules_judge_what_the_entries_make() -> None:
    text = 'addressSettings."#".maxSizeBytes=0\naddressSettings."#".addressFullMessagePolicy=DROP\n'
    report = lint(text.encode(), "broker.properties", LintContext())
    assert {("max-size-zero", 1), ("drop-policy", 2)} <= {(one.rule, one.place.line) for one in report.findings}
    assert {one.place.file for one in report.findings} == {"broker.properties"}


def test_an_error_leaves_its_collection_behind() -> None:
    text = (
        "divertConfigurations=-\ndivertConfigurations.a.address=x\nmaxDiskUsage=5\ndivertConfigurations.b.address=y\n"
    )
    _, outcomes = apply(tuple(entries_in(text.encode(), "x.properties")))
    assert [one.fault for one in outcomes] == [None, Fault.AFTER_ERROR, None, None]


@pytest.mark.parametrize("name", ["x.properties", "x.json", "x.yaml"])
def test_no_output_shows_a_secret(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = "acceptorConfigurations.a.params.keyStorePassword"
    text = {
        "x.properties": f"{key}x.y=geheim\nclusterPasswor=geheim\njournalType=ENC(geheim)\n",
        "x.json": '{"clusterPassword": {"a": "geheim"}, "clusterPasswor": "geheim", "journalType": "ENC(geheim)"}',
        "x.yaml": "clusterPassword:\n  a: geheim\nclusterPasswor: geheim\njournalType: ENC(geheim)\n",
    }[name]
    (tmp_path / name).write_text(text, "utf-8")
    for format in ("text", "json", "sarif", "github"):
        assert run(["config", "lint", str(tmp_path / name), "--format", format]) == 1
        out, err = capsys.readouterr()
        assert "geheim" not in out + err
    run(["config", "effective", str(tmp_path / name)])
    assert "geheim" not in "".join(capsys.readouterr())


def test_in_force_alone_and_beside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "site.yaml"
    path.write_text("maxDiskUsage: 70\naddressSettings:\n  '#':\n    maxSizeBytes: 10M\n", "utf-8")
    assert run(["config", "effective", str(path), "a", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["broker"]["max-disk-usage"] == {"value": 70, "source": {"file": str(path), "line": 1}}
    assert found["addresses"]["a"]["settings"]["max-size-bytes"]["value"] == 10 << 20
    xml = tmp_path / "broker.xml"
    xml.write_text('<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"/></configuration>', "utf-8")
    assert run(["config", "diff", str(path), str(xml)]) == 1
    assert "70 %" in capsys.readouterr().out
    (tmp_path / "broker.properties").write_text("name=\\u0g\n", "utf-8")
    assert run(["config", "lint", str(xml)]) == 1
    assert f"{tmp_path / 'broker.properties'}:1:6: error: \\u without" in capsys.readouterr().out


def test_keys_without_number_or_end_are_bounded() -> None:
    text = "".join(f"maxDiskUsag{number}=1\n" for number in range(ADVISED + 1))
    found = lint(text.encode(), "x.properties", LintContext(edition=NEW)).findings
    told = [one.help for one in found if one.rule == UNKNOWN_KEY.id]
    assert told == ["did you mean 'maxDiskUsage'?"] * ADVISED + [UNKNOWN_KEY.help]
    _, (deep,) = apply(tuple(entries_in(("a" + ".a" * 100_000 + "=1").encode(), "x.properties")))
    assert deep.fault is Fault.UNKNOWN and len(deep.path) == 100_001


def test_a_pipe_in_a_folder_of_properties_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_text("maxDiskUsage=80\n")
    os.mkfifo(tmp_path / "b.properties")
    assert property_files(str(tmp_path)) == (tmp_path / "a.properties",)


@pytest.mark.parametrize(
    ("raw", "name"), [(b"a=" + b"x" * (4 << 20), "x.properties"), (b'{"a":' * 200 + b"1" + b"}" * 200, "x.json")]
)
def test_a_limit_of_ours_is_not_told_as_the_brokers(raw: bytes, name: str) -> None:
    with pytest.raises(PropertiesError) as err:
        list(entries_in(raw, name))
    assert err.value.finding().why == "a limit of this check: it is not known what the broker does with the file"
    assert err.value.help
