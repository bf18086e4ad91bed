"""The names that a selector may use, as ``--help`` and the manual pages list them."""

from __future__ import annotations

from typing import Any

from pagectl.running.examples import CommandWithExamples

TITLE = "Names in selectors (--where), and what to compare them with"
IDENTIFIERS = (
    ("NAME", "A property: color = 'red' AND seq > 20. With dots or hyphens in double quotes: \"mqtt.qos.level\" = 1"),
    (
        "JMSMessageID, AMQUserID",
        "The client's id, with ID: in front: JMSMessageID = 'ID:3b206a19-e58f-11f1-aa91-02fc00000001'; of AMQP its "
        "text. --user-id takes every form, with and without ID:, also ID:AMQP_UUID:..., ID:AMQP_ULONG:..., "
        "ID:AMQP_BINARY:..., ID:AMQP_STRING:...",
    ),
    (
        "JMSCorrelationID",
        "JMSCorrelationID = 'order-7'; of AMQP also 'ID:AMQP_UUID:21fb3d1d-...' and 'ID:AMQP_ULONG:7'. Bytes match no "
        "selector, but --correlation-id",
    ),
    ("JMSTimestamp, AMQTimestamp", "When it was sent, ms since 1970; --since and --until take times"),
    ("JMSExpiration, AMQExpiration", "When it expires, ms since 1970, 0 never; --expired"),
    ("JMSPriority, AMQPriority", "0 to 9: JMSPriority > 4"),
    ("JMSDeliveryMode, AMQDurable", "JMSDeliveryMode = 'PERSISTENT', AMQDurable = 'DURABLE'"),
    ("JMSXGroupID, AMQGroupID", "The message group: JMSXGroupID = 'g1'"),
    ("JMSType", "The type that a JMS client set; of AMQP the subject: JMSType = 'invoice'"),
    ("JMSXUserID, JMSXGroupSeq", "Of AMQP the user id and the number in the group"),
    ("AMQAddress, AMQSize", "AMQAddress = 'orders'; AMQSize > 100000 (bytes)"),
    ("m.NAME", 'Of AMQP a message annotation: "m.x-opt-jms-msg-type" = 5'),
    ("message id", "The broker's number has no name in selectors: --id"),
)


class CommandWithIdentifiers(CommandWithExamples):
    """A command that takes selectors; ``terms`` stand in front of its examples."""

    terms = (TITLE, IDENTIFIERS)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The table, and what every command has there."""
        with formatter.section(TITLE):
            formatter.write_dl(IDENTIFIERS)
        super().format_epilog(ctx, formatter)
