"""The protocol that a core message came by: brokers add properties to what they convert (docs/spec/protocols.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pageengine.trace.operations import PLAIN_CLIENT, ClientOptions, ClientProtocol, MessageProperties

MQTT_QOS = "mqtt.qos.level"
# Properties that a replay adds again, for each protocol whose messages become core messages.
_OWN = {
    ClientProtocol.OPENWIRE: re.compile(r"__HDR_\w+|__AMQ_CID|_AMQ_GROUP_SEQUENCE|_AMQ_ROUTING_TYPE"),
    ClientProtocol.STOMP: re.compile(r"destination|content-length|receipt"),
    ClientProtocol.MQTT: re.compile(r"mqtt\.\w+\.\w+|__AMQ_CID|_AMQ_ROUTING_TYPE"),
}


def client_of(values: Mapping[str, object]) -> tuple[ClientProtocol, ClientOptions]:
    """Return a core message's original protocol and options, from its properties by name."""
    if MQTT_QOS in values:
        qos = values[MQTT_QOS]
        return ClientProtocol.MQTT, ClientOptions(qos=qos) if qos in (0, 2) else PLAIN_CLIENT
    if "__HDR_COMMAND_ID" in values:
        return ClientProtocol.OPENWIRE, PLAIN_CLIENT
    if "destination" in values and "content-length" in values:
        return ClientProtocol.STOMP, PLAIN_CLIENT if "receipt" in values else ClientOptions(receipt=False)
    return ClientProtocol.CORE, PLAIN_CLIENT


def without_own(protocol: ClientProtocol, props: MessageProperties) -> MessageProperties:
    """Return the properties without those that a replay adds again for this protocol."""
    own = _OWN.get(protocol)
    return props if own is None else MessageProperties(item for item in props if not own.fullmatch(item.name))
