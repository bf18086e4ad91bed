"""``pagectl disk usage``: where the bytes are."""

from __future__ import annotations

from typing import Annotated, assert_never

import typer

from pagectl.opening.broker import located
from pagectl.options.formats import TableFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, TableFormatOption
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import print_json, print_json_line, warning

EXAMPLES = (
    ("What uses the space", "disk usage /var/lib/broker"),
    ("Sizes only, for millions of pages", "disk usage /var/lib/broker --sizes-only"),
)


def command(
    directory: DirArgument = None,
    broker: BrokerOptions = BrokerOptions(),
    format: TableFormatOption = TableFormat.text,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="Number of addresses to show in text; 0 for all.")
    ] = 20,
    sizes_only: Annotated[
        bool,
        typer.Option(
            "--sizes-only",
            help="Count sizes only: do not read journal and pages, and do not look for the owners of large messages.",
        ),
    ] = False,
) -> int:
    """Show the bytes of each address, the journal, the bindings, the large messages and the rest of the instance."""
    from pagectl.outputs.usage_report import as_json, print_csv, print_text, rows
    from pagectl.running.disk_count import count

    place = located(directory, broker)
    if place.page is not None:
        raise CallError(f"{place.given}: is a file; name its store folder, the data directory or the instance")
    counting = count(place, contents=not sizes_only)
    match format:
        case TableFormat.text:
            print_text(counting, limit or None)
        case TableFormat.json:
            print_json(as_json(counting))
        case TableFormat.jsonl:
            for row in rows(counting):
                print_json_line(row)
        case TableFormat.csv:
            print_csv(counting)
        case _:
            assert_never(format)
    for remark in counting.remarks:
        warning(remark)
    return Exit.FOUND if counting.remarks else Exit.OK
