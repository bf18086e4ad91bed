"""``convert``: a data directory of an older broker as one that a newer broker starts on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from pagectl.running.reading import bytes_to_read
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import print_json

if TYPE_CHECKING:
    from pagefmt.change.conversion.plan import ConversionPlan

EXAMPLES = (
    ("Preview the conversion", "convert /var/lib/broker --edition artemis-2.56"),
    ("Write a directory that the newer broker starts on", "convert /var/lib/broker --edition artemis-2.56 --out new"),
)


def command(
    directory: DirArgument = None,
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
    from pagectl.opening.changed_copy import changed_copy
    from pagectl.outputs.conversion_text import show_conversion
    from pagectl.reports.conversion import Conversion
    from pagefmt.change.conversion.apply import convert
    from pagefmt.change.conversion.plan import plan_conversion

    target = edition_of(edition)
    if target is None:
        raise CallError("no edition given; name that of the broker that will start, such as --edition artemis-2.56")
    place = located(directory, broker)

    def plan_of(locked: bool) -> ConversionPlan:
        return plan_conversion(place, target, keep_prefixes=keep_prefixes, locked=locked)

    def write(plan: ConversionPlan, new: Path, held: Mapping[Path, int]) -> None:
        with progress("converting", bytes_to_read(place)) as bar:
            convert(plan, new, held, passed=bar.advance)

    plan, written = changed_copy(place, None if dry_run else out, plan_of, write)
    conversion = Conversion.of(plan, written)
    if form is TextOrJson.json:
        print_json(conversion)
    else:
        show_conversion(conversion)
    return Exit.FOUND if plan.lost else Exit.OK
