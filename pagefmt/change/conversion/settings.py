"""Settings that management made and the bindings keep: roles and address settings of HornetQ and 1.x.

2.x reads more roles than they wrote, whether they are there or not, and takes the fields that follow the consumer
policy for others (docs/spec/journal.md 11.2). Address settings are JSON since 2.32.
"""

from __future__ import annotations

import json
from struct import Struct
from typing import Final

from pagefmt.change.conversion.names import NewNames
from pagefmt.codec.wire import ByteReader, ByteWriter

ROLES: Final = (
    "send", "consume", "create_durable", "delete_durable", "create_non_durable", "delete_non_durable", "manage",
    "browse", "create_address", "delete_address",
)  # fmt: skip
_DOUBLE: Final = Struct(">d")
# right → the right that included it up to 1.x; HornetQ has no ``browse`` either
_LIKE: Final = {"browse": "consume", "create_address": "create_durable", "delete_address": "delete_durable"}
# name in 2.x (None: dropped in 2.x) and type of each setting; all are nullable
_SETTINGS: Final = (
    ("addressFullMessagePolicy", "text"), ("maxSizeBytes", "i64"), ("pageSizeBytes", "i64"),
    ("pageCacheMaxSize", "i32"), (None, "bool"), ("maxDeliveryAttempts", "i32"),
    ("messageCounterHistoryDayLimit", "i32"), ("redeliveryDelay", "i64"), ("redeliveryMultiplier", "double"),
    ("maxRedeliveryDelay", "i64"), ("deadLetterAddress", "address"), ("expiryAddress", "address"),
    ("expiryDelay", "i64"), ("defaultLastValueQueue", "bool"), ("redistributionDelay", "i64"),
    ("sendToDLAOnNoRoute", "bool"), ("slowConsumerThreshold", "i64"), ("slowConsumerCheckPeriod", "i64"),
    ("slowConsumerPolicy", "text"),  # HornetQ ends here
    ("autoCreateQueues", "bool"), ("autoDeleteQueues", "bool"), ("autoCreateAddresses", "bool"),
    ("autoDeleteAddresses", "bool"), ("managementBrowsePageSize", "i32"), ("maxSizeBytesRejectThreshold", "i64"),
)  # fmt: skip


def new_roles(reader: ByteReader) -> bytes:
    """Return the lists of roles of a security setting as 2.x reads them. Raise ``Undecodable``."""
    roles: dict[str, str | None] = {}
    for name in ROLES:
        roles[name] = reader.nsstr(name) if reader.left() else roles[_LIKE[name]] if name in _LIKE else None
    out = ByteWriter()
    for value in roles.values():
        out.nsstr(value)
    out.raw(reader.rest())
    return out.done()


def json_setting(reader: ByteReader, names: NewNames) -> str:
    """Return address settings as the JSON of 2.x. Raise ``Undecodable``."""
    settings: dict[str, object] = {}
    for name, kind in _SETTINGS:
        if not reader.left():
            break
        value: object = None
        if reader.u8(f"{name} present"):
            match kind:
                case "text":
                    value = reader.sstr(str(name))
                case "address":
                    value = names.address(reader.sstr(str(name)))
                case "i32":
                    value = reader.i32(str(name))
                case "i64":
                    value = reader.i64(str(name))
                case "double":
                    (value,) = _DOUBLE.unpack(reader.take(_DOUBLE.size, str(name)))
                case _:
                    value = bool(reader.u8(str(name)))
        if name is not None and value is not None:
            settings[name] = value
    reader.finish("address settings")
    return json.dumps(settings)
