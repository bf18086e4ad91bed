"""Parts of a configuration that stand alone: what they are taken for, and where their faults are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from brokerconf.evidence.rule import Example, Rule, address_setting
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import FileReport, LintContext
from brokerconf.rules import rules
from pagectl.app import run

from pagefmt.editions import Edition
from pagefmt.findings import Severity

SETTING = '<address-setting match="{}"><{}>1000</{}></address-setting>'
GOOD, BAD = SETTING.format("a.#", *["page-size-bytes"] * 2), SETTING.format("b", *["page-siz-bytes"] * 2)


def linted(text: str, name: str = "part.xml") -> FileReport:
    return lint(text.encode(), name, LintContext())


def errors(report: FileReport) -> list[tuple[str, int, int]]:
    return [(one.rule, one.place.line, one.place.column) for one in report.findings if one.severity is Severity.ERROR]


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
)
def test_parts_are_read_in_their_place(text: str, taken: str, found: tuple[int, int]) -> None:
    report = linted(text)
    assert taken_for(report) == taken
    assert [(line, column) for _, line, column in errors(report)] == [found]


CORE = '<core xmlns="urn:activemq:core"><name>x</name></core>'


@pytest.mark.parametrize("edition", [None, *Edition])
@pytest.mark.parametrize(
    "text",
    [
        f'<server xmlns="urn:activemq">{CORE}</server>',
        f"<server xmlns='urn:hornetq' name='x'>{CORE}</server>",
        f'<a:server xmlns:a="urn:activemq:core" name="x">{CORE}</a:server>',
        f'<a:server xmlns:a="urn:other">{CORE}</a:server>',
        f'<hornetq-server xmlns="urn:activemq">{BLOCK}</hornetq-server>',
        '<address-setting xmlns="urn:activemq:core" name="#" max-size-bytes="1"/>',
    ],
)
def test_an_application_servers_part_is_in_its_namespace_or_in_none(text: str, edition: Edition | None) -> None:
    report = lint(text.encode(), "part.xml", LintContext(edition=edition))
    assert "subsystem" not in taken_for(report)
    assert "messaging" not in taken_for(report)
    assert [one.rule for one in report.findings if one.severity is Severity.ERROR]


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


def test_a_part_does_not_know_the_wildcards_of_its_broker() -> None:
    odd = GOOD.replace("a.#", "a+b#")
    rules = {"match-hash-inside-word", "match-regex-characters"}
    wildcards = "<wildcard-addresses><delimiter>/</delimiter></wildcard-addresses>"
    for text, said in ((odd, False), (f"<core>{wildcards}<address-settings>{odd}</address-settings></core>", True)):
        assert (rules <= {one.rule for one in linted(text).findings}) is said


ELSEWHERE = [
    address_setting(
        "#", max_size_bytes="100M", page_size_bytes="1M", dead_letter_address="DLQ", expiry_address="E",
        address_full_policy="PAGE",
    ),
    address_setting("#", max_size_messages="1000", page_size_bytes="64K", address_full_policy="BLOCK"),
    address_setting(
        "#", page_limit_bytes="1G", page_full_policy="FAIL", max_read_page_messages="-1", max_size_bytes="10G",
        max_read_page_bytes="1G", address_full_policy="DROP",
    ),
    address_setting("#", max_read_page_messages="10", page_size_bytes="2G", auto_create_addresses="false"),
]  # fmt: skip


def findings_of(text: str, example: Example) -> set[tuple[str, str]]:
    report = lint(text.encode(), "part.xml", LintContext(edition=example.edition, heap=example.heap))
    return {(one.rule, one.message) for one in report.findings} - {
        ("fragment", f"checked as part of a configuration: {OF_CORE}")
    }


@pytest.mark.parametrize("rule", [rule for rule in rules() if rule.failing().settings], ids=lambda rule: rule.id)
def test_what_is_said_of_a_part_holds_whatever_the_rest_of_the_file_sets(rule: Rule) -> None:
    for example in (rule.failing(), rule.passing()):
        settings = example.settings.replace('match="#"', 'match="orders.#"')
        said = findings_of(f"<address-settings>{settings}</address-settings>", example)
        for rest in ELSEWHERE:
            core = f"{example.core}<address-settings>{settings}{rest}</address-settings>"
            whole = f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{core}</core></configuration>'
            assert said <= findings_of(whole, example)


def test_a_part_that_speaks_of_every_address_is_asked_for_what_it_lacks() -> None:
    def rules_of(text: str) -> list[str]:
        return sorted(one.rule for one in linted(text).findings)

    everywhere = '<address-setting match="#"><max-size-bytes>100M</max-size-bytes>{}</address-setting>'
    assert rules_of(everywhere.format("")) == ["dla-missing", "dla-missing", "fragment"]
    target = "<dead-letter-address>D</dead-letter-address><expiry-address>D</expiry-address>"
    there = everywhere.format(f"{target}<auto-create-addresses>false</auto-create-addresses>")
    assert rules_of(there) == ["fragment"]
    other = '<addresses><address name="E"/></addresses>'
    assert rules_of(f"<address-settings>{there}</address-settings>{other}").count("dla-missing") == 2
    assert rules_of("<persistence-enabled>false</persistence-enabled>") == ["fragment"]


@pytest.mark.parametrize("match", ["#", "a"])
def test_properties_alone_are_not_asked_for_what_their_broker_xml_may_set(match: str) -> None:
    lines = [f'addressSettings."{match}".{one}' for one in ("maxSizeBytes=5M", "pageSizeBytes=10485760")]
    resource = {
        "apiVersion": "broker.amq.io/v1beta1",
        "kind": "ActiveMQArtemis",
        "metadata": {"name": "a"},
        "spec": {"brokerProperties": lines},
    }
    for text, name in (("\n".join(lines), "x.properties"), (json.dumps(resource), "x.json")):
        assert linted(text, name).findings == ()
        policy = text.replace(
            "pageSizeBytes=", f'addressFullMessagePolicy=PAGE\naddressSettings."{match}".pageSizeBytes='
        )
        if name == "x.properties":
            assert [one.rule for one in linted(policy, name).findings] == ["page-size-not-below-max-size"]


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
    assert "read as part of a configuration: <address-settings> of <core>" in captured.err
    assert run(["config", "diff", "--format", "json", str(one), str(other)]) == 1
    different = json.loads(capsys.readouterr().out)["addresses"]["a.·"]
    assert [each["setting"] for each in different] == ["page-size-bytes"]
    assert run(["config", "capacity", str(one)]) == 0
    assert "leaves out are taken as the broker's defaults" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("name", "text", "known"),
    [
        ("part.xml", GOOD, False),
        ("part.xml", GOOD.replace('"a.#"', '"#"'), True),
        ("x.properties", 'addressSettings."#".pageSizeBytes=1000\n', False),
    ],
)
def test_what_a_part_leaves_out_is_not_known(
    name: str, text: str, known: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A part that sets a match for all addresses shows what applies if nothing is set.
    path = tmp_path / name
    path.write_text(text, "utf-8")
    assert run(["config", "effective", "--format", "json", str(path), "a.b"]) == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out)
    settings = shown["addresses"]["a.b"]["settings"]
    assert settings["page-size-bytes"]["value"] == 1000
    expected = {"value": "PAGE", "source": "default"} if known else {"value": None, "source": "unknown"}
    assert settings["address-full-policy"] == expected
    assert shown["broker"]["max-disk-usage"] == {"value": None, "source": "unknown"}
    assert "is not known (?)" in captured.err


def test_a_table_without_rows_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broker.xml"
    path.write_text('<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"/></configuration>', "utf-8")
    assert run(["config", "effective", str(path), "a"]) == 0
    assert capsys.readouterr().out.count("nothing is set; --all shows the defaults") == 2


@pytest.mark.parametrize(
    "piece", ["<", "<a ", "<!--", '<a "', "<a>", "<?", "<name/>", "...<name/>", "<![CDATA[", "${a:"]
)
@pytest.mark.timeout(60)
def test_pieces_by_the_thousand_do_not_hold_up(piece: str) -> None:
    linted(piece * (50_000 // len(piece)))


BACKUP = "<configuration><backup>true</backup></configuration>"
DEEP = [
    ("<jgroups-file>x.xml</jgroups-file>", "<jgroups-file> of <broadcast-group>"),
    ("<pool><cluster-connection>c</cluster-connection></pool>", "<pool> of <connection-router>"),
    ("<transformer-class-name>a.B</transformer-class-name>", "<transformer-class-name> of <divert>"),
    ('<include address-match="a.#" queue-match="b"/>', "<include> of <queue-policy>"),
    ('<param key="a" value="b"/>', "<param> of <connector-service>"),
]


@pytest.mark.parametrize(("text", "taken"), DEEP)
def test_parts_that_stand_deep_are_no_worse_for_what_stands_around_them(text: str, taken: str) -> None:
    report = linted(text)
    assert (taken_for(report).partition(":")[0], errors(report)) == (taken, [])


def test_faults_of_parts_that_stand_deep() -> None:
    assert errors(linted("<pool>\n<quorum-siz>1</quorum-siz></pool>")) == [("unknown-element", 2, 1)]


@pytest.mark.parametrize(
    "text",
    [
        '<connector connector-port="1099"/>',
        '<property name="a" value="b"/>',
        '<queue name="a"><entry name="/queue/a"/><selector string="x"/></queue>',
        "<plugin><groupId>a</groupId><artifactId>b</artifactId></plugin>",
    ],
)
def test_namesakes_of_other_files_are_no_parts(text: str) -> None:
    assert [rule for rule, _, _ in errors(linted(text))] == ["unknown-root"]


@pytest.mark.parametrize(
    ("text", "taken", "found"),
    [
        # HornetQ's setting, though Artemis has an element of that name
        (
            "<shared-store>false</shared-store>\n.\n.\n<cluster-connections/>",
            "<shared-store>, <cluster-connections> of HornetQ's <configuration>",
            [],
        ),
        (
            f'<backup-servers><backup-server name="a">{BACKUP}</backup-server></backup-servers>',
            "<backup-servers> of HornetQ's <configuration>",
            [],
        ),
        (
            '<configuration xmlns="urn:activemq">\n<core xmlns="urn:activemq:core">\n<name>a</name>\n...',
            "<configuration>",
            [],
        ),
        ('<acceptor name="a">....;b=0; .....</acceptor>', "<acceptor> of <core>", []),
        ('<address-setting match="(a.#)"/>', OF_CORE.replace("settings", "setting"), []),
        ('<address-setting match="a.#.b"/>', OF_CORE.replace("settings", "setting"), [("match-refused", 1, 18)]),
        ('<xi:include href="none.xml"/>', "", [("include-missing", 1, 1)]),
    ],
)
def test_what_examples_leave_out(text: str, taken: str, found: list[tuple[str, int, int]]) -> None:
    report = linted(text)
    assert (taken_for(report), errors(report)) == (taken, found)


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ('<jms-queue name="q"><entry name="java:/q"/></jms-queue>', "<jms-queue> of <hornetq-server> of messaging"),
        (
            '<connection-factory name="c"><connectors><connector-ref connector-name="n"/></connectors>'
            '<entries><entry name="C"/></entries><consumer-window-size>0</consumer-window-size></connection-factory>',
            "<connection-factory> of <hornetq-server> of messaging",
        ),
        (
            f'<subsystem xmlns="urn:jboss:domain:{NEWEST}"><server name="a">...<bridge name="b" queue-name="q" '
            'static-connectors="c"/>...</server></subsystem>',
            "<subsystem>",
        ),
    ],
)
def test_parts_of_an_application_servers_messaging(text: str, taken: str) -> None:
    report = linted(text)
    assert (taken_for(report).partition(":")[0], errors(report)) == (taken, [])
