"""``recover``: a data directory that a broker starts on, made of what damage has left."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.opening.assumed_edition import note_judged
from pagectl.opening.broker import open_broker
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, EditionOption, OutOption, TextOrJsonOption, edition_of
from pagectl.running.exits import Exit
from pagectl.terminal.streams import note, print_json
from pagefmt.quantities import count_text

EXAMPLES = (
    ("The broker does not start: what is damaged, and what would be lost", "recover /var/lib/broker"),
    ("Write a directory that it starts on", "recover /var/lib/broker --out recovered"),
    ("Which messages are lost or delivered again, by id", "recover /var/lib/broker --list messages.jsonl"),
)


def command(
    directory: DirArgument = None,
    out: OutOption = None,
    form: TextOrJsonOption = TextOrJson.text,
    edition: EditionOption = None,
    broker: BrokerOptions = BrokerOptions(),
    list_to: Annotated[
        Path | None,
        typer.Option(
            "--list", metavar="FILE", help="Write the messages that are lost, delivered again or unsure as JSON lines."
        ),
    ] = None,
) -> int:
    """Plan how a broker can start again on damaged pages, journal, bindings and large messages, and what that means for
    messages: lost, delivered again, unsure. With --out, carry it out in a new directory; the broker must be stopped.

    What is read is never changed. If bindings are lost, queues are recreated from the ids in messages; their names are
    taken from the configuration if it declares one queue of an address, or are invented. Messages are listed by id as
    far as ids are left. Ends with status 1 if something is damaged, or if something was lost or is unsure.
    """  # noqa: D205
    from pagectl.files.destination import note_written
    from pagectl.opening.recovery import recovery
    from pagectl.outputs.recovery_text import next_steps, show_recovery, undo_command
    from pagectl.reports.recovery import Recovery

    opened = open_broker(directory, broker.broker_xml, broker.reading())
    place = opened.place
    with recovery(opened, out, edition_of(edition), list_to) as (plan, outcomes):
        written = out.absolute() if out is not None and plan.mends else None
        steps, undo = list(next_steps(plan, place.given, out, written)), undo_command(plan)
        if form is TextOrJson.json:
            print_json(Recovery.of(plan, outcomes, written, steps, undo))
        else:
            show_recovery(plan, outcomes, written, steps, undo)
            note_judged(edition, plan.edition)
    if list_to is not None:
        note(f"{count_text(outcomes.counts.total(), 'message')} in {list_to.absolute()}")
    if written is not None:
        note_written(written, place.paging)
    unsure = plan.lost.most != 0 or plan.again.most != 0 or plan.unsure.most != 0
    damaged = bool(plan.steps) if written is None else unsure or any(not step.mends for step in plan.steps)
    return Exit.FOUND if damaged else Exit.OK
