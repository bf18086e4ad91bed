"""State of a run: the broker, the sessions and consumers of its clients, and XA branches."""

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
    """State that the operations of a trace change. ``began`` is the time of the first one.

    ``wire_sessions``: those of other protocols than core. ``releases``: blocked sends that ended during the operation.
    ``parts_changed``: any store or queue may have changed, so an outcome has to check all. ``show_everything``: the
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
        """Return the session of this name, opened at first use."""
        session = self.sessions.get(name)
        if session is None:
            opened = self.kinds.get(name)
            kind = opened.kind if opened is not None else SessionKind.AUTO
            if opened is None or opened.protocol is ClientProtocol.CORE:
                session = Session(self.broker, self.header, self.releases, name, kind)
            else:
                session = self._wire_session(opened)
            self.sessions[name] = session
        return session

    def _wire_session(self, opened: OpenSession) -> WireSession:
        session = WIRE_SESSIONS[opened.protocol](self.broker, self.header, self.releases, opened)
        self.wire_sessions[opened.session] = session
        self.show_clients()
        return session

    def show_clients(self) -> None:
        """Show from now on in outcomes also what clients of other protocols wait for."""
        if not self.broker.shows_clients:
            self.broker.shows_clients = self.parts_changed = True

    def consumer(self, name: str) -> SessionConsumer:
        """Return the open consumer of this name; raise ``OperationFailed``."""
        consumer = self.consumers.get(name)
        if consumer is None:
            raise OperationFailed("IllegalStateException", f'no such consumer: "{name}"')
        if consumer.closed:
            raise OperationFailed("OBJECT_CLOSED")
        return consumer

    def close_consumer(self, consumer: SessionConsumer) -> None:
        """Close a consumer; its unacknowledged messages return to where they were (docs/spec/trace-format.md 1.2)."""
        close_consumer(self.broker, consumer)

    def transactions(self) -> list[Transaction]:
        """Return the open transactions of sessions, and branches."""
        of_sessions = [session.tx for session in self.sessions.values() if session.tx is not None]
        return of_sessions + [tx for tx in self.branches.values() if tx not in of_sessions]

    def unfinished_sends(self) -> list[int]:
        """Return the numbers of the sends that are still blocked."""
        return sorted(pending.i for session in self.sessions.values() for pending in session.pending)

    def change_settings(self, match: str, values: dict[str, str]) -> None:
        """Change an address-setting at run time; every store follows at once (spec 2.4)."""
        source = self.settings.address_settings.changed(match, values)
        self.settings = self.broker.settings = replace(self.settings, address_settings=source)
        for store in self.broker.stores.values():
            store.apply_settings(source.effective(store.address))
            store.gates.check_released()
        self.parts_changed = True
