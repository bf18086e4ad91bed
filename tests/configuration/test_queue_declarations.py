"""Queues that a configuration declares, in each of the ways in which it can, and what its broker would give them."""

from __future__ import annotations

from pathlib import Path

import pytest
from brokerconf.evidence.drift import QueueOrigin, StoredAddress, StoredQueue, drift, origin
from brokerconf.evidence.queue_declarations import QueueDeclarations, declared_values, queue_declarations
from brokerconf.properties.application import apply_all
from brokerconf.reading.properties import parse_properties
from brokerconf.reading.reading import read
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.overrides import apply

from pagefmt.editions import Edition

ARTEMIS = (
    '<configuration xmlns="urn:activemq">{jms}<core xmlns="urn:activemq:core"><address-settings>'
    '<address-setting match="#">{settings}</address-setting></address-settings>{core}</core></configuration>'
)
NEWEST = Edition.ARTEMIS_2_56


def settings_of(
    to: Path, core: str = "", settings: str = "", jms: str = "", edition: Edition = NEWEST
) -> EffectiveSettings:
    path = to / "broker.xml"
    path.write_text(ARTEMIS.format(core=core, settings=settings, jms=jms))
    return EffectiveSettings(read(path, edition=edition))


def declared(to: Path, properties: str = "", **more: object) -> QueueDeclarations:
    entries = tuple(parse_properties(properties, "broker.properties"))
    settings = settings_of(to, **more)
    return queue_declarations(settings, apply_all(entries, settings.edition, settings.core))  # type: ignore[arg-type]


ADDRESSES = (
    '<addresses><address name="a.b"><multicast><queue name="one" max-consumers="3"><filter string="x = 1"/></queue>'
    '</multicast><anycast><queue name="two"><durable>false</durable></queue></anycast></address></addresses>'
)


def test_addresses(tmp_path: Path) -> None:
    found = declared(tmp_path, core=ADDRESSES)
    one, two = found.queues["a.b", "one"], found.queues["a.b", "two"]
    assert (one.routing, one.filter, one.durable, one.given) == ("MULTICAST", "x = 1", True, {"max_consumers": 3})
    assert (two.routing, two.durable) == ("ANYCAST", False)
    assert list(found.addresses) == ["a.b"]


@pytest.mark.parametrize(("edition", "routing"), [(NEWEST, "MULTICAST"), (Edition.ARTEMIS_1_5, None)])
def test_queues(edition: Edition, routing: str | None, tmp_path: Path) -> None:
    core = '<queues><queue name="q"><address>a</address></queue><queue name="alone"/></queues>'
    found = declared(tmp_path, core=core, edition=edition)
    routings = {key: each.routing for key, each in found.queues.items()}
    assert routings == {("a", "q"): routing, ("alone", "alone"): routing}


@pytest.mark.parametrize(("edition", "queue"), [(NEWEST, "orders"), (Edition.ARTEMIS_1_5, "jms.queue.orders")])
def test_jms(edition: Edition, queue: str, tmp_path: Path) -> None:
    jms = '<jms xmlns="urn:activemq:jms"><queue name="orders"/><topic name="news"/></jms>'
    found = declared(tmp_path, jms=jms, edition=edition)
    assert (queue, queue) in found.queues
    topics = {"news"} if edition is NEWEST else {"jms.topic.news"}
    assert topics < set(found.addresses)


@pytest.mark.parametrize(
    ("edition", "nothing"), [(Edition.ARTEMIS_1_5, "__AMQX=-1"), (Edition.HORNETQ_2_4, "__HQX=-1")]
)
def test_before_2_0_a_topic_has_a_queue_that_takes_nothing(edition: Edition, nothing: str, tmp_path: Path) -> None:
    path = tmp_path / "jms.xml"
    path.write_text('<configuration xmlns="urn:hornetq"><queue name="orders"/><topic name="news"/></configuration>')
    jms = read(path, edition=Edition.HORNETQ_2_4).root
    found = queue_declarations(settings_of(tmp_path, edition=edition), jms=jms).names
    assert (found["jms.queue.orders"].filter, found["jms.topic.news"].filter) == (None, nothing)


def test_properties_come_last(tmp_path: Path) -> None:
    properties = (
        'addressConfigurations."a.b".queueConfigs.one.maxConsumers=9\n'
        'addressConfigurations."c.d".routingTypes=ANYCAST\n'
        'addressConfigurations."c.d".queueConfigs.new.routingType=ANYCAST\n'
        'addressConfigurations."c.d".queueConfigs.new.filterString=y = 2\n'
        'addressConfigurations."c.d".queueConfigs.far.address=e\n'
        'addressConfigurations."c.d".queueConfigs.new.exclusive=on\n'
        'addressConfigurations."c.d".queueConfigs.new.maxConsumers=many\n'
        "globalMaxSize=1\n"
    )
    found = declared(tmp_path, properties, core=ADDRESSES)
    assert found.queues["a.b", "one"].given == {"max_consumers": 9}
    assert (found.queues["c.d", "new"].routing, found.queues["c.d", "new"].filter) == ("ANYCAST", "y = 2")
    assert found.queues["c.d", "new"].given == {"exclusive": True, "max_consumers": 0}
    assert ("e", "far") in found.queues
    assert set(found.addresses) == {"a.b", "c.d", "e"}


