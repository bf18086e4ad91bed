"""``pagectl config lint`` as called: statuses, streams, formats, selection, comments, passwords, hostile files."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from brokerconf.findings import Severity
from brokerconf.lint import Surroundings, lint
from brokerconf.rules import rules
from config_cases import judged
from lxml import etree
from pagectl.app import run

from pagefmt.editions import Edition

SCHEMAS = Path(__file__).parent / "schemas"
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<configuration xmlns="urn:activemq">\n  <core xmlns="urn:activemq:core">\n'
)
TAIL = "  </core>\n</configuration>\n"
CLEAN = """    <name>one</name>
    <address-settings>
      <address-setting match="#">
        <dead-letter-address>DLQ</dead-letter-address>
        <expiry-address>Expiry</expiry-address>
      </address-setting>
    </address-settings>
"""
DROP = CLEAN.replace(
    "</address-settings>",
    """  <address-setting match="orders.#">
        <address-full-policy>DROP</address-full-policy>
      </address-setting>
    </address-settings>""",
)
FAULTY = CLEAN.replace("<name>", "<nmae>").replace("</name>", "</nmae>")
SECRET = "correct-horse"  # no password of anything


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "NO_COLOR", "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)


def write(folder: Path, inside: str, name: str = "broker.xml") -> str:
    path = folder / name
    path.write_text(HEAD + inside + TAIL, "utf-8")
    return str(path)


def found(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, object]]:
    status = run(["config", "lint", "--format", "json", *argv])
    return status, json.loads(capsys.readouterr().out)


def rules_of(report: object) -> list[str]:
    assert isinstance(report, dict)
    return [finding["rule"] for file in report["files"] for finding in file["findings"]]


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


def test_json_is_the_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, report = found(capsys, write(tmp_path, FAULTY), write(tmp_path, CLEAN, "good.xml"))
    assert status == 1
    first, second = report["files"]  # type: ignore[misc]
    assert first["xsd"] == {"valid": False, "schema": "artemis-2.56"} and second["xsd"]["valid"] is True
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


SECRETS = [
    f"<cluster-password>{SECRET}</cluster-password>",
    f"<cluster-password>\n{SECRET} &\n</cluster-password>",
    f"<cluster-password>ENC({SECRET})</cluster-password><nmae/>",
    f'<acceptors><acceptor name="a">tcp://h:1?keyStorePassword={SECRET};nmae=1</acceptor></acceptors>',
    f'<acceptors><acceptor nmae="a">tcp://u:{SECRET}@h:1</acceptor></acceptors>',
    f'<broker-plugins><broker-plugin class-name="x"><property key="password" valeu="1" value="{SECRET}"/>'
    "</broker-plugin></broker-plugins>",
    f"<store><database-store><jdbc-password>{SECRET}</jdbc-password><x/></database-store></store>",
    f"<cluster-password>{SECRET}<x/></cluster-password>",
    f"<cluster-pasword>{SECRET}</cluster-pasword>",
    f'<broker-plugins><broker-plugin class-name="x"><property\nvalue="{SECRET}"\nkey="password"\nx="{SECRET}"/>'
    "</broker-plugin></broker-plugins>",
]


@pytest.mark.parametrize("inside", SECRETS)
@pytest.mark.parametrize("format", ["text", "json", "sarif", "junit", "github"])
def test_no_password_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str], inside: str, format: str) -> None:
    run(["config", "lint", "--format", format, write(tmp_path, CLEAN + inside)])
    said = capsys.readouterr()
    assert said.out and SECRET not in said.out + said.err


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><configuration>&e;</configuration>',
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><configuration>&b;</configuration>',
        '<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/passwd" parse="text"/>'
        "</configuration>",
        '<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="../../x.xml"/></configuration>',
        '<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="http://localhost:9/x"/></configuration>',
        "<a>" * 300 + "</a>" * 300,
        "",
        "\x00\x01\x02",
        "<configuration>${a:${b:${c}}}</configuration>",
        "<configuration",
    ],
)
def test_hostile_files_are_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(text, "utf-8")
    assert run(["config", "lint", "--format", "json", str(path)]) == 1
    said = capsys.readouterr()
    assert "root:" not in said.out and "Traceback" not in said.err
    assert json.loads(said.out)["summary"]["errors"] >= 1


def test_escapes_of_a_file_never_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["config", "lint", write(tmp_path, DROP.replace("orders", "a\u009b31m\u202eb"))])
    out = capsys.readouterr().out
    assert "\u009b" not in out and "\u202e" not in out and "\\x9b31m\\u202e" in out


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
    assert report["files"][0]["edition"] == "artemis-2.56"  # type: ignore[index]
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
    assert places == [("page-size-not-below-max-size", 8), ("bad-value", 9), ("unknown-element", 11)]
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
    from brokerconf.xsd_files import path_of

    path = write(tmp_path, CLEAN.replace("<dead-letter", "<disk-full-policy>FAIL</disk-full-policy><dead-letter"))
    status, report = found(capsys, "--schema", str(path_of(Edition.ARTEMIS_2_28, "server.xsd")), path)
    assert status == 1 and report["files"][0]["xsd"] == {"valid": False, "schema": "server.xsd"}  # type: ignore[index]
    (tmp_path / "broken.xsd").write_text("<xsd", "utf-8")
    assert run(["config", "lint", "--schema", str(tmp_path / "broken.xsd"), path]) == 2
    assert run(["config", "lint", "--artemis-home", str(tmp_path), path]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_nothing_heavy_is_imported(tmp_path: Path) -> None:
    heavy = "{'rich', 'xmlschema', 'numpy', 'pyarrow', 'zipfile', 'ssl', 'pyspark', 'importlib.resources'}"
    code = "import sys; from pagectl.app import run; run(sys.argv[1:]); "
    code += f"sys.exit(','.join({heavy} & set(sys.modules)) or None)"
    call = [sys.executable, "-c", code, "config", "lint", write(tmp_path, CLEAN)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60, env=_paths())
    assert done.returncode == 0, done.stderr


def _paths() -> dict[str, str]:
    root = Path(__file__).resolve().parent.parent
    return {"PYTHONPATH": ":".join(str(part) for part in (root, root / "cli", root / "schemas"))}


@pytest.mark.parametrize("folder", ["valid", "mutants"])
def test_verdicts_of_real_brokers(folder: str) -> None:
    """What a broker refuses is an error here; what it accepts and the schema allows is none but by a rule.

    Left out: document types, which are refused whatever the broker does, and classes missing on the broker's host.
    """
    by_rule = {rule.id for rule in rules()}
    compared = 0
    for case in judged(folder):
        path = case.path / "broker.xml" if case.path.is_dir() else case.path
        if case.phase == "environment" or "unknown-class" in path.name or "document-type" in path.name:
            continue
        report = lint(path.read_bytes(), str(path), Surroundings(edition=case.edition))
        errors = {finding.rule for finding in report.findings if finding.severity is Severity.ERROR}
        if case.verdict["broker"] == "refused":
            assert errors, f"{path.name} is refused by {case.broker}"
        elif case.verdict["document"] == "valid":
            assert errors <= by_rule, f"{path.name} is accepted by {case.broker}"
        else:
            assert report.findings, f"{path.name}: {case.broker} accepts in silence"
        compared += 1
    assert compared > (50 if folder == "valid" else 500)
