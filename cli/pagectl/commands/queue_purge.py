"""``queue purge``: a data directory in which one queue does not have certain messages any more."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.opening.assumed_edition import note_judged
from pagectl.opening.broker import located
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.purge import PurgeOptions
from pagectl.options.shared import (
    DirArgument,
    DryRunOption,
    EditionOption,
    JobsOption,
    OutOption,
    TextOrJsonOption,
    directory_and_queue,
    edition_of,
    processes,
)
from pagectl.running.exits import Exit
from pagectl.running.reading import note_near_names
from pagectl.terminal.streams import print_json

EXAMPLES = (
    ("What would be purged, of a stopped broker", "queue purge /var/lib/broker DLQ --older-than 30d"),
    ("A copy without these messages, for the broker to start on",
     "queue purge /var/lib/broker DLQ --older-than 30d --out purged"),
    ("Only what came from one address",
     "queue purge /var/lib/broker DLQ --where \"_AMQ_ORIG_ADDRESS = 'orders'\" --out without-orders"),
)  # fmt: skip


def command(
    directory: DirArgument = None,
    name: Annotated[
        str | None,
        typer.Argument(metavar="QUEUE", help="QUEUE or ADDRESS::QUEUE; may also be the only argument, without DIR."),
    ] = None,
    choice: PurgeOptions = PurgeOptions(),
    form: TextOrJsonOption = TextOrJson.text,
    out: OutOption = None,
    dry_run: DryRunOption = False,
    jobs: JobsOption = 0,
    edition: EditionOption = None,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Copy the directories of a stopped broker to NEW without certain messages of one queue: all of them, those that a
    selector matches, or old ones.

    A broker started on NEW delivers everything else: the other messages of the queue, and these messages to other
    queues that wait for them. What a prepared transaction holds stays, and with --older-than a message whose sender set
    no time. --where and --older-than are combined with AND. Without --out: what would be purged.
    """  # noqa: D205
    from pagectl.opening.changed_copy import copy_without
    from pagectl.outputs.removal_text import show_purge
    from pagectl.reports.removal import QueuePurge
    from pagefmt.change.removal.purge import PurgePlan, plan_purge
    from pagefmt.outstanding.message_filter import PageRange

    directory, queue = directory_and_queue(directory, name)
    until = choice.sent_before()
    chosen = choice.selector(until)
    place = located(directory, broker)
    note_near_names(list(chosen.names()) if chosen is not None else [], place, PageRange())

    def plan_of(locked: bool) -> PurgePlan:
        return plan_purge(place, queue, chosen, edition_of(edition), locked=locked, jobs=processes(jobs))

    plan, written = copy_without(place, None if dry_run else out, plan_of)
    if form is TextOrJson.json:
        print_json(QueuePurge.of(plan, written, until))
    else:
        note_judged(edition, plan.edition)
        show_purge(plan, written, until)
    return Exit.FOUND if plan.remarks else Exit.OK
