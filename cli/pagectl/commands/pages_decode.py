"""``pages decode``: every message, or those that are asked for."""

from __future__ import annotations

from pagectl.decoding.identifiers import CommandWithIdentifiers
from pagectl.decoding.run import carry_out
from pagectl.decoding.shown import ShownOptions
from pagectl.options.groups import BrokerOptions
from pagectl.options.message_filter import FilterOptions
from pagectl.options.shared import DirArgument, EditionOption, JobsOption, processes

PARSED_BY = CommandWithIdentifiers
EXAMPLES = (
    ("What one queue would still deliver", "pages decode /var/lib/broker --queue red.news --outstanding"),
    (
        "What a selector matches, with bodies, as CSV",
        "pages decode /var/lib/broker --where \"color = 'red'\" --body text --to red.csv",
    ),
    (
        "The messages of one queue between 10 and 11 o'clock",
        "pages decode /var/lib/broker --queue red.news --since 10:00 --until 11:00 --to red.jsonl",
    ),
    ("The first three messages of page 12", "pages decode /var/lib/broker --page 12 --limit 3"),
)


def command(
    given: DirArgument = None,
    shown: ShownOptions = ShownOptions(),
    chosen: FilterOptions = FilterOptions(),
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Show every message: headers, properties, queues, who acknowledged it.

    Options that select messages are combined with AND. SELECTOR is in JMS / Artemis filter syntax. Times are shown in
    UTC with Z; without a zone they are read in the local one (TZ). Ends with status 1 if a page or the journal is
    damaged.
    """
    return carry_out(given, chosen, shown, edition, broker, jobs=processes(jobs))
