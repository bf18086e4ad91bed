"""``messages import-plan``: what a file for ``artemis data imp`` would bring into a broker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.shared import EditionOption, TextOrJsonOption, edition_of
from pagectl.running.exits import Exit
from pagectl.terminal.streams import print_json, print_table, say
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.exchange.xml_reading import ImportPlan

EXAMPLES = (("Check a file before it is imported", "messages import-plan messages.xml"),)


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="XML of 'artemis data exp' or 'messages xml'.")],
    edition: EditionOption = None,
    form: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Show what 'artemis data imp' would do with a file: messages by queue, and what it would lose or stop at.

    Assumes the importer of the newest edition and a new broker, unless --edition names another. Nothing is imported.

    Ends with status 1 if something would be lost or the import would stop.
    """
    from pagectl.opening.assumed_edition import note_edition
    from pagefmt.editions import NEWEST
    from pagefmt.exchange.xml_reading import import_plan

    plan = import_plan(file, edition_of(edition) or NEWEST)
    if form is TextOrJson.json:
        print_json(_object(file, plan))
    else:
        note_edition(edition, None)
        _text(plan)
    return Exit.FOUND if plan.faults or plan.duplicates else Exit.OK


def _object(file: Path, plan: ImportPlan) -> dict[str, object]:
    return {
        "file": str(file),
        "addresses": plan.addresses,
        "messages": plan.messages,
        "behind": plan.behind,
        "stop": plan.stop and {"line": plan.stop[0], "what": plan.stop[1]},
        "duplicates": plan.duplicates,
        "again": plan.again,
        "expired": plan.expired,
        "queues": [
            {
                "queue": queue.name, "address": queue.address, "messages": queue.messages, "bytes": queue.bytes,
                "large": queue.large, "bound": not queue.made,
            }
            for queue in plan.queues.values()
        ],
        "faults": [{"line": line, "what": what} for line, what in plan.faults],
        "more_faults": plan.more_faults,
        "remarks": list(plan.remarks()),
    }  # fmt: skip


def _text(plan: ImportPlan) -> None:
    if plan.queues:
        print_table(
            ("MESSAGES", "BYTES", "LARGE", "QUEUE", "ADDRESS"),
            [
                (queue.messages, size_text(queue.bytes), queue.large or "", queue.name, queue.address)
                for queue in plan.queues.values()
            ],
            right=("MESSAGES", "BYTES", "LARGE"),
        )
    addresses = count_text(plan.addresses, "address", "addresses")
    print(f"{count_text(plan.messages, 'message')}, {count_text(len(plan.queues), 'queue')}, {addresses}")
    for line, what in plan.faults:
        say(f"line {line}: {what}")
    if plan.more_faults:
        print(f"… and {plan.more_faults} more such lines")
    for remark in plan.remarks():
        say(f"remark: {remark}")
