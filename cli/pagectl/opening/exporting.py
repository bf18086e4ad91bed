"""An export as it was called: its folders checked, and carried out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.files.destination import refuse_below
from pagectl.opening.fleet import open_fleet
from pagectl.options.columns import FLEET_SPLITS
from pagectl.options.export import ExportOptions
from pagectl.options.groups import BrokerOptions
from pagectl.running.exits import CallError
from pagectl.terminal.streams import note, warning
from pagefmt.spark.session import check_installed
from pagefmt.storage.remote_paths import UnpackedArchives, any_path
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagefmt.directory.fleet import FleetBroker
    from pagefmt.directory.locate import DataLocation
    from pagefmt.spark.export_job import ExportJob
    from pagefmt.spark.exporting import Exported


def export_brokers(
    paths: list[str], to: str, options: ExportOptions, broker: BrokerOptions
) -> tuple[ExportJob, Exported]:
    """Open the brokers, check all that can be checked without Spark, and write the table.

    Raises ``CallError``, and what ``ExportJob.check`` and ``export`` raise.
    """
    with UnpackedArchives() as archives:
        fleet, failed = open_fleet(paths, options.brokers, broker, archives)
        options.check(options.within)
        if options.within is StoredIn.HISTORY:
            from pagectl.opening.history import history_files

            fleet = [history_files(member, options, broker) for member in fleet]
        return _export(fleet, failed, to, options)


def _export(
    fleet: list[FleetBroker], failed: dict[str, str], to: str, options: ExportOptions
) -> tuple[ExportJob, Exported]:
    settings = options.spark_settings
    check_installed()
    # these import PySpark
    from pagefmt.spark.export_job import ExportJob, table_folder, table_spec

    splits = tuple(dict.fromkeys(options.partition_by or ()))
    spec = table_spec(
        options.what, options.within, options.body, options.where, splits, FLEET_SPLITS, options.past_states()
    )
    folder = table_folder(any_path(to))
    _refuse_outputs(folder, options.report_to, [member.place for member in fleet])
    job = ExportJob(
        to,
        folder,
        options.mode,
        options.table_format,
        options.compression,
        splits,
        spec,
        options.incremental,
        backlogs=options.report_to is not None,
    )
    job.check()
    from pagectl.terminal.spark_progress import spark_progress
    from pagefmt.spark.exporting import SparkRun, export

    run = SparkRun(options.master, settings, note, warning, lambda context: spark_progress(context, "exporting"))
    return job, export(job, run, fleet, failed)


def _refuse_outputs(folder: Path, report_to: Path | None, places: Iterable[DataLocation]) -> None:
    """Raise ``CallError`` if the table or the report lies in what is read, or the report in the table."""
    places = list(places)
    refuse_below(folder, places)
    if report_to is not None:
        refuse_below(report_to, places)
        inside = report_to.absolute().is_relative_to(folder.absolute())
        if inside or not report_to.absolute().parent.is_dir() or report_to.is_dir():
            raise CallError(f"--report {report_to}: name a file in an existing folder outside the table")
