"""``pagectl config lint`` as called: statuses, streams, selection, comments, instances, verdicts."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from brokerconf.linting.catalogue import known_ids
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext, RuleSelection
from brokerconf.rules import rules
from config_cases import judged
from lint_calls import CLEAN, DROP, FAULTY, HEAD, TAIL, found, rules_of, write
from pagectl.app import run

from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Severity


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "NO_COLOR", "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("inside", "argv", "status"),
    [
        (CLEAN, [], 0),
        (DROP, [], 0),
        (DROP, ["--fail-on", "warning"], 1),
        (DROP, ["--fail-on", "warning", "--ignore", "drop-policy"], 0),
        (DROP, ["--fail-on", "warning", "--only", "dla-missing,page-size-tiny"], 0),
        (FAULTY, [], 1),
        (FAULTY, ["--fail-on", "never"], 0),
        (FAULTY, ["--only", "drop-policy"], 0),
    ],
)
def test_status(tmp_path: Path, capsys: pytest.CaptureFixture[str], inside: str, argv: list[str], status: int) -> None:
    assert run(["config", "lint", write(tmp_path, inside), *argv]) == status
    assert "in 1 file" in capsys.readouterr().err


@pytest.mark.parametrize("inside", [DROP, FAULTY, "<no-such-setting>1</no-such-setting><page-size>x</page-size>"])
def test_the_findings_of_one_rule_are_those_of_the_whole_lint(inside: str) -> None:
    raw = f"{HEAD}{inside}{TAIL}".encode()
    whole = lint(raw, "broker.xml", LintContext()).findings
    for rule in known_ids():
        selection = RuleSelection(frozenset({rule}))
        alone = lint(raw, "broker.xml", LintContext(), selection).findings
        assert alone == tuple(finding for finding in whole if selection.takes(finding.rule)), rule


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["no-such-file.xml"],
        ["--edition", "artemis-9", "x.xml"],
        ["--heap", "lots", "x.xml"],
        ["--heap", "0", "x.xml"],
        ["--only", "no-such-rule", "x.xml"],
        ["--ignore", "drop-polizy", "x.xml"],
        ["-D", "novalue", "x.xml"],
        ["--cwd", "no-such-folder", "x.xml"],
        ["--schema", "a.xsd", "--artemis-home", "b", "x.xml"],
        ["--format", "yaml", "x.xml"],
        ["--data", "no-such-folder", "x.xml"],
    ],
)
def test_calls_that_cannot_be_carried_out(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    assert run(["config", "lint", *argv]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.strip().splitlines()) <= 2


def test_a_misnamed_rule_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "lint", "--ignore", "drop-polizy", "x.xml"]) == 2
    assert "did you mean 'drop-policy'?" in capsys.readouterr().err


def test_an_unreadable_file_does_not_hide_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "lint", str(tmp_path / "absent.xml"), write(tmp_path, FAULTY)]) == 2
    said = capsys.readouterr()
    assert "did you mean <name>?" in said.out and "absent.xml" in said.err


IGNORE = "<!-- pagectl: ignore drop-policy -->"
SECTION = "<!-- pagectl: ignore-section drop-policy -->"


@pytest.mark.parametrize(
    ("inside", "silenced"),
    [
        (DROP.replace("<address-full", f"{IGNORE}\n<address-full"), True),
        (DROP.replace('<address-setting match="orders', f'{IGNORE}\n<address-setting match="orders'), True),
        (DROP.replace("<name>", f"{IGNORE}\n<name>"), False),
        (DROP.replace("</address-full-policy>", f"</address-full-policy>{IGNORE}"), True),
        (DROP.replace("<address-full", f"{SECTION}\n<address-full"), True),
        (DROP.replace("<address-settings>", f"<address-settings>{SECTION}"), True),
        (DROP.replace("<dead-letter", f"{SECTION}\n<dead-letter"), False),
        (DROP + SECTION, True),
        (DROP + IGNORE, False),
    ],
)
def test_comments_silence_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], inside: str, silenced: bool
) -> None:
    _, report = found(capsys, write(tmp_path, inside))
    assert rules_of(report) == ([] if silenced else ["drop-policy"])


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("pagectl: ignore drop-polizy", "did you mean 'drop-policy'?"),
        ("pagectl: ignore", "write <!-- pagectl: ignore RULE -->"),
        ("pagectl: disable drop-policy", "write <!-- pagectl: ignore RULE -->"),
    ],
)
def test_comments_that_silence_nothing_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], comment: str, said: str
) -> None:
    _, report = found(capsys, write(tmp_path, f"<!-- {comment} -->\n{CLEAN}"))
    (finding,) = report["files"][0]["findings"]  # type: ignore[index]
    assert finding["rule"] == "unknown-rule" and said in finding["help"]


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO((HEAD + FAULTY + TAIL).encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    status, report = found(capsys, "-")
    assert status == 1 and report["files"][0]["file"] == "stdin"  # type: ignore[index]


def test_instance_gives_edition_heap_and_properties(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    etc, home = tmp_path / "etc", tmp_path / "home"
    etc.mkdir()
    (home / "lib").mkdir(parents=True)
    (home / "lib" / "artemis-server-2.28.0.jar").touch()
    (etc / "artemis.profile").write_text(f"ARTEMIS_HOME='{home}'\nJAVA_ARGS=\"-Xmx1G -Dsite.name=a\"\n", "utf-8")
    (etc / "broker.properties").write_text("maxDiskUsage=101\n", "utf-8")
    write(etc, CLEAN.replace(">one<", ">${site.name}<") + "<global-max-size>2G</global-max-size>")
    status, report = found(capsys, str(tmp_path))
    assert report["files"][0]["edition"] == "artemis-2.28"  # type: ignore[index]
    assert status == 1 and rules_of(report) == ["properties-range", "global-size-over-heap"]


def test_edition_is_the_newest_that_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = CLEAN + "<persist-id-cache>true</persist-id-cache>"
    _, report = found(capsys, write(tmp_path, old))
    assert report["files"][0]["edition"] == NEWEST.value  # type: ignore[index]
    limits = CLEAN.replace("</address-setting>", "<disk-full-policy>FAIL</disk-full-policy></address-setting>")
    status, report = found(capsys, "--edition", "artemis-2.44", write(tmp_path, limits))
    assert status == 1 and rules_of(report) == ["unknown-in-version"]


def test_definitions_fill_placeholders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, CLEAN.replace(">one<", ">${site.name}<"))
    assert rules_of(found(capsys, path)[1]) == ["unresolved-placeholder"]
    assert rules_of(found(capsys, "-D", "site.name=a", path)[1]) == []


def test_same_input_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, FAULTY + DROP)
    outputs = set()
    for _ in range(2):
        run(["config", "lint", "--format", "sarif", path])
        outputs.add(capsys.readouterr().out)
    assert len(outputs) == 1


def test_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "rules", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"rule", "severity", "editions", "needs", "title"} == set(listed["rules"][0])
    assert run(["config", "rules"]) == 0
    assert "ambiguous-match" in capsys.readouterr().out


EAP6 = """<server xmlns="urn:jboss:domain:1.7"><profile>
<subsystem xmlns="urn:jboss:domain:datasources:1.2"><max-size-bytes>abc</max-size-bytes></subsystem>
<subsystem xmlns="urn:jboss:domain:messaging:1.4"><hornetq-server>
<paging-directory path="paging" relative-to="jboss.server.data.dir"/>
<address-settings><address-setting match="#">
<dead-letter-address>jms.queue.DLQ</dead-letter-address><expiry-address>jms.queue.Expiry</expiry-address>
<max-size-bytes>1048576</max-size-bytes>
<page-size-bytes>2097152</page-size-bytes>
<address-full-policy>Page</address-full-policy>
<message-counter-history-day-limit>10</message-counter-history-day-limit>
{more}</address-setting></address-settings>
</hornetq-server></subsystem></profile></server>
"""


def test_messaging_subsystem_of_eap6(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "standalone.xml"
    path.write_text(EAP6.format(more="<page-siez-bytes>1</page-siez-bytes>\n"), "utf-8")
    status, report = found(capsys, str(path))
    places = [(f["rule"], f["line"]) for f in report["files"][0]["findings"]]  # type: ignore[index]
    assert places == [("page-size-not-below-max-size", 8), ("invalid-value", 9), ("unknown-element", 11)]
    assert status == 1 and report["files"][0]["edition"] == "hornetq-2.4"  # type: ignore[index]


def test_a_good_eap6_file_has_no_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "standalone.xml"
    path.write_text(EAP6.format(more="").replace(">Page<", ">PAGE<").replace("2097152", "204800"), "utf-8")
    assert found(capsys, str(path))[0] == 0


def test_data_directory_shows_stranded_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "data" / "paging" / "0a"
    store.mkdir(parents=True)
    (store / "address.txt").write_text("orders.new", "utf-8")
    (store / "000000001.page").write_bytes(b"{\x00\x00\x00\x00}")
    path = write(tmp_path, DROP)
    assert rules_of(found(capsys, "--only", "policy-change-with-pages", path)[1]) == []
    argv = ["--only", "policy-change-with-pages", "--data", str(tmp_path / "data"), path]
    _, report = found(capsys, "--edition", "artemis-2.28", *argv)
    (finding,) = report["files"][0]["findings"]  # type: ignore[index]
    assert "'orders.new' has 1 page files" in finding["message"] and finding["line"] == 11


def test_the_operators_own_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from brokerconf.schema.xsd_files import path_of

    path = write(tmp_path, CLEAN.replace("<dead-letter", "<disk-full-policy>FAIL</disk-full-policy><dead-letter"))
    status, report = found(capsys, "--schema", str(path_of(Edition.ARTEMIS_2_28, "server.xsd")), path)
    assert status == 1 and report["files"][0]["xsd"] == {"valid": False, "schema": "server.xsd"}  # type: ignore[index]
    (tmp_path / "broken.xsd").write_text("<xsd", "utf-8")
    assert run(["config", "lint", "--schema", str(tmp_path / "broken.xsd"), path]) == 2
    assert run(["config", "lint", "--artemis-home", str(tmp_path), path]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["valid", "mutants"])
def test_verdicts_of_real_brokers(folder: str) -> None:
    """Assert that a broker's refusal is an error, and that only rules object to what it accepts.

    Left out: document types, which are refused whatever the broker does, and classes missing on the broker's host.
    """
    by_rule = {rule.id for rule in rules()}
    compared = 0
    for case in judged(folder):
        path = case.path / "broker.xml" if case.path.is_dir() else case.path
        if case.phase == "environment" or "unknown-class" in path.name or "document-type" in path.name:
            continue
        report = lint(path.read_bytes(), str(path), LintContext(edition=case.edition))
        errors = {finding.rule for finding in report.findings if finding.severity is Severity.ERROR}
        if case.verdict["broker"] == "refused":
            assert errors, f"{path.name} is refused by {case.broker}"
        elif case.verdict["document"] == "valid":
            assert errors <= by_rule, f"{path.name} is accepted by {case.broker}"
        else:
            assert report.findings, f"{path.name}: {case.broker} accepts in silence"
        compared += 1
    assert compared > (50 if folder == "valid" else 500)


def test_without_a_file_the_instance_of_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "etc").mkdir()
    write(tmp_path / "etc", DROP)
    monkeypatch.setenv("ARTEMIS_INSTANCE", str(tmp_path))
    assert rules_of(found(capsys)[1]) == ["drop-policy"]
    monkeypatch.delenv("ARTEMIS_INSTANCE")
    assert run(["config", "lint"]) == 2
    assert "name a configuration file" in capsys.readouterr().err


def test_all_servers_of_eap6_and_nothing_else_in_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setting = '<address-settings><address-setting match="a"><{0}</address-setting></address-settings>'
    server = f'<hornetq-server name="{{1}}">{setting}</hornetq-server>'
    inside = server.format("max-size-bytes>1M</max-size-bytes>", "one") + server.format(
        "expiry-address>${where}${jboss.node.name}</expiry-address>", "two"
    )
    path = tmp_path / "domain.xml"
    path.write_text(
        '<domain xmlns="urn:jboss:domain:1.7"><system-properties><property name="a" value="${b}"/></system-properties>'
        '<profiles><profile><subsystem xmlns="urn:jboss:domain:web:2.2"><password>x</password></subsystem>'
        f'<subsystem xmlns="urn:jboss:domain:messaging:1.4">{inside}</subsystem></profile></profiles></domain>',
        "utf-8",
    )
    _, report = found(capsys, "--ignore", "dla-missing,page-without-limit", str(path))
    assert rules_of(report) == ["invalid-value", "unresolved-placeholder"]
