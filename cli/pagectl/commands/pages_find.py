"""``pages find``: messages by what is known of them, and where they lie."""

from __future__ import annotations

from pagectl.decoding.identifiers import CommandWithIdentifiers
from pagectl.decoding.run import carry_out
from pagectl.decoding.shown import ShownOptions
from pagectl.options.groups import BrokerOptions
from pagectl.options.message_filter import FilterOptions
from pagectl.options.shared import DirArgument, EditionOption, JobsOption, processes
from pagectl.running.exits import CallError

PARSED_BY = CommandWithIdentifiers
EXAMPLES = (
    ("Where is the message with this JMSMessageID?", "pages find /var/lib/broker --user-id ID:3b206a19-e58f-11f1-aa91"),
    ("Which messages answer this request?", "pages find /var/lib/broker --correlation-id order-7"),
    ("Which messages mention a customer?", 'pages find /var/lib/broker --contains "Smith & Co" --body text'),
    ("Which messages have expired and still take up space?", "pages find /var/lib/broker --expired --outstanding"),
)


def command(
    given: DirArgument = None,
    shown: ShownOptions = ShownOptions(),
    chosen: FilterOptions = FilterOptions(),
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Find messages by id, time, text, queue or selector, and show where they are stored.

    Options that select messages are combined with AND. An id may be pasted in any form that a command, client or broker
    writes. The JSON lines are those of 'pages decode'. Times are shown in UTC with Z; without a zone they are read in
    the local one (TZ). Ends with status 1 if a page or the journal is damaged.
    """
    if not chosen.says_what:
        raise CallError("say what to find: --id, --user-id, --correlation-id, --contains, --where, … (see --help)")
    return carry_out(given, chosen, shown, edition, broker, jobs=processes(jobs), with_offsets=True)
