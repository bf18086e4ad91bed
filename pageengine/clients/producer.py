"""Producer credits: what a core client requests before it sends (gate A), and when it must wait or is refused.

Source: docs/spec/paging-engine.md 2.6 and 2.7.
"""

from __future__ import annotations

from pageengine.broker.broker import Broker
from pageengine.model.ports import Producer


class SendRefused(Exception):
    """Error for a send that the client refuses, because the broker refused an earlier request for credits."""


class Credits:
    """Credits in bytes of one session for one address.

    ``step`` is the least that it requests, below 0 if it needs none. ``blocked``: a send has requested what it needs
    and waits for it.
    """

    __slots__ = (
        "address",
        "arriving",
        "asks_at_equal",
        "balance",
        "blocked",
        "broker",
        "late",
        "refused",
        "session",
        "step",
    )

    def __init__(self, broker: Broker, session: Producer, address: str, window: int) -> None:
        self.broker = broker
        self.session = session
        self.address = address
        self.step = window // 2 if window >= 0 else -1
        self.balance = 0
        self.arriving = 0
        self.refused = False
        self.blocked = False
        self.late: list[int] = []
        self.asks_at_equal = broker.profile.asks_at_equal
        if window > 1:
            self._check(self.step)
            self.arrive()

    def acquire(self, credits: int) -> bool:
        """Acquire credits, or return False if the producer must wait.

        Raises ``SendRefused`` after a refusal by the broker.
        """
        step = self.step
        if step < 0:
            return True
        if not (self.blocked or self.refused or self.arriving):
            # where the broker grants at once what is asked for, or nothing has to be asked for
            needed = credits if credits > step else step
            balance = self.balance
            if balance > needed or (balance == needed and not self.asks_at_equal):
                self.balance = balance - credits
                return True
            store = self.broker.stores.get(self.address) or self.broker.store(self.address)
            if store is None or store.gates.lets_in():
                self.balance = balance + needed - credits
                return True
        if not self.blocked:
            self._check(credits)
        if self.balance < credits:
            self.arrive()
        self.blocked = self.balance < credits
        if self.blocked:
            return False
        try:
            self.take(credits)
        finally:
            self.arrive()
        return True

    def take(self, credits: int) -> None:
        """Take credits. Raises SendRefused after a refusal."""
        self.balance -= credits
        if self.refused:
            # an answer that is still under way comes on top, and may refuse the next send as well
            self.refused = False
            self.balance = 0
            self.arriving = 0
            raise SendRefused

    def _check(self, credits: int) -> None:
        needed = max(credits, self.step)
        have = self.balance + self.arriving
        if have < needed or (have == needed and self.asks_at_equal):
            ask = needed - self.arriving
            self.arriving += ask
            self.late.append(ask)

    def arrive(self) -> None:
        """Deliver requests to the broker and its answers back, after a send that had enough credits."""
        requests, self.late = self.late, []
        for credits in requests:
            self._request(credits)

    def _request(self, credits: int) -> None:
        store = self.broker.store(self.address)
        if store is None:
            self._receive(credits)
        elif not store.gates.check_memory(lambda: self.grant(credits)):
            self.refused = True
            self._receive(credits)

    def grant(self, credits: int) -> None:
        """Receive credits that the broker grants, so that the session may go on."""
        self._receive(credits)
        self.broker.schedule.resume(self.session)

    def _receive(self, credits: int) -> None:
        self.arriving -= credits
        self.balance += credits
