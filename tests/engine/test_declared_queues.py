"""Queues and addresses that a configuration declares are there when a replay begins, however they are declared."""

from __future__ import annotations

from pathlib import Path

from brokerconf.reading.properties import parse_properties
from brokerconf.reading.reading import read_bytes

from pageengine.running.engine import Engine
from pageengine.settings.from_document import engine_settings
from pageengine.settings.profiles import profile_of
from pageengine.trace.operations import RoutingType, TraceHeader
from pagefmt.editions import NEWEST, Edition

DOCUMENT = (
    '<configuration xmlns="urn:activemq">{jms}<core xmlns="urn:activemq:core">{queues}<addresses><address name="a">'
    '<anycast/><multicast><queue name="one" ring-size="7"><filter string="x = 1"/><durable>false</durable></queue>'
    "</multicast></address></addresses></core></configuration>"
)
OLDER = '<queues><queue name="far"><address>b</address></queue></queues>'
JMS = '<jms xmlns="urn:activemq:jms"><queue name="orders"/><topic name="news"/></jms>'
PROPERTIES = (
    "addressConfigurations.a.queueConfigs.one.ringSize=9\n"
    'addressConfigurations."c.d".routingTypes=ANYCAST,MULTICAST\n'
    'addressConfigurations."c.d".queueConfigs.two.routingType=ANYCAST\n'
    'addressConfigurations."c.d".queueConfigs.two.lastValueKey=k\n'
)
ANYCAST, MULTICAST = RoutingType.ANYCAST, RoutingType.MULTICAST


def begun(queues: str = "", jms: str = "", properties: str = "", edition: Edition = NEWEST) -> Engine:
    text = DOCUMENT.format(queues=queues, jms=jms).encode()
    document = read_bytes(text, "broker.xml", folder=Path(), edition=edition, properties={}, environment={})
    entries = tuple(parse_properties(properties, "broker.properties"))
    return Engine(engine_settings(document, entries=entries), profile_of(edition), TraceHeader("declared"))


def test_addresses_of_the_file() -> None:
    broker = begun().broker
    assert broker.addresses == {"a": {ANYCAST, MULTICAST}}
    one = broker.queues["one"]
    assert (one.creation.filter, one.creation.durable, one.creation.routing, one.traits.ring_size) == (
        "x = 1",
        False,
        MULTICAST,
        7,
    )


def test_properties_come_after_the_file() -> None:
    broker = begun(properties=PROPERTIES).broker
    assert broker.addresses == {"a": {ANYCAST, MULTICAST}, "c.d": {ANYCAST, MULTICAST}}
    assert broker.queues["one"].traits.ring_size == 9
    two = broker.queues["two"]
    assert (two.address, two.creation.routing, two.traits.last_value_key) == ("c.d", ANYCAST, "k")


def test_older_ways_to_declare() -> None:
    broker = begun(OLDER, JMS).broker
    assert [*broker.queues] == ["one", "far", "orders"]
    assert broker.queues["far"].address == "b"
    assert (broker.addresses["orders"], broker.addresses["news"]) == ({ANYCAST}, {MULTICAST})


def test_before_2_0_a_topic_has_a_queue_that_takes_nothing() -> None:
    queues = begun(OLDER, JMS, edition=Edition.ARTEMIS_1_5).broker.queues
    assert [*queues] == ["one", "far", "jms.queue.orders", "jms.topic.news"]
    assert (queues["jms.queue.orders"].creation.filter, queues["jms.topic.news"].creation.filter) == (None, "__AMQX=-1")
