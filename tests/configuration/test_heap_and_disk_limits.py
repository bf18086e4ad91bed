"""What is declared against heap and disk, whatever the form of the file; pages in a database; markup in addresses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext
from pagectl.app import run
from server_files import SERVER, standalone

ADDRESS = '<address-settings><address-setting match="{}"><max-size-bytes>600000000</max-size-bytes></address-setting>'
CORE = '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{}</core>{}</configuration>'
SETTINGS = ADDRESS.format("#") + "</address-settings>"
QUEUES = "<queues>" + "".join(f'<queue name="{n}"><address>jms.queue.{n}</address></queue>' for n in "ab") + "</queues>"
JMS = '<jms xmlns="urn:activemq:jms"><queue name="a"/><topic name="b"/></jms>'
EAP6 = (
    '<server xmlns="urn:jboss:domain:1.7"><profile><subsystem xmlns="urn:jboss:domain:messaging:1.4"><hornetq-server>'
    f'{SETTINGS}<jms-destinations><jms-queue name="a"><entry name="x"/></jms-queue><jms-topic name="b">'
    '<entry name="y"/></jms-topic></jms-destinations></hornetq-server></subsystem></profile></server>'
)
FORMS = {
    "hornetq": f'<configuration xmlns="urn:hornetq">{SETTINGS}{QUEUES}</configuration>',
    "artemis-1.5": CORE.format(SETTINGS + QUEUES, ""),
    "jms of artemis-1.5": CORE.format(SETTINGS, JMS),
    "eap6": EAP6,
    "eap7": standalone("8.0", SERVER.replace("8388608", "600000000")),
}


@pytest.mark.parametrize("form", FORMS)
def test_destinations_times_max_size_against_the_heap(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file.xml"
    path.write_text(FORMS[form], "utf-8")
    edition = ["--edition", "artemis-1.5"] if "1.5" in form else []
    only = ["--only", "sum-of-max-size-over-heap", "--format", "json"]
    assert run(["config", "lint", *edition, "--heap", "1G", *only, str(path)]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["files"][0]["findings"]
    assert "the declared addresses may hold 1200000000 bytes together" in finding["message"] and finding["line"] >= 1
    assert run(["config", "lint", *edition, "--heap", "2G", *only, str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["findings"] == []
    assert run(["config", "capacity", *edition, "--heap", "1G", "--format", "json", str(path)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["addresses"]) >= 2
    told = any("there is no global limit" in said for said in shown["first"])
    assert told == shown["global_off"]


def test_a_disk_that_is_never_looked_at_has_no_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(CORE.format("<disk-scan-period>-1</disk-scan-period>", ""), "utf-8")
    said = "the limits are never checked"
    assert run(["config", "capacity", "--disk", "100G", str(path)]) == 0
    assert said in capsys.readouterr().out
    assert run(["config", "lint", "--only", "disk-limit-extreme", str(path)]) == 0
    assert said in capsys.readouterr().out
    assert run(["disk", "check", "--any-path", "--config", str(path), str(tmp_path)]) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cap", "edition", "size", "line"),
    [
        ("", "artemis-2.56", 102400, 3),
        ("<jdbc-max-page-size-bytes>50K</jdbc-max-page-size-bytes>", "artemis-2.56", 51200, 5),
        ("<jdbc-max-page-size-bytes>50M</jdbc-max-page-size-bytes>", "artemis-2.56", 2000000, 2),
        ("", "artemis-2.28", 2000000, 2),
    ],
)
def test_pages_in_a_database_are_capped_where_settings_are_shown(
    cap: str, edition: str, size: int, line: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = SETTINGS.replace("max-size-bytes>600000000", "page-size-bytes>2000000").replace("/max-", "/page-")
    store = (
        f"<store><database-store>\n<jdbc-connection-url>x</jdbc-connection-url>\n{cap}"
        "<jdbc-driver-class-name>y</jdbc-driver-class-name></database-store></store>"
    )
    path = tmp_path / "broker.xml"
    path.write_text(CORE.format(f"\n{setting}\n{store}", ""), "utf-8")
    assert run(["config", "effective", "--edition", edition, "--format", "json", "--anyway", str(path), "a"]) == 0
    shown = json.loads(capsys.readouterr().out)["addresses"]["a"]["settings"]
    assert shown["page-size-bytes"]["value"] == size and shown["page-size-bytes"]["source"]["line"] == line
    assert shown["max-read-page-bytes"]["value"] == 4000000


@pytest.mark.parametrize(
    ("address", "refused"),
    [
        ("tcp://<?pi x?>localhost:61616", True),
        ("<?pi x?>tcp://localhost:61616", True),
        ("tcp://localhost:61616<?pi x?>", False),
        ("tcp://localhost:61616", False),
    ],
)
@pytest.mark.parametrize("edition", ["artemis-1.5", "artemis-2.28", "artemis-2.56"])
def test_an_instruction_inside_of_an_address(address: str, refused: bool, edition: str) -> None:
    # Brokers 1.5.6, 2.28.0 and 2.56.0 take the first piece of text alone as the address.
    from pagefmt.editions import Edition

    text = CORE.format(f'<acceptors><acceptor name="a">{address}</acceptor></acceptors>', "")
    found = lint(text.encode(), "broker.xml", LintContext(edition=Edition(edition))).findings
    assert ("bad-uri" in {one.rule for one in found}) == refused


@pytest.mark.parametrize(("journal", "timeout", "kind"), [("asyncio", 500000, "ASYNCIO"), ("nio", 3333333, "NIO")])
def test_what_a_journal_is_on_the_host_is_asked_or_seen_and_said(
    journal: str, timeout: int, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(CORE.format("<name>x</name>", ""), "utf-8")
    call = ["config", "effective", "--format", "json", str(path)]
    assert run([*call, "--journal-type", journal]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["broker"]["journal-buffer-timeout"]["value"] == timeout
    assert f"journal of type ASYNCIO is treated as {kind} (--journal-type)" in captured.err
    assert run(call) == 0
    assert "libaio)" in capsys.readouterr().err
    path.write_text(CORE.format("<journal-type>NIO</journal-type>", ""), "utf-8")
    assert run(call) == 0
    assert "libaio" not in capsys.readouterr().err


def test_manuals_that_contradict_brokers_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "explain", "address-full-policy"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "manuals say: in the default configuration all addresses block producers after 10 MiB" in shown
    assert "brokers do: PAGE without a limit of its own" in shown
    assert run(["config", "explain", "--format", "json", "global-max-size"]) == 0
    (setting,) = json.loads(capsys.readouterr().out)["settings"]
    assert [sorted(saying) for saying in setting["manuals"]] == [["does", "says"]]


@pytest.mark.parametrize("call", [["explain", "global-max-size"], ["explain", "page-limit-unused"]])
def test_text_stays_within_eighty_columns(call: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", *call]) == 0
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= 80


def test_reasons_and_help_of_findings_stay_within_eighty_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(CORE.format(SETTINGS + "<disk-scan-period>-1</disk-scan-period>", ""), "utf-8")
    assert run(["config", "lint", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    said = [line for line in lines if not line.startswith(str(path)) and "|" not in line]
    assert len(said) > 4 and max(map(len, said)) <= 80
