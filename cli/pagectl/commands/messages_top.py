"""``messages top``: which queues fill the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.opening.broker import located_each
from pagectl.options.durations import bounded_seconds
from pagectl.options.formats import TableFormat
from pagectl.options.groups import BrokerOptions, ListOptions
from pagectl.options.shared import InOption
from pagectl.outputs.top_text import show_top
from pagectl.reports.messages_top import HOLDERS, HoldingQueue, HoldingQueues
from pagectl.running.backlogs import TopOrder, look_with_growth
from pagectl.running.exits import CallError, Exit, report
from pagectl.screens.starting import watch_top
from pagectl.terminal.streams import warning
from pagefmt.columns.table_content import StoredIn

EXAMPLES = (
    ("Which queues fill the disk", "messages top /var/lib/broker"),
    ("With the growth over two seconds", "messages top /var/lib/broker --every 2"),
)


def command(
    given: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR…",
            parser=Path,
            help="Broker instances, data or paging directories, store folders [default: $ARTEMIS_INSTANCE].",
        ),
    ] = None,
    every: Annotated[
        float | None,
        typer.Option(
            "--every",
            metavar="SECONDS",
            min=0.2,
            callback=bounded_seconds,
            help="Read twice, this far apart, to show growth; with --watch, read at this interval [default: 5 "
            "with --watch].",
            show_default=False,
        ),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Keep the terminal up to date; keys sort (a, h, w, o, g), Enter opens the pages of a queue."
        ),
    ] = False,
    listed: ListOptions = ListOptions(),
    within: InOption = StoredIn.LIVE,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Rank queues by the bytes on the disk that stay for their messages: pages, journal, large-message files.

    HOLDS: pages with a message for the queue, and its messages in the journal and in large-message files. ALONE: of
    these pages those that no other queue needs: draining the queue frees them, as whole pages ('queue drop' rewrites
    pages, so a copy without the queue is smaller by more). Queues that hold pages together are listed below with these
    pages. GROWTH: change of HOLDS between two readings (--every). --sort also takes held (the default), alone and
    waiting; text shows 20 queues unless --limit is given. Unknown values are ? (null) with the reason. Ends with status
    1 if something is damaged or not known, and with 2 if one of several DIRs cannot be read (the others are shown).
    """
    view = HOLDERS.view(listed)
    if watch and (not view.as_text or listed.columns):
        raise CallError("--watch cannot be combined with --format or --columns; a program uses --every and --format")
    if watch and within is not StoredIn.LIVE:
        raise CallError("--watch cannot be combined with --in; it shows journal and pages")
    places, failed = located_each(given or [], broker)
    if watch:
        return watch_top(places, failed, listed.sort, listed.limit, every or 5.0)
    look = look_with_growth(places, within, every)
    failed += look.failed
    for remark in look.remarks:
        warning(remark)
    for reason in failed:
        report(reason)
    rows = view.ordered(map(HoldingQueue.of, look.ranked(TopOrder.held)))
    if view.as_text and len(failed) < max(1, len(given or [])):
        show_top(look, list(rows), view)
    elif view.form is TableFormat.json:
        view.write_document(HoldingQueues.of(look, failed, rows, view.limit))
    elif not view.as_text:
        view.show(rows)
    return Exit.FAILED if failed else Exit.FOUND if look.wrong else Exit.OK
