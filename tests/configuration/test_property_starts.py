"""What keeps a broker from starting though each entry is taken: recorded by booting 2.56.0 and 2.44.0 with each."""

from __future__ import annotations

import pytest
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext
from brokerconf.reading.properties import parse_properties

from pagefmt.editions import Edition
from pagefmt.findings import Finding

RULE = "properties-start-fails"
CONNECTOR = "connectorConfigurations.a.factoryClassName=x\n"
ROUTER = "connectionRouters.r.policyConfiguration"


def found(text: str, edition: Edition = Edition.ARTEMIS_2_56) -> list[Finding]:
    return [
        one for one in lint(text.encode(), "x.properties", LintContext(edition=edition)).findings if one.rule == RULE
    ]


@pytest.mark.parametrize("edition", [Edition.ARTEMIS_2_44, Edition.ARTEMIS_2_56])
@pytest.mark.parametrize(
    "text",
    [
        "AMQPConnections.t.retryInterval=5",
        "AMQPConnections.t.autostart=false",
        "AMQPConnections.t.uri=",
        "AMQPConnections.t.uri=SHARED",
        "AMQPConnections.t.uri=a b",
        "AMQPConnections.t.uri=vm://0",
        "AMQPConnections.t.uri=localhost:5672",
        "AMQPConnections.t.uri=tcp://h:1?name=other",
        "broadcastGroupConfigurations.b.connectorInfos=x",
        "connectorServiceConfigurations.s.params.x=y",
        "federationConfigurations.f.upstreamConfigurations.u.policyRefs=x",
        "federationConfigurations.f.downstreamConfigurations.u.connectionConfiguration.username=x",
        "connectionRouters.r.poolConfiguration.username=x",
        "connectionRouters.r.poolConfiguration.clusterConnection=x",
        f"{ROUTER}=CONSISTENT_HASH_MODULO\n{ROUTER}.properties.modulo=2",
        f"{ROUTER}=CONSISTENT_HASH_MODULO\n{ROUTER}.properties.MODULO=x",
        "HAPolicyConfiguration=REPLICATION_PRIMARY_LOCK_MANAGER",
        "storeConfiguration=DATABASE",
        "journalMinFiles=1",
        "journalFileSize=1023",
        "journalCompactPercentage=101",
        "journalLockAcquisitionTimeout=-5",
        "criticalAnalyzerTimeout=1",
        "mqttSessionScanInterval=0",
        "securitySettingPlugins=a",
        f"{CONNECTOR}clusterConfigurations.c.connectorName=a\nclusterConfigurations.c.discoveryGroupName=d\n"
        "discoveryGroupConfigurations.d.refreshTimeout=5",
    ],
)
def test_the_broker_does_not_start(text: str, edition: Edition) -> None:
    (one,) = found(text, edition)
    assert one.message.startswith("the broker does not start: ") and one.help


@pytest.mark.parametrize(
    "text",
    [
        "AMQPConnections.t.uri=(tcp://a:1,tcp://b:2)\nAMQPConnections.t.senders.m.name=a",
        "AMQPConnections.t.retryInterval=5\nAMQPConnections.t=-",
        "bridgeConfigurations.b.retryInterval=500",
        "clusterConfigurations.cc.connectorName=other",
        "divertConfigurations.d.exclusive=true",
        "discoveryGroupConfigurations.b.refreshTimeout=500",
        "groupingHandlerConfiguration.timeout=5",
        "connectionRouters.r.poolConfiguration.staticConnectors=x",
        f"{CONNECTOR}clusterConfigurations.x.connectorName=a\nconnectionRouters.r.poolConfiguration.clusterConnection=x",
        f"{ROUTER}=CONSISTENT_HASH_MODULO\n{ROUTER}.properties.MODULO=-1",
        "HAPolicyConfiguration=SHARED_STORE_BACKUP",
        "persistenceEnabled=false\njournalMinFiles=0\njournalFileSize=1",
        "criticalAnalyzer=false\ncriticalAnalyzerTimeout=0",
        "criticalAnalyzerCheckPeriod=5\ncriticalAnalyzerTimeout=0",
        "criticalAnalyzerTimeout=-5",
        "journalType=MAPPED\njournalMaxIO_NIO=0",
        "mqttSessionScanInterval=-5",
    ],
)
def test_the_broker_starts(text: str) -> None:
    assert found(text) == []


def test_the_entry_that_made_it_is_named() -> None:
    (one,) = found("# c\nAMQPConnections.a.retryInterval=5\nAMQPConnections.a.user=x\n")
    assert (one.place.line, one.place.column) == (2, 1) and "AMQPConnections.a has no uri" in one.message
    (one,) = found("journalFileSize=5\nname=x\njournalFileSize=7\n")
    assert (one.place.line, one.place.column) == (3, 17) and "journalFileSize is 7" in one.message


def test_what_the_file_declares_is_not_taken_for_incomplete() -> None:
    xml = (
        '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><persistence-enabled>false'
        '</persistence-enabled><broker-connections><amqp-connection uri="tcp://a:1" name="t"/></broker-connections>'
        "</core></configuration>"
    )
    text = "AMQPConnections.t.retryInterval=5\njournalMinFiles=0\nAMQPConnections.u.retryInterval=5\n"
    entries = tuple(parse_properties(text, "b.properties"))
    report = lint(xml.encode(), "broker.xml", LintContext(edition=Edition.ARTEMIS_2_56, entries=entries))
    assert [one.place.line for one in report.findings if one.rule == RULE] == [3]


def test_no_password_of_an_address_is_shown() -> None:
    (one,) = found("AMQPConnections.t.uri=tcp://u:hunter2@h[x")
    assert "hunter2" not in one.message and "h[x" in one.message
