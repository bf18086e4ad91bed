"""``convert``: a data directory of an older broker as one that a newer broker starts on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.opening.broker import located
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import (
    DirArgument,
    DryRunOption,
    OutOption,
    TargetEditionOption,
    TextOrJsonOption,
    edition_of,
)
from pagectl.running.exits import CallError, Exit
from pagectl.running.locking import brokers_held_off
from pagectl.running.permissions import refuse_closed
from pagectl.running.reading import bytes_to_read
from pagectl.terminal.progress import progress
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import print_json, print_table
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.conversion.bindings import NewQueue
    from pagefmt.conversion.plan import ConversionPlan

EXAMPLES = (
    ("Preview the conversion", "convert /var/lib/broker --edition artemis-2.56"),
    ("Write a directory that the newer broker starts on", "convert /var/lib/broker --edition artemis-2.56 --out new"),
)


def command(
    given: DirArgument = None,
    out: OutOption = None,
    edition: TargetEditionOption = None,
    keep_prefixes: Annotated[
        bool,
        typer.Option("--keep-prefixes", help="Keep jms.queue. and jms.topic. in the names of addresses and queues."),
    ] = False,
    dry_run: DryRunOption = False,
    form: TextOrJsonOption = TextOrJson.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Write the data directory of a stopped broker (HornetQ, Artemis 1.x, 2.x) to NEW in the form of a 2.x broker.

    A broker of --edition started on NEW delivers from every queue what the old one would have delivered. Without --out:
    the plan. jms.queue.NAME becomes address and queue NAME, anycast; jms.topic.NAME becomes address NAME, multicast,
    and subscriptions keep their names. What has no counterpart is listed.
    """
    from pagectl.files.destination import note_written
    from pagefmt.conversion.apply import convert
    from pagefmt.conversion.plan import plan_conversion

    target = edition_of(edition)
    if target is None:
        raise CallError("no edition given; name that of the broker that will start, such as --edition artemis-2.56")
    place = located(given, broker)
    changing = out is not None and not dry_run
    refuse_closed(place)
    with brokers_held_off(place, changing, out) as held:
        with progress("reading journals and pages", None):
            plan = plan_conversion(place, target, keep_prefixes=keep_prefixes, locked=bool(held))
        if changing and out is not None:
            with progress("converting", bytes_to_read(place)) as bar:
                convert(plan, out, held, passed=bar.advance)
            note_written(out.absolute(), place.paging)
    written = out.absolute() if changing and out is not None else None
    if form is TextOrJson.json:
        print_json(_object(plan, written))
    else:
        _text(plan, written)
    return Exit.FOUND if plan.lost else Exit.OK


def _object(plan: ConversionPlan, written: Path | None) -> dict[str, Any]:
    return {
        "done": written is not None,
        "wrote": str(written) if written else None,
        "edition": plan.form.edition.value,
        "layout": "1.x" if plan.form.old else "2.x",
        "addresses": [
            {"address": each.name, "routing_types": [name.lower() for name in each.routing]}
            for each in plan.bindings.addresses
        ],
        "queues": [_queue(plan, each) for each in plan.bindings.queues],
        "journal_records": dict(plan.kinds),
        "page_records": plan.paged,
        "pages": sum(len(store.pages) for store in plan.stores),
        "no_counterpart": list(plan.dropped),
        "lost": list(plan.lost),
        "remarks": list(plan.remarks),
    }


def _queue(plan: ConversionPlan, queue: NewQueue) -> dict[str, Any]:
    held, new = plan.held[queue.old.id], queue.new
    known = held.unknown is None
    return {
        "id": queue.old.id,
        "old": {"address": queue.old.address, "queue": queue.old.name, "filter": queue.old.filter},
        "new": None if new is None else {
            "address": new.address, "queue": new.name, "filter": new.filter,
            "routing_type": (new.routing or "multicast").lower(),
        },
        "journal": held.messages if known else None,
        "pages": held.paged.messages if known else None,
        "in_doubt": held.paged.in_doubt if known else None,
        "unknown": held.unknown,
    }  # fmt: skip


def _text(plan: ConversionPlan, written: Path | None) -> None:
    rows = [_queue(plan, each) for each in plan.bindings.queues]
    heads = ("JOURNAL", "PAGES", "IN DOUBT")
    print_table((*heads, "ROUTING", "ADDRESS", "QUEUE", "WAS"), map(_cells, rows), right=heads)
    print(
        f"{count_text(plan.paged, 'record')} in {count_text(sum(len(store.pages) for store in plan.stores), 'page')}, "
        f"{count_text(sum(plan.kinds.values()), 'record')} of the message journal"
    )
    for title, lines in (("no counterpart", plan.dropped), ("lost", plan.lost), ("different", plan.remarks)):
        for line in lines:
            print(f"{title}: {one_line(line)}")
    if written:
        print(f"directory of {plan.form.edition.value}: {one_line(str(written))}")


def _cells(row: dict[str, Any]) -> tuple[object, ...]:
    old, new = row["old"], row["new"]
    counts = ["?" if row[name] is None else row[name] for name in ("journal", "pages", "in_doubt")]
    if new is None:
        return (*counts, "-", "-", "-", old["queue"])
    same = (old["address"], old["queue"]) == (new["address"], new["queue"])
    was = "" if same else f"{old['address']}::{old['queue']}"
    return (*counts, new["routing_type"], new["address"], new["queue"], was)
