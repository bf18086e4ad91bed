"""Properties and custom resources of public reports: what is accepted and does not have the intended effect."""

from __future__ import annotations

from dataclasses import replace

import pytest
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext
from brokerconf.reading.properties import parse_properties

from pagefmt.findings import Finding, Severity

RESOURCE = """\
apiVersion: broker.amq.io/v1beta1
kind: ActiveMQArtemis
metadata:
  name: shop
spec:
  deploymentPlan:
    size: 1
"""


def linted(text: str, name: str = "broker.properties") -> list[Finding]:
    return list(lint(text.encode(), name, LintContext()).findings)


def of_rule(found: list[Finding], rule: str) -> list[Finding]:
    return [one for one in found if one.rule == rule]


QUEUE = "addressConfigurations.shop.queueConfigs.orders"
TREE = '{"addressConfigurations": {"shop": {"queueConfigs": {"orders": {"address": "orders"}}}}}'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("broker.properties", f"{QUEUE}.address=orders\n{QUEUE}.routingType=ANYCAST\n"),
        ("broker.properties", f"{QUEUE}.address=shop\n{QUEUE}.address=orders\n"),
        ("broker.properties", f"{QUEUE}.address=orders::orders\n"),
        ("broker.json", TREE),
        ("cr.yaml", f"{RESOURCE}  brokerProperties:\n    - {QUEUE}.address=orders\n"),
    ],
)
def test_a_queue_on_another_address_than_its_key(name: str, text: str) -> None:
    (one,) = of_rule(linted(text, name), "properties-queue-address")
    assert "queue orders of addressConfigurations.shop is on address 'orders', not on 'shop'" in one.message
    assert "shop has no queue and no routing type" in one.message
    assert "addressConfigurations.shop.routingTypes=" in one.help


def test_the_address_keeps_what_else_it_has() -> None:
    text = (
        f"{QUEUE}.address=orders\naddressConfigurations.shop.routingTypes=ANYCAST\n"
        "addressConfigurations.shop.queueConfigs.shop.routingType=ANYCAST\n"
    )
    (one,) = of_rule(linted(text), "properties-queue-address")
    assert one.message.endswith("not on 'shop'") and "routingTypes" not in one.help


@pytest.mark.parametrize("line", [f"{QUEUE}.routingType=ANYCAST\n", f"{QUEUE}.address=shop::orders\n"])
def test_a_queue_on_the_address_of_its_key(line: str) -> None:
    assert of_rule(linted(line), "properties-queue-address") == []


RULE = "password-in-clear"


@pytest.mark.parametrize(
    "line",
    [
        "clusterPassword=geheim",
        "AMQPConnections.dr.password=admin",
        "storeConfiguration=DATABASE\nstoreConfiguration.jdbcConnectionUrl=jdbc:postgresql://h/x?user=a&password=geheim",
        "storeConfiguration=DATABASE\nstoreConfiguration.jdbcConnectionUrl=jdbc:oracle:thin:shop/geheim@h:1521/x",
        "acceptorConfigurations.a.params.keyStorePassword=geheim",
        'bridgeConfigurations."a.b".password=geheim',
    ],
)
def test_a_password_in_properties_is_in_clear_text(line: str) -> None:
    for text, name in ((line, "broker.properties"), (_in_resource(line), "cr.yaml"), (_in_map(line), "map.yaml")):
        (one,) = of_rule(linted(text, name), RULE)
        assert "geheim" not in one.message + one.help and "is in clear text" in one.message
        assert ("Secret" in one.help) is (name == "cr.yaml")


def _in_resource(lines: str) -> str:
    return f"{RESOURCE}  brokerProperties:\n" + "".join(f"    - {line}\n" for line in lines.splitlines())


def _in_map(lines: str, kind: str = "ConfigMap", part: str = "data") -> str:
    inside = "".join(f"    {line}\n" for line in lines.splitlines())
    return f"apiVersion: v1\nkind: {kind}\nmetadata:\n  name: x-bp\n{part}:\n  broker.properties: |\n{inside}"


@pytest.mark.parametrize(
    "lines",
    [
        "clusterPassword=ENC(-5a2376c61c668aaf)",
        "clusterPassword=${CLUSTER_PASSWORD}",
        "clusterPassword=${CLUSTER_PASSWORD:changeit}",
        "clusterPassword=geheim\nmaskPassword=true",
        "clusterPassword=",
        "passwordCodec=com.example.Codec",
    ],
)
def test_masked_and_filled_in_passwords_are_not(lines: str) -> None:
    assert of_rule(linted(lines), RULE) == []
    assert of_rule(linted(_in_resource(lines), "cr.yaml"), RULE) == []


def test_a_secret_is_where_passwords_belong() -> None:
    assert of_rule(linted(_in_map("clusterPassword=geheim", "Secret", "stringData"), "secret.yaml"), RULE) == []


def test_passwords_in_the_fields_and_the_environment_of_a_resource() -> None:
    text = (
        f"{RESOURCE}  adminUser: admin\n  adminPassword: geheim\n  acceptors:\n    - name: a\n      sslSecret: tls\n"
        "  env:\n    - name: AMQ_CLUSTER_PASSWORD\n      value: geheim\n"
        "    - name: B_PASSWORD\n      value: $(A_PASSWORD)\n"
        "    - name: A_PASSWORD\n      valueFrom:\n        secretKeyRef: {name: a, key: password}\n"
    )
    found = of_rule(linted(text, "cr.yaml"), RULE)
    assert [(one.path, one.place.line) for one in found] == [("spec.adminPassword", 9), ("spec.env[0]", 15)]
    address = "apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemisAddress\nspec:\n  password: geheim\n"
    assert len(of_rule(linted(address, "address.yaml"), RULE)) == 1


