"""``messages check``: what waits in journal and pages, as a monitoring plugin."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.opening.backlog_check import BacklogOf, BacklogScope, judge_backlogs
from pagectl.opening.broker import open_broker
from pagectl.options.backlog_thresholds import BacklogThresholds, CriticalOption, WarningOption, parse_ranges
from pagectl.options.disk import PLUGIN_FORMAT_HELP, QuietOption, TimeoutOption, VerboseOption
from pagectl.options.formats import PluginFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.history import refuse_history
from pagectl.options.shared import DirArgument, EditionOption, InOption
from pagectl.outputs.plugin import Plugin
from pagectl.running.deadline import Answer
from pagectl.terminal.nagios import Status
from pagefmt.table.table_content import StoredIn

EXAMPLES = (
    (
        "Warn if a queue has more than 10,000 messages waiting or holds more than 1 GiB",
        "messages check /var/lib/broker -w messages=10000 -w held=1G",
    ),
    (
        "Warn before a page limit is reached; refused messages are critical without a threshold",
        "messages check /var/lib/broker -w page-limit=80",
    ),
    (
        "Warn if the first message of a queue has waited for six hours",
        "messages check /var/lib/broker --queue red.news -w oldest=6h",
    ),
)


def command(
    directory: DirArgument = None,
    queue: Annotated[
        list[str] | None,
        typer.Option("--queue", metavar="NAME", help="Only this queue; repeatable.", show_default=False),
    ] = None,
    address: Annotated[
        list[str] | None,
        typer.Option("--address", metavar="ADDR", help="Only this address; repeatable.", show_default=False),
    ] = None,
    by: Annotated[BacklogOf, typer.Option("--by", help="Check each queue, or each address.")] = BacklogOf.queue,
    warning: WarningOption = None,
    critical: CriticalOption = None,
    within: InOption = StoredIn.LIVE,
    edition: EditionOption = None,
    timeout: TimeoutOption = 60.0,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    format: Annotated[PluginFormat, typer.Option("--format", help=PLUGIN_FORMAT_HELP)] = PluginFormat.nagios,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Check what waits for each queue, in the journal and in pages: messages and their bytes, pages held, bytes held
    (pages, journal, large-message files), oldest message. With a configuration also whether an address refuses, drops
    or blocks what is sent once the broker has started (limits of pages and memory, disk): that is CRITICAL.

    Messages in doubt count as waiting. Exit statuses are those of monitoring plugins: 0 OK, 1 WARNING (also for
    damage), 2 CRITICAL, 3 UNKNOWN (also if a backlog is not known).
    """  # noqa: D205
    thresholds = BacklogThresholds(parse_ranges(warning, "-w"), parse_ranges(critical, "-c"))
    scope = BacklogScope(by, frozenset(address or ()), frozenset(queue or ()))
    if scope.queues and (scope.addresses or by is BacklogOf.address):
        raise typer.BadParameter("--queue cannot be combined with --address or --by address")
    plugin = Plugin("MESSAGES", format, directory or "the instance")

    def check() -> Answer:
        from pagectl.outputs.backlog_text import nagios, summary
        from pagectl.reports.messages_check import MessagesCheck

        refuse_history(within)
        opened = open_broker(directory, broker.broker_xml, broker.reading(edition))
        judged = judge_backlogs(opened, scope, thresholds, within)
        if quiet and judged.status is Status.OK:
            return Answer(Status.OK)
        details = verbose or format is PluginFormat.text
        return plugin.answer(
            judged.status, lambda: nagios(judged, details=details), lambda: MessagesCheck.of(judged, summary(judged))
        )

    return plugin.run(check, timeout)
