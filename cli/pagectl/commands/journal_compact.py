"""``journal compact``: message journal, bindings and JMS journal in as few files as hold what they say."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.files.compaction import compact_journals
from pagectl.opening.broker import open_broker
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions, CompactionOptions
from pagectl.options.shared import DirArgument, TextOrJsonOption
from pagectl.outputs.compaction_text import print_journals_compaction
from pagectl.running.backups import again
from pagectl.running.exits import Exit
from pagectl.running.permissions import refuse_closed
from pagectl.terminal.streams import print_json

EXAMPLES = (
    ("What would be freed", "journal compact /var/lib/broker"),
    ("Into a new directory; the old one stays unchanged", "journal compact /var/lib/broker --out compacted"),
    ("In place; pages restore undoes it", "journal compact /var/lib/broker --in-place"),
)


def command(
    directory: DirArgument = None,
    options: CompactionOptions = CompactionOptions(),
    accept_lost_history: Annotated[
        bool,
        typer.Option(
            "--accept-lost-history",
            help="Continue although the folder of the journal retention cannot take the replaced files that it lacks.",
        ),
    ] = False,
    form: TextOrJsonOption = TextOrJson.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Rewrite journals without what brokers ignore when they load them; each journal loads the same as before.

    The broker must be stopped for --out and --in-place. Without them: the plan, and the bytes it would free. Damaged
    bindings are left alone. Ends with status 1 if something is damaged. 'pagectl pages restore' undoes --in-place. With
    journal-retention-directory in the configuration, --in-place first copies the replaced files there that it lacks.
    """
    options.check()
    opened = open_broker(directory, broker.broker_xml, broker.reading())
    place = opened.place
    refuse_closed(place)
    retention = opened.configuration.directories.retention if opened.configuration else None
    plan, report = compact_journals(place, options, retention, lose_history=accept_lost_history)
    if form is TextOrJson.json:
        print_json(report)
    else:
        print_journals_compaction(plan, report, options.out, again(place, options.backup_dir))
    return Exit.FOUND if plan.incomplete else Exit.OK
