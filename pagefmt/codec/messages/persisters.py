"""Persister ids: which layout the message part of a 2.x record has (docs/spec/messages.md 1).

1  core             every protocol that lives in the broker as core: core, JMS, STOMP, MQTT, OpenWire
2  AMQP v1          2.0 – 2.2
3  AMQP v2          2.3 – 2.16, adds extra properties
4  AMQP large       2.12+, grew in 2.17
5  AMQP v3          2.17+, adds the expiration
"""

from __future__ import annotations

from typing import Final

CORE: Final = 1
AMQP_V1: Final = 2
AMQP_V2: Final = 3
AMQP_LARGE: Final = 4
AMQP_V3: Final = 5
# AMQP messages with the sections in the record.
AMQP: Final = (AMQP_V1, AMQP_V2, AMQP_V3)
# An i32 size and extra properties follow the sections.
WITH_EXTRA: Final = (AMQP_V2, AMQP_V3)
# An i64 expiration ends the message.
WITH_EXPIRATION: Final = (AMQP_V3,)
PERSISTER_NAMES: Final = {
    CORE: "core",
    AMQP_V1: "AMQP v1",
    AMQP_V2: "AMQP v2",
    AMQP_LARGE: "AMQP large",
    AMQP_V3: "AMQP v3",
}
