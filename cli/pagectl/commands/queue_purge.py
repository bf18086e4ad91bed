"""``queue purge``: a data directory in which one queue does not have certain messages any more."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.opening.assumed_edition import note_judged
from pagectl.opening.broker import open_broker
from pagectl.options.durations import parse_duration
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import (
    DirArgument,
    DryRunOption,
    EditionOption,
    JobsOption,
    OutOption,
    TextOrJsonOption,
    WhereOption,
    directory_and_queue,
    edition_of,
    processes,
)
from pagectl.outputs.in_place import print_steps
from pagectl.outputs.removal import freed_fields, head_fields, print_freed
from pagectl.running.exits import CallError, Exit
from pagectl.running.locking import brokers_held_off
from pagectl.running.permissions import refuse_closed
from pagectl.running.reading import note_near_names
from pagectl.terminal.progress import progress
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import print_json
from pagefmt.quantities import count_text, size_text, time_text

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.removal.purge import PurgePlan
    from pagefmt.selector import Selector


EXAMPLES = (
    ("What would be purged, of a stopped broker", "queue purge /var/lib/broker DLQ --older-than 30d"),
    ("A copy without these messages, for the broker to start on",
     "queue purge /var/lib/broker DLQ --older-than 30d --out purged"),
    ("Only what came from one address",
     "queue purge /var/lib/broker DLQ --where \"_AMQ_ORIG_ADDRESS = 'orders'\" --out without-orders"),
)  # fmt: skip


def command(
    given: DirArgument = None,
    name: Annotated[
        str | None,
        typer.Argument(metavar="QUEUE", help="QUEUE or ADDRESS::QUEUE; may also be the only argument, without DIR."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All messages that the queue waits for.")] = False,
    where: WhereOption = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than", metavar="AGE", help="Only messages that were sent so long ago or earlier, as 12h or 30d."
        ),
    ] = None,
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
    """
    from pagectl.files.destination import note_written
    from pagefmt.compaction.copy_out import copy_out
    from pagefmt.removal.purge import plan_purge

    given, name = directory_and_queue(given, name)
    until = _sent_before(older_than)
    chosen = _selector(everything, where, until)
    opened = open_broker(given, broker.broker_xml, broker.reading())
    place = opened.place
    _note_names(chosen, place)
    changing = out is not None and not dry_run
    refuse_closed(place)
    with brokers_held_off(place, changing, out) as held:
        with progress("reading journals and pages", None):
            plan = plan_purge(place, name, chosen, edition_of(edition), locked=bool(held), jobs=processes(jobs))
        if changing and out is not None:
            with progress("copying", None) as bar:
                copy_out(plan.pages, out, bar.advance, held=held, changed=plan.changes, added=plan.added)
            note_written(out.absolute(), place.paging)
    written = out.absolute() if changing and out is not None else None
    if form is TextOrJson.json:
        print_json(_object(plan, written, until))
    else:
        note_judged(edition, plan.edition)
        _text(plan, written, until)
        if written is not None:
            print_steps(plan.pages.roots, written)
    return Exit.FOUND if plan.remarks else Exit.OK


def _sent_before(older_than: str | None) -> int | None:
    """Return the time since which messages are too young, in milliseconds since 1970."""
    if older_than is None:
        return None
    try:
        return int((time.time() - parse_duration(older_than)) * 1000) + 1
    except ValueError as err:
        raise CallError(f"--older-than: {err}") from err


def _selector(everything: bool, where: str | None, until: int | None) -> Selector | None:
    """Return what is asked for; None: everything. Raise ``CallError`` if that is not said."""
    if everything == (where is not None or until is not None):
        raise CallError(
            "--all takes every message, so --where and --older-than do not go with it"
            if everything
            else "say which messages to purge: --all, --where SELECTOR or --older-than AGE"
        )
    if everything:
        return None
    from pagefmt.selector import parse
    from pagefmt.selector.facts import SentBetween, joined

    facts = [] if until is None else [SentBetween(None, until)]
    return joined(facts, None if where is None else parse(where))


def _note_names(chosen: Selector | None, place: DataLocation) -> None:
    from pagefmt.outstanding.message_filter import PageRange

    if chosen is not None:
        note_near_names(list(chosen.names()), place, PageRange())


def _object(plan: PurgePlan, written: Path | None, until: int | None) -> dict[str, Any]:
    purged = plan.journal_messages + plan.paged_messages
    return {
        **head_fields(plan.queue, written),
        "sent_before": until,
        "messages": purged,
        "bytes": plan.journal_bytes + plan.paged_bytes,
        "in_journal": {"messages": plan.journal_messages, "bytes": plan.journal_bytes},
        "in_pages": {"messages": plan.paged_messages, "bytes": plan.paged_bytes, "pages": len(plan.in_pages)},
        "left": plan.left,
        "in_doubt": plan.held.paged.in_doubt,
        "acknowledged": plan.acknowledged,
        **freed_fields(plan),
    }


def _text(plan: PurgePlan, written: Path | None, until: int | None) -> None:
    queue = plan.queue
    purged = plan.journal_messages + plan.paged_messages
    print(f"queue {one_line(queue.name)} (id {queue.id}) of address {one_line(queue.address)}")
    if until is not None:
        print(f"only messages that were sent before {time_text(until, 'seconds')}")
    print(f"{'purged' if written else 'would purge'} {count_text(purged, 'message')}: {plan.journal_messages} in the "
          f"journal, {size_text(plan.journal_bytes)}; {plan.paged_messages} in "
          f"{count_text(len(plan.in_pages), 'page')}, {size_text(plan.paged_bytes)}")  # fmt: skip
    print(f"left in the queue: {'?' if plan.left is None else plan.left}")
    if plan.acknowledged:
        print(f"acknowledged for the queue, and kept for others or in their page: {plan.acknowledged}")
    if plan.held.paged.in_doubt:
        print(f"in prepared transactions: {plan.held.paged.in_doubt}; these stay")
    print_freed(plan, written)
    if written:
        print(f"copy without these messages: {one_line(str(written))}")
