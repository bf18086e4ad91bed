"""What a replay takes from the acceptors of a configuration, and from the header of a trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from brokerconf.reading.reading import read_bytes

from pageengine.settings.acceptors import AmqpAcceptor, amqp_acceptor
from pageengine.settings.from_document import engine_settings
from pagefmt.editions import NEWEST


@pytest.mark.parametrize(
    ("urls", "header", "expected"),
    [
        ((), "", AmqpAcceptor(1000, 300, 102400, True, False)),
        (("tcp://h:1?protocols=CORE", "tcp://h:2?protocols=MQTT,AMQP;amqpCredits=9"), "", AmqpAcceptor(9)),
        (("tcp://h:1?amqpCredits=5&amqpLowCredits=2",), "", AmqpAcceptor(5, 2)),
        (("tcp://h:1?amqpCredits=5;amqpLowCredits=2",), "amqpCredits=7", AmqpAcceptor(7, 2)),
        (("tcp://h:1?amqpDrainOnTransientDeliveryErrors=false",), "", AmqpAcceptor(drains=False)),
        (
            ("tcp://h:1?amqpUseModifiedForTransientDeliveryErrors=True;amqpMinLargeMessageSize=-1",),
            "",
            AmqpAcceptor(min_large=-1, modifies=True),
        ),
        (("tcp://h:1?amqpCredits=many",), "", AmqpAcceptor()),
    ],
)
def test_parameters_of_the_acceptor_that_takes_amqp(urls: tuple[str, ...], header: str, expected: AmqpAcceptor) -> None:
    assert amqp_acceptor(urls, header) == expected


def test_acceptors_come_from_the_configuration() -> None:
    text = (
        b'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><acceptors>'
        b'<acceptor name="a">tcp://0.0.0.0:61616?protocols=AMQP;amqpCredits=12</acceptor></acceptors></core></configuration>'
    )
    document = read_bytes(text, "broker.xml", folder=Path(), edition=NEWEST, properties={}, environment={})
    assert amqp_acceptor(engine_settings(document).acceptors) == AmqpAcceptor(12)
