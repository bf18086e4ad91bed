"""``messages ls``: what each queue waits for, in the journal and in pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagectl.decoding.counts import counted
from pagectl.opening.broker import located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, InOption, ListFormatOption
from pagectl.running.exits import Exit
from pagectl.running.permissions import warn_closed
from pagectl.running.reading import told_state, while_it_moves
from pagectl.terminal.streams import print_json_list, print_table, say, warning
from pagefmt.columns.table_content import StoredIn
from pagefmt.quantities import age_text, count_text, size_text, time_text

if TYPE_CHECKING:
    from pagefmt.columns.queue_counts import QueueCount

EXAMPLES = (
    ("How many messages wait in each queue, and where they are stored", "messages ls /var/lib/broker"),
    ("For a script", "messages ls /var/lib/broker --format jsonl"),
)
_COUNTS = ("messages", "journal", "pages", "scheduled", "in_doubt", "bytes")


def command(
    given: DirArgument = None,
    form: ListFormatOption = ListFormat.text,
    within: InOption = StoredIn.LIVE,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """List addresses and queues with the messages each still has to deliver, in the journal and in pages, and how many
    of them are scheduled; messages in doubt (of prepared transactions) are counted separately.

    acknowledged_but_kept (json): messages that the queue has acknowledged and that still lie on the disk. Unknown
    values are ? (null). Ends with status 1 if a page or the journal is damaged or something is not known.
    """
    place = located(given, broker, far=True)
    beside = form is not ListFormat.text
    closed = within is not StoredIn.JOURNAL and warn_closed(place)
    counts, wrong = while_it_moves(
        place, lambda: counted(place, told_state(place, within=within, closed=False), within, beside_output=beside)
    )
    rows = sorted(counts.queues.values(), key=lambda row: (row.address is None, row.address or "", row.queue))
    for why in dict.fromkeys(row.unknown for row in rows if row.unknown not in (None, counts.closed)):
        warning(f"{why}: the counts of {count_text(sum(row.unknown == why for row in rows), 'queue')} not known")
    if form is ListFormat.text:
        _text(rows, all_queues=counts.all_queues)
    else:
        print_json_list("queues", map(_object, rows), lines=form is ListFormat.jsonl)
    return Exit.FOUND if wrong or closed or any(row.unknown is not None for row in rows) else Exit.OK


def _object(row: QueueCount) -> dict[str, Any]:
    known = {name: getattr(row, name) if row.unknown is None else None for name in (*_COUNTS, "oldest")}
    known["acknowledged_but_kept"] = row.acknowledged if row.unknown is None else None
    named = {"address": row.address, "queue": row.queue, "id": row.id}
    return {**named, **known, "unknown": row.unknown, "paused": row.paused}


def _text(rows: list[QueueCount], *, all_queues: bool) -> None:
    if not rows:
        print("no queue" if all_queues else "it is not known which queues there are")
        return
    heads = ("MESSAGES", "JOURNAL", "PAGES", "SCHEDULED", "IN DOUBT", "BYTES")
    print_table(("QUEUE", "ADDRESS", *heads, "OLDEST", "AGE"), map(_cells, rows), right=(*heads, "AGE"))
    known = [row for row in rows if row.unknown is None]
    held = f"{count_text(sum(row.messages for row in known), 'message')} to be delivered"
    if not known:
        held = "it is not known how many messages are to be delivered"
    elif len(known) < len(rows):
        held += ", the rest is not known"
    say(f"{count_text(len(rows), 'queue')}, {held}")
    for row in rows:
        if row.paused:
            say(f"{row.queue} is paused: a broker delivers nothing from it until it is resumed")


def _cells(row: QueueCount) -> tuple[object, ...]:
    counts, oldest, age = ["?"] * len(_COUNTS), "?", "?"
    if row.unknown is None:
        counts = [str(getattr(row, name)) for name in _COUNTS[:-1]] + [size_text(row.bytes)]
        oldest, age = time_text(row.oldest, "minutes"), age_text(row.oldest)
    address = "-" if row.address is None else row.address
    return (row.queue, address, *counts, oldest, age)
