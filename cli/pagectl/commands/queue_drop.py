"""``queue drop``: a data directory without one of its queues."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.opening.broker import open_broker
from pagectl.opening.drift import declared_at
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
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
from pagectl.terminal.streams import print_json

EXAMPLES = (
    ("What would be removed with a queue", "queue drop /var/lib/broker none.news"),
    ("A copy without it, for the broker to start on", "queue drop /var/lib/broker none.news --out without"),
)


def command(
    directory: DirArgument = None,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="QUEUE or ADDRESS::QUEUE; may also be the only argument, without DIR."),
    ] = None,
    out: OutOption = None,
    with_address: Annotated[
        bool, typer.Option("--with-address", help="Also drop its address, which must have no other queue.")
    ] = False,
    dry_run: DryRunOption = False,
    form: TextOrJsonOption = TextOrJson.text,
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Copy the directories of a stopped broker to NEW without a queue, its messages, and what no other queue needs.

    A broker started on NEW delivers from all other queues what it would have delivered, in the same order. Without
    --out: what would be removed. A queue that the configuration declares comes back at the next start, empty.
    """
    from pagectl.opening.changed_copy import copy_without
    from pagectl.outputs.removal_text import show_drop
    from pagectl.reports.removal import QueueDrop
    from pagefmt.change.removal.plan import DropPlan, plan_drop

    directory, queue = directory_and_queue(directory, name)
    opened = open_broker(directory, broker.broker_xml, broker.reading())

    def plan_of(locked: bool) -> DropPlan:
        return plan_drop(
            opened.place, queue, edition_of(edition), with_address=with_address, locked=locked, jobs=processes(jobs)
        )

    plan, written = copy_without(opened.place, None if dry_run else out, plan_of)
    declared = declared_at(opened, plan.queue)
    if form is TextOrJson.json:
        print_json(QueueDrop.of(plan, written, declared))
    else:
        show_drop(plan, written, declared)
    return Exit.FOUND if plan.remarks else Exit.OK
