"""``export`` as text: what is in the table, and warnings of what is not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Final

from pagectl.options.formats import TextOrJson
from pagectl.reports.export import ExportedPages, ExportReport, MissingRows
from pagectl.terminal.streams import note, print_json, warning
from pagefmt.quantities import count_text, size_text
from pagefmt.table.table_content import TableContent

if TYPE_CHECKING:
    from pagefmt.spark.export_job import ExportJob
    from pagefmt.spark.exporting import Exported

_STANDING: Final = "found by an earlier export and not read again since"


def show_export(job: ExportJob, exported: Exported, form: TextOrJson) -> None:
    """Print what was written, with warnings of what is not in the table."""
    report, written = ExportReport.of(job, exported), exported.written
    for name, why in written.failed.items():
        warning(f"{name}: {why}; not all of it is in the table")
    if exported.backlogs is not None:
        for name, why in exported.backlogs.failed.items():
            warning(f"{name}: {why}; not all of it is in the report")
    for name, remarks in written.standing_remarks.items():
        for text, missing in remarks:
            (note if missing else warning)(f"{'' if exported.alone else f'{name}: '}{text}, {_STANDING}")
    for text in (*_table_warnings(job, exported), *_row_warnings(job, report)):
        warning(text)
    if form is TextOrJson.json:
        print_json(report)
    else:
        sys.stdout.write(f"{_summary(job, report)}\n")


def _table_warnings(job: ExportJob, exported: Exported) -> Iterator[str]:
    """Yield warnings of copies of a broker, and of leftover files."""
    for name, places in exported.apart.items():
        yield (
            f"{name}: {' and '.join(places)} are two copies of one broker (one node id) with pages of different "
            "content; messages that both number alike are in the table once; export each copy to its own table"
        )
    if exported.written.left is not None:
        yield (
            f"{job.folder}: {exported.written.left}; the table is complete, and the next export removes the leftover "
            "temporary files"
        )


def _row_warnings(job: ExportJob, report: ExportReport) -> Iterator[str]:
    """Yield warnings of damage, and of pages that have changed."""
    from pagefmt.table.state_tables import TELLS_HARM

    for lost in _split(report)[0]:
        whose = f"{lost.broker}: " if report.brokers > 1 else ""
        yield (
            f"{whose}{lost.store or 'journal'}/{lost.file}: rows end before offset {lost.offset}, "
            f"{'an unknown number of' if lost.bytes is None else lost.bytes} bytes are not in the table ({lost.kind})"
            f"{f', {_STANDING}' if lost.standing else ''}; see: pagectl pages verify"
        )
    what = job.spec.content
    if report.harmed and what is not TableContent.DAMAGE:
        yield f"{count_text(report.harmed, 'row')} with damage or unknown values: see the column {TELLS_HARM[what]}"
    for (broker, store), group in groupby(
        report.pages.changed if report.pages else [], lambda page: (page.broker, page.store)
    ):
        pages = [*group]
        yield (
            f"{broker}: {store}: {count_text(len(pages), 'page')} from {pages[0].page} on, of other content than was "
            f"exported (compacted, or a number given again): "
            f"{count_text(sum(page.rows for page in pages), 'message')} added; "
            f"{sum(page.missing for page in pages)} that were exported are in them no longer, and stay in the table"
        )


def _summary(job: ExportJob, report: ExportReport) -> str:
    """Return the line that says what was written."""
    damaged, closed = _split(report)
    where = f"({report.wrote}/_damaged.json)"
    aside = f", {count_text(len(damaged), 'damaged page')} {where}" if damaged else ""
    aside += f", {count_text(len(closed), 'page')} not permitted to be read {where}" if closed else ""
    rows = count_text(report.rows, "message" if job.spec.content.of_messages else "row")
    if report.from_ is not None and report.rows:
        rows += f" ({report.from_.journal} from the journal, {report.from_.pages} from pages)"
    return f"{rows}, {size_text(report.bytes)} in {report.wrote}{aside}{_pages_text(report.pages)}"


def _split(report: ExportReport) -> tuple[list[MissingRows], list[MissingRows]]:
    """Return the damaged files, and those that may not be read."""
    from pagefmt.codec.pages.frames import DamageKind

    closed = [lost for lost in report.damaged if lost.kind == DamageKind.NOT_PERMITTED]
    return [lost for lost in report.damaged if lost.kind != DamageKind.NOT_PERMITTED], closed


def _pages_text(pages: ExportedPages | None) -> str:
    if pages is None:
        return ""
    deleted = sum(last - first + 1 for store in pages.deleted for first, last in store.pages)
    counts = {
        "new": pages.added,
        "grew": pages.grew,
        "changed": len(pages.changed),
        "deleted, their rows stay": deleted,
        "as before": pages.skipped,
    }
    return f"; pages: {', '.join(f'{count} {name}' for name, count in counts.items() if count) or 'none'}"
