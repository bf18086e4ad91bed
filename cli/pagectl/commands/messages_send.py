"""``messages send``: what queues wait for, sent to a running broker over AMQP 1.0."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.history import HistoryChoiceOptions
from pagectl.options.message_filter import QueueOption
from pagectl.options.sending import PaceOptions, PeerOptions
from pagectl.options.shared import DirArgument, DryRunOption, InOption, TextOrJsonOption, WhereOption
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import print_json, warning
from pagefmt.table.table_content import StoredIn

EXAMPLES = (
    ("What would be sent, and how", "messages send /var/lib/broker --to amqp://new:5672 --dry-run"),
    (
        "One queue, so that the run can be interrupted and resumed",
        "messages send /var/lib/broker --to amqps://new --credentials user.txt --queue red.news --checkpoint red.state",
    ),
    (
        "Bring back what was acknowledged by mistake, and see first what that is",
        "messages send /var/lib/broker --to amqp://new:5672 --in history --queue red.news --since 2h --dry-run",
    ),
)


def command(
    directory: DirArgument = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="URL", help="Broker to send to: amqp://HOST[:PORT] or amqps://HOST[:PORT]."),
    ] = None,
    queues: QueueOption = None,
    where: WhereOption = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--to-address",
            metavar="FROM=TO",
            help="Send messages of FROM to TO instead, each an ADDRESS or ADDRESS::QUEUE; repeatable.",
        ),
    ] = None,
    pace: PaceOptions = PaceOptions(),
    peer: PeerOptions = PeerOptions(),
    within: InOption = StoredIn.LIVE,
    past: HistoryChoiceOptions = HistoryChoiceOptions(),
    dry_run: DryRunOption = False,
    form: TextOrJsonOption = TextOrJson.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Send outstanding messages of a stopped broker's queues to a running one, in delivery order, each message once.

    Each message goes only to the queue of the same name and address. AMQP messages are sent unchanged, others
    unchanged inside AMQP if the broker accepts that (2.32 and later), and converted otherwise; what is lost is
    reported. Each gets a duplicate id (_AMQ_DUPL_ID) unless it has its own, so that the broker knows it again. Messages
    in doubt are left out. Ends with status 1 if any were, if the broker refused something, or if a message, a page, the
    journal or the history cannot be read.

    With --in history, messages come back that have left their queues: acknowledged, expired, or removed with their
    queue, unless --in-state says otherwise. Say which (--all for every one). Each gets a duplicate id of its own, since
    brokers may remember the old one, and a broker may use the directories meanwhile.
    """
    from pagectl.opening.broker import located
    from pagectl.sending.start import SendingChoice, send
    from pagectl.sending.target import target

    if to is None:
        raise CallError("no broker given; name it with --to amqp://HOST:5672")
    aim = target(to, peer.credentials, peer.ca, peer.cert, peer.key)
    if aim.in_clear and not dry_run:
        warning("the password is sent over the network unencrypted; use amqps if the broker accepts it")
    past.check_choice(within, queues, where)
    if within is StoredIn.HISTORY:
        from pagectl.opening.history import open_history
        from pagectl.sending.choice import PastChoice

        opened = open_history(directory, broker, past)
        place, choice = opened.place, PastChoice(opened, past)
    else:
        place, choice = located(directory, broker), None
    chosen = SendingChoice(queues, where, mapping or [], within, choice)
    report, stored = send(place, aim, chosen, pace, dry_run=dry_run)
    if form is TextOrJson.json:
        print_json(report.as_report())
    else:
        report.print_text()
    report.tell(pace.checkpoint)
    if report.stopped is not None:
        return report.status
    return Exit.FOUND if report.wrong or stored.damaged or stored.state.known.incomplete else Exit.OK
