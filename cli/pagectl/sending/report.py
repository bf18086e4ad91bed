"""What is said of messages that were sent, or would be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagectl.reports.sending import LostInSending, PeerBroker, SentMessages, SentQueue, UnsentMessage
from pagectl.running.exits import report as complain
from pagectl.sending.messages import Preparing, QueueToSend, StoredMessages
from pagectl.sending.target import Target
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note, print_table, warning
from pagefmt.codec.wire import Undecodable
from pagefmt.exchange.outgoing import SendingWay
from pagefmt.quantities import count_text, size_text
from pagefmt.storage.files import NotReadable

_SHOWN: Final = 10


@dataclass(slots=True)
class SendingReport:
    """``stopped``: why it is not done, with the ``status`` of the program; ``product``, ``version`` of the broker."""

    target: Target
    queues: list[QueueToSend]
    preparing: Preparing
    dry: bool = False
    stopped: str | None = None
    status: int = 0
    product: str | None = None
    version: str | None = None

    @property
    def wrong(self) -> bool:
        """Return whether a message was left out, refused, or perhaps sent twice."""
        return bool(self.preparing.refused) or any(
            queue.totals.in_doubt or queue.totals.failure or queue.totals.perhaps_twice for queue in self.queues
        )

    def as_report(self) -> SentMessages:
        """Return the answer of the command."""
        lost_before = self.preparing.lost_before
        return SentMessages(
            done=not self.dry and self.stopped is None,
            stopped=self.stopped,
            to=self.target.url,
            broker=None if self.product is None else PeerBroker(product=self.product, version=self.version),
            queues=[_sent_queue(queue) for queue in self.queues],
            lost=[
                LostInSending(
                    way=way.name.lower(),  # type: ignore[arg-type]
                    what=what,
                    messages=count,
                    sent_before=lost_before[way, what],
                )
                for (way, what), count in sorted(self.preparing.lost.items())
            ],
            refused=[UnsentMessage(**refusal._asdict()) for refusal in self.preparing.refused],
        )

    def print_text(self) -> None:
        """Print the table of queues, and a summary line."""
        heads = ("MESSAGES", "BYTES", *(way.value.upper() for way in SendingWay))
        shown = [queue for queue in self.queues if queue.totals.messages or queue.totals.before or queue.totals.failure]
        if not shown and self.stopped is None:
            print("no message to send")
            return
        last = () if self.dry else ("SENT", "REFUSED")
        if shown:
            print_table((*heads, *last, "QUEUE", "TARGET"), map(self._cells, shown), right=(*heads, *last))
        count = sum(queue.totals.messages if self.dry else queue.totals.sent for queue in self.queues)
        done = "would send" if self.dry else "sent"
        broker = f" ({one_line(self.product or '')} {one_line(self.version)})" if self.version is not None else ""
        print(f"{done} {count_text(count, 'message')} to {self.target.url}{broker}")
        if self.dry and any(queue.totals.ways[SendingWay.TUNNELLED] for queue in self.queues):
            note("tunnelled: brokers before 2.32 do not accept that and are sent converted messages")

    def _cells(self, queue: QueueToSend) -> tuple[object, ...]:
        totals = queue.totals
        last = () if self.dry else (totals.sent, totals.refused)
        ways = (totals.ways[way] for way in SendingWay)
        return (totals.messages, size_text(totals.bytes), *ways, *last, queue.name, queue.target)

    def tell(self, checkpoint: Path | None) -> None:
        """Warn of what was not sent or is not known, and say why the run stopped."""
        for queue in self.queues:
            totals = queue.totals
            if totals.failure is not None:
                warning(f"{queue.name}: nothing sent to {queue.target}: {totals.failure}")
            if totals.perhaps_twice:
                twice = count_text(totals.perhaps_twice, "message")
                warning(
                    f"{queue.name}: {twice} may have arrived twice: connection lost, and the broker remembers no ids"
                )
            if totals.in_doubt:
                warning(f"{queue.name}: {count_text(totals.in_doubt, 'message')} in doubt left out")
        for refusal in self.preparing.refused[:_SHOWN]:
            warning(f"{refusal.queue}: message {refusal.id}: {refusal.why}")
        if len(self.preparing.refused) > _SHOWN:
            more = count_text(len(self.preparing.refused) - _SHOWN, "more message")
            warning(f"{more} refused or unreadable; --format json lists all of them")
        for (way, what), count in sorted(self.preparing.lost.items(), key=lambda queue: (-queue[1], queue[0])):
            before = self.preparing.lost_before[way, what]
            earlier = f" ({before} of them sent before)" if before else ""
            are = "is" if count == 1 else "are"
            which = f"that {are} {way.value}"
            if self.dry and way is SendingWay.CONVERTED:
                which = "if the broker is older than 2.32, so that they are converted"
            note(f"lost in {count_text(count, 'message')} {which}{earlier}: {what}")
        for remark, count in (
            ("are scheduled and will be delivered at their time", sum(queue.totals.scheduled for queue in self.queues)),
            (
                "have expired: the target broker will expire them by its own settings",
                sum(queue.totals.expired for queue in self.queues),
            ),
        ):
            if count:
                note(f"{count_text(count, 'message')}: {remark}")
        if self.stopped is not None:
            kept = "" if checkpoint is None else f": {checkpoint} records how far it got"
            complain(f"{self.stopped}; to continue, run the same command again{kept}")


def _sent_queue(queue: QueueToSend) -> SentQueue:
    totals = queue.totals
    return SentQueue(
        queue=queue.queue.name,
        address=queue.queue.address,
        id=queue.queue.id,
        target=queue.target,
        messages=totals.messages,
        bytes=totals.bytes,
        as_is=totals.ways[SendingWay.AS_IS],
        tunnelled=totals.ways[SendingWay.TUNNELLED],
        converted=totals.ways[SendingWay.CONVERTED],
        scheduled=totals.scheduled,
        expired=totals.expired,
        in_doubt=totals.in_doubt,
        sent=totals.sent,
        sent_before=totals.before,
        refused=totals.refused,
        perhaps_twice=totals.perhaps_twice,
        failure=totals.failure,
    )


def plan(stored: StoredMessages, report: SendingReport) -> None:
    """Prepare all messages as for a broker that accepts core messages unchanged, without sending.

    What messages lose is counted as for a broker that does not accept them.
    """
    report.dry = True
    for sending in report.queues:
        for queued in stored.of(sending.queue):
            try:
                report.preparing.ready(sending, queued, tunnel=False, queues=False)
            except (Undecodable, NotReadable) as err:
                report.preparing.refuse(sending, queued.id, f"cannot be read: {err}")
        ways = sending.totals.ways
        ways[SendingWay.TUNNELLED] = ways.pop(SendingWay.CONVERTED, 0)
