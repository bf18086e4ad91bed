"""Parts of a configuration that stand alone: what they are taken for, and where their faults are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from brokerconf.linting.lint import FileReport, LintContext, lint
from pagectl.app import run

from pagefmt.findings import Severity

SETTING = '<address-setting match="{}"><{}>1000</{}></address-setting>'
GOOD, BAD = SETTING.format("a.#", *["page-size-bytes"] * 2), SETTING.format("b", *["page-siz-bytes"] * 2)


def linted(text: str, name: str = "part.xml") -> FileReport:
    return lint(text.encode(), name, LintContext())


def errors(report: FileReport) -> list[tuple[str, int, int]]:
    return [
        (one.rule, one.place.line, one.place.column) for one in report.findings if one.severity is Severity.ERROR
    ]  # fmt: skip


def taken_for(report: FileReport) -> str:
    return next((one.message.partition(": ")[2] for one in report.findings if one.rule == "fragment"), "")


BLOCK = f"<address-settings>{GOOD}\n{BAD}</address-settings>"
OF_CORE, NEWEST = "<address-settings> of <core>", "messaging-activemq:18.0"


@pytest.mark.parametrize(
    ("text", "taken", "found"),
    [
        (BLOCK, OF_CORE, (2, 28)),
        (BLOCK.replace("settings>", 'settings xmlns="urn:activemq:core">', 1), OF_CORE, (2, 28)),
        (f"{GOOD}\n{BAD}", "<address-setting> of <core>", (2, 28)),
        (f"<!-- one -->{GOOD}\n...\n<name>x</name>\n{BAD}", "<address-setting>, <name> of <core>", (4, 28)),
        (f"<?xml version='1.0'?>\n<core>{BLOCK}</core>", "<core> of <configuration>", (3, 28)),
        (f"<configuration...>\n<core...>\n...\n{BLOCK}\n...\n</core></configuration>", "<configuration>", (5, 28)),
        (f"<hornetq-server>{BLOCK}</hornetq-server>", "<hornetq-server> of messaging:3.0", (2, 28)),
        ('<address-setting name="#"\n  page-siz-bytes="1"/>', f"<address-setting> of <server> of {NEWEST}", (2, 3)),
        ('<server name="x">\n<address-setting name="#" a="1"/></server>', f"<server> of {NEWEST}", (2, 27)),
        (f"<backup>true</backup>\n{BLOCK}", "<backup>, <address-settings> of HornetQ's <configuration>", (3, 28)),
    ],
)  # fmt: skip
def test_parts_are_read_in_their_place(text: str, taken: str, found: tuple[int, int]) -> None:
    report = linted(text)
    assert taken_for(report) == taken
    assert [(line, column) for _, line, column in errors(report)] == [found]


@pytest.mark.parametrize("text", ["<nonsense/>", "<a/><b/>", '<address-settings xmlns="urn:other"/>', "<name/><b/>"])
def test_what_is_no_part_stays_an_error(text: str) -> None:
    report = linted(text)
    assert {rule for rule, _, _ in errors(report)} <= {"unknown-root", "not-well-formed"} and errors(report)
    assert taken_for(report) == ""


@pytest.mark.parametrize(
    "text", ["<address-settings>", "<acceptors></connectors>", "<core", "...", "", "<address-settings/>..."]
)
def test_malformed_parts_are_refused_in_one_way(text: str) -> None:
    report = linted(text)
    assert report.findings or report.valid
    assert all(one.place.line == 1 for one in report.findings)


def test_a_file_that_brokers_start_with_is_no_part() -> None:
    assert [rule for rule, _, _ in errors(linted(GOOD, "etc/broker.xml"))] == ["unknown-root"]


def test_what_a_part_lacks_may_stand_elsewhere() -> None:
    lacking = '<cluster-connections><cluster-connection name="c">\n...\n<discovery-group-ref discovery-group-name="d"/>'
    report = linted(f"{lacking}</cluster-connection></cluster-connections>")
    assert report.findings and {one.rule for one in report.findings} == {"fragment"}


def test_placeholders_keep_their_places() -> None:
    text = f"<!-- ${{x:1}} -->\n<name>${{a:b}}</name> <max-disk-usage>${{limit:700}}</max-disk-usage> {GOOD}\n{BAD}"
    assert [(line, column) for _, line, column in errors(linted(text))] == [(2, 21), (3, 28)]


def test_settings_of_parts_are_shown_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "one.xml", tmp_path / "other.xml"
    one.write_text(f"<address-settings>{GOOD}</address-settings>", "utf-8")
    other.write_text(GOOD.replace("1000", "2000"), "utf-8")
    assert run(["config", "effective", "--format", "json", str(one), "a.b"]) == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out)["addresses"]["a.b"]["settings"]["page-size-bytes"]
    assert shown == {"value": 1000, "source": {"file": str(one), "line": 1, "match": "a.#"}}
    assert "taken for a part: <address-settings> of <core>" in captured.err
    assert run(["config", "diff", "--format", "json", str(one), str(other)]) == 1
    assert [each["setting"] for each in json.loads(capsys.readouterr().out)["addresses"]["a.·"]][:2] == [
        "max-read-page-bytes", "page-size-bytes",
    ]  # fmt: skip
    assert run(["config", "capacity", str(one)]) == 0
