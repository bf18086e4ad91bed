"""``messages trace``: what happened to a message."""

from __future__ import annotations

from pagectl.decoding.identifiers import CommandWithIdentifiers
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.history import HistoryPlaceOptions
from pagectl.options.message_filter import FilterOptions, IdOption, UserIdOption
from pagectl.options.shared import DirArgument, TextOrJsonOption, WhereOption
from pagectl.reports.message_trace import MessageLives
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import print_json

PARSED_BY = CommandWithIdentifiers
EXAMPLES = (
    (
        "What happened to the message with this JMSMessageID?",
        "messages trace /var/lib/broker --message-id ID:3b206a19-e58f-11f1-aa91",
    ),
    ("What happened to message 23 and its copies?", "messages trace /var/lib/broker --id 23"),
)


def command(
    directory: DirArgument = None,
    message_id: IdOption = None,
    user_id: UserIdOption = None,
    where: WhereOption = None,
    past: HistoryPlaceOptions = HistoryPlaceOptions(),
    form: TextOrJsonOption = TextOrJson.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Show what happened to messages: sent, routed, paged, redelivered, acknowledged, expired, moved, removed with the
    queue, rolled back, or copied by a divert. Copies that the broker made follow with lives of their own.

    Read are the retention folder, the journal with its attic, and the pages; without a retention folder only what the
    files of the journal still have is known. Records have no time: an event lies between the times at which the file
    before and its own file were copied. Who acknowledged is in no record. Ends with status 1 if a file is damaged.
    """  # noqa: D205
    from pagectl.opening.history import open_history
    from pagectl.opening.message_lives import traced
    from pagectl.outputs.life_text import print_lives

    if not (message_id or user_id or where):
        raise CallError("say which message: --id, --message-id, or --where (see --help)")
    opened = open_history(directory, broker, past)
    lives = traced(opened, FilterOptions(message_id=message_id, user_id=user_id, where=where))
    if form is TextOrJson.json:
        print_json(MessageLives(messages=[shown for _, shown in lives]))
    elif lives:
        print_lives(lives, opened.history.queues.queues)
    else:
        print("no message")
    return Exit.FOUND if opened.damaged else Exit.OK
