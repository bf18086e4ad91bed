"""Sends the messages of queues, one queue behind the other, each message once whatever happens meanwhile.

A message is done with when the broker has settled it. What is under way when a connection or this program ends is sent
again with the same duplicate ids, by which the broker knows it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from pagectl.running.exits import CallError, Exit
from pagectl.sending.checkpoint import QueueProgress, SendingCheckpoint
from pagectl.sending.management import REMEMBERED, AddressRules, rules_of
from pagectl.sending.message_table import MessageTable, UnsettledMessage
from pagectl.sending.messages import Preparing, QueuedMessage, QueueToSend, StoredMessages, next_crc
from pagectl.sending.peer import ConnectionLost, LinkEnded, PartlySent, Peer, SendingOutcome, Settlement
from pagectl.sending.report import SendingReport
from pagectl.sending.target import Target
from pagectl.terminal.progress import Progress
from pagectl.terminal.streams import note
from pagefmt.codec.wire import Undecodable
from pagefmt.directory.queue_names import FQQN
from pagefmt.quantities import count_text
from pagefmt.storage.files import NotReadable

# messages in flight at most, unless the broker remembers fewer duplicate ids
WINDOW: Final = 2000
# bytes of prepared messages in memory at most
LARGEST_WINDOW: Final = 32 << 20
_FIRST_PAUSE: Final = 1.0  # seconds until a message that was given back is sent again; doubled each time
_LONGEST_PAUSE: Final = 30.0
# seconds without a connection before the run gives up
_WITHOUT: Final = 600.0
_QUIET: Final = 5.0
_TELL_AGAIN: Final = 60.0  # seconds after which it is said again that the broker accepts nothing
_TO_FINISH: Final = 6.0  # seconds after a signal in which what is under way may be settled
_AT_MOST: Final = 8.0  # seconds after a signal until whatever is being done ends; closing takes two more
_TRIES: Final = 5  # times that a message is sent which the broker gives back although it has room


class Interrupted(Exception):
    """Somebody ended it; what was under way is done with. ``status``: of the program."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


