"""``pagectl config drift``: queues and addresses on the disk against those that the configuration declares."""

from __future__ import annotations

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import CwdOption, DefineOption, DirArgument, EditionOption, TextOrJsonOption
from pagectl.running.exits import Exit
from pagectl.terminal.streams import note, print_json

EXAMPLES = (("Queues that are on disk but no longer declared", "config drift /var/lib/broker"),)


def command(
    directory: DirArgument = None,
    form: TextOrJsonOption = TextOrJson.text,
    edition: EditionOption = None,
    broker: BrokerOptions = BrokerOptions(),
    cwd: CwdOption = None,
    define: DefineOption = None,
) -> int:
    """Show queues and addresses that are on disk but not declared, declared but not on disk, or different.

    For each undeclared one: what it holds, and whether a start or reload deletes it, by config-delete-queues and
    config-delete-addresses as configured and with FORCE. Ends with status 1 if something differs.
    """
    from pagectl.opening.broker import open_broker
    from pagectl.opening.drift import compared
    from pagectl.outputs.drift_text import print_drift

    reading = broker.reading(edition, cwd=cwd, define=define)._replace(names_environment=True)
    comparison = compared(open_broker(directory, broker.broker_xml, reading))
    for remark in comparison.remarks:
        note(remark)
    if form is TextOrJson.json:
        print_json(comparison.report())
    else:
        print_drift(comparison.drift, comparison.held, comparison.pages)
    return Exit.FOUND if comparison.drift.exists else Exit.OK
