"""No password leaves ``config``, in any format or error: not where the file cannot be parsed, and by no other name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext
from brokerconf.reading.secrets import hidden_in_markup, hidden_in_properties, masked, shown_key, without
from program import call

SECRET = "S3CR3T-hunter2"
HEAD = '<configuration xmlns="urn:activemq">\n<core xmlns="urn:activemq:core">\n'
TAIL = "\n</core>\n</configuration>\n"
MALFORMED = {
    "entity": "<cluster-password>&{};</cluster-password>",
    "entity, then a tag": "<cluster-password>&{};<x",
    "as an attribute without value": "<cluster-password {}<x>",
    "as an attribute": "<cluster-password {}></cluster-password>",
    "without its bracket": "cluster-password>{}<",
    "without the bracket of its tag": 'param name="password" value="{}"/>',
    "without its bracket, closed": "cluster-password>{}</cluster-password>",
    "unfinished CDATA": "<cluster-password><![CDATA[{}",
    "CDATA with a wrong end": "<cluster-password><![CDATA[{}]></cluster-password>",
    "unfinished attribute": '<connector password="{}',
    "attribute without quotes": "<connector password={}/>",
    "comment with dashes": "<!-- <cluster-password>{} -- x -->",
    "unfinished comment": "<!-- <cluster-password>{}",
    "wrong end": "<cluster-password>{}</cluster-passwrd>",
    "bare ampersand": "<cluster-password>{} & more</cluster-password>",
    "bracket in it": "<cluster-password>a<{}</cluster-password>",
    "on its own line": "<cluster-password>\n{}\n&</cluster-password>",
    "entity on its own line": "<cluster-password>\n&{};\n</cluster-password>",
    "twice": "<cluster-password>{0}</cluster-password><cluster-password>{0}<",
    "processing instruction": "<?cluster-password {}",
    "encoded": "<cluster-password>&#83;{}&</cluster-password>",
    "other element": "<mask-password>false</mask-password><password>{}<",
    "url": '<acceptor name="a">tcp://0.0.0.0:61616?keyStorePassword={}&<',
    "url with a user": '<connector name="a">tcp://me:{}@host:61616?x=1&y<',
    "namespace": "<x:cluster-password>{}</x:cluster-password>",
    "placeholder": "<cluster-password>${{p:{}}}</cluster-password>&",
    "null byte": "<cluster-password>{}\0</cluster-password>",
    "doctype": '<!DOCTYPE x [<!ENTITY p "{}">]><cluster-password>&p;</cluster-password>',
}
NAMES = [
    "keyStorePass", "keystorepass", "trustStorePass", "keypass", "storepass", "apiKey", "api-key", "api_key",
    "accessKey", "access_token", "accessToken", "secret", "clientSecret", "client-secret", "passphrase", "passwd",
    "pwd", "passcode", "credentials", "privateKey", "keyStorePassword", "trustStorePassword", "sslPassword", "token",
    "auth", "KEYSTOREPASS", "defaultMaskPassword", "bearer",
]  # fmt: skip
FORMATS = ("text", "json", "sarif", "junit", "github", "gitlab")


def all_outputs(path: Path) -> dict[str, str]:
    calls = {f"lint --format {form}": ("config", "lint", path, "--format", form) for form in FORMATS}
    calls |= {
        "effective": ("config", "effective", path, "a"),
        "effective json": ("config", "effective", path, "a", "--format", "json"),
        "capacity": ("config", "capacity", path),
        "diff": ("config", "diff", path, path),
        "pages --config": ("pages", "ls", path.parent, "--config", path),
        "disk check": ("disk", "check", path.parent, "--config", path),
        "replay": ("replay", "run", path.parent / "t.jsonl", "--config", path),
    }
    (path.parent / "t.jsonl").write_text('{"trace": 1}\n')
    found = {}
    for name, words in calls.items():
        answer = call(*words)
        found[name] = answer.out + answer.err
    return found


def leaks(path: Path, secret: str = SECRET) -> list[str]:
    return [name for name, said in all_outputs(path).items() if secret in said or json.dumps(secret)[1:-1] in said]


@pytest.mark.parametrize("ending", ["", TAIL], ids=["torn", "closed"])
@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files(name: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(HEAD + MALFORMED[name].format(SECRET) + ending)
    assert leaks(path) == []


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files_on_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "broker.xml"
    path.write_text((HEAD + MALFORMED[name].format(SECRET) + "<address-settings>" + TAIL).replace("\n", ""))
    assert leaks(path) == []


WELL_FORMED = {
    "as the name of an attribute": '<cluster-password {}="x">a</cluster-password>',
    "in a bridge": '<bridges><bridge name="b"><password {}="1">a</password></bridge></bridges>',
    "as an element": "<cluster-password><{}/></cluster-password>",
    "as an element around": "<cluster-password><{0}><x/></{0}></cluster-password>",
    "as an attribute of an element": '<cluster-password><x {}="1"/></cluster-password>',
    "as a namespace": '<cluster-password><x xmlns="{}"/></cluster-password>',
    "behind an escape of URLs": '<acceptors><acceptor name="a">tcp://h:1?keyStore%50assword={}</acceptor></acceptors>',
    "behind a reference": '<acceptors><acceptor name="a">tcp://h:1?keyStoreP&#97;ssword={}</acceptor></acceptors>',
    "around a comment": '<acceptors><acceptor name="a">tcp://h:1?keyStorePass<!-- -->word={}</acceptor></acceptors>',
    "in CDATA behind text": '<acceptors><acceptor name="a">tcp://h:1?keyStorePass<![CDATA[word={}]]></acceptor></acceptors>',
    "encoded where a number is needed": "<max-disk-usage>ENC({})</max-disk-usage>",
    "begun to be encoded": "<max-disk-usage>ENC( {}</max-disk-usage>",
}


@pytest.mark.parametrize("name", WELL_FORMED)
def test_well_formed_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(HEAD + WELL_FORMED[name].format(SECRET) + TAIL)
    assert leaks(path) == []


def test_the_default_of_a_placeholder_is_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(f"{HEAD}<name>${{db.password:{SECRET}}}</name><bogus/>{TAIL}".replace("\n", ""))
    assert SECRET not in call("config", "lint", path).out


@pytest.mark.parametrize("separator", ["?", ";", "&amp;"])
def test_names_of_secrets_in_urls(separator: str, tmp_path: Path) -> None:
    # Findings quote the URL because of its unknown parameter ``bogus``.
    before = "" if separator == "?" else "?sslEnabled=true"
    urls = {name: f"tcp://0.0.0.0:61616{before}{separator}{name}={SECRET}-{name};bogus=1" for name in NAMES}
    acceptors = "\n".join(f'<acceptor name="{name}">{url}</acceptor>' for name, url in urls.items())
    path = tmp_path / "broker.xml"
    path.write_text(f"{HEAD}<acceptors>{acceptors}</acceptors>{TAIL}")
    assert call("config", "lint", path).out.count("bogus") >= len(NAMES)
    assert leaks(path) == []


def test_names_of_secrets_as_elements_and_properties(tmp_path: Path) -> None:
    properties = "\n".join(f'<property key="{name}" value="{SECRET}-{name}"/>' for name in NAMES)
    elements = "\n".join(f"<{name}>{SECRET}-{name}</{name}>" for name in NAMES)
    path = tmp_path / "broker.xml"
    plugin = f'<broker-plugin class-name="x.Y">{properties}</broker-plugin>'
    path.write_text(f"{HEAD}<broker-plugins>{plugin}</broker-plugins>{elements}{TAIL}")
    assert all(f"<{name}>" in call("config", "lint", path).out for name in NAMES)
    assert leaks(path) == []


def test_a_line_without_a_secret_is_quoted(tmp_path: Path) -> None:
    # Hiding everything would help no one: text that parses and surely contains no secret is shown.
    path = tmp_path / "broker.xml"
    path.write_text(
        HEAD + '<address-settings><address-setting match="orders">\n<max-size-byte>10</max-size-byte>\n'
        "</address-setting></address-settings>" + TAIL
    )
    assert "max-size-byte" in call("config", "lint", path).out


def test_the_place_is_told_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(HEAD + MALFORMED["entity"].format(SECRET) + TAIL)
    answer = call("config", "lint", path)
    assert answer.status == 1 and "broker.xml:3:" in answer.out, answer


def test_a_malformed_line_that_surely_holds_no_secret_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "broker.xml"
    line = "<max-disk-usage>90</max-disk-usag>"
    path.write_text(f"{HEAD}<cluster-password>{SECRET}</cluster-password>\n{line}{TAIL}")
    said = call("config", "lint", path).out
    assert f"   4 | {line}\n" in said and SECRET not in said


PARAMETERS = [
    ("needClientAuth", "true"),
    ("keyStorePath", "/etc/ks"),
    ("useMaskedPassword", "true"),
    ("tcpNoDelay", "true"),
]


@pytest.mark.parametrize(("name", "value"), PARAMETERS)
def test_what_only_sounds_like_a_secret_is_shown(name: str, value: str) -> None:
    url = f"tcp://h:61616?{name}={value};x=1"
    assert masked(url) == url


LINES = {
    "a comment": ("<!-- cluster-password: {} -->", "<!-- cluster-password****-->"),
    "a comment with an element": ("<!-- <password>{}</password> -->", "<!-- <password****-->"),
    "inside of another": ("<password><x>{}</x></password>", "<password>****</password>"),
    "in its attribute": ('<password x="{}"/>', "<password ****/>"),
    "beside its name": ('<property key="dbPassword" value="{}"/>', '<property key="dbPassword" value="****"/>'),
    "of a named element": ('<param name="dbPassword">{}</param>', '<param name="dbPassword">****</param>'),
    "over lines": ("<password>\n  a\n {}</password>", "<password>\n  ****</password>"),
    "key of a codec": ("<password-codec>x.Y;key={}</password-codec>", "<password-codec>x.Y;key=****</password-codec>"),
    "with a comma": ("<c>tcp://h?password=a,{};b=1</c>", "<c>tcp://h?password=****;b=1</c>"),
    "with a slash": ("<c>tcp://u:a/{}@h</c>", "<c>tcp://u:****@h</c>"),
    "two URLs": ("<c>(tcp://h?password={},tcp://i)?x=1</c>", "<c>(tcp://h?password=****,tcp://i)?x=1</c>"),
    "without a start tag": ("<a>{}</password>", "<a>****"),
}


@pytest.mark.parametrize("name", LINES)
def test_spans_in_markup(name: str) -> None:
    written, shown = LINES[name]
    text = written.format(SECRET)
    assert without(text, hidden_in_markup(text)) == shown
    assert SECRET not in without(text, hidden_in_markup(text))


def test_spans_in_properties() -> None:
    text = (
        f"clusterPassword={SECRET}\nname=a\n  securityToken : x\\\n  {SECRET}\nmaxDiskUsage=3\n"
        f"# password was {SECRET}\n"
        f"acceptorConfigurations.a.params.keyStorePassword {SECRET}\nurl=tcp://h?sslPassword={SECRET};x=1\n"
    )
    assert without(text, hidden_in_properties(text)).splitlines() == [
        "clusterPassword=****",
        "name=a",
        "  securityToken : ****",
        "maxDiskUsage=3",
        "# password****",
        "acceptorConfigurations.a.params.keyStorePassword ****",
        "url=tcp://h?sslPassword=****;x=1",
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_spans_at_each_end_of_a_line(end: str) -> None:
    lines = [
        "name=a",
        f"clusterPassword {SECRET}",
        f"jdbcPassword:\\{end}  {SECRET}",
        f"clusterPass\\{end}  word\t{SECRET}",
    ]
    shown = ["name=a", "clusterPassword ****", "jdbcPassword:****", f"clusterPass\\{end}  word\t****"]
    text = end.join(lines).format(*[SECRET] * 3)
    assert without(text, hidden_in_properties(text)) == end.join(shown)


GLUED = [
    "clusterPassword{}", "clusterPassword{} x", "clusterpassword{}=5", "clusterPassword.{}=x", "clusterPassword#{}",
    'clusterPassword"{}"=x', "AMQPConnections.a.password{}", "acceptorConfigurations.a.params.keyStorePassword{}",
    "clusterPassw\\u006frd{}", "clusterPassword\\\n{}", "clusterPassword{}\\u00zz",
    "clusterPassword{0}=1\nclusterPassword{0}=2",
]  # fmt: skip


@pytest.mark.parametrize("line", GLUED)
def test_a_password_without_a_separator(line: str, tmp_path: Path) -> None:
    path = tmp_path / "broker.properties"
    path.write_text(line.format(SECRET) + "\n")
    assert leaks(path) == []
    for words in (("effective", path), ("convert", path, "--to", "xml")):
        done = call("config", *words)
        assert SECRET not in done.out + done.err


@pytest.mark.parametrize(
    "key",
    ["passwordCodec", "credentials", 'addressSettings."token.orders".maxSizeBytes', "a.params.keyStorePasswordFile"],
)
def test_names_that_speak_of_a_secret_are_shown(key: str) -> None:
    assert shown_key(key) == key


RESOURCE = "apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemis\nspec:\n  "
TORN_TREES = [
    ("x.json", '{"a": {"adminPassword": "%s", "x": 2, '),
    ("x.json", '{"a":\n "k": "keyStorePassword": "%s"\n}'),
    ("x.json", '{"clusterPass\\u0077ord": "%s",\n "maxDiskUsag": 3}'),
    ("x.json", '{"AMQPConnections": {"x": {"uri": "tcp://u:%s@h:1", "ur": 1}}, '),
    ("x.json", '{"a":1, "password": "x\\"%s", '),
    (
        "x.json",
        '{"apiVersion": "broker.amq.io/v1", "kind": "ActiveMQArtemis", "spec": {"adminPassword": "%s", "ize": 2',
    ),
    ("x.yaml", "clusterPassword: x\n      %s\na: 1\n"),
    ("x.yaml", "maxDiskUsag: 1\npassword: >-\n\n  a\n  %s\n- x\n"),
    ("x.yaml", "AMQPConnections: {x: {password: %s, uri: 1}\n"),
    ("x.yaml", "uri: {a: {b: c}}://u:%s@h:1\n"),
    ("x.yaml", "- {name: PASSWORD, value: %s}\n}"),
    ("x.yaml", 'a:\n  - name: PASSWORD\n    value: "%s"\n }'),
    ("x.yaml", f"{RESOURCE}adminPassword: %s\n  env:\n   - name: DB_PASSWORD\n     value: %s\n  }}\n"),
    ("x.yaml", f'{RESOURCE}brokerProperties:\n  - "clusterPass\\\\u0077ord=%s"\n  - maxDiskUsag=1\n'),
    ("x.properties", "clusterPass\\word=%s\nmaxDiskUsag=1"),
    ("x.properties", "maxDiskUsage=1\\ug\nclusterPass\\u0077ord=%s\\u"),
    ("x.properties", "AMQPC://u:%s@h:1?x"),
]


@pytest.mark.parametrize(("name", "text"), TORN_TREES)
def test_properties_and_objects_that_are_torn_or_escaped(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text.replace("%s", SECRET))
    said = [call("config", "lint", path, "--format", form) for form in FORMATS]
    said += [call("config", "effective", path, "a", "--all"), call("config", "diff", path, path)]
    assert not any(SECRET in one.out + one.err for one in said)
    for source in lint(path.read_bytes(), str(path), LintContext()).sources:
        assert SECRET not in without(source.original, source.secrets())
