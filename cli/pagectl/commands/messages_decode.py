"""``messages decode``: every message of a broker, in the journal as well as in pages."""

from __future__ import annotations

from pagectl.decoding.everywhere import EverywhereOptions
from pagectl.decoding.identifiers import CommandWithIdentifiers
from pagectl.decoding.run import carry_out_everywhere
from pagectl.options.shared import DirArgument, JobsOption, processes

PARSED_BY = CommandWithIdentifiers
EXAMPLES = (
    (
        "What one queue would still deliver, in delivery order",
        "messages decode /var/lib/broker --queue red.news --outstanding",
    ),
    ("Every message with its body, for other programs", "messages decode /var/lib/broker --body text --to all.jsonl"),
)


def command(
    directory: DirArgument = None, options: EverywhereOptions = EverywhereOptions(), jobs: JobsOption = 0
) -> int:
    """Show every message wherever it is stored (journal, pages, large-message files), and its state in each queue.

    Options and lines are those of 'pages decode', with where, file and queues_state: due, scheduled, in-doubt (of a
    prepared transaction) or acknowledged, the delivery count, and the earliest delivery time. With --outstanding and
    one --queue, messages are in delivery order: by priority among those that a broker reads into memory together (the
    journal and 20 MiB of pages), scheduled ones at their time. Ends with status 1 if pages, journal or
    bindings are damaged or missing.
    """
    return carry_out_everywhere(directory, options, processes(jobs))
