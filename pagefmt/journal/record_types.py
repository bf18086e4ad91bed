"""What a journal record is about: user record types, all of them by name (docs/spec/journal.md 5)."""

from __future__ import annotations

from enum import IntEnum


class RecordType(IntEnum):
    """Types of user records in the message and bindings journals.

    ``user_type`` of ADD and UPDATE records. 20 to 28, 44, 46 to 48, 50 to 52 stand in the bindings journal.
    """

    GROUP_RECORD = 20
    QUEUE_BINDING_RECORD = 21
    QUEUE_STATUS_RECORD = 22
    ID_COUNTER_RECORD = 24
    ADDRESS_SETTING_RECORD = 25
    SECURITY_SETTING_RECORD = 26
    DIVERT_RECORD = 27
    BRIDGE_RECORD = 28
    ADD_LARGE_MESSAGE_PENDING = 29
    ADD_LARGE_MESSAGE = 30
    ADD_MESSAGE = 31
    ADD_REF = 32
    ACKNOWLEDGE_REF = 33
    UPDATE_DELIVERY_COUNT = 34
    PAGE_TRANSACTION = 35
    SET_SCHEDULED_DELIVERY_TIME = 36
    DUPLICATE_ID = 37
    HEURISTIC_COMPLETION = 38
    ACKNOWLEDGE_CURSOR = 39
    PAGE_CURSOR_COUNTER_VALUE = 40
    PAGE_CURSOR_COUNTER_INC = 41
    PAGE_CURSOR_COMPLETE = 42
    PAGE_CURSOR_PENDING_COUNTER = 43
    ADDRESS_BINDING_RECORD = 44
    ADD_MESSAGE_PROTOCOL = 45
    ADDRESS_STATUS_RECORD = 46
    USER_RECORD = 47
    ROLE_RECORD = 48
    ADD_MESSAGE_BODY = 49
    KEY_VALUE_PAIR_RECORD = 50
    CONNECTOR_RECORD = 51
    ADDRESS_SETTING_RECORD_JSON = 52
    ACK_RETRY = 53
    MQTT_PACKET_ID_CORRELATION = 54


EVERY = frozenset(map(int, RecordType))
BINDINGS = EVERY & {*range(20, 29), 44, *range(46, 49), *range(50, 53)}
MESSAGES = frozenset({RecordType.ADD_LARGE_MESSAGE, RecordType.ADD_MESSAGE, RecordType.ADD_MESSAGE_PROTOCOL})


def type_name(user_type: int) -> str:
    """Return the broker's name of a user record type, ``UNKNOWN_n`` for an unknown one."""
    try:
        return RecordType(user_type).name
    except ValueError:
        return f"UNKNOWN_{user_type}"