@dataclass(slots=True)
class Sending:
    """One run of ``messages send``.

    ``duplicates`` is the number of ids per address that the broker remembers, None to use the number that it reports.
    """

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
    _ended_at: float = 0.0
    _is_idle: bool = False
    _lost_since: float | None = None
    _pause: float = 0.5
    _paced: float = 0.0

    @property
    def preparing(self) -> Preparing:
        """Return the object that prepares messages and counts them."""
        return self.report.preparing

    def remembered(self, sending: QueueToSend) -> int:
        """Return how many duplicate ids the broker remembers for the target address of a queue."""
        if self.duplicates is not None:
            return self.duplicates
        ids = self._rules[sending.target].ids
        return REMEMBERED if ids is None else ids

    def window(self, sending: QueueToSend) -> int:
        """Return how many messages of a queue may be in flight at once."""
        return max(1, min(WINDOW, self.remembered(sending)))

    def _check(self, peer: Peer, queues: list[QueueToSend]) -> None:
        """Read the rules of all target addresses, and refuse to continue if messages might be delivered twice.

        Raises ``CallError`` if the broker remembers fewer duplicate ids than there are messages that may have been
        sent.
        """
        rules = rules_of(peer, (queue.target.partition(FQQN)[0] for queue in queues))
        for queue in queues:
            self._rules[queue.target] = rules[queue.target.partition(FQQN)[0]]
            progress = self.checkpoint.queues.get(queue.name)
            if progress is not None and progress.unsure > self.remembered(queue):
                raise CallError(
                    f"--checkpoint {self.checkpoint.path}: {count_text(progress.unsure, 'message')} of {queue.name} "
                    f"may have been sent, and the broker remembers {self.remembered(queue)} duplicate ids of "
                    f"{queue.target}; "
                    f"where its id-cache-size was at least {progress.unsure} all the time, say so with --id-cache-size"
                )
        if any(queue.forgets for queue in rules.values()):
            note("persist-id-cache is off there: if the broker stops during this run, some messages may arrive twice")

    def run(self, queues: list[QueueToSend]) -> None:
        """Send the messages of all queues, one queue after another.

        Raises ``Interrupted``, ``CallError``, and ``ConnectionLost`` if the broker cannot be reached again.
        """
        with self._signals():
            try:
                with self._idle():
                    peer = self._connect()
                    self._check(peer, [queue for queue in queues if self._left(queue)])
                for queue in queues:
                    self._queue(queue)
            finally:
                if self._peer is not None:
                    self._peer.close()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Install signal handlers while the context is open.

        The first signal ends the run in order, within ``_AT_MOST`` seconds in any case; the second ends it at once.
        """
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)

        def end(number: int, _: object) -> None:
            if number == signal.SIGALRM and self._ended is not None:
                raise Interrupted(128 + self._ended)
            for signum, was in zip(numbers[:3], before, strict=False):
                signal.signal(signum, was)
            self._ended, self._ended_at = number, time.monotonic()
            if self._is_idle:
                raise Interrupted(128 + number)
            signal.setitimer(signal.ITIMER_REAL, _AT_MOST)

        before: list[Any] = [signal.getsignal(signum) for signum in numbers]
        for signum, was in zip(numbers, before, strict=True):
            if was is not signal.SIG_IGN or signum == signal.SIGALRM:
                signal.signal(signum, end)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for signum, was in zip(numbers, before, strict=True):
                signal.signal(signum, was)

    @contextmanager
    def _idle(self) -> Iterator[None]:
        """Let the first signal end it at once: nothing is being sent or settled, and system calls may take long."""
        self._is_idle = True
        try:
            if self._ended is not None:
                raise Interrupted(128 + self._ended)
            yield
        finally:
            self._is_idle = False

    # -- connections --------------------------------------------------------------------------------------------------

    def _connect(self) -> Peer:
        self._peer = Peer(self.target)
        self.report.product, self.report.version = self._peer.product, self._peer.version
        return self._peer

    def _again(self, lost: ConnectionLost) -> None:
        """Connect again, after longer and longer pauses.

        Raises ``ConnectionLost`` after ``_WITHOUT`` seconds without a connection over which a message was settled.
        """
        if self._peer is not None:
            self._peer.drop()
        self.bar.clear()
        note(f"connection lost: {lost}; trying again")
        now = time.monotonic()
        if self._lost_since is None:
            self._lost_since, self._pause = now, 0.5
        with self._idle():
            while True:
                if time.monotonic() - self._lost_since > _WITHOUT:
                    raise lost
                time.sleep(self._pause)
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                try:
                    self._connect()
                except ConnectionLost as err:
                    lost = err
                else:
                    return

    def settled_one(self) -> None:
        """Note that a message was settled, or given up for good."""
        self._lost_since = None

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
        sending.totals.failure = self._unsafe(sending)
        if sending.totals.failure is not None:
            return None
        run = _QueueRun(self, sending, progress)
        while True:
            assert self._peer is not None
            try:
                try:
                    with self._idle():
                        self._peer.attach(sending.target, sending.capability)
                except LinkEnded as err:
                    sending.totals.failure = str(err)
                    return None
                return run.go(self._peer)
            except (ConnectionLost, LinkEnded) as err:
                lost = err if isinstance(err, ConnectionLost) else ConnectionLost(str(err), by_broker=True)
                run.lost(lost)
                self._again(lost)

    def _unsafe(self, sending: QueueToSend) -> str | None:
        """Return why not each message would arrive exactly once by the address's settings there, or None."""
        if self._rules[sending.target].drops:
            return (
                "its address-full-policy is DROP, which silently loses messages once the address is full; set another "
                "policy"
            )
        if self.duplicates is None and self.remembered(sending) == 0:
            return (
                "its id-cache-size is 0, so messages under way would arrive twice if the connection is lost; set "
                "another size, or accept that with --id-cache-size 0"
            )
        return None

    def tunnels(self, offered: bool) -> bool:
        """Return whether core messages are sent unchanged. Raise ``CallError`` if an earlier connection differed."""
        if self._tunnels is None:
            self._tunnels = offered
        if self._tunnels != offered:
            raise CallError(
                f"--to {self.target.url}: a different broker answers now; the checkpoint records how far this run got"
            )
        return offered

    def pause(self) -> float:
        """Return the seconds until the rate allows another message, 0 for now."""
        if self.rate is None:
            return 0.0
        now = time.monotonic()
        self._paced = max(self._paced, now - 0.1)
        return max(0.0, self._paced - now)

    def paced(self) -> None:
        """Advance the pacing clock by one sent message."""
        if self.rate is not None:
            self._paced += 1 / self.rate

    @property
    def ended(self) -> int | None:
        """Return the number of the signal that ended the run, None while it continues."""
        return self._ended

    @property
    def is_late(self) -> bool:
        """Return whether the signal came so long ago that outstanding settlements are no longer awaited."""
        return self._ended is not None and time.monotonic() - self._ended_at > _TO_FINISH


