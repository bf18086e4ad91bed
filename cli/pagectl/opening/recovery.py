"""Recovery of the directories of a broker that was opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.files.destination import fresh_file
from pagectl.opening.broker import OpenedBroker
from pagectl.reports.recovery import messages_by_id
from pagectl.running.exits import CallError
from pagectl.running.locking import brokers_held_off, instance_of
from pagectl.running.permissions import refuse_closed
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import print_json_line, warning

if TYPE_CHECKING:
    from pagefmt.change.recovery.message_outcomes import MessageOutcomes
    from pagefmt.change.recovery.plan import RecoveryPlan
    from pagefmt.change.recovery.queues import QueueToName
    from pagefmt.editions import Edition


@contextmanager
def recovery(
    opened: OpenedBroker, out: Path | None, edition: Edition | None, list_to: Path | None
) -> Iterator[tuple[RecoveryPlan, MessageOutcomes]]:
    """Plan the recovery, and with ``out`` write the new directory; inside, the outcomes of messages can be read.

    ``list_to``: a new file for all of them. Raises ``CallError`` if not all directories of a broker were named, and
    what ``plan_recovery`` and ``recover`` raise.
    """
    from pagefmt.change.recovery.message_outcomes import MessageOutcomes
    from pagefmt.directory.locate import LocationKind
    from pagefmt.directory.locks import running_broker

    place = opened.place
    if place.kind not in (LocationKind.INSTANCE, LocationKind.DATA):
        raise CallError(f"{place.given}: is {place.kind}; name the instance or the data directory, with its journals")
    refuse_closed(place)
    if out is None and running_broker(place.journal, instance_of(place)) is not None:
        warning("a broker is running on these files: what it is writing looks like damage; stop it, and run this again")
    with MessageOutcomes() as outcomes:
        if list_to is None:
            yield _recovered(opened, out, edition, outcomes), outcomes
            return
        with fresh_file(list_to, place) as fresh:
            plan = _recovered(opened, out, edition, outcomes)
            with fresh.open("w", encoding="utf-8") as stream, redirect_stdout(stream):
                for message in messages_by_id(plan, outcomes):
                    print_json_line(message)
            yield plan, outcomes


def _recovered(
    opened: OpenedBroker, out: Path | None, edition: Edition | None, outcomes: MessageOutcomes
) -> RecoveryPlan:
    from pagefmt.change.recovery.recovering import plan_recovery, recover

    place, declared = opened.place, list(_declared(opened))
    with brokers_held_off(place, out is not None, out) as held, progress("reading everything", None):
        if out is None:
            return plan_recovery(place, declared, edition, outcomes)
        return recover(place, out, declared, edition, held, outcomes=outcomes)


def _declared(broker: OpenedBroker) -> Iterator[QueueToName]:
    from pagectl.opening.drift import declarations
    from pagefmt.change.recovery.queues import QueueToName

    if broker.configuration is not None:
        for (address, name), queue in declarations(broker.configuration)[1].queues.items():
            yield QueueToName(address, name, queue.routing)
