"""The names that a selector may use, as ``--help`` and the manual pages list them."""

from __future__ import annotations

from typing import Any

from pagectl.running.examples import CommandWithExamples

TITLE = "Names in selectors (--where), and what to compare them with"
IDENTIFIERS = (
    ("NAME", "A property: color = 'red' AND seq > 20. With dots or hyphens in double quotes: \"mqtt.qos.level\" = 1"),
    (
        "JMSMessageID, AMQUserID",
        "The client's id, starting with ID: as in JMSMessageID = 'ID:3b206a19-e58f-11f1-aa91-02fc00000001'; for AMQP "
        "its text. --message-id accepts every form, with and without ID:, and also ID:AMQP_UUID:..., "
        "ID:AMQP_ULONG:..., ID:AMQP_BINARY:..., ID:AMQP_STRING:...",
    ),
    (
        "JMSCorrelationID",
        "JMSCorrelationID = 'order-7'; for AMQP also 'ID:AMQP_UUID:21fb3d1d-...' and 'ID:AMQP_ULONG:7'. No selector "
        "matches bytes; --correlation-id does",
    ),
    ("JMSTimestamp, AMQTimestamp", "When it was sent, ms since 1970; --since and --until accept times"),
    ("JMSExpiration, AMQExpiration", "When it expires, ms since 1970, 0 never; --expired"),
    ("JMSPriority, AMQPriority", "0 to 9: JMSPriority > 4"),
    ("JMSDeliveryMode, AMQDurable", "JMSDeliveryMode = 'PERSISTENT', AMQDurable = 'DURABLE'"),
    ("JMSXGroupID, AMQGroupID", "The message group: JMSXGroupID = 'g1'"),
    ("JMSType", "The type that a JMS client set; for AMQP the subject: JMSType = 'invoice'"),
    ("JMSXUserID, JMSXGroupSeq", "AMQP only: the user id and the number in the group"),
    ("AMQAddress, AMQSize", "AMQAddress = 'orders'; AMQSize > 100000 (bytes)"),
    ("m.NAME", 'A message annotation (AMQP): "m.x-opt-jms-msg-type" = 5'),
    ("message id", "The broker's number cannot be used in selectors; see --id"),
)


class CommandWithIdentifiers(CommandWithExamples):
    """A command that takes selectors; ``terms`` stand in front of its examples."""

    terms = (TITLE, IDENTIFIERS)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the table of identifiers before the epilog of every command."""
        with formatter.section(TITLE):
            formatter.write_dl(IDENTIFIERS)
        super().format_epilog(ctx, formatter)
