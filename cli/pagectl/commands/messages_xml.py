"""``messages xml``: what queues wait for, as the XML that ``artemis data imp`` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.groups import BrokerOptions
from pagectl.options.message_filter import QueueOption
from pagectl.options.shared import DirArgument, InOption
from pagectl.running.exits import Exit
from pagefmt.table.table_content import StoredIn

EXAMPLES = (
    ("All outstanding messages and their queues", "messages xml /var/lib/broker --to messages.xml"),
    ("One queue, to be imported elsewhere", "messages xml /var/lib/broker --queue red.news --to red.xml"),
)


def command(
    directory: DirArgument = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write to FILE, which appears only when complete.")
    ] = None,
    queues: QueueOption = None,
    within: InOption = StoredIn.LIVE,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Write outstanding messages as XML for 'artemis data imp': the journal first, then pages.

    AMQP messages become core messages, as the broker converts them. What the file cannot hold is reported, and messages
    in doubt are left out. Ends with status 1 in both cases, and if a page or the journal is damaged.
    """
    from pagectl.decoding.xml import write_xml
    from pagectl.opening.broker import located

    return Exit.FOUND if write_xml(located(directory, broker), to, queues, within) else Exit.OK
