"""Kubernetes objects linted: fields, properties, files inside of them, places in the YAML, and nothing of a Secret."""

from __future__ import annotations

import base64
from textwrap import dedent, indent

import pytest
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import FileReport, LintContext
from hypothesis import given
from hypothesis import strategies as st

from pagefmt.findings import Finding, Severity

CR = """\
apiVersion: broker.amq.io/v1beta1
kind: ActiveMQArtemis
metadata:
  name: ex-aao
spec:
  deploymentPlan:
    size: 2
    image: placeholder
    persistenceEnabled: true
    journalType: nio
    requireLogin: false
    resources:
      limits: {cpu: "1", memory: 2Gi}
    storage:
      size: 4Gi
    extraMounts:
      secrets: [config-bp]
    affinity:
      podAntiAffinity: {anything: here}
  env:
    - name: JAVA_ARGS_APPEND
      value: -Dx=y
  acceptors:
    - name: amqp
      protocols: amqp
      port: 5672
  addressSettings:
    applyRule: merge_all
    addressSetting:
      - match: orders.#
        deadLetterAddress: DLQ
        maxSizeBytes: "100M"
        maxDeliveryAttempts: 5
  brokerProperties:
    - globalMaxSize=512m
    - 'addressSettings."#".expiryAddress=ExpiryQueue'
    - "broker-1.maxDiskUsage=80"
    - |
      # the journal
      journalMinFiles=3
      journalPoolFiles=10
---
apiVersion: v1
kind: Secret
metadata:
  name: config-bp
stringData:
  a.properties: |
    journalFileSize=10485760
  broker-0.b.json: |
    {"minDiskFree": "1G"}
"""
XML = """\
<configuration xmlns="urn:activemq">
  <core xmlns="urn:activemq:core">
    <max-disk-usage>90</max-disk-usage>
    <address-settings>
      <address-setting match="#">
        <dead-letter-address>DLQ</dead-letter-address>
        <expiry-address>EXP</expiry-address>
      </address-setting>
    </address-settings>
    <addresses>
      <address name="DLQ"><anycast><queue name="DLQ"/></anycast></address>
      <address name="EXP"><anycast><queue name="EXP"/></anycast></address>
    </addresses>
  </core>
</configuration>
"""


def holder(kind: str, name: str, part: str, **files: str) -> str:
    said = "".join(f"  {key.replace('_', '.')}: |\n{indent(text, '    ')}" for key, text in files.items())
    return f"apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n{part}:\n{said}"


def linted(text: str, name: str = "broker.yaml") -> FileReport:
    return lint(text.encode("utf-8", "surrogatepass"), name, LintContext())


def graver(report: FileReport) -> list[Finding]:
    return [one for one in report.findings if one.severity is not Severity.INFO]


def changed(old: str, new: str) -> tuple[FileReport, int]:
    """Lint the resource after one replacement; return the report and the number of the replaced line."""
    assert CR.count(old) == 1, old
    text = CR.replace(old, new)
    line = CR[: CR.index(old)].count("\n") + 1
    return linted(text), line


def test_a_sound_resource_has_no_findings() -> None:
    report = linted(CR)
    assert graver(report) == []
    assert report.valid