HORNETQ = '<configuration xmlns="urn:hornetq"><cluster-password>geheim</cluster-password></configuration>'
SERVER = (
    '<server xmlns="urn:jboss:domain:20.0"><profile><subsystem xmlns="urn:jboss:domain:messaging-activemq:16.0">'
    '<server name="default"><cluster user="u" password="geheim"/></server></subsystem></profile></server>'
)
EAP6 = (
    '<server xmlns="urn:jboss:domain:1.7"><profile><subsystem xmlns="urn:jboss:domain:messaging:1.4">'
    "<hornetq-server><cluster-password>geheim</cluster-password></hornetq-server></subsystem></profile></server>"
)
BROKER = (
    '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><cluster-password>geheim</cluster-password>'
    "</core></configuration>"
)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (HORNETQ, "org.hornetq.utils.DefaultSensitiveStringCodec"),
        (SERVER, "credential-reference"),
        (EAP6, "${VAULT::"),
        (BROKER, "'artemis mask'"),
    ],
)
def test_the_advice_is_what_the_product_can_do(text: str, advice: str) -> None:
    (one,) = of_rule(linted(text, "standalone-full.xml"), RULE)
    assert advice in one.help and ("artemis mask" in one.help) is (text == BROKER)


def test_a_password_in_an_oracle_url_of_a_broker_xml() -> None:
    url = "<jdbc-connection-url>jdbc:oracle:thin:shop/geheim@h:1521/x</jdbc-connection-url>"
    text = BROKER.replace(
        "<cluster-password>geheim</cluster-password>", f"<store><database-store>{url}</database-store></store>"
    )
    (one,) = of_rule(linted(text, "broker.xml"), RULE)
    assert one.message == "the password in jdbc-connection-url is in clear text"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("HAPolicyConfiguration.failoverOnServerShutdown=true", "HAPolicyConfiguration has no type yet"),
        ("storeConfiguration.jdbcNetworkTimeout=5", "storeConfiguration has no type yet"),
        ("acceptorConfigurations(artemis).params.port=5", "acceptorConfigurations has no entry 'artemis' yet"),
    ],
)
def test_a_part_that_the_broker_xml_may_make_is_no_error(line: str, said: str) -> None:
    for text, name in ((_in_resource(line), "cr.yaml"), (_in_map(line), "map.yaml")):
        (one,) = linted(text, name)
        assert one.severity is Severity.INFO and f"{said}; the broker.xml of the image" in one.message
    beside = replace(LintContext(), entries=tuple(parse_properties(line, "broker.properties")))
    plain = of_rule(list(lint(BROKER.encode(), "broker.xml", beside).findings), "properties-unknown-key")
    assert [one.severity for one in plain] == [Severity.ERROR] and "image" not in plain[0].message


@pytest.mark.parametrize(
    "line",
    [
        "broadcastGroupConfigurations.my-broadcast-group.broadcastPeriod=1000",
        "AMQPConnections.dr.retryInterval=5",
        "connectionRouters.r.poolConfiguration.clusterConnection=my-cluster",
    ],
)
def test_what_the_broker_xml_of_the_image_may_complete_is_no_error(line: str) -> None:
    (one,) = of_rule(linted(_in_resource(line), "cr.yaml"), "properties-start-fails")
    assert one.severity is Severity.WARNING and "unless the broker.xml of its image" in one.message
    (alone,) = of_rule(linted(line), "properties-start-fails")
    assert alone.severity is Severity.ERROR


def test_a_value_that_stops_the_start_stays_an_error_of_a_resource() -> None:
    (one,) = of_rule(linted(_in_resource("journalMinFiles=1"), "cr.yaml"), "properties-start-fails")
    assert one.severity is Severity.ERROR


@pytest.mark.parametrize("match", ["", "match: ''\n        ", "match:\n        "])
def test_address_settings_of_a_resource_without_a_match(match: str) -> None:
    text = f"{RESOURCE}  addressSettings:\n    addressSetting:\n      - {match}maxSizeBytes: 10m\n"
    (one,) = of_rule(linted(text, "cr.yaml"), "kubernetes-field-missing")
    assert one.severity is Severity.WARNING and one.place.line == 10
    assert one.message == "spec.addressSettings.addressSetting[0] has no match: it applies to no address"
    given = text.replace(match, "", 1).replace("- maxSize", "- match: '#'\n        maxSize")
    assert of_rule(linted(given, "cr.yaml"), "kubernetes-field-missing") == []


def test_a_password_in_another_resource_of_the_operator() -> None:
    text = (
        "apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemisSecurity\nspec:\n  loginModules:\n"
        "    propertiesLoginModules:\n      - name: a\n        users:\n          - name: u\n"
        "            password: geheim\n"
    )
    (one,) = of_rule(linted(text, "security.yaml"), RULE)
    assert one.place.line == 9 and "geheim" not in one.message
