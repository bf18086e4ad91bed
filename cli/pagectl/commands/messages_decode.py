"""``messages decode``: every message of a broker, in the journal as well as in pages."""

from __future__ import annotations

from pagectl.decoding.everywhere import EverywhereOptions
from pagectl.decoding.identifiers import CommandWithIdentifiers
from pagectl.decoding.run import carry_out
from pagectl.options.shared import DirArgument, JobsOption, processes

PARSED_BY = CommandWithIdentifiers
EXAMPLES = (
    (
        "What one queue would still deliver, in that order",
        "messages decode /var/lib/broker --queue red.news --outstanding",
    ),
    ("Every message with its body, for other programs", "messages decode /var/lib/broker --body text --to all.jsonl"),
)


def command(given: DirArgument = None, asked: EverywhereOptions = EverywhereOptions(), jobs: JobsOption = 0) -> int:
    """Show every message wherever it lies (journal, pages, large-message files), and how it stands with each queue.

    Options and lines are those of 'pages decode', with where, file and queues_state: due, scheduled, in-doubt (of a
    prepared transaction) or acknowledged, how often delivered, not before when. With --outstanding and one --queue
    the order is that of delivery: by priority what a broker reads into memory together (the journal and 20 MiB of
    pages), scheduled ones at their time. Ends with status 1 where a page or the journal is damaged.
    """
    return carry_out(given, asked, asked, asked.edition, asked, jobs=processes(jobs), everywhere=True)
