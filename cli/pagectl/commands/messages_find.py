"""``messages find``: messages by what is known of them, in the journal as well as in pages."""

from __future__ import annotations

import shlex

from pagectl.decoding.everywhere import EverywhereOptions
from pagectl.decoding.identifiers import CommandWithIdentifiers
from pagectl.decoding.run import carry_out_everywhere
from pagectl.options.shared import DirArgument, JobsOption, processes
from pagectl.running.exits import CallError

PARSED_BY = CommandWithIdentifiers
EXAMPLES = (
    (
        "Where is the message with this JMSMessageID?",
        "messages find /var/lib/broker --message-id ID:3b206a19-e58f-11f1-aa91",
    ),
    ("Which messages answer this request?", "messages find /var/lib/broker --correlation-id order-7"),
    ("Which messages mention a customer?", 'messages find /var/lib/broker --contains "Smith & Co" --body text'),
    ("What has expired and was not delivered?", "messages find /var/lib/broker --expired --outstanding"),
    (
        "Where do the dead letters come from?",
        "messages find /var/lib/broker --queue DLQ --outstanding --count-by properties._AMQ_ORIG_ADDRESS",
    ),
)


def command(
    directory: DirArgument = None, options: EverywhereOptions = EverywhereOptions(), jobs: JobsOption = 0
) -> int:
    """Find messages by id, time, text, queue or selector wherever they are stored: in the journal or in pages.

    Options that select messages are combined with AND. An id may be pasted in any form that a command, client or broker
    writes. Lines are those of 'messages decode'. Times are shown in UTC with Z; without a zone they are read in the
    local one (TZ). Ends with status 1 if pages, journal or bindings are
    damaged or missing.
    """
    says_what = options.says_what or options.states is not None
    if not says_what and options.count_by is not None:
        words = [*([] if directory is None else [str(directory)]), "--count-by", options.count_by]
        raise CallError(f"to count all messages: pagectl messages decode {shlex.join(words)}")
    if not says_what:
        raise CallError("say what to find: --id, --message-id, --correlation-id, --contains, --where, … (see --help)")
    return carry_out_everywhere(directory, options, processes(jobs), with_offsets=True)
