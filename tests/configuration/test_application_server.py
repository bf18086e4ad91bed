"""Messaging subsystems of JBoss EAP and WildFly: recognised, judged, answered for as the broker inside gets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from brokerconf.errors import BrokerConfError
from brokerconf.instance.instance import directories
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import FileReport, LintContext
from brokerconf.reading.document import FileKind
from brokerconf.reading.tables import read_table
from brokerconf.settings.effective import EffectiveSettings
from pagectl.app import run
from server_files import SERVER, server_document, standalone, subsystem, with_journal, with_settings

from pagefmt.findings import Severity

VERSIONS = [row[1] for row in read_table("servers.csv") if row[0] == "messaging-activemq"]


def linted(text: str) -> FileReport:
    return lint(text.encode(), "standalone.xml", LintContext())


def errors(text: str) -> list[tuple[str, int, str]]:
    return [(one.rule, one.place.line, one.help) for one in linted(text).findings if one.severity is Severity.ERROR]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sound_server_of_every_version_has_no_error(version: str) -> None:
    report = linted(standalone(version))
    assert report.valid and report.schema.endswith(f"messaging-activemq:{version}")
    assert errors(standalone(version)) == []
    assert report.edition.startswith("artemis-")


@pytest.mark.parametrize(
    ("inside", "rule", "help"),
    [
        (with_settings('max-size-byte="1"'), "unknown-attribute", "did you mean 'max-size-bytes'?"),
        (with_settings('max-size-bytes="10M"'), "invalid-value", "write a whole number"),
        (with_settings('address-full-policy="Page"'), "invalid-value", "did you mean PAGE?"),
        (SERVER.replace("jms-queue name", "jms-queu name"), "unknown-element", "did you mean <jms-queue>?"),
        (SERVER.replace(' entries="java:/queue/Orders"', ""), "missing-attribute", "add entries="),
        (with_journal('global-max-disk-usage="101"'), "bad-value", "write a value in that range"),
        (with_journal('file-size="1023"'), "bad-value", "write a value in that range"),
        (with_journal('max-disk-usage="90"'), "unknown-attribute", "did you mean 'global-max-disk-usage'?"),
        (with_settings('page-size-bytes="${page.size}"'), "unresolved-placeholder", "write ${name:default}"),
        (with_settings('page-size-bytes="${page.size:big}"'), "invalid-value", "write a whole number"),
    ],
)
def test_what_the_server_refuses_is_an_error(inside: str, rule: str, help: str) -> None:
    found = errors(standalone("13.0", inside))
    told = [(name, text.startswith(help)) for name, _, text in found if name != "page-size-not-below-max-size"]
    assert told == [(rule, True)]


def test_a_version_that_is_not_known_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = standalone("99.0")
    assert errors(text) == [("unknown-subsystem", 5, "known are 1.0 to 18.0")]
    path = tmp_path / "standalone.xml"
    path.write_text(text, "utf-8")
    assert run(["config", "effective", str(path)]) == 2
    err = capsys.readouterr().err
    assert "messaging-activemq:99.0 is not a known version" in err and err.count("\n") == 1


def test_the_order_of_elements_is_a_remark_and_hides_nothing() -> None:
    late = SERVER.replace("</server>", '<journal max-disk-usage="1"/></server>')
    found = linted(standalone("17.0", late)).findings
    assert {(one.rule, one.severity) for one in found} >= {
        ("element-order", Severity.INFO),
        ("unknown-attribute", Severity.ERROR),
    }


def test_a_file_without_messaging_is_no_all_clear() -> None:
    found = linted('<server xmlns="urn:jboss:domain:16.0"><profile/></server>').findings
    assert [(one.rule, one.severity) for one in found] == [("core-not-found", Severity.WARNING)]


@pytest.mark.parametrize(
    ("version", "edition", "settings"),
    [
        ("1.0", "artemis-1.5", {"journal-pool-files": -1, "max-disk-usage": 100}),
        ("4.0", "artemis-2.4", {"journal-pool-files": -1, "max-disk-usage": 100}),
        ("8.0", "artemis-2.10", {"journal-pool-files": 10, "max-disk-usage": 100}),
        ("13.0", "artemis-2.10", {"paging-directory": "activemq/paging", "max-disk-usage": 100}),
        ("16.0", "artemis-2.28", {"configuration-file-refresh-period": -1, "max-disk-usage": 100}),
    ],
)
def test_defaults_are_the_servers(version: str, edition: str, settings: dict[str, object]) -> None:
    document = server_document(standalone(version))
    assert document.kind is FileKind.WILDFLY and document.edition.value == edition
    broker = EffectiveSettings(document).broker()
    assert {name: broker[name].value for name in settings} == settings
    assert all(broker[name].origin is None for name in settings)


def test_settings_in_force_and_their_places() -> None:
    inside = with_journal('global-max-memory-size="1000000" global-max-disk-usage="70" type="NIO"').replace(
        "<in-vm-connector", '<address-setting name="jms.queue.a.#" max-size-bytes="5"/>\n<in-vm-connector'
    )
    found = EffectiveSettings(server_document(standalone("16.0", inside)))
    broker, address = found.broker(), found.address("jms.queue.a.b")
    shown = {name: broker[name].value for name in ("global-max-size", "max-disk-usage", "journal-type", "name")}
    assert shown == {"global-max-size": 1000000, "max-disk-usage": 70, "journal-type": "NIO", "name": "default"}
    assert (address["max-size-bytes"].value, address["page-size-bytes"].value) == (5, 1048576)
    assert (address["auto-create-queues"].value, address["max-read-page-bytes"].value) == (False, 20971520)
    origin = address["page-size-bytes"].origin
    assert origin and (origin.position.line, origin.position.column) == (10, 38) and origin.match == "#"
    assert found.address("other")["max-size-bytes"].value == 8388608


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${a:5}", 5),
        ("${max.size:5}", 100),
        ("${no,max.size:5}", 100),
        ("${no,nor:5}", 5),
        ("${no:${max.size:7}}", 100),
        ("${no:${nor:7}}", 7),
        ("${env.LIMIT}", 7),
        ("${limit:9}", 7),
        ("1${max.size}", 1100),
        ("${own.size:3}", 55),
        ("${name.of.${part}:3}", 66),
        ("${jboss.size}", "${jboss.size}"),
        ("${VAULT::block::name::1}", "${VAULT::block::name::1}"),
    ],
)
def test_expressions_are_resolved_as_the_server_does(text: str, value: int | str) -> None:
    own = '<system-properties><property name="own.size" value="55"/></system-properties>'
    document = server_document(
        standalone("13.0", with_settings(f'max-size-bytes="{text}"'), own), max_size="100", part="x", name_of_x="66"
    )
    found = EffectiveSettings(document).address("a")["max-size-bytes"]
    assert found.value == value and found.origin is not None


@pytest.mark.parametrize("text", ["${a", "${a:${b}", "${" * 100 + "}" * 100, "${loop}"])
def test_expressions_without_an_end_are_refused(text: str) -> None:
    with pytest.raises(BrokerConfError):
        server_document(standalone("13.0", with_settings(f'max-size-bytes="{text}"')), loop="${loop}")


def test_what_only_the_running_server_knows_is_not_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "standalone.xml"
    inside = with_settings('max-size-bytes="${jboss.max}"')
    path.write_text(standalone("13.0", inside), "utf-8")
    assert run(["config", "effective", str(path), "a"]) == 0
    assert "${jboss.max} (known to the running broker)" in " ".join(capsys.readouterr().out.split())
    assert [name for name, _, _ in errors(standalone("13.0", inside))] == []
    assert run(["config", "effective", "--format", "json", str(path), "a"]) == 0
    assert (
        json.loads(capsys.readouterr().out)["addresses"]["a"]["settings"]["max-size-bytes"]["value"] == "${jboss.max}"
    )


def test_no_secret_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = '<cluster password="hush1"><credential-reference clear-text="hush2" wrong="hush3"/></cluster>'
    path = tmp_path / "standalone.xml"
    path.write_text(standalone("13.0", SERVER.replace("<security-setting", f"{secret}<security-setting", 1)), "utf-8")
    assert run(["config", "lint", str(path)]) == 1
    captured = capsys.readouterr()
    assert "password-in-clear" in captured.out and "hush" not in captured.out + captured.err


@pytest.mark.parametrize(
    ("written", "folder"),
    [
        ("", "data/activemq/paging"),
        ('<paging-directory path="p"/>', "data/p"),
        ('<paging-directory path="p" relative-to="jboss.server.base.dir"/>', "p"),
        ('<paging-directory path="p" relative-to="own.path"/>', "data/q/p"),
        ('<paging-directory path="${jboss.server.base.dir}/x"/>', "x"),
        ('<paging-directory path="/srv/p"/>', "/srv/p"),
        ('<paging-directory path="p" relative-to="elsewhere"/>', "${elsewhere}/p"),
    ],
)
def test_directories_are_those_of_the_server(written: str, folder: str, tmp_path: Path) -> None:
    paths = '<paths><path name="own.path" path="q" relative-to="jboss.server.data.dir"/></paths>'
    text = standalone("13.0", SERVER.replace("<security-setting", f"{written}<security-setting", 1), paths)
    document = server_document(text)
    document.path = str(tmp_path / "standalone" / "configuration" / "standalone.xml")
    found = directories(document, (tmp_path / "standalone" / "data",)).paging
    assert found == (Path.cwd() if folder.startswith("$") else tmp_path / "standalone") / folder or (
        folder.startswith("$") and str(found).endswith(folder)
    )


def test_eap6_has_directories_of_its_own(tmp_path: Path) -> None:
    text = (
        '<server xmlns="urn:jboss:domain:1.7"><profile><subsystem xmlns="urn:jboss:domain:messaging:1.4">'
        '<hornetq-server><journal-directory path="j"/></hornetq-server></subsystem></profile></server>'
    )
    document = server_document(text)
    broker = EffectiveSettings(document).broker()
    assert (broker["paging-directory"].value, broker["journal-directory"].value) == ("messagingpaging", "j")
    assert broker["paging-directory"].origin is None
    assert directories(document, (tmp_path,)).paging == tmp_path / "messagingpaging"


def test_pages_are_found_by_the_file_of_the_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "standalone" / "configuration" / "standalone.xml"
    (tmp_path / "standalone" / "data" / "activemq" / "paging" / "f").mkdir(parents=True)
    (tmp_path / "standalone" / "data" / "activemq" / "paging" / "f" / "address.txt").write_text("jms.queue.Orders")
    path.parent.mkdir()
    path.write_text(standalone(), "utf-8")
    assert run(["pages", "ls", "--config", str(path)]) == 1
    assert "jms.queue.Orders" in capsys.readouterr().out
    assert run(["disk", "usage", "--config", str(path)]) == 0
    assert "standalone/data/activemq/paging (default)" in capsys.readouterr().err


def test_a_subsystem_alone_is_read() -> None:
    text = subsystem("13.0", with_settings('max-size-byte="1"'))
    assert [name for name, _, _ in errors(text)] == ["unknown-attribute"]


def domain(*profiles: tuple[str, str]) -> str:
    inside = "".join(f'<profile name="{name}">{text}</profile>' for name, text in profiles)
    return f'<domain xmlns="urn:jboss:domain:16.0"><profiles>{inside}</profiles></domain>'


HORNETQ = (
    '<subsystem xmlns="urn:jboss:domain:messaging:1.4"><hornetq-server><address-settings><address-setting match="#">'
    "<page-size-bytes>{}</page-size-bytes></address-setting></address-settings></hornetq-server></subsystem>"
)


@pytest.mark.parametrize("command", ["effective", "capacity"])
def test_profiles_of_a_domain(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "domain.xml"
    path.write_text(domain(("default", ""), ("full", HORNETQ.format(1111)), ("full-ha", HORNETQ.format(2222))), "utf-8")
    assert run(["config", command, str(path)]) == 2
    err = capsys.readouterr().err
    assert "more than one profile has messaging: name one with --profile" in err and "full, full-ha" in err
    assert run(["config", command, str(path), "--profile", "default"]) == 2
    assert "no profile 'default' has messaging" in capsys.readouterr().err
    assert run(["config", "effective", "--format", "json", "--profile", "full-ha", str(path), "a"]) == 0
    shown = json.loads(capsys.readouterr().out)["addresses"]["a"]["settings"]
    assert shown["page-size-bytes"]["value"] == 2222
    assert run(["config", "diff", "--profile", "full", str(path), str(path)]) == 0
    path.write_text(domain(("default", ""), ("full", subsystem("8.0"))), "utf-8")
    assert run(["config", command, str(path)]) == 0


def test_all_profiles_are_linted_unless_one_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "domain.xml"
    path.write_text(domain(("a", HORNETQ.format("x")), ("b", HORNETQ.format("y"))), "utf-8")
    for more, shown in ((), "xy"), (("--profile", "a"), "x"), (("--profile", "b"), "y"):
        assert run(["config", "lint", "--format", "json", *more, str(path)]) == 1
        (report,) = json.loads(capsys.readouterr().out)["files"]
        assert [one["message"][20] for one in report["findings"] if one["rule"] == "invalid-value"] == list(shown)
    assert run(["config", "lint", "--profile", "c", str(path)]) == 1
    assert "no profile 'c' has messaging" in capsys.readouterr().out


def test_several_servers_of_one_subsystem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "standalone.xml"
    other = with_settings('max-size-byte="1"').replace('"default"', '"other"')
    path.write_text(standalone("13.0", SERVER + other), "utf-8")
    assert run(["config", "effective", "--anyway", str(path)]) == 0
    assert "2 messaging servers; only the first, default, is used" in capsys.readouterr().err
    assert [name for name, _, _ in errors(path.read_text("utf-8"))] == ["unknown-attribute"]
    assert run(["config", "effective", "--server", "other", str(path)]) == 2
    assert "max-size-byte" in capsys.readouterr().err
    assert run(["config", "effective", "--server", "other", "--anyway", str(path)]) == 0
    assert "messaging servers" not in capsys.readouterr().err
    for command in (["config", "effective"], ["config", "capacity"], ["pages", "ls"], ["disk", "usage"]):
        assert run([*command, "--server", "x", str(path)]) == 2
        assert "no server 'x' has messaging" in capsys.readouterr().err


def test_pages_and_disks_of_a_profile_and_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "configuration" / "standalone-full.xml"
    path.parent.mkdir()
    servers = "".join(
        f"<server name='{name}'><paging-directory path='{name}'/></server>" for name in ("default", "other")
    )
    subsystem = f"<subsystem xmlns='urn:jboss:domain:messaging-activemq:13.0'>{servers}</subsystem>"
    path.write_text(domain(("a", subsystem), ("b", subsystem.replace("default", "third"))), "utf-8")
    for folder in ("default", "other", "third"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    chosen = {("a",): "default", ("a", "other"): "other", ("b",): "third"}
    for command in (["pages", "ls"], ["disk", "usage"], ["disk", "check"]):
        for (profile, *server), folder in chosen.items():
            more = ["--profile", profile, *(["--server", *server] if server else [])]
            assert run([*command, *more, "--format", "json", str(path)]) in (0, 1, 2)
            captured = capsys.readouterr()
            assert ("2 messaging servers; only the first" in captured.err) == (len(more) == 2)
            assert folder in captured.out + captured.err
        assert run([*command, str(path)]) in (2, 3)
        captured = capsys.readouterr()
        assert "name one with --profile" in captured.out + captured.err


def test_with_a_data_source_the_disk_is_not_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "standalone.xml"
    path.write_text(standalone("17.0", with_journal('datasource="ds"')), "utf-8")
    assert run(["config", "lint", "--only", "jdbc-page-size-capped", str(path)]) == 0
    assert "capped" in capsys.readouterr().out
    assert run(["disk", "check", "--any-path", "--config", str(path), str(tmp_path)]) in (0, 1, 2)


def test_names_of_the_server_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "explain", "global-max-disk-usage"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("max-disk-usage (directly in <core>)")
    assert "in JBoss EAP 7, 8 and WildFly: global-max-disk-usage of journal, default 100" in shown
    assert run(["config", "explain", "address"]) == 0
    assert "management-address" not in capsys.readouterr().out


LIMITS = """<server xmlns="urn:jboss:domain:10.0"><profile>
<subsystem xmlns="urn:jboss:domain:messaging-activemq:{}"><server name="default">{}
<address-setting name="#" dead-letter-address="jms.queue.DLQ" expiry-address="jms.queue.DLQ"/>
<address-setting name="jms.queue.orders" address-full-policy="BLOCK"/>
<jms-queue name="DLQ" entries="java:/jms/queue/DLQ"/>
</server></subsystem></profile></server>"""
NO_LIMIT = {"page-without-limit", "block-without-limit"}


@pytest.mark.parametrize(
    ("version", "journal", "limit", "rules"),
    [
        ("5.0", "", -1, NO_LIMIT),
        ("8.0", "", -1, NO_LIMIT),
        ("16.0", '<journal global-max-memory-size="-1"/>', -1, NO_LIMIT),
        ("16.0", '<journal global-max-memory-size="104857600"/>', 104857600, set()),
    ],
)
def test_from_schema_5_on_no_share_of_the_heap_is_a_limit(
    version: str, journal: str, limit: int, rules: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "standalone-full.xml"
    file.write_text(LIMITS.format(version, journal))
    assert run(["config", "effective", str(file), "--heap", "1G", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["broker"]["global-max-size"]["value"] == limit
    assert run(["config", "capacity", str(file), "--heap", "1G", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["global_off"] is (limit < 0) and found["global_limit"] == (None if limit < 0 else limit)
    run(["config", "lint", str(file), "--heap", "1G", "--format", "json"])
    (report,) = json.loads(capsys.readouterr().out)["files"]
    ids = {one["rule"] for one in report["findings"]}
    assert ids & (NO_LIMIT | {"global-size-minus-one"}) == rules
