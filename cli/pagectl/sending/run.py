"""Sends the messages of queues, one queue behind the other, each message once whatever happens meanwhile.

A message is done with when the broker has settled it. What is under way when a connection or this program ends is sent
again with the same duplicate ids, by which the broker knows it.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pagectl.running.exits import CallError, Exit
from pagectl.sending.checkpoint import QueueProgress, SendingCheckpoint
from pagectl.sending.management import REMEMBERED, AddressRules, rules_of
from pagectl.sending.messages import Preparing, QueuedMessage, QueueToSend, StoredMessages, next_crc
from pagectl.sending.peer import ConnectionLost, LinkEnded, Peer, SendingOutcome, Settlement
from pagectl.sending.report import SendingReport
from pagectl.sending.target import Target
from pagectl.terminal.progress import Progress
from pagectl.terminal.streams import note
from pagefmt.bytes.files import NotReadable
from pagefmt.bytes.wire import Undecodable
from pagefmt.directory.queue_names import FQQN
from pagefmt.exchange.outgoing import Outgoing
from pagefmt.quantities import count_text

WINDOW: Final = 2000
"""Messages that may be under way at once, unless the broker remembers fewer ids."""
LARGEST_WINDOW: Final = 32 << 20
"""Bytes of them that are held in memory."""
_LONGEST_PAUSE: Final = 30.0
_WITHOUT: Final = 600.0
"""Seconds without a connection before it is given up."""
_QUIET: Final = 5.0
_TO_FINISH: Final = 10.0


class Interrupted(Exception):
    """Somebody ended it; what was under way is done with. ``status``: of the program."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


class _UnderWay(NamedTuple):
    """``crc``: of the messages in front of it."""

    queued: QueuedMessage
    target: str
    outgoing: Outgoing
    crc: int


@dataclass(slots=True)
class Sending:
    """One call. ``duplicates``: ids that the broker remembers of an address, None: as it says."""

    target: Target
    stored: StoredMessages
    report: SendingReport
    checkpoint: SendingCheckpoint
    bar: Progress
    duplicates: int | None
    rate: float | None = None
    _rules: dict[str, AddressRules] = field(default_factory=dict)
    _peer: Peer | None = None
    _tunnels: bool | None = None
    _ended: int | None = None
    _paced: float = 0.0

    @property
    def preparing(self) -> Preparing:
        """What makes messages ready."""
        return self.report.preparing

    def remembered(self, sending: QueueToSend) -> int:
        """So many ids of the queue's messages."""
        if self.duplicates is not None:
            return self.duplicates
        ids = self._rules[sending.target].ids
        return REMEMBERED if ids is None else ids

    def window(self, sending: QueueToSend) -> int:
        """Messages under way at most."""
        return max(1, min(WINDOW, self.remembered(sending)))

    def _check(self, peer: Peer, queues: list[QueueToSend]) -> None:
        """Refuses to go on where the broker has forgotten ids of what may have been sent. Raises ``CallError``."""
        asked = rules_of(peer, (each.target.partition(FQQN)[0] for each in queues))
        for each in queues:
            self._rules[each.target] = asked[each.target.partition(FQQN)[0]]
            found = self.checkpoint.queues.get(each.name)
            if found is not None and found.unsure > self.remembered(each):
                raise CallError(
                    f"--checkpoint {self.checkpoint.path}: {count_text(found.unsure, 'message')} of {each.name} may "
                    f"have been sent, and the broker remembers {self.remembered(each)} duplicate ids of {each.target}; "
                    f"where its id-cache-size was at least {found.unsure} all the time, say so with --id-cache-size"
                )
        if any(each.forgets for each in asked.values()):
            note("persist-id-cache is off there: if the broker stops during this run, some messages may arrive twice")

    def run(self, queues: list[QueueToSend]) -> None:
        """Raises ``Interrupted``, ``CallError``, and ``ConnectionLost`` where there is no way back."""
        with self._signals():
            try:
                peer = self._connect()
                self._check(peer, [each for each in queues if self._left(each)])
                for each in queues:
                    self._queue(each)
            finally:
                if self._peer is not None:
                    self._peer.close()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """The first one ends it in order, the second one at once."""
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

        def end(number: int, _: object) -> None:
            for each, was in zip(numbers, before, strict=True):
                signal.signal(each, was)
            self._ended = number

        before: list[Any] = [signal.getsignal(each) for each in numbers]
        for each, was in zip(numbers, before, strict=True):
            if was is not signal.SIG_IGN:
                signal.signal(each, end)
        try:
            yield
        finally:
            for each, was in zip(numbers, before, strict=True):
                signal.signal(each, was)

    # -- connections --------------------------------------------------------------------------------------------------

    def _connect(self) -> Peer:
        self._peer = Peer(self.target)
        self.report.product, self.report.version = self._peer.product, self._peer.version
        return self._peer

    def _again(self, lost: ConnectionLost) -> None:
        """A connection in the place of the one that was lost; waits longer from time to time."""
        if self._peer is not None:
            self._peer.drop()
        self.bar.clear()
        note(f"connection lost: {lost}; trying again")
        pause, end = 0.5, time.monotonic() + _WITHOUT
        while self._ended is None:
            time.sleep(pause)
            try:
                self._connect()
            except ConnectionLost as err:
                if time.monotonic() > end:
                    raise err
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                return
        raise Interrupted(128 + self._ended)

    # -- one queue ----------------------------------------------------------------------------------------------------

    def _left(self, sending: QueueToSend) -> bool:
        """Something is left to send."""
        progress = self.checkpoint.of(sending.name)
        return not progress.done or bool(progress.again)

    def _queue(self, sending: QueueToSend) -> None:
        progress = self.checkpoint.of(sending.name)
        if not self._left(sending):
            sending.totals.before = progress.settled
            self.bar.advance(progress.settled)
            return None
        if self._rules[sending.target].drops:
            sending.totals.failure = (
                "its address-full-policy is DROP, which silently loses messages once the address is full; set another "
                "policy"
            )
            return None
        run = _QueueRun(self, sending, progress)
        while True:
            assert self._peer is not None
            try:
                try:
                    self._peer.attach(sending.target, sending.capability)
                except LinkEnded as err:
                    sending.totals.failure = str(err)
                    return None
                return run.go(self._peer)
            except (ConnectionLost, LinkEnded) as err:
                lost = err if isinstance(err, ConnectionLost) else ConnectionLost(str(err), told=True)
                run.lost(lost)
                self._again(lost)

    def tunnels(self, offered: bool) -> bool:
        """Whether core messages go as they are. Raises ``CallError`` where another connection says otherwise."""
        if self._tunnels is None:
            self._tunnels = offered
        if self._tunnels != offered:
            raise CallError(
                f"--to {self.target.url}: a different broker answers now; the checkpoint records how far this run got"
            )
        return offered

    def pause(self) -> float:
        """Seconds until the rate allows another message; 0: now."""
        if self.rate is None:
            return 0.0
        now = time.monotonic()
        self._paced = max(self._paced, now - 0.1)
        return max(0.0, self._paced - now)

    def paced(self) -> None:
        """One message was sent."""
        if self.rate is not None:
            self._paced += 1 / self.rate

    @property
    def ended(self) -> int | None:
        """The signal that ended it."""
        return self._ended


