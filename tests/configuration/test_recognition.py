"""Which files of a folder are broker configurations, and how each is written."""

from __future__ import annotations

import pytest
from brokerconf.instance.recognition import ConfigurationForm, form_of, recognised
from config_cases import configs

XML, PROPERTIES, JSON, YAML, KUBERNETES = ConfigurationForm
RECOGNISED = [
    ("broker.xml", '<?xml version="1.0"?><!-- a -->\n<configuration xmlns="urn:activemq"><core/></configuration>', XML),
    ("a.xml", '<a:configuration xmlns:a="urn:activemq"/>', XML),
    ("a.xml", "<configuration><core xmlns='urn:activemq:core'/></configuration>", XML),
    ("a.xml", '<configuration xmlns="urn:activemq"><core', XML),
    ("broker.xml", "<", XML),
    ("broker.xml", "", XML),
    ("hornetq-configuration.xml", '<configuration xmlns="urn:hornetq"/>', XML),
    (
        "standalone.xml",
        '<server xmlns="urn:jboss:domain:1.7"><x xmlns="urn:jboss:domain:messaging:1.4"/></server>',
        XML,
    ),
    (
        "s.xml",
        '<server xmlns="urn:jboss:domain:20.0"><x xmlns="urn:jboss:domain:messaging-activemq:15.0"/></server>',
        XML,
    ),
    ("settings.xml", "<address-settings/>", XML),
    ("part.xml", '<addresses xmlns="urn:activemq:core"/>', XML),
    ("doctype.xml", '<!DOCTYPE x [<!ENTITY y "z">]><configuration xmlns="urn:activemq"/>', XML),
    ("broker.properties", "", PROPERTIES),
    ("prod-broker.properties", "maxDiskUsag=1", PROPERTIES),
    ("a.properties", '# a\n  addressSettings."#".maxSizeBytes=1\n', PROPERTIES),
    ("a.properties", "globalMaxSize : 1G\n", PROPERTIES),
    ("a.properties", 'securityRoles."#".amq.send=true\n', PROPERTIES),
    ("a.json", '{"resourceLimitSettings": {"u": {"maxQueues": 1}}}', JSON),
    ("a.yaml", "queueConfigurations:\n  q:\n    address: a\n", YAML),
    ("a.json", '{"addressSettings": {"#": {}}}', JSON),
    ("a.json", '\ufeff{"addressSettings.a.b": 1}', JSON),
    ("a.json", '{"addressSettings": {"#": ', JSON),
    ("a.yaml", "addressSettings:\n  '#': {}\n", YAML),
    ("a.yml", '"globalMaxSize": 1G\n', YAML),
    ("cr.yaml", "a: 1\n---\napiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemis\n", KUBERNETES),
    (
        "cr.yaml",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: 'broker.arkmq.org/v1beta2'\n  kind: Broker\n",
        KUBERNETES,
    ),
    ("cr.json", '{"apiVersion": "broker.amq.io/v1beta1", "kind": "ActiveMQArtemis"}', KUBERNETES),
    ("map.yaml", "kind: ConfigMap\ndata:\n  broker.xml: |\n    <configuration/>\n", KUBERNETES),
    ("map.yaml", "kind: ConfigMap\ndata:\n  a.properties: |\n    globalMaxSize=1\n", KUBERNETES),
    ("map.json", '{"apiVersion":"v1","kind":"ConfigMap","data":{"broker.xml":"<a/>"}}', KUBERNETES),
    ("secret.yaml", "kind: Secret\ndata:\n  broker.properties: Z2xvYmFs\n", KUBERNETES),
]
OTHERS = [
    ("pom.xml", '<project xmlns="http://maven.apache.org/POM/4.0.0"/>'),
    ("logback.xml", "<configuration><appender/></configuration>"),
    ("core.xml", "<core/>"),
    ("activemq.xml", '<beans xmlns="http://www.springframework.org/schema/beans"/>'),
    ("bootstrap.xml", '<broker xmlns="http://activemq.apache.org/schema"/>'),
    ("hornetq-jms.xml", '<configuration xmlns="urn:hornetq"/>'),
    ("users.xml", '<configuration xmlns="urn:hornetq" xsi:schemaLocation="urn:hornetq /schema/hornetq-users.xsd"/>'),
    ("standalone.xml", '<server xmlns="urn:jboss:domain:1.7"/>'),
    ("log4j2.properties", "rootLogger.level=info\nname=x\n"),
    ("brokerage.properties", "a=1\n"),
    ("package.json", '{"name": "a", "x": {"addressSettings": 1}}'),
    ("tsconfig.json", "{"),
    ("values.yaml", "name: a\nspec:\n  addressSettings: 1\n"),
    (
        "crd.yaml",
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  group: broker.amq.io\n",
    ),
    ("users.yaml", "apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemisSecurity\n"),
    ("map.yaml", "kind: ConfigMap\ndata:\n  application.properties: |\n    server.port=1\n"),
    ("notes.txt", "addressSettings.a=1"),
    ("broker.xml", "<a>\0"),
    ("a.json", "[" * 100_000),
]


@pytest.mark.parametrize(("name", "text", "form"), RECOGNISED)
def test_recognised(name: str, text: str, form: ConfigurationForm) -> None:
    assert recognised(name, text.encode()) is form is form_of(name, text.encode())


@pytest.mark.parametrize(("name", "text"), OTHERS)
def test_others_are_passed_over(name: str, text: str) -> None:
    assert recognised(name, text.encode()) is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "iso-8859-1"])
def test_in_any_encoding(encoding: str) -> None:
    raw = f'<?xml version="1.0" encoding="{encoding}"?><configuration xmlns="urn:activemq">ä</configuration>'
    assert recognised("a.xml", raw.encode(encoding)) is ConfigurationForm.XML


def test_what_was_named_is_read_by_its_suffix() -> None:
    assert form_of("a.yml", b"x: 1") is ConfigurationForm.YAML
    assert form_of("a.conf", b"x") is ConfigurationForm.XML


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("# a\nmaxDiskUsage=20\n", ConfigurationForm.PROPERTIES),
        ("maxDiskUsage: 20\n", ConfigurationForm.YAML),
        ('{"maxDiskUsage": 20}', ConfigurationForm.JSON),
        ('{"apiVersion": "v1", "kind": "List", "items": []}', ConfigurationForm.KUBERNETES),
        ("<!-- maxDiskUsage=20 -->\nmaxDiskUsage=20", ConfigurationForm.XML),
        ("hello", ConfigurationForm.XML),
    ],
)
def test_what_has_no_name_is_read_by_its_keys(text: str, form: ConfigurationForm) -> None:
    assert form_of("stdin", text.encode()) is form


@pytest.mark.parametrize("text", [" " * 10**6, "\n" * 10**6, "<!--" * 10**5, "{" * 10**6, '<a "' * 10**5, "- " * 10**6])
@pytest.mark.parametrize("name", ["a.xml", "a.properties", "a.json", "a.yaml"])
@pytest.mark.timeout(60)
def test_a_hostile_file_does_not_hold_up(name: str, text: str) -> None:
    assert recognised(name, text.encode()) is None


def test_every_configuration_that_brokers_judged() -> None:
    files = [(path.name, path.read_bytes()) for path in configs().rglob("*.xml")]
    missed = [(name, raw) for name, raw in files if not recognised(name, raw)]
    # empty, of another kind, or in EBCDIC
    assert len(files) > 3_000 and all(len(raw) < 40 or raw.startswith(b"\x4c\x6f") for _, raw in missed)
