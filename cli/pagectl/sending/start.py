"""A call of ``messages send``: the stored messages chosen, and sent or planned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pagectl.options.sending import PaceOptions
from pagectl.running.exits import CallError
from pagectl.running.locking import brokers_held_off
from pagectl.sending.checkpoint import SendingCheckpoint
from pagectl.sending.choice import PastChoice, chosen_messages, count_waiting, past_messages
from pagectl.sending.messages import Preparing, StoredMessages
from pagectl.sending.report import SendingReport, plan
from pagectl.sending.target import Target
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import note
from pagefmt.errors import installation
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation


@dataclass(frozen=True, slots=True)
class SendingChoice:
    """Which messages are sent, and where. ``queues``: None for all; ``mapping``: rules FROM=TO.

    ``past``: messages of a history; None: those that wait.
    """

    queues: list[str] | None
    where: str | None
    mapping: list[str]
    within: StoredIn
    past: PastChoice | None = None

    def as_key(self) -> dict[str, Any]:
        """Return what has to be the same in every call that goes on with one checkpoint."""
        key = {
            "queues": sorted(self.queues) if self.queues else None,
            "where": self.where,
            "to_address": sorted(self.mapping) if self.mapping else None,
        }
        if self.past is not None:
            key |= self.past.as_key()
        return key if self.within is StoredIn.LIVE else {**key, "in": self.within.value}


def send(
    place: DataLocation, target: Target, choice: SendingChoice, pace: PaceOptions, *, dry_run: bool
) -> tuple[SendingReport, StoredMessages]:
    """Send the chosen messages, or plan that (``dry_run``), while no broker uses the directories."""
    with brokers_held_off(place, not dry_run and choice.past is None):
        if choice.past is None:
            stored, queues = chosen_messages(place, choice.queues, choice.where, choice.mapping, choice.within)
        else:
            stored, queues = past_messages(choice.past, choice.queues, choice.where, choice.mapping)
        preparing = Preparing(place, stored.large, again=choice.past is not None)
        report = SendingReport(target, queues, preparing)
        count_waiting(stored, queues)
        if dry_run:
            plan(stored, report)
        else:
            _send(stored, report, pace, {"source": preparing.source, "to": target.url, **choice.as_key()})
    return report, stored


def _send(stored: StoredMessages, report: SendingReport, pace: PaceOptions, call: dict[str, Any]) -> None:
    """Send to the broker. ``call``: what the checkpoint belongs to."""
    try:
        from pagectl.sending.run import send_queues
    except ModuleNotFoundError as err:
        if (err.name or "").partition(".")[0] not in ("proton", "cproton", "cproton_ffi"):
            raise
        raise CallError(f"messages send needs python-qpid-proton; install it with: {installation('amqp')}") from err
    checkpoint = SendingCheckpoint(pace.checkpoint, call)
    try:
        if pace.checkpoint is None:
            note(
                "no --checkpoint: after an interruption a second run sends from the beginning, and the broker "
                "drops what it has only as far as it remembers ids (id-cache-size)"
            )
        total = sum(queue.totals.waiting for queue in report.queues) if stored.selector is None else 0
        with progress("sending", total or None, "messages") as bar:
            send_queues(stored, report, checkpoint, bar, pace.duplicates, pace.rate)
    finally:
        checkpoint.close()