def test_what_properties_do_not_declare(tmp_path: Path) -> None:
    refused = 'addressConfigurations."a.b".queueConfigs.one.routingType=any\nqueueConfigs.far.address=e\n'
    found = declared(tmp_path, refused, core=ADDRESSES)
    assert (found.queues["a.b", "one"].routing, [*found.addresses]) == ("MULTICAST", ["a.b"])
    away = declared(
        tmp_path, 'addressConfigurations.x.routingTypes=ANYCAST\naddressConfigurations."a.b"=-\n', core=ADDRESSES
    )
    assert ([*away.addresses], away.queues, away.names) == (["x"], {}, {})


def test_defaults_come_from_the_address_settings(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path,
        ADDRESSES,
        "<default-max-consumers>7</default-max-consumers>"
        "<default-exclusive-queue>true</default-exclusive-queue><default-ring-size>5</default-ring-size>",
    )
    found = queue_declarations(settings)
    one, two = (declared_values(settings, found.queues["a.b", name]) for name in ("one", "two"))
    assert (one["max_consumers"], two["max_consumers"], two["exclusive"]) == (3, 7, True)
    assert two["ring_size"] == -1, "the reader of broker.xml gives it that, whatever the address settings say"
    apply(settings, parse_properties('addressSettings."#".defaultMaxConsumers=8', "broker.properties"))
    assert declared_values(settings, found.queues["a.b", "two"])["max_consumers"] == 8


def stored(name: str, address: str = "a", **fields: int) -> StoredQueue:
    return StoredQueue(sum(name.encode()), name, address, "ANYCAST", None, {"configuration_managed": 0, **fields})


@pytest.mark.parametrize(
    ("queue", "who"),
    [
        (stored("q", configuration_managed=255), QueueOrigin.CONFIGURATION),
        (stored("q", auto_created=255), QueueOrigin.AUTO_CREATED),
        (stored("q"), QueueOrigin.OTHER),
        (stored("q")._replace(routing="MULTICAST"), QueueOrigin.SUBSCRIPTION),
        (stored("q")._replace(fields={}), QueueOrigin.UNKNOWN),
        (stored("c.s", "jms.topic.t")._replace(fields={}), QueueOrigin.SUBSCRIPTION),
    ],
)
def test_who_made_a_queue(queue: StoredQueue, who: QueueOrigin) -> None:
    assert origin(queue) is who


def force(*names: str) -> str:
    return "".join(f"<config-delete-{name}>FORCE</config-delete-{name}>" for name in names)


@pytest.mark.parametrize("edition", [each for each in Edition if each >= Edition.ARTEMIS_2_4])
@pytest.mark.parametrize("forced", [(), ("queues",), ("addresses",), ("queues", "addresses")], ids=str)
def test_what_a_start_deletes(edition: Edition, forced: tuple[str, ...], tmp_path: Path) -> None:
    # The rules are those of the broker's ``undeployAddressesAndQueueNotInConfiguration``, by release.
    core = '<addresses><address name="kept"><anycast><queue name="there"/></anycast></address></addresses>'
    settings = settings_of(tmp_path, core, force(*forced), edition=edition)
    queues = [
        stored("managed", "kept", configuration_managed=255),
        stored("client", "kept"),
        stored("there", "gone", configuration_managed=255),
        stored("auto", "made", auto_created=255),
    ]
    addresses = [StoredAddress(name, name == "made", internal=False) for name in ("kept", "gone", "made")]
    found = drift(settings, queue_declarations(settings), queues, addresses)
    gone = {each.queue.name for each in (*found.left, *found.expected) if each.queue and each.deletion.in_force}
    wanted = set()
    if "queues" in forced:
        wanted |= {"managed"} | ({"client"} if edition < Edition.ARTEMIS_2_10 else set())
        wanted |= {"there"} if edition >= Edition.ARTEMIS_2_44 else set()
    if "addresses" in forced:
        wanted |= {"there"} | ({"auto"} if edition < Edition.ARTEMIS_2_28 else set())
    assert gone == wanted


def test_differences(tmp_path: Path) -> None:
    core = '<addresses><address name="a"><anycast><queue name="q" max-consumers="3"/></anycast></address></addresses>'
    settings = settings_of(tmp_path, core)
    queue = stored("q", configuration_managed=255, max_consumers=2, exclusive=255, enabled=255, last_value=255)
    on_disk = queue._replace(routing="MULTICAST", filter="x = 1")
    found = drift(settings, queue_declarations(settings), [on_disk], [StoredAddress("a", False, False)])
    assert {(each.field, each.stored, each.declared, each.changed) for each in found.differing} == {
        ("routing_type", "MULTICAST", "ANYCAST", True),
        ("filter", "x = 1", None, True),
        ("max_consumers", 2, 3, True),
        ("exclusive", True, False, True),
        ("last_value", True, False, False),
    }
    assert not found.left and not found.missing and found.exists
