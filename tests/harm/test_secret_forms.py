"""Secrets by their form, and the environment of the linter: shown by no command, in no format and no error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from brokerconf.reading.secrets import masked
from program import Answer, call
from secret_forms import FORMS, ORDINARY

SECRET = "S3CR3T-4711x"
FORMATS = ("text", "json", "sarif", "junit", "github", "gitlab")
CORE = (
    '<configuration xmlns="urn:activemq" xmlns:xi="http://www.w3.org/2001/XInclude"><core xmlns="urn:activemq:core">\n'
)
TAIL = "\n</core></configuration>\n"


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_in_a_text(form: str) -> None:
    assert SECRET not in masked(form.format(SECRET))


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_value_is_shown(text: str) -> None:
    assert masked(text) == text


def answers(path: Path) -> Iterator[Answer]:
    for form in FORMATS:
        yield call("config", "lint", path, "--format", form)
    yield call("config", "lint", path, "--diff")
    for form in ("text", "json"):
        yield call("config", "effective", path, "a", "--all", "--format", form)
        yield call("config", "capacity", path, "--format", form)
        yield call("config", "diff", path, path.with_name("other.xml"), "--format", form)
    yield call("config", "drift", path.parent, "--config", path)


def shown(path: Path, secret: str = SECRET) -> list[str]:
    path.with_name("other.xml").write_text(CORE + TAIL)
    said = [answer.out + answer.err for answer in answers(path)]
    return [text for text in said if secret in text or json.dumps(secret)[1:-1] in text]


# elements that a finding is about, so that their line is quoted
PLACES = {
    "xml": (
        "broker.xml",
        CORE + "<store><database-store><jdbc-connection-url>{}</jdbc-connection-url><jdbc-max>1</jdbc-max>"
        "</database-store></store>" + TAIL,
    ),
    "attribute": ("broker.xml", CORE + '<connectors><connector name="{}" x="1">{}</connector></connectors>' + TAIL),
    "include": ("broker.xml", CORE + '<xi:include href="{}"/>' + TAIL),
    "name": ("broker.xml", CORE + "<max-disk-usage>{}</max-disk-usage>" + TAIL),
    "match": (
        "broker.xml",
        CORE + '<address-settings><address-setting match="{}"><x/></address-setting></address-settings>' + TAIL,
    ),
    "not well-formed": ("broker.xml", CORE + "<name>{}</nme>" + TAIL),
    "properties": ("broker.properties", "storeConfiguration.jdbcConnectionUrl={}\nmaxDiskUsage={}\n"),
    "key": ("broker.properties", 'addressSettings."{}".x=1\n'),
    "json": ("broker.json", '{{"storeConfiguration": {{"jdbcConnectionUrl": "{}"}}, "maxDiskUsage": "{}"}}'),
    "yaml": ("broker.yaml", 'storeConfiguration:\n  jdbcConnectionUrl: "{}"\nmaxDiskUsage: "{}"\n'),
}


@pytest.mark.parametrize("place", PLACES)
def test_every_form_in_every_file(place: str, tmp_path: Path) -> None:
    name, text = PLACES[place]
    path = tmp_path / name
    leaks = []
    for form in FORMS:
        value = form.format(SECRET)
        value = value.replace('"', "") if not name.endswith(".xml") else escape(value, {'"': "&quot;"})
        path.write_text(text.format(value, value))
        answer = call("config", "lint", path, "--format", "json")
        again = call("config", "lint", path)
        if SECRET in answer.out + answer.err + again.out + again.err:
            leaks.append(form)
    assert leaks == []


@pytest.mark.parametrize("place", sorted(PLACES.keys() - {"match", "key"}))
def test_every_command_and_format(place: str, tmp_path: Path) -> None:
    name, text = PLACES[place]
    path = tmp_path / name
    url = f"jdbc:oracle:thin:scott/{SECRET}@db" if place != "include" else f"http://u:{SECRET}@h/x.xml"
    path.write_text(text.format(url, url))
    assert shown(path) == []
    checked = call("disk", "check", path.parent, "--config", path)
    assert SECRET not in checked.out + checked.err


ENVIRONMENT = {
    "a name": CORE + "<name>${{{0}}}</name>" + TAIL,
    "a size": CORE + '<address-settings><address-setting match="#"><max-size-bytes>${{{0}}}</max-size-bytes>'
    "</address-setting></address-settings>" + TAIL,
    "a default": CORE + "<max-disk-usage>${{{0}:90}}</max-disk-usage>" + TAIL,
    "inside": CORE + "<global-max-size>1${{{0}}}</global-max-size><page-sync-timeout>${{{0}}}</page-sync-timeout>"
    + TAIL,
    "an enumeration": CORE + '<address-settings><address-setting match="a"><address-full-policy>${{{0}}}'
    "</address-full-policy><page-size-bytes>${{{0}}}</page-size-bytes></address-setting></address-settings>" + TAIL,
    "a match": CORE + '<address-settings><address-setting match="${{{0}}}"><max-size-bytes>1</max-size-bytes>'
    "</address-setting></address-settings>" + TAIL,
    "an acceptor": CORE + '<acceptors><acceptor name="${{{0}}}">${{{0}}}</acceptor></acceptors>' + TAIL,
    "an include": CORE + '<xi:include href="${{{0}}}"/>' + TAIL,
    "an element": CORE + "<${{{0}}}/>" + TAIL,
    "a declared queue": CORE + '<addresses><address name="${{{0}}}"><anycast><queue name="${{{0}}}"/></anycast>'
    '</address></addresses><journal-type>${{{0}}}</journal-type>' + TAIL,
    "properties": "name=a\nmaxDiskUsage=${{{0}}}\naddressSettings.\"${{{0}}}\".maxSizeBytes=${{{0}}}\n",
    "server": '<server xmlns="urn:jboss:domain:20.0"><profile>'
    '<subsystem xmlns="urn:jboss:domain:messaging-activemq:13.0">'
    '<server name="default"><address-setting name="#" max-size-bytes="${{env.{0}}}" page-size-bytes="${{env.{0}:5}}"/>'
    '<jms-queue name="${{env.{0}}}" entries="x"/></server></subsystem></profile></server>',
}  # fmt: skip


@pytest.mark.parametrize("value", ["aws-S3CR3T-4711x", "471100474711", "9147"])
@pytest.mark.parametrize("place", ENVIRONMENT)
def test_the_environment_is_named(place: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINE_KEY", value)
    path = tmp_path / ("broker.properties" if place == "properties" else "broker.xml")
    path.write_text(ENVIRONMENT[place].format("PIPELINE_KEY"))
    assert shown(path, value) == []
    convert = [call("config", "convert", path, "--to", form) for form in ("properties", "json", "yaml", "xml")]
    assert [one.out for one in convert if value in one.out + one.err] == []


def test_settings_name_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIMIT", "1G")
    path = tmp_path / "broker.xml"
    path.write_text(ENVIRONMENT["a size"].format("LIMIT:5M"))
    assert "${LIMIT:5M} (known to the running broker)" in " ".join(call("config", "effective", path, "a").out.split())
    found = json.loads(call("config", "effective", path, "a", "--format", "json").out)
    assert found["addresses"]["a"]["settings"]["max-size-bytes"]["value"] == "${LIMIT:5M}"
    defined = call("config", "effective", path, "a", "-D", "LIMIT=7M")
    assert "7340032" in defined.out
    assert "max-size-bytes is ${LIMIT:5M}" in " ".join(call("config", "capacity", path).out.split())


def test_an_unknown_value_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIMIT", "1G")
    path = tmp_path / "broker.xml"
    for place in ("a name", "a size", "a default", "an enumeration", "a declared queue"):
        path.write_text(ENVIRONMENT[place].format("LIMIT"))
        found = json.loads(call("config", "lint", path, "--format", "json").out)
        errors = [one for report in found["files"] for one in report["findings"] if one["severity"] == "error"]
        assert errors == []


def test_directories_of_the_environment_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Commands on a broker's data use environment variables, as the broker does.
    monkeypatch.setenv("DATA", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere" / "paging").mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "broker.xml").write_text(CORE + "<paging-directory>${DATA}/paging</paging-directory>" + TAIL)
    assert call("pages", "ls", tmp_path).status == 0


LONG = {
    "colons": "a:" * 200_000, "at signs": "//a:b@" * 50_000, "slashes": "/" * 400_000, "words": "password" * 50_000,
    "private keys": "-----BEGIN PRIVATE KEY-----" * 10_000, "points": "eyJaaaaaaaaa." * 30_000,
    "blanks": "basic" + " " * 400_000,
    "headers": "Basic " * 50_000, "jdbc": "jdbc:oracle:thin:" * 20_000, "users": "jdbc:oracle:thin:a/" * 20_000,
    "braces": "password={" * 30_000, "names": "a-" * 200_000 + "password",
}  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_texts_take_linear_time(text: str) -> None:
    # Quadratic work would take minutes at these sizes.
    masked(text)
    masked(f"${{a:{text}")
