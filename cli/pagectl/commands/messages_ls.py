"""``messages ls``: what each queue waits for, in the journal and in pages."""

from __future__ import annotations

from pathlib import Path

from pagectl.decoding.counts import counted
from pagectl.opening.broker import Alone, located
from pagectl.options.groups import BrokerOptions, ListOptions
from pagectl.options.history import AsOfOption, HistoryPlaceOptions
from pagectl.options.shared import DirArgument, InOption
from pagectl.reports.listing import View
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
    as_of: AsOfOption = None,
    past: HistoryPlaceOptions = HistoryPlaceOptions(),
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """List addresses and queues with the messages each still has to deliver, in the journal and in pages, and how many
    of them are scheduled; messages in doubt (of prepared transactions) are counted separately.

    acknowledged_but_kept (json, csv): messages that the queue has acknowledged and that still lie on the disk. Unknown
    values are ? (null). Ends with status 1 if a page or the journal is damaged or something is not known.

    With --in history, deleted queues are listed, too, and --as-of counts what queues held then. Messages that were
    neither durable nor paged are not in a history.
    """  # noqa: D205
    view = QUEUES.view(listed)
    past.check(within, as_of)
    if within is StoredIn.HISTORY:
        return _list_past(view, directory, broker, past, as_of)
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


def _list_past(
    view: View[WaitingQueue],
    directory: Path | None,
    broker: BrokerOptions,
    past: HistoryPlaceOptions,
    as_of: str | None,
) -> int:
    """List what queues held at a moment of the history, and return the exit status."""
    from pagectl.decoding.past_counts import past_queue_rows
    from pagectl.opening.history import open_history, position_as_of

    opened = open_history(directory, broker, past)
    position = None if as_of is None else position_as_of(opened, as_of)
    rows = sorted(past_queue_rows(opened, position), key=lambda row: (row.address or "", row.queue, row.id))
    view.show(rows)
    if view.as_text:
        _closing_lines(rows)
    is_partly_known = any(row.bytes is None for row in rows)
    return Exit.FOUND if opened.damaged or is_partly_known else Exit.OK


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
