"""``messages xml``: what queues wait for, as the XML that ``artemis data imp`` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.groups import BrokerOptions
from pagectl.options.history import HistoryChoiceOptions
from pagectl.options.message_filter import QueueOption
from pagectl.options.shared import DirArgument, InOption, WhereOption
from pagectl.running.exits import CallError, Exit
from pagefmt.table.table_content import StoredIn

EXAMPLES = (
    ("All outstanding messages and their queues", "messages xml /var/lib/broker --to messages.xml"),
    ("One queue, to be imported elsewhere", "messages xml /var/lib/broker --queue red.news --to red.xml"),
    (
        "Messages that a consumer has acknowledged by mistake",
        "messages xml /var/lib/broker --in history --queue red.news --since 2h --to again.xml",
    ),
)


def command(
    directory: DirArgument = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write to FILE, which appears only when complete.")
    ] = None,
    queues: QueueOption = None,
    where: WhereOption = None,
    within: InOption = StoredIn.LIVE,
    past: HistoryChoiceOptions = HistoryChoiceOptions(),
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Write outstanding messages as XML for 'artemis data imp': the journal first, then pages.

    AMQP messages become core messages, as the broker converts them. What the file cannot hold is reported, and messages
    in doubt are left out. Ends with status 1 in both cases, and if a page, the journal or the history is damaged.

    With --in history, messages are written that have left their queues: acknowledged, expired, or removed with their
    queue, unless --in-state says otherwise. Say which (--all for every one).
    """
    from pagectl.decoding.xml import write_past_xml, write_xml
    from pagectl.opening.broker import located

    past.check_choice(within, queues, where)
    if within is StoredIn.HISTORY:
        from pagectl.opening.history import open_history

        is_wrong = write_past_xml(open_history(directory, broker, past), to, queues, where, past)
        return Exit.FOUND if is_wrong else Exit.OK
    if where is not None:
        raise CallError("--where: needs --in history; messages find shows which of the waiting messages it selects")
    return Exit.FOUND if write_xml(located(directory, broker), to, queues, within) else Exit.OK
