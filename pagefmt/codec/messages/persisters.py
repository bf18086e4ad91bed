"""Persister ids: which layout the message part of a 2.x record has (docs/spec/messages.md 1).

A new persister with the fields of another is a row of ``_PERSISTERS`` and nothing else; one with other fields also
needs a codec, named in ``persisted``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

CORE: Final = 1
AMQP_V1: Final = 2
AMQP_V2: Final = 3
AMQP_LARGE: Final = 4
AMQP_V3: Final = 5


class Persister(NamedTuple):
    """A persister of the broker, and what its layout has.

    ``sections``: the sections of an AMQP message are in the record. ``extra``: an i32 size and extra properties follow
    the sections. ``expiration``: an i64 expiration ends the message. ``adds_address``: a reader adds the address to the
    extra properties. ``since_2_12``: brokers up to 2.11 do not know the id.
    """

    id: int
    name: str
    sections: bool = False
    extra: bool = False
    expiration: bool = False
    adds_address: bool = False
    since_2_12: bool = False


_PERSISTERS: Final = (
    # every protocol that lives in the broker as core: core, JMS, STOMP, MQTT, OpenWire
    Persister(CORE, "core"),
    # 2.0 to 2.2
    Persister(AMQP_V1, "AMQP v1", sections=True, adds_address=True),
    # 2.3 to 2.16
    Persister(AMQP_V2, "AMQP v2", sections=True, extra=True),
    # since 2.12; grew in 2.17
    Persister(AMQP_LARGE, "AMQP large", adds_address=True, since_2_12=True),
    # since 2.17
    Persister(AMQP_V3, "AMQP v3", sections=True, extra=True, expiration=True, since_2_12=True),
)
PERSISTER_NAMES: Final = {persister.id: persister.name for persister in _PERSISTERS}
AMQP: Final = tuple(persister.id for persister in _PERSISTERS if persister.sections)
WITH_EXTRA: Final = tuple(persister.id for persister in _PERSISTERS if persister.extra)
WITH_EXPIRATION: Final = tuple(persister.id for persister in _PERSISTERS if persister.expiration)
ADDING_ADDRESS: Final = tuple(persister.id for persister in _PERSISTERS if persister.adds_address)
SINCE_2_12: Final = tuple(persister.id for persister in _PERSISTERS if persister.since_2_12)
