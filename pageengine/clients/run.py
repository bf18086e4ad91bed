"""The state of a run: the broker, the sessions and consumers of its clients, and XA branches."""

from __future__ import annotations

from dataclasses import replace

from pageengine.broker.settling import started
from pageengine.broker.transaction import Transaction
from pageengine.clients.amqp import AmqpSession
from pageengine.clients.openwire import OpenWireSession
from pageengine.clients.session import Session, SessionConsumer, close_consumer
from pageengine.clients.unlimited import MqttSession, StompSession
from pageengine.clients.wire_session import WireSession
from pageengine.model.failure import OperationFailed
from pageengine.model.outcome import Released
from pageengine.paging.watched_disks import WatchedDisks
from pageengine.settings.profiles import Profile
from pageengine.settings.settings import EngineSettings
from pageengine.trace.operations import ClientProtocol, OpenSession, SessionKind, TraceHeader

WIRE_SESSIONS: dict[ClientProtocol, type[WireSession]] = {
    ClientProtocol.AMQP: AmqpSession,
    ClientProtocol.OPENWIRE: OpenWireSession,
    ClientProtocol.STOMP: StompSession,
    ClientProtocol.MQTT: MqttSession,
}


class Run:
    """What the operations of a trace work on. ``began``: when its first one was.

    ``wire_sessions``: those of other protocols than core. ``releases``: blocked sends that ended during the operation.
    ``parts_changed``: any store or queue may have changed, an outcome has to look at all. ``show_everything``: the
    outcome shows the complete state once.
    """

    def __init__(self, settings: EngineSettings, profile: Profile, header: TraceHeader) -> None:
        self.settings = settings
        self.profile = profile
        self.header = header
        self.broker = started(settings, profile, header.start_ns or 0)
        self.sessions: dict[str, Session] = {}
        self.kinds: dict[str, OpenSession] = {}
        self.wire_sessions: dict[str, WireSession] = {}
        self.consumers: dict[str, SessionConsumer] = {}
        self.branches: dict[str, Transaction] = {}
        self.disks = WatchedDisks(settings, profile)
        self.releases: list[Released] = []
        self.began = 0
        self.parts_changed = False
        self.show_everything = False

    def session(self, name: str) -> Session:
        """The session of this name, opened at first use."""
        found = self.sessions.get(name)
        if found is None:
            opened = self.kinds.get(name)
            kind = opened.kind if opened is not None else SessionKind.AUTO
            if opened is None or opened.protocol is ClientProtocol.CORE:
                found = Session(self.broker, self.header, self.releases, name, kind)
            else:
                found = self._wire_session(opened)
            self.sessions[name] = found
        return found

    def _wire_session(self, opened: OpenSession) -> WireSession:
        found = WIRE_SESSIONS[opened.protocol](self.broker, self.header, self.releases, opened)
        self.wire_sessions[opened.session] = found
        self.show_clients()
        return found

    def show_clients(self) -> None:
        """From now on an outcome shows also what clients of other protocols wait for."""
        if not self.broker.shows_clients:
            self.broker.shows_clients = self.parts_changed = True

    def consumer(self, name: str) -> SessionConsumer:
        """The open consumer of this name. Raises Failed."""
        found = self.consumers.get(name)
        if found is None:
            raise OperationFailed("IllegalStateException", f'no such consumer: "{name}"')
        if found.closed:
            raise OperationFailed("OBJECT_CLOSED")
        return found

    def close_consumer(self, consumer: SessionConsumer) -> None:
        """Unacknowledged messages go back to where they were (docs/spec/trace-format.md 1.2)."""
        close_consumer(self.broker, consumer)

    def transactions(self) -> list[Transaction]:
        """Open transactions of sessions, and branches."""
        found = [session.tx for session in self.sessions.values() if session.tx is not None]
        return found + [tx for tx in self.branches.values() if tx not in found]

    def unfinished_sends(self) -> list[int]:
        """Numbers of the sends that are still blocked."""
        return sorted(pending.i for session in self.sessions.values() for pending in session.pending)

    def change_settings(self, match: str, values: dict[str, str]) -> None:
        """An address-setting is changed at run time; every store follows at once (spec 2.4)."""
        source = self.settings.address_settings.changed(match, values)
        self.settings = self.broker.settings = replace(self.settings, address_settings=source)
        for store in self.broker.stores.values():
            store.apply_settings(source.effective(store.address))
            store.check_released()
        self.parts_changed = True
