"""STOMP and MQTT: no gate A, and the connection ends if a message is refused (docs/spec/protocols.md 4 and 5)."""

from __future__ import annotations

from pageengine.broker.protocol_messages import mqtt_message, stomp_message
from pageengine.clients.wire_session import WireSession
from pageengine.model.outcome import ACCEPTED, CLOSED, NOT_ROUTED, REFUSED, SENT, ClientDecision
from pageengine.paging.gates import Gate
from pageengine.trace.operations import Send

ERROR_FRAME = "ERROR"
# The connection just ends.
NO_FRAME = "none"
DISCONNECT = "DISCONNECT"
IMPLEMENTATION_SPECIFIC = "0x83"
MQTT_5 = 5
MQTT_SESSIONS = "$sys.mqtt.sessions"


class StompSession(WireSession):
    """STOMP connection; ``receipts`` counts those requested on it."""

    receipts: int = 0

    def attach(self, op: Send) -> bool:
        """Start counting receipts anew for a new connection."""
        self.receipts = 0
        return True

    def deliver(self, op: Send) -> ClientDecision:
        """Send the message at once; STOMP never waits."""
        if self.broker.limits.disk_full:
            return self.dropped_connection(ClientDecision(CLOSED, broker=NOT_ROUTED), ERROR_FRAME)
        asks = self.client.receipt
        message = stomp_message(self.broker, op, f"r{self.receipts}" if asks else None)
        self.receipts += 1
        verdict = self.routed(message, ACCEPTED if asks else SENT)
        return self.dropped_connection(verdict, ERROR_FRAME) if verdict.r == REFUSED else verdict


class MqttSession(WireSession):
    """MQTT connection.

    Newer brokers keep the state of a 3.1.1 session as a message, which the memory limit counts.
    """

    def attach(self, op: Send) -> bool:
        """Send the session's state to an address of the broker's own; return False if that refuses it."""
        size = self.broker.profile.mqtt_session_bytes
        store = self.broker.store(MQTT_SESSIONS) if size and self.client.version != MQTT_5 else None
        gate = store.gates.decide_arrival() if store is not None else Gate.DROP
        if store is not None and gate is not Gate.DROP and gate is not Gate.FAIL:
            store.keep_own(size if gate is Gate.MEMORY else 0)
        return gate is not Gate.FAIL

    def deliver(self, op: Send) -> ClientDecision:
        """Send the message at once; MQTT never waits."""
        if self.broker.limits.disk_full:
            return self.dropped_connection(ClientDecision(CLOSED, broker=NOT_ROUTED), NO_FRAME)
        qos = self.client.qos
        message = mqtt_message(self.broker, op, qos, exact=bool(qos) or self.client.version == MQTT_5)
        verdict = self.routed(message, ACCEPTED if qos else SENT)
        if verdict.r != REFUSED:
            return verdict
        if self.client.version == MQTT_5:
            return self.dropped_connection(verdict, DISCONNECT, IMPLEMENTATION_SPECIFIC)
        return self.dropped_connection(verdict, NO_FRAME)
