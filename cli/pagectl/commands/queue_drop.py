"""``queue drop``: a data directory without one of its queues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.opening.broker import OpenedBroker, open_broker
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
from pagectl.outputs.in_place import print_steps
from pagectl.outputs.removal import freed_fields, head_fields, print_freed
from pagectl.running.exits import Exit
from pagectl.running.locking import brokers_held_off
from pagectl.running.permissions import refuse_closed
from pagectl.terminal.progress import progress
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import print_json
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.removal.plan import DropPlan


EXAMPLES = (
    ("What would be removed with a queue", "queue drop /var/lib/broker none.news"),
    ("A copy without it, for the broker to start on", "queue drop /var/lib/broker none.news --out without"),
)


def command(
    given: DirArgument = None,
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
    from pagectl.files.destination import note_written
    from pagefmt.compaction.copy_out import copy_out
    from pagefmt.removal.plan import plan_drop

    given, name = directory_and_queue(given, name)
    opened = open_broker(given, broker.broker_xml, broker.reading())
    place = opened.place
    changing = out is not None and not dry_run
    refuse_closed(place)
    with brokers_held_off(place, changing, out) as held:
        with progress("reading journals and pages", None):
            plan = plan_drop(
                place,
                name,
                edition_of(edition),
                with_address=with_address,
                locked=bool(held),
                jobs=processes(jobs),
            )
        if changing and out is not None:
            with progress("copying", None) as bar:
                copy_out(plan.pages, out, bar.advance, held=held, changed=plan.changes)
            note_written(out.absolute(), place.paging)
    written = out.absolute() if changing and out is not None else None
    declared = _declared(opened, plan.queue)
    if form is TextOrJson.json:
        print_json(_object(plan, written) | {"declared": declared})
    else:
        _text(plan, written)
        if declared:
            print(f"declared in {one_line(declared)}: the next start creates it again, empty")
        if written is not None:
            print_steps(plan.pages.roots, written)
    return Exit.FOUND if plan.remarks else Exit.OK


def _declared(broker: OpenedBroker, queue: QueueBinding) -> str | None:
    """Where the configuration, as far as one was found, declares the queue."""
    from pagectl.opening.drift import declarations

    if broker.configuration is None:
        return None
    found = declarations(broker.configuration)[1].queues.get((queue.address, queue.name))
    return str(found.place) if found else None


def _object(plan: DropPlan, written: Path | None) -> dict[str, Any]:
    messages, size = plan.held.sums
    paged = plan.held.paged
    return {
        **head_fields(plan.queue, written),
        "address_dropped": plan.address is not None,
        "queues_left": [queue.name for queue in plan.left],
        "messages": messages,
        "bytes": size,
        "in_journal": {"messages": plan.held.messages, "bytes": plan.held.bytes},
        "in_pages": {"messages": paged.messages, "bytes": paged.bytes, "pages": paged.pages},
        "in_doubt": paged.in_doubt,
        **freed_fields(plan),
    }


def _text(plan: DropPlan, written: Path | None) -> None:
    queue, held, paged = plan.queue, plan.held, plan.held.paged
    print(f"queue {one_line(queue.name)} (id {queue.id}) of address {one_line(queue.address)}")
    print(f"messages: {held.messages} in the journal, {size_text(held.bytes)}; "
          f"{paged.messages} in {count_text(paged.pages, 'page')}, {size_text(paged.bytes)}")  # fmt: skip
    if held.unknown:
        print(f"there may be more: {one_line(held.unknown)}")
    if paged.in_doubt:
        print(f"in prepared transactions: {paged.in_doubt}; these stay, without what concerns the queue")
    if plan.left:
        print(f"the address keeps its other queues: {one_line(', '.join(one.name for one in plan.left))}")
    else:
        print("its only queue: the address " + ("is dropped as well" if plan.address else "stays, without its pages"))
    print_freed(plan, written)
    if written:
        print(f"copy without the queue: {one_line(str(written))}")
