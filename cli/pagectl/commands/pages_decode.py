"""``pages decode``: every message of page files, or those that are asked for."""

from __future__ import annotations

from pagectl.decoding.identifiers import CommandWithIdentifiers
from pagectl.decoding.run import carry_out
from pagectl.decoding.shown import ShownOptions
from pagectl.options.groups import BrokerOptions
from pagectl.options.message_filter import FilterOptions
from pagectl.options.shared import DirArgument, EditionOption, JobsOption, processes

PARSED_BY = CommandWithIdentifiers
EXAMPLES = (
    (
        "What a selector matches, with bodies, as CSV",
        "pages decode /var/lib/broker --where \"color = 'red'\" --body text --to red.csv",
    ),
    ("The first three messages of page 12", "pages decode /var/lib/broker --page 12 --limit 3"),
)


def command(
    directory: DirArgument = None,
    shown: ShownOptions = ShownOptions(),
    chosen: FilterOptions = FilterOptions(),
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Show every message in page files, record by record as it lies: headers, properties, queues.

    The message journal is not read: 'pagectl messages decode' tells what is acknowledged, what is not committed, and
    what one queue would deliver. Options that select messages are combined with AND. SELECTOR is in JMS / Artemis
    filter syntax. Times are shown in UTC with Z; without a zone they are read in the local one (TZ). Ends with status 1
    if a page or the bindings are damaged.
    """
    return carry_out(directory, chosen, shown, edition, broker, jobs=processes(jobs))