FIELDS = [
    ("    persistenceEnabled: true", "    persistanceEnabled: true", "kubernetes-unknown-field", "persistenceEnabled?"),
    ("    requireLogin: false", "    requirelogin: false", "kubernetes-unknown-field", "requireLogin?"),
    ("  addressSettings:", "  addresSettings:", "kubernetes-unknown-field", "addressSettings?"),
    ("  brokerProperties:", "  brokerproperties:", "kubernetes-unknown-field", "brokerProperties?"),
    ("        maxDeliveryAttempts: 5", "        maxDeliverAttempts: 5", "kubernetes-unknown-field", "Attempts?"),
    ("        maxDeliveryAttempts: 5", "        pageLimitBytes: 5", "kubernetes-unknown-field", "brokerProperties"),
    ("        maxDeliveryAttempts: 5", '        maxDeliveryAttempts: "5"', "kubernetes-field-type", "quotes"),
    ('        maxSizeBytes: "100M"', "        maxSizeBytes: 104857600", "kubernetes-field-type", '"104857600"'),
    ("    size: 2", "    size: two", "kubernetes-field-type", "a whole number"),
    ("    persistenceEnabled: true", "    persistenceEnabled: 'true'", "kubernetes-field-type", "quotes"),
    ("    - globalMaxSize=512m", "    - globalMaxSize: 512m", "kubernetes-field-type", "key=value"),
    ("    journalType: nio", "    journalType: asyncio", "kubernetes-field-value", "aio or nio"),
    ("    applyRule: merge_all", "    applyRule: replace", "kubernetes-field-value", "replace_all"),
    ("    - name: amqp", "    - protocol: amqp", "kubernetes-unknown-field", "protocols?"),
    ("    - globalMaxSize=512m", "    - globalMaxSize=1G\n    - globalMaxSize=1G", "kubernetes-duplicate-property", ""),
    ('    - "broker-1.maxDiskUsage=80"', '    - "broker-2.maxDiskUsage=80"', "kubernetes-pod-prefix", "from 0"),
    ('    - "broker-1.maxDiskUsage=80"', "    - |\n      broker-1.maxDiskUsage=80", "kubernetes-pod-prefix", "|-"),
    ("      secrets: [config-bp]", "      configMaps: [config-bp]", "kubernetes-properties-not-applied", "Secret"),
    ("    image: placeholder", "    image: a\n    image: b", "yaml-duplicate-key", "one of them"),
    ('        maxSizeBytes: "100M"', '        maxSizeBytes: "100Q"', "bad-value", ""),
    ("    - globalMaxSize=512m", "    - globalMaxSize=2G", "global-size-over-heap", ""),
    ("      journalMinFiles=3", '      addressSettings."a".pageSizeBytes=10M', "properties-size-notation", ""),
    ('    - "broker-1.maxDiskUsage=80"', '    - "broker-1.maxDiskUsage=180"', "properties-range", ""),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "rule", "help"), FIELDS, ids=[f"{each[2]}:{each[1][:30]}" for each in FIELDS])
def test_what_is_wrong_is_said_at_its_line(old: str, new: str, rule: str, help: str) -> None:
    report, line = changed(old, new)
    found = [one for one in report.findings if one.rule == rule and help in f"{one.message} {one.help}"]
    assert found, report.findings
    assert line <= found[0].place.line <= line + new.count("\n") + 1
    if not found[0].rule.startswith("properties"):
        assert not report.valid or rule in ("kubernetes-pod-prefix", "bad-value", "global-size-over-heap")


def test_columns_inside_of_blocks_and_quotes() -> None:
    report, line = changed("      journalMinFiles=3", '      addressSettings."a".pageSizeBytes=10M')
    assert [(one.place.line, one.place.column) for one in graver(report)] == [(line, 41)]
    report, line = changed('    - "broker-1.maxDiskUsage=80"', '    - "broker-1.maxDiskUsage=180"')
    assert [(one.place.line, one.place.column) for one in graver(report)] == [(line, 30)]


@pytest.mark.parametrize(
    ("kind", "api", "field", "known"),
    [
        ("Broker", "broker.arkmq.org/v1beta2", "  adminUser: a", False),
        ("BrokerCluster", "broker.arkmq.org/v1beta2", "  adminUser: a", True),
        ("ActiveMQArtemis", "broker.amq.io/v2alpha1", "  brokerProperties: [maxDiskUsage=90]", False),
        ("ActiveMQArtemis", "broker.amq.io/v2alpha5", "  addressSettings: {applyRule: replace_all}", True),
        ("ActiveMQArtemisAddress", "broker.amq.io/v1beta1", "  queueConfiguration: {maxConsumers: 1}", True),
        ("ActiveMQArtemisAddress", "broker.amq.io/v1beta1", "  queueConfiguration: {maxConsumer: 1}", False),
        ("ActiveMQArtemisAddress", "broker.amq.io/v2alpha1", "  user: x", False),
    ],
)
def test_fields_by_kind_and_version(kind: str, api: str, field: str, known: bool) -> None:
    report = linted(f"apiVersion: {api}\nkind: {kind}\nmetadata: {{name: x}}\nspec:\n{field}\n")
    assert [one.rule for one in graver(report)] == ([] if known else ["kubernetes-unknown-field"])


@pytest.mark.parametrize("api", ["broker.amq.io/v3", "v1", "amq.io/v1beta1x"])
def test_versions_that_no_operator_has(api: str) -> None:
    text = f"apiVersion: {api}\nkind: ActiveMQArtemis\nmetadata: {{name: x}}\nspec: {{}}\n"
    rules = {one.rule for one in linted(text).findings}
    assert rules & {"kubernetes-api-version", "kubernetes-no-broker"}


