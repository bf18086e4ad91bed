"""``messages ls``: what each queue waits for, in the journal and in pages."""

from __future__ import annotations

from pagectl.decoding.counts import counted
from pagectl.opening.broker import Alone, located
from pagectl.options.groups import BrokerOptions, ListOptions
from pagectl.options.shared import DirArgument, InOption
from pagectl.reports.messages import QUEUES, WaitingQueue
from pagectl.running.exits import Exit
from pagectl.running.permissions import warn_closed
from pagectl.running.reading import state_of_place, while_it_moves
from pagectl.terminal.streams import say, warning
from pagefmt.quantities import count_text
from pagefmt.table.table_content import StoredIn

EXAMPLES = (
    ("How many messages wait in each queue, and where they are stored", "messages ls /var/lib/broker"),
    ("The ten largest backlogs", "messages ls /var/lib/broker --sort messages --limit 10"),
    ("For a script", "messages ls /var/lib/broker --format jsonl"),
)


def command(
    directory: DirArgument = None,
    listed: ListOptions = ListOptions(),
    within: InOption = StoredIn.LIVE,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """List addresses and queues with the messages each still has to deliver, in the journal and in pages, and how many
    of them are scheduled; messages in doubt (of prepared transactions) are counted separately.

    acknowledged_but_kept (json, csv): messages that the queue has acknowledged and that still lie on the disk. Unknown
    values are ? (null). Ends with status 1 if a page or the journal is damaged or something is not known.
    """  # noqa: D205
    view = QUEUES.view(listed)
    place = located(directory, broker, far=True, alone=Alone.MESSAGES)
    closed = within is not StoredIn.JOURNAL and warn_closed(place)
    counts, wrong = while_it_moves(
        place,
        lambda: counted(
            place, state_of_place(place, within=within, closed=False), within, beside_output=not view.as_text
        ),
    )
    queues = sorted(counts.queues.values(), key=lambda row: (row.address is None, row.address or "", row.queue))
    for why in dict.fromkeys(row.unknown for row in queues if row.unknown not in (None, counts.closed)):
        warning(f"{why}: the counts of {count_text(sum(row.unknown == why for row in queues), 'queue')} not known")
    rows = [WaitingQueue.of(row) for row in queues]
    if view.as_text and not rows:
        print("no queue" if counts.all_queues else "it is not known which queues there are")
    else:
        view.show(rows)
    if view.as_text and rows:
        _closing_lines(rows)
    return Exit.FOUND if wrong or closed or any(row.unknown is not None for row in rows) else Exit.OK


def _closing_lines(rows: list[WaitingQueue]) -> None:
    counts = [row.messages for row in rows if row.messages is not None]
    held = f"{count_text(sum(counts), 'message')} to be delivered"
    if not counts:
        held = "it is not known how many messages are to be delivered"
    elif len(counts) < len(rows):
        held += ", the rest is not known"
    say(f"{count_text(len(rows), 'queue')}, {held}")
    for row in rows:
        if row.paused:
            say(f"{row.queue} is paused: a broker delivers nothing from it until it is resumed")
