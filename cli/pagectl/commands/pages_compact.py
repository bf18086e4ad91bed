"""``pages compact``: disk space back, without losing or repeating a message."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.files.compaction import compact_pages
from pagectl.opening.broker import located
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions, CompactionOptions
from pagectl.options.shared import DirArgument, EditionOption, JobsOption, TextOrJsonOption, edition_of, processes
from pagectl.outputs.compaction_text import print_pages_compaction
from pagectl.running.backups import again
from pagectl.running.exits import Exit
from pagectl.running.permissions import refuse_closed
from pagectl.terminal.streams import print_json

EXAMPLES = (
    ("What would be freed, and which queues hold the rest", "pages compact /var/lib/broker"),
    ("Into a new directory; the old one stays unchanged", "pages compact /var/lib/broker --out compacted"),
    ("In place; pages restore undoes it", "pages compact /var/lib/broker --in-place"),
)


def command(
    directory: DirArgument = None,
    options: CompactionOptions = CompactionOptions(),
    keep_unknown: Annotated[
        bool,
        typer.Option("--keep-unknown-transactions", help="Keep records whose transaction the journal does not know."),
    ] = False,
    form: TextOrJsonOption = TextOrJson.text,
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Remove records that no queue will ever read again; a broker still delivers exactly the same messages.

    The broker must be stopped for --out and --in-place. Without them: the plan, the bytes it would free, and which
    queues hold the rest. Ends with status 1 if something was left alone because it is damaged or not known.
    """
    options.check()
    place = located(directory, broker)
    refuse_closed(place)
    plan, report = compact_pages(place, options, edition_of(edition), processes(jobs), keep_unknown=keep_unknown)
    if form is TextOrJson.json:
        print_json(report)
    else:
        print_pages_compaction(plan, report, options.out, again(place, options.backup_dir))
    return Exit.FOUND if plan.incomplete else Exit.OK