class _QueueRun:
    """Sending of one queue over one connection after another. Positions are those in the order of delivery."""

    def __init__(self, sending: Sending, queue: QueueToSend, progress: QueueProgress) -> None:
        self.all, self.queue, self.progress = sending, queue, progress
        self._table = MessageTable()
        self._stored = iter(sending.stored.of(queue.queue))
        self._again: set[int] = set()
        self._accepted: set[int] = set()
        self._crc = 0
        self._next = 0
        self._whole = False
        self._saved = time.monotonic()
        self._pause = _FIRST_PAUSE
        self._alone = self._checked = False
        self._fruitless = 0

    def go(self, peer: Peer) -> None:
        """Send over this connection until all messages of the queue are settled."""
        tunnel = self.all.tunnels(peer.tunnels)
        table = self._table
        table.send_all()
        quiet_until = time.monotonic() + _QUIET
        while True:
            ended = self.all.ended
            if ended is None:
                self._fill(peer, tunnel)
            if ended is not None and (not table.in_flight or self.all.is_late):
                self._save()
                raise Interrupted(128 + ended)
            if not table.in_flight:
                if table.released:
                    self._wait(peer)
                    continue
                if self._whole and not table:
                    break
            settled = peer.settled(min(1.0, self.all.pause() or 1.0))
            for settlement in settled:
                self._settled(settlement)
            now = time.monotonic()
            if settled:
                quiet_until = now + _QUIET
            elif now > quiet_until and ended is None:
                if not peer.credit or table.in_flight:
                    self.all.bar.clear()
                    note(
                        f"{self.queue.target}: the broker accepts no more messages at the moment: is the address full, "
                        "or its disk?"
                    )
                quiet_until = now + _TELL_AGAIN
            if now - self._saved > 1.0:
                self._save()
        self.progress.done = True
        self._save()

    def lost(self, err: ConnectionLost) -> None:
        """Record a lost connection, and decide whether messages are to be sent one at a time.

        If the broker repeatedly ends the connection, one message may be the cause; sent alone, it is found and refused.
        """
        in_flight = self._table.in_flight
        if not self.all.remembered(self.queue):
            self.queue.totals.perhaps_twice += len(in_flight)
        self._fruitless += err.by_broker and bool(in_flight)
        if self._alone and err.by_broker and len(in_flight) == 1:
            (position,) = in_flight
            self._refuse(position, f"the broker ended the connection: {err}")
            self._alone, self._fruitless = False, 0
        elif self._fruitless > 1:
            self._alone = True

    # -- filling ------------------------------------------------------------------------------------------------------

    def _fill(self, peer: Peer, tunnel: bool) -> None:
        table, window = self._table, 1 if self._alone else self.all.window(self.queue)
        while len(table.in_flight) < window and table.size < LARGEST_WINDOW and not self.all.pause():
            if not table.to_send:
                if table.released or not self._read(peer, tunnel):
                    return
                continue
            position = table.to_send[0]
            message = table[position]
            try:
                peer.turn_to(message.target, self.queue.capability)
            except LinkEnded as err:
                self._refuse(position, str(err))
                continue
            if peer.credit <= 0 or (position >= self.progress.begun and not self._begin(position)):
                return
            try:
                peer.send(position, message.outgoing.format, message.outgoing.parts())
            except NotReadable as err:
                self._refuse(position, f"cannot be read: {err}")
                continue
            except PartlySent as err:
                self._refuse(position, f"cannot be read to its end: {err}")
                raise ConnectionLost(
                    f"ended here, because message {message.queued.id} cannot be read to its end"
                ) from err
            table.mark_sent()
            self.all.paced()

    def _begin(self, position: int) -> bool:
        """Record what may have been sent, before it is sent; return whether the window had to move."""
        low, window = self._low(), self.all.window(self.queue)
        if low + window <= position:
            return False
        self.progress.begun = low + window
        self._save()
        return True

    def _read(self, peer: Peer, tunnel: bool) -> bool:
        """Prepare the next message to be sent; return False if there is none."""
        for queued in self._stored:
            self._check(queued)
            crc, self._crc = self._crc, next_crc(self._crc, queued.id)
            self._next = queued.position + 1
            was_sent = queued.position < self.progress.settled and queued.position not in self.progress.again
            try:
                target, prepared = self.all.preparing.ready(
                    self.queue, queued, tunnel=tunnel, queues=peer.knows_queues, before=was_sent
                )
            except (Undecodable, NotReadable) as err:
                self._again.add(queued.position)
                self.all.preparing.refuse(self.queue, queued.id, f"cannot be read: {err}")
                continue
            if was_sent:
                self.all.bar.advance(1)
                self.queue.totals.before += 1
                continue
            self._table.add(UnsettledMessage(queued, target, prepared, crc))
            return True
        self._check(None)
        self._whole = True
        return False

    def _check(self, queued: QueuedMessage | None) -> None:
        """Raise ``CallError`` unless the messages before ``queued`` are those that the checkpoint recorded as sent.

        ``queued`` None means that there are no more messages.
        """
        settled = self.progress.settled
        if self._checked or (queued is not None and queued.position < settled):
            return
        self._checked = True
        if self._crc != self.progress.crc or self._next < settled:
            raise CallError(
                f"--checkpoint {self.all.checkpoint.path}: {self.queue.name} does not start with the "
                f"{count_text(settled, 'message')} that were sent: has a broker run on the directory since, or does "
                "--where depend on the time?"
            )

    # -- settling -----------------------------------------------------------------------------------------------------

    def _settled(self, settlement: Settlement) -> None:
        position, outcome, why = settlement
        if position not in self._table.in_flight:
            return
        if outcome is SendingOutcome.RETURNED:
            message = self._table[position]
            message.returns += 1
            if message.returns == _TRIES:
                self._refuse(position, f"sent {_TRIES} times: {why}")
                return
        if outcome in (SendingOutcome.FULL, SendingOutcome.RETURNED):
            self._table.release(position, why)
            return
        self._fruitless = 0
        if outcome is SendingOutcome.REJECTED:
            self._refuse(position, why)
            return
        self._done(position)
        self._alone, self._pause = False, _FIRST_PAUSE
        self.queue.totals.sent += 1
        if position in self.progress.again:
            self._accepted.add(position)

    def _refuse(self, position: int, why: str) -> None:
        message = self._done(position)
        self._again.add(position)
        self.all.preparing.refuse(self.queue, message.queued.id, why)

    def _done(self, position: int) -> UnsettledMessage:
        self.all.settled_one()
        self.all.bar.advance(1)
        return self._table.remove(position)

    def _wait(self, peer: Peer) -> None:
        """Pause after the broker gave messages back, then queue them again in their original order."""
        self.all.bar.clear()
        note(f"{self.queue.target}: trying again after a pause: {self._table.release_reason}")
        end = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        while time.monotonic() < end and self.all.ended is None:
            peer.settled(0.5)
        self._table.send_released()

    def _low(self) -> int:
        """Return the first position that is not settled."""
        settled = self.progress.settled
        first = self._table.first_from(settled)
        return max(settled, self._next) if first is None else first.queued.position

    def _save(self) -> None:
        progress = self.progress
        if self._next >= progress.settled:
            first = self._table.first_from(progress.settled)
            progress.settled, progress.crc = (
                (self._next, self._crc) if first is None else (first.queued.position, first.crc)
            )
        if progress.done:
            progress.begun = progress.settled
        self.all.checkpoint.save(self.queue.name, self._again, self._accepted)
        self._again, self._accepted = set(), set()
        self._saved = time.monotonic()


def send_queues(
    stored: StoredMessages,
    report: SendingReport,
    checkpoint: SendingCheckpoint,
    bar: Progress,
    duplicates: int | None,
    rate: float | None,
) -> None:
    """Send the messages of the report's queues. Raise ``CallError``.

    If the run ends early, the report says why.
    """
    sending = Sending(report.target, stored, report, checkpoint, bar, duplicates, rate)
    try:
        sending.run(report.queues)
    except Interrupted as err:
        report.stopped, report.status = "interrupted", err.status
    except ConnectionLost as err:
        report.stopped, report.status = str(err), Exit.FAILED