def test_a_broker_xml_in_a_config_map_is_linted_as_a_file() -> None:
    assert graver(linted(holder("ConfigMap", "cm", "data", broker_xml=XML))) == []
    torn = XML.replace("max-disk-usage>90", "max-disk-usag>90")
    alone = lint(torn.encode(), "broker.xml", LintContext())
    inside = linted(holder("ConfigMap", "cm", "data", broker_xml=torn))
    assert [(one.rule, one.message, one.place.line + 6, one.place.column + 4) for one in alone.findings] == [
        (one.rule, one.message, one.place.line, one.place.column) for one in inside.findings
    ]
    assert (inside.schema, inside.valid) == (alone.schema, False)


def test_properties_beside_a_broker_xml_count_over_it() -> None:
    text = holder("ConfigMap", "cm", "data", broker_xml=XML, broker_properties="maxDiskUsage=101\n")
    (finding,) = graver(linted(text))
    assert (finding.rule, finding.place.line) == ("properties-range", text.count("\n"))


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(text: str, key: str = "a.properties", name: str = "x-bp") -> str:
    return f"apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\ndata:\n  {key}: {encoded(text)}\n"


def test_lines_inside_of_base64_are_said() -> None:
    (finding,) = graver(linted(secret('globalMaxSize=1G\naddressSettings."a".pageSizeBytes=10M\n')))
    assert (finding.place.line, finding.place.column) == (5, 3)
    assert finding.message.endswith("(line 2 of a.properties)")
    (finding,) = graver(linted(secret(XML.replace("max-disk-usage>90", "max-disk-usag>90"), "broker.xml", "any")))
    assert finding.message.endswith("(line 3 of broker.xml)")


def test_two_like_faults_in_base64_are_two_findings() -> None:
    text = 'addressSettings."a".pageSizeBytes=10M\naddressSettings."b".pageSizeBytes=10M\n'
    assert len(graver(linted(secret(text)))) == 2


@pytest.mark.parametrize("wrong", ["!!!", "aaaaa", "a=b"])
def test_what_is_not_base64_is_an_error(wrong: str) -> None:
    text = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: x-bp}}\ndata: {{a.properties: '{wrong}'}}\n"
    assert [one.rule for one in graver(linted(text))] == ["kubernetes-base64"]


JUDGED = ["maxDiskUsage=hunter2", "globalMaxSize=hunter2", 'addressSettings."a".pageSizeBytes=hunter2', "hunter2", "="]


@pytest.mark.parametrize("line", JUDGED)
@pytest.mark.parametrize("plain", [True, False])
def test_no_finding_says_a_value_of_a_secret(line: str, plain: bool) -> None:
    text = holder("Secret", "x-bp", "stringData", a_properties=f"{line}\n") if plain else secret(f"{line}\n")
    assert not [one for one in linted(text).findings if "hunter2" in f"{one.message} {one.help} {one.path} {one.why}"]


@pytest.mark.parametrize("tag", ["journal-type", "max-disk-usage", "global-max-size", "cluster-password", "no-such"])
def test_no_finding_says_a_value_of_an_xml_in_a_secret(tag: str) -> None:
    xml = XML.replace("<max-disk-usage>90</max-disk-usage>", f"<{tag}>hunter2</{tag}>")
    for text in (holder("Secret", "any", "stringData", broker_xml=xml), secret(xml, "broker.xml", "any")):
        assert not [one for one in linted(text).findings if "hunter2" in f"{one.message} {one.help} {one.path}"]


def test_a_file_without_any_broker_is_an_error() -> None:
    report = linted("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n")
    assert [one.rule for one in graver(report)] == ["kubernetes-no-broker"]
    assert "ActiveMQArtemis" in graver(report)[0].help
    assert not report.valid


def test_other_objects_and_keys_are_said() -> None:
    others = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n---\n"
    report = linted(CR + others + holder("ConfigMap", "cm", "data", logging_properties="a=b\n"))
    said = [one.message for one in report.findings if one.rule == "kubernetes-not-a-broker"]
    assert len(said) == 2
    assert "web" in said[0]
    assert "logging.properties" in said[1]
    missing = linted(CR.split("---")[0])
    assert any("config-bp is mounted" in one.message for one in missing.findings)


def test_lists_and_templates_are_looked_into() -> None:
    wrong = CR.split("---")[0].replace("requireLogin", "requirelogin")
    items = indent(wrong, "  ").replace("  apiVersion", "- apiVersion", 1)
    for around in ("apiVersion: v1\nkind: List\nitems:\n", "apiVersion: v1\nkind: Template\nobjects:\n"):
        assert [one.rule for one in graver(linted(around + items))] == ["kubernetes-unknown-field"]


