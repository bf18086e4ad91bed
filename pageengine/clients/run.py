"""The state of a run: the broker, the sessions and consumers of its clients, and XA branches."""

from __future__ import annotations

from dataclasses import replace

from pageengine.broker.settling import started
from pageengine.broker.transaction import Transaction
from pageengine.clients.session import Session, SessionConsumer, close_consumer
from pageengine.model.failure import OperationFailed
from pageengine.model.outcome import Released
from pageengine.paging.watched_disks import WatchedDisks
from pageengine.settings.profiles import Profile
from pageengine.settings.settings import EngineSettings
from pageengine.trace.operations import ClientProtocol, SessionKind, TraceHeader


class Run:
    """What the operations of a trace work on.

    ``releases``: blocked sends that ended during the operation. ``parts_changed``: any store or queue may have
    changed, an outcome has to look at all. ``show_everything``: the outcome shows the complete state once.
    """

    def __init__(self, settings: EngineSettings, profile: Profile, header: TraceHeader) -> None:
        self.settings = settings
        self.profile = profile
        self.header = header
        self.broker = started(settings, profile, header.start_ns or 0)
        self.sessions: dict[str, Session] = {}
        self.kinds: dict[str, tuple[SessionKind, ClientProtocol]] = {}
        self.consumers: dict[str, SessionConsumer] = {}
        self.branches: dict[str, Transaction] = {}
        self.disks = WatchedDisks(settings, profile)
        self.releases: list[Released] = []
        self.parts_changed = False
        self.show_everything = False

    def session(self, name: str) -> Session:
        """The session of this name, opened at first use."""
        found = self.sessions.get(name)
        if found is None:
            kind, protocol = self.kinds.get(name, (SessionKind.AUTO, ClientProtocol.CORE))
            found = self.sessions[name] = Session(self.broker, self.header, self.releases, name, kind, protocol)
        return found

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
