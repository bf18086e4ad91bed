"""``messages top``: which queues fill the disk."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.opening.broker import located
from pagectl.options.durations import bounded_seconds
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import InOption, ListFormatOption
from pagectl.outputs.backlog_table import COLUMNS, RIGHT, account, cells, group_text
from pagectl.running.backlogs import QueueGroup, QueuesLook, RankedQueue, TopOrder, look
from pagectl.running.exits import CallError, Exit, describe, report
from pagectl.running.reading import bytes_to_read
from pagectl.screens.starting import show
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import print_json, print_json_list, print_table, say, warning
from pagefmt.columns.table_content import StoredIn
from pagefmt.errors import PageFmtError
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from textual.screen import Screen

    from pagefmt.directory.locate import DataLocation

SHOWN = 20
"""Queues that the text shows without ``--limit``."""

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
    sort: Annotated[
        TopOrder, typer.Option("--sort", help="Sort by this value, largest first; held and alone are bytes.")
    ] = TopOrder.held,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            min=0,
            help=f"Number of queues to show; 0 for all [default: {SHOWN} in text, all in json].",
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
    form: ListFormatOption = ListFormat.text,
    within: InOption = StoredIn.LIVE,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Rank queues by the bytes on the disk that stay for their messages: pages, journal, large-message files.

    HOLDS: pages with a message for the queue, and its messages in the journal and in large-message files. ALONE: of
    these pages those that no other queue needs: draining the queue frees them, as whole pages ('queue drop' rewrites
    pages, so a copy without the queue is smaller by more). Queues that hold pages together are listed below with these
    pages. GROWTH: change of HOLDS between two readings (--every). Unknown values are ? (null) with the reason. Ends
    with status 1 if something is damaged or not known, and with 2 if one of several DIRs cannot be read (the others are
    shown).
    """
    if watch and form is not ListFormat.text:
        raise CallError("--watch cannot be combined with --format; for a program use --every SECONDS --format json")
    if watch and within is not StoredIn.LIVE:
        raise CallError("--watch cannot be combined with --in; it shows journal and pages")
    places, failed = _places(given or [], broker)
    if watch:
        return _watch(places, failed, sort, limit, every or 5.0)
    found = _look(places, within)
    if every is not None:
        time.sleep(every)
        found = _look(places, within).since(found)
    failed += found.failed
    for remark in found.remarks:
        warning(remark)
    for reason in failed:
        report(reason)
    ranked = found.ranked(sort)
    if form is ListFormat.jsonl:
        print_json_list("queues", map(_object, ranked[: limit or None]), lines=True)
        for remark in found.remarks + failed:
            warning(remark)
    elif form is ListFormat.json:
        print_json({
            "queues": list(map(_object, ranked[: limit or None])),
            "groups": list(map(_group_object, found.ranked_groups()[: limit or None])),
            "remarks": found.remarks + failed,
        })  # fmt: skip
    elif len(failed) < max(1, len(given or [])):
        _text(found, ranked, SHOWN if limit is None else limit or len(ranked))
    return Exit.FAILED if failed else Exit.FOUND if found.wrong else Exit.OK


def _watch(places: list[DataLocation], failed: list[str], order: TopOrder, limit: int | None, every: float) -> int:
    if failed:
        raise CallError(failed[0])
    if page := next((place for place in places if place.page is not None), None):
        raise CallError(f"{page.given} is one page; --watch takes a data directory or a store folder")

    def first() -> Screen[None]:
        from pagectl.screens.top import TopScreen

        return TopScreen(places, order, limit, every)

    return show("messages top --watch", "messages top, or --every SECONDS --format json", first)


def _places(given: list[Path], broker: BrokerOptions) -> tuple[list[DataLocation], list[str]]:
    """Of several, those that can be opened, and why the others cannot."""
    if len(given) < 2:
        return [located(given[0] if given else None, broker)], []
    if broker != BrokerOptions():
        raise CallError(
            "--config, --properties, --profile and --server work with one DIR only; every instance has its own"
        )
    found, failed = [], []
    for path in given:
        try:
            found.append(located(path))
        except (CallError, PageFmtError, OSError) as err:
            failed.append(describe(err))
    return found, failed


def _look(places: list[DataLocation], within: StoredIn) -> QueuesLook:
    sizes = [bytes_to_read(place) for place in places]
    with progress("reading pages", sum(size or 0 for size in sizes)) as bar:
        return look(places, within, bar.advance)


def _object(queue: RankedQueue) -> dict[str, Any]:
    of = queue.backlog
    return {
        "broker": queue.broker,
        "address": of.address,
        "queue": of.queue,
        "id": of.id,
        "messages": of.messages,
        "journal": of.in_journal,
        "bytes": of.bytes,
        "pages_held": of.pages,
        "bytes_held": of.disk,
        "bytes_held_alone": of.alone,
        "oldest": of.oldest,
        "growth": None if queue.growth is None else round(queue.growth),
    }


def _group_object(group: QueueGroup) -> dict[str, Any]:
    of = group.pages
    return {
        "broker": group.broker,
        "address": of.address,
        "queues": list(of.queues),
        "bytes_held": of.bytes,
        "pages_held": of.pages,
    }


def _text(found: QueuesLook, ranked: list[RankedQueue], limit: int) -> None:
    if ranked:
        several = len({queue.broker for queue in ranked}) > 1
        columns = (*COLUMNS, "BROKER")[: len(COLUMNS) + several]
        print_table(columns, [cells(queue)[: len(columns)] for queue in ranked[:limit]], right=RIGHT)
    if len(ranked) > limit:
        print(f"… and {count_text(len(ranked) - limit, 'more queue')} (--limit 0 shows all)")
    groups = found.ranked_groups()
    for group in groups[:limit]:
        say(group_text(group))
    if len(groups) > limit:
        print(f"… and {count_text(len(groups) - limit, 'more group')} of queues that hold pages together")
    say(account(found))