def test_an_object_of_another_program_with_the_same_kind() -> None:
    text = "apiVersion: eventing.knative.dev/v1\nkind: Broker\nmetadata: {name: default}\nspec: {delivery: {}}\n"
    assert [one.rule for one in graver(linted(text))] == ["kubernetes-no-broker"]
    assert graver(linted(f"{CR}---\n{text}")) == []


def test_merged_and_aliased_parts_stand_where_they_are_written() -> None:
    text = dedent("""\
        apiVersion: broker.amq.io/v1beta1
        kind: ActiveMQArtemis
        metadata: {name: x}
        spec:
          addressSettings:
            addressSetting:
              - &base
                match: a
                maxSizeByte: 1G
              - <<: *base
                match: b
        """)
    found = graver(linted(text))
    assert {(one.rule, one.place.line) for one in found} == {("kubernetes-unknown-field", 9)}


@pytest.mark.parametrize(("key", "text"), [("a.json", "{x"), ("a.json", "[1]"), ("a.yaml", "a: ["), ("a.json", "")])
def test_properties_that_cannot_be_read_are_an_error(key: str, text: str) -> None:
    where = holder("Secret", "x-bp", "stringData", **{key.replace(".", "_"): f"{text}\n"})
    assert [one.rule for one in graver(linted(where))] == ["properties-unreadable"]


def test_the_edition_is_the_version_that_the_resource_asks_for() -> None:
    text = CR.replace("spec:\n", 'spec:\n  version: "2.40.0"\n', 1)
    assert linted(text).edition == "artemis-2.28" != linted(CR).edition


@given(st.data())
def test_any_change_gives_findings_and_never_an_error(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(CR)))
    end = data.draw(st.integers(start, min(len(CR), start + 40)))
    text = CR[:start] + data.draw(st.text(alphabet="ab:-|>'\"{}[]&*#\n\t \\<é=.,0$", max_size=12)) + CR[end:]
    for one in linted(text).findings:
        assert one.place.file == "broker.yaml"
        assert one.place.line > 0


def test_each_of_very_many_pods_is_judged() -> None:
    head = "apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemis\nmetadata: {name: x}\nspec:\n  brokerProperties:\n"
    count = 2_000
    report = linted(
        head + "".join(f"    - broker-{n}.maxDiskUsage={'180' if n % 100 == 0 else 80}\n" for n in range(count))
    )
    assert len(graver(report)) == count // 100


FALSE_ALL_CLEARS = [
    ("maxDiskUsag=20", "properties-unknown-key", "did you mean 'maxDiskUsage'?"),
    ('addressSettings."#".maxSizeByte=1', "properties-unknown-key", "did you mean 'maxSizeBytes'?"),
    ("pageSizeBytes=1", "properties-unknown-key", ""),
    ("persistenceEnabled=t", "properties-silent-value", ""),
    ("journalType=AIO", "properties-bad-value", ""),
    ("globalMaxSize=1T", "properties-bad-value", ""),
    ('addressSettings."#"=5M', "properties-whole-entry", ""),
    ("addressSettings.a.b.maxSizeBytes=1", "properties-unquoted-dots", ""),
    ("broker-1globalMaxSize=612m", "properties-unknown-key", ""),
]


@pytest.mark.parametrize(("line", "rule", "help"), FALSE_ALL_CLEARS)
def test_what_brokers_ignore_in_silence_is_said_wherever_it_stands(line: str, rule: str, help: str) -> None:
    item = CR.replace("    - globalMaxSize=512m\n", f"    - {line}\n")
    quoted = CR.replace("    - globalMaxSize=512m\n", f"    - '{line}'\n")
    block = CR.replace("      journalMinFiles=3\n", f"      {line}\n")
    pod = CR.replace("    - globalMaxSize=512m\n", f"    - 'broker-0.{line}'\n")
    inside = CR.replace("    journalFileSize=10485760\n", f"    {line}\n")
    held = holder("ConfigMap", "cm", "data", broker_xml=XML, broker_properties=f"{line}\n")
    for text in (
        item,
        quoted,
        block,
        pod,
        inside,
        held,
        secret(f"{line}\n"),
        holder("Secret", "x-bp", "stringData", a_properties=f"{line}\n"),
    ):
        found = [one for one in linted(text).findings if one.rule == rule]
        assert found, (text, linted(text).findings)
        written = text.splitlines()[found[0].place.line - 1]
        assert line in written or "a.properties:" in written
        assert help in found[0].help


