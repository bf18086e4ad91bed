"""``pagectl disk usage``: where the bytes are."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.opening.broker import located
from pagectl.options.formats import TableFormat
from pagectl.options.groups import BrokerOptions, ListOptions
from pagectl.options.shared import DirArgument
from pagectl.outputs.usage_report import print_usage
from pagectl.reports.disk_usage import USAGE, DiskUsage, usage_rows
from pagectl.running.disk_count import count
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import print_json, warning

SHOWN = 20  # addresses that the text has without --limit
EXAMPLES = (
    ("What uses the space", "disk usage /var/lib/broker"),
    ("Sizes only, for millions of pages", "disk usage /var/lib/broker --sizes-only"),
    ("The ten addresses with the most pages", "disk usage /var/lib/broker --sort pages --limit 10"),
)


def command(
    directory: DirArgument = None,
    broker: BrokerOptions = BrokerOptions(),
    listed: ListOptions = ListOptions(),
    sizes_only: Annotated[
        bool,
        typer.Option(
            "--sizes-only",
            help="Count sizes only: do not read journal and pages, and do not look for the owners of large messages.",
        ),
    ] = False,
) -> int:
    """Show the bytes of each address, the journal, the bindings, the large messages and the rest of the instance.

    In text, --limit counts addresses (20 without it). With --columns or --sort, parts and addresses are rows of one
    list in every format, as they always are in csv and jsonl.
    """
    view = USAGE.view(listed)
    place = located(directory, broker)
    if place.page is not None:
        raise CallError(f"{place.given}: is a file; name its store folder, the data directory or the instance")
    counting = count(place, contents=not sizes_only)
    as_list = view.columns is not None or view.sort is not None
    if view.as_text and not as_list:
        print_usage(DiskUsage.of(counting), SHOWN if view.limit is None else view.limit or None)
    elif view.form is TableFormat.json and not as_list:
        print_json(DiskUsage.of(counting))
    else:
        view.show(usage_rows(counting))
    for remark in counting.remarks:
        warning(remark)
    return Exit.FOUND if counting.remarks else Exit.OK