class _QueueRun:
    """The messages of one queue on their way. Positions are those in the order of delivery."""

    def __init__(self, sending: Sending, queue: QueueToSend, progress: QueueProgress) -> None:
        self.all, self.queue, self.progress = sending, queue, progress
        self.under_way: dict[int, _UnderWay] = {}
        self._left = iter(sending.stored.of(queue.queue))
        self._to_send: deque[int] = deque()
        self._flying: set[int] = set()
        self._later: list[int] = []
        self._held = 0
        self._again: set[int] = set()
        self._accepted: set[int] = set()
        self._crc = 0
        self._next = 0
        self._whole = False
        self._saved = time.monotonic()
        self._pause = 1.0
        self._alone = self._checked = False
        self._fruitless = 0

    def go(self, peer: Peer) -> None:
        """Until all are settled, over this connection."""
        tunnel = self.all.tunnels(peer.tunnels)
        self._to_send = deque(sorted(self.under_way))
        self._flying.clear()
        self._later.clear()
        quiet = time.monotonic()
        while True:
            ended = self.all.ended
            if ended is None:
                self._fill(peer, tunnel)
            if not self._flying:
                if ended is not None:
                    self._save()
                    raise Interrupted(128 + ended)
                if self._later:
                    self._wait(peer)
                    continue
                if self._whole and not self.under_way:
                    break
            settled = peer.settled(min(1.0, self.all.pause() or 1.0))
            for each in settled:
                self._settled(each)
            now = time.monotonic()
            if settled:
                quiet = now
            elif now - quiet > (_TO_FINISH if ended is not None else _QUIET):
                if ended is not None:
                    self._save()
                    raise Interrupted(128 + ended)
                if not peer.credit or self._flying:
                    self.all.bar.clear()
                    note(
                        f"{self.queue.target}: the broker accepts no more messages at the moment: is the address full, "
                        "or its disk?"
                    )
                quiet = now + 55
            if now - self._saved > 1.0:
                self._save()
        self.progress.done = True
        self._save()

    def lost(self, err: ConnectionLost) -> None:
        """Whether it was one message that the broker ends connections for: it goes alone in the end."""
        self._fruitless += err.told and bool(self._flying)
        if self._alone and err.told and len(self._flying) == 1:
            (position,) = self._flying
            self._refuse(position, f"the broker ended the connection: {err}")
            self._alone, self._fruitless = False, 0
        elif self._fruitless > 1:
            self._alone = True

    # -- filling ------------------------------------------------------------------------------------------------------

    def _fill(self, peer: Peer, tunnel: bool) -> None:
        window = 1 if self._alone else self.all.window(self.queue)
        while len(self._flying) < window and self._held < LARGEST_WINDOW and not self.all.pause():
            if not self._to_send:
                if self._later or not self._read(peer, tunnel):
                    return
                continue
            position = self._to_send[0]
            one = self.under_way[position]
            try:
                peer.turn_to(one.target, self.queue.capability)
            except LinkEnded as err:
                self._to_send.popleft()
                self._refuse(position, str(err))
                continue
            if peer.credit <= 0 or (position >= self.progress.begun and not self._begin(position)):
                return
            self._to_send.popleft()
            try:
                peer.send(position, one.outgoing.format, one.outgoing.parts())
            except NotReadable as err:
                raise CallError(
                    f"message {one.queued.id} of {self.queue.name}: {err}; run the same command again"
                ) from err
            self._flying.add(position)
            self.all.paced()

    def _begin(self, position: int) -> bool:
        """Says what may have been sent from now on, before it is."""
        low, window = self._low(), self.all.window(self.queue)
        if low + window <= position:
            return False
        self.progress.begun = low + window
        self._save()
        return True

    def _read(self, peer: Peer, tunnel: bool) -> bool:
        """The next message to be sent; False: there is none."""
        for each in self._left:
            self._check(each)
            crc, self._crc = self._crc, next_crc(self._crc, each.id)
            self._next = each.position + 1
            known = each.position < self.progress.settled and each.position not in self.progress.again
            try:
                target, made = self.all.preparing.ready(
                    self.queue, each, tunnel=tunnel, queues=peer.knows_queues, before=known
                )
            except (Undecodable, NotReadable) as err:
                self._again.add(each.position)
                self.all.preparing.refuse(self.queue, each.id, f"cannot be read: {err}")
                continue
            if known:
                self.all.bar.advance(1)
                self.queue.totals.before += 1
                continue
            self.under_way[each.position] = _UnderWay(each, target, made, crc)
            self._held += len(made.head)
            self._to_send.append(each.position)
            return True
        self._check(None)
        self._whole = True
        return False

    def _check(self, each: QueuedMessage | None) -> None:
        """The messages in front are those that the checkpoint is about."""
        settled = self.progress.settled
        if self._checked or (each is not None and each.position < settled):
            return
        self._checked = True
        if self._crc != self.progress.crc or self._next < settled:
            raise CallError(
                f"--checkpoint {self.all.checkpoint.path}: {self.queue.name} does not start with the "
                f"{count_text(settled, 'message')} that were sent: has a broker run on the directory since, or does "
                "--where depend on the time?"
            )

    # -- settling -----------------------------------------------------------------------------------------------------

    def _settled(self, each: Settlement) -> None:
        if each.number not in self._flying:
            return
        self._flying.discard(each.number)
        if each.outcome is SendingOutcome.LATER:
            self._later.append(each.number)
            self._why = each.why
            return
        self._fruitless = 0
        if each.outcome is SendingOutcome.REJECTED:
            self._refuse(each.number, each.why)
            return
        self._done(each.number)
        self._alone, self._pause = False, 1.0
        self.queue.totals.sent += 1
        if each.number in self.progress.again:
            self._accepted.add(each.number)

    def _refuse(self, position: int, why: str) -> None:
        one = self._done(position)
        self._flying.discard(position)
        self._again.add(position)
        self.all.preparing.refuse(self.queue, one.queued.id, why)

    def _done(self, position: int) -> _UnderWay:
        one = self.under_way.pop(position)
        self._held -= len(one.outgoing.head)
        self.all.bar.advance(1)
        return one

    def _wait(self, peer: Peer) -> None:
        """The broker has no room: what it gave back goes again, in order, after a while."""
        self.all.bar.clear()
        note(f"{self.queue.target}: waiting for room: {self._why}")
        end = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        while time.monotonic() < end and self.all.ended is None:
            peer.settled(0.5)
        self._to_send = deque(sorted([*self._later, *self._to_send]))
        self._later.clear()

    def _low(self) -> int:
        """The first position that is not settled."""
        settled = self.progress.settled
        return next((each for each in self.under_way if each >= settled), max(settled, self._next))

    def _save(self) -> None:
        low = self._low()
        if self._next >= self.progress.settled:
            first = self.under_way.get(low)
            self.progress.settled, self.progress.crc = low, self._crc if first is None else first.crc
        if self.progress.done:
            self.progress.begun = self.progress.settled
        self.all.checkpoint.save(self.queue.name, self._again, self._accepted)
        self._again, self._accepted = set(), set()
        self._saved = time.monotonic()

    _why = ""


def send_queues(
    stored: StoredMessages, report: SendingReport, checkpoint: SendingCheckpoint, bar: Progress, duplicates: int | None,
    rate: float | None,
) -> None:  # fmt: skip
    """Sends what the report's queues wait for; that it came to an end before is said there. Raises ``CallError``."""
    sending = Sending(report.target, stored, report, checkpoint, bar, duplicates, rate)
    try:
        sending.run(report.queues)
    except Interrupted as err:
        report.stopped, report.status = "interrupted", err.status
    except ConnectionLost as err:
        report.stopped, report.status = str(err), Exit.FAILED
