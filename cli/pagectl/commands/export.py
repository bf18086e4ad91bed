"""``pagectl export``: the messages of brokers, or what is known of them, as Parquet, through Spark."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.options.export import ExportOptions
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import TextOrJsonOption
from pagectl.running.exits import Exit

EXAMPLES = (
    ("A table of all messages, on all cores of this machine", "export /var/lib/broker --to messages"),
    ("By address, with text bodies", "export /var/lib/broker --to messages --partition-by address --body text"),
    (
        "How much each queue of each broker holds, as a table and an HTML page",
        "export --brokers fleet.csv --what outstanding --to backlogs --report fleet.html",
    ),
    ("Every night, what is new", "export /var/lib/broker --to messages --incremental"),
    ("The same as a Delta Lake table", "export /var/lib/broker --to messages --incremental --table-format delta"),
    (
        "On a cluster that sees the directories under the same paths",
        "export '/nfs/brokers/*' --to /nfs/messages --partition-by broker --master spark://head:7077",
    ),
    ("From an object store and a backup", "export s3://backups/broker-1 /backups/broker-2.tar.zst --to messages"),
    ("Into an object store", "export /var/lib/broker --to s3://warehouse/messages --incremental"),
)


def command(
    to: Annotated[
        str, typer.Option("--to", metavar="OUT", help="Folder of the table: a path that every machine sees, or a URL.")
    ],
    directories: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR…",
            help="Broker instances, data or paging directories, store folders, page files, such directories below a "
            "URL (s3://…, gs://…, abfs://…, hdfs://…) or in an archive (.tar, .tar.gz, .tar.zst, .tar.xz, .zip), or "
            "patterns of all these [default: $ARTEMIS_INSTANCE].",
        ),
    ] = None,
    options: ExportOptions = ExportOptions(),
    broker: BrokerOptions = BrokerOptions(),
    form: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Export messages of one or more brokers to Parquet with Spark.

    Or export what is known about their pages and queues (--what). --report ranks the queues by the bytes they hold,
    with the oldest message. Spark runs on this machine unless --master names a cluster, where every machine must see
    each DIR under the same path and have a Python with numpy, pyarrow, msgspec and crc32c, and obstore for URLs
    (--conf spark.pyspark.python=PATH).

    Of a damaged page, the rows before the damage are written; OUT/_damaged.json lists where each ends, and the exit
    status is 1. It is also 1 if rows of --what report damage, if it is not known what is outstanding, or if one of
    several brokers cannot be read (the others are written).

    With --incremental, a page or journal adds only its new messages, each message once, and rows stay when messages
    are gone; if nothing is new, Spark is not started. Damage that an earlier export found is reported again, with
    status 1, as long as the page is unchanged.
    """
    from pagectl.opening.exporting import export_brokers
    from pagectl.outputs.export_text import show_export
    from pagectl.outputs.fleet_html import write_fleet_html

    job, exported = export_brokers(directories or [], to, options, broker)
    if options.report_to is not None:
        write_fleet_html(options.report_to, exported, job.spec.exported_at)
    show_export(job, exported, form)
    return Exit.FOUND if exported.is_wrong else Exit.OK