def test_columns_behind_letters_that_are_not_ascii() -> None:
    report, line = changed("    - globalMaxSize=512m", "    - 'addressSettings.\"größe\".pageSizeBytes=10M'")
    (finding,) = graver(report)
    assert (finding.place.line, finding.place.column) == (line, 8 + len('addressSettings."größe".pageSizeBytes='))


def test_a_key_twice_is_said_once() -> None:
    report, _ = changed("    - globalMaxSize=512m", "    - globalMaxSize=1G\n    - globalMaxSize=512m")
    assert [one.rule for one in graver(report)] == ["kubernetes-duplicate-property"]


MAIN = """\
<configuration xmlns="urn:activemq" xmlns:xi="http://www.w3.org/2001/XInclude">
  <core xmlns="urn:activemq:core">
    <xi:include href="{0}addresses.xml"/>
    <xi:include href="{0}address-settings.xml"/>
  </core>
</configuration>
"""
ADDRESSES = """\
<addresses{}>
  <address name="DLQ"><anycast><queue name="DLQ"/></anycast></address>
</addresses>
"""
ADDRESS_SETTINGS = """\
<address-settings xmlns="urn:activemq:core">
  <address-setting match="#">
    <dead-letter-address>DLQ</dead-letter-address>
    <expiry-address>DLQ</expiry-address>
    <address-full-policy>Page</address-full-policy>
  </address-setting>
</address-settings>
"""


def _included(kind: str, part: str, folder: str = "", namespace: str = ' xmlns="urn:activemq:core"') -> str:
    files = {"broker.xml": MAIN.format(folder), "addresses.xml": ADDRESSES.format(namespace)}
    files["address-settings.xml"] = ADDRESS_SETTINGS
    if part in ("binaryData", "data") and (kind, part) != ("ConfigMap", "data"):
        files = {name: f"{encoded(text)}\n" for name, text in files.items()}
    return holder(kind, "shop", part, **files)


@pytest.mark.parametrize("folder", ["", "../etc-override/", "sub/", "/amq/extra/"])
@pytest.mark.parametrize(
    ("kind", "part"), [("ConfigMap", "data"), ("ConfigMap", "binaryData"), ("Secret", "stringData")]
)
def test_includes_are_keys_of_the_same_object(kind: str, part: str, folder: str) -> None:
    report = linted(_included(kind, part, folder))
    (one,) = graver(report)
    assert one.rule == "invalid-value" and (kind == "Secret" or "did you mean PAGE?" in one.help)
    assert not report.valid and "broker.yaml!" not in "".join(one.message for one in report.findings)


def test_an_included_value_stands_at_its_line_of_the_object() -> None:
    text = _included("ConfigMap", "data")
    (one,) = graver(linted(text))
    assert text.splitlines()[one.place.line - 1].strip() == "<address-full-policy>Page</address-full-policy>"
    sound = linted(text.replace(">Page<", ">PAGE<"))
    assert graver(sound) == [] and sound.valid


def test_what_is_included_without_a_namespace_is_no_other_key() -> None:
    report = linted(_included("ConfigMap", "data", namespace=""))
    assert "kubernetes-not-a-broker" not in {one.rule for one in report.findings}
    assert any(one.message.startswith("<addresses>") for one in graver(report))


def test_includes_of_another_object_of_the_file_and_of_none() -> None:
    main = holder("ConfigMap", "one", "data", **{"broker.xml": MAIN.format("")})
    parts = {"addresses.xml": ADDRESSES.format(' xmlns="urn:activemq:core"'), "address-settings.xml": ADDRESS_SETTINGS}
    other = holder("ConfigMap", "two", "data", **parts)
    assert {one.rule for one in graver(linted(f"{main}---\n{other}"))} == {"invalid-value"}
    (missing,) = graver(linted(main))
    assert missing.rule == "include-missing" and "no key has that name" in missing.message


def test_a_part_alone_is_linted_as_a_fragment() -> None:
    report = linted(holder("ConfigMap", "x", "data", **{"address-settings.xml": ADDRESS_SETTINGS}))
    assert [one.rule for one in graver(report)] == ["invalid-value"]


def test_includes_in_a_circle_are_refused() -> None:
    circle = ADDRESSES.format(' xmlns="urn:activemq:core" xmlns:xi="http://www.w3.org/2001/XInclude"')
    circle = circle.replace("</addresses>", '<xi:include href="addresses.xml"/></addresses>')
    report = linted(holder("ConfigMap", "x", "data", **{"broker.xml": MAIN.format(""), "addresses.xml": circle}))
    assert [one.rule for one in graver(report)] == ["include-refused"]
