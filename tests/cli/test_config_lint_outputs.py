"""What ``pagectl config lint`` writes: text, JSON, SARIF, JUnit, annotations."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from lint_calls import CLEAN, DROP, FAULTY, HEAD, TAIL, found, write
from lxml import etree
from pagectl.app import run

from pagefmt.editions import NEWEST

SCHEMAS = Path(__file__).parents[1] / "recorded" / "output_schemas"


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "NO_COLOR", "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)


def test_json_is_the_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, report = found(capsys, write(tmp_path, FAULTY), write(tmp_path, CLEAN, "good.xml"))
    assert status == 1
    first, second = report["files"]  # type: ignore[misc]
    assert first["xsd"] == {"valid": False, "schema": NEWEST.value} and second["xsd"]["valid"] is True
    (finding,) = first["findings"]
    assert (finding["rule"], finding["severity"], finding["line"], finding["column"]) == (
        "unknown-element",
        "error",
        4,
        5,
    )
    assert finding["path"] == "/configuration/core/nmae" and finding["help"] == "did you mean <name>?"
    assert second["findings"] == []
    assert report["summary"] == {"files": 2, "errors": 1, "warnings": 0, "infos": 0}


def test_text_shows_the_line_and_a_caret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["config", "lint", write(tmp_path, FAULTY)])
    out = capsys.readouterr().out.splitlines()
    assert out[0].endswith("broker.xml:4:5: error: <core> has no <nmae> [unknown-element]")
    assert out[1] == "   4 |     <nmae>one</nmae>"
    assert out[2] == "     |     ^~~~~~"
    assert out[-1] == "     = help: did you mean <name>?"


def test_caret_stands_under_wide_letters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["config", "lint", write(tmp_path, "<name>銀行</name><nmae/>\n" + CLEAN.replace("<name>one</name>", ""))])
    line, caret = capsys.readouterr().out.splitlines()[1:3]
    assert caret.index("^") == line.index("<nmae") + 2


def test_long_lines_are_cut_around_the_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["config", "lint", write(tmp_path, CLEAN.replace("<name>one</name>", f"<name>{'x' * 5000}</name><nmae/>"))])
    line, caret = capsys.readouterr().out.splitlines()[1:3]
    assert len(line) < 180 and line[caret.index("^") :].startswith("<nmae")


def test_colour_only_where_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, FAULTY)
    run(["config", "lint", path])
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    run(["config", "lint", path])
    assert "\x1b[1;31merror\x1b[0m" in capsys.readouterr().out


def test_sarif_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    strange = tmp_path / "a folder" / "größe%20.xml"
    strange.parent.mkdir()
    strange.write_text(HEAD + FAULTY + DROP + TAIL, "utf-8")
    assert run(["config", "lint", "--format", "sarif", str(strange), write(tmp_path, CLEAN)]) == 1
    report = json.loads(capsys.readouterr().out)
    schema = json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text("utf-8"))
    jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker()).validate(report)
    (one,) = report["runs"]
    rules = [rule["id"] for rule in one["tool"]["driver"]["rules"]]
    assert rules == sorted(rules) and one["results"]
    for result in one["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    assert any("gr%C3%B6%C3%9Fe%2520.xml" in artifact["location"]["uri"] for artifact in one["artifacts"])


def test_sarif_schema_would_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["config", "lint", "--format", "sarif", write(tmp_path, FAULTY)])
    report = json.loads(capsys.readouterr().out)
    report["runs"][0]["results"][0]["level"] = "fatal"
    schema = json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text("utf-8"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(schema).validate(report)


def test_junit_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    info = DROP.replace("DROP", "FAIL")
    files = [write(tmp_path, FAULTY), write(tmp_path, CLEAN, "good.xml"), write(tmp_path, info, "info.xml")]
    run(["config", "lint", "--format", "junit", *files])
    tree = etree.fromstring(capsys.readouterr().out.encode())
    etree.XMLSchema(etree.parse(str(SCHEMAS / "junit-10.xsd"))).assertValid(tree)
    assert [suite.get("failures") for suite in tree] == ["1", "0", "0"]
    assert tree.xpath("//failure/@type") == ["error"] and len(tree.xpath("//system-out")) == 1


def test_github_annotations_come_by_themselves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, FAULTY)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert run(["config", "lint", path]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"::error file={path},line=4,col=5,title=unknown-element::<core> has no <nmae>%0A")
    assert len(out.splitlines()) == 1
    run(["config", "lint", "--format", "text", path])
    assert "::error" not in capsys.readouterr().out


def test_a_message_cannot_begin_another_workflow_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nasty = DROP.replace("orders.#", "x&#10;::error::boo &#13;%0A.#")
    run(["config", "lint", "--format", "github", write(tmp_path, nasty)])
    assert all(line.startswith("::warning file=") for line in capsys.readouterr().out.splitlines())


def test_on_a_narrow_terminal_line_and_caret_stay_on_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, FAULTY.replace("<nmae>one", "    <!-- " + "x" * 80 + " --> <nmae>one"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    run(["config", "lint", path])
    line, caret = capsys.readouterr().out.splitlines()[1:3]
    assert len(line) <= 60 and "| …x" in line
    assert line[caret.index("\x1b") :].startswith("<nmae>")


def test_properties_named_beside_their_configuration_are_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broker, properties = write(tmp_path, DROP), tmp_path / "broker.properties"
    properties.write_text("maxDiskUsag=1\n")
    _, alone = found(capsys, broker)
    for named in ([broker, str(properties)], [str(properties), broker], [broker, broker]):
        assert found(capsys, *named)[1] == alone
