"""``pages verify``: every page read to the last byte, and checks across pages, journal, bindings, large messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.opening.broker import located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, EditionOption, JobsOption, ListFormatOption, edition_of, processes
from pagectl.outputs.pages_verification import PagesJson, PagesText
from pagectl.running.exits import Exit
from pagectl.running.permissions import closed_finding, refuse_without_pages
from pagectl.running.reading import bytes_to_read
from pagectl.terminal.progress import Progress, progress
from pagectl.terminal.streams import note
from pagefmt.directory.permissions import Reads

if TYPE_CHECKING:
    from pagefmt.check.report import PageReport

EXAMPLES = (
    ("Every page, every record, and the files around them", "pages verify /var/lib/broker"),
    ("Is a backup still what was sealed?", "pages verify /var/lib/broker --manifest pages.seal"),
)


def command(
    directory: DirArgument = None,
    form: ListFormatOption = ListFormat.text,
    manifest: Annotated[
        Path | None,
        typer.Option("--manifest", metavar="FILE", show_default=False, help="Compare with what 'pages seal' wrote."),
    ] = None,
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Check every byte of every page, and say what a broker would do with it.

    Checks pages against journal, bindings and large messages if there are any. Ends with status 1 if anything
    is damaged or contradictory, and with 0 if there are only remarks.
    """
    from pagectl.opening.assumed_edition import note_edition, writer_of
    from pagefmt.check.report import PagesVerification, of_seal
    from pagefmt.check.seal import differences, read_seal
    from pagefmt.vectors import load_place

    sealed = read_seal(manifest) if manifest is not None else None
    place = located(directory, broker, far=True)
    refuse_without_pages(place)
    state = load_place(place)
    if state.unknown is not None and state.unknown.alone:
        note("no journal beside the pages: pages are not checked against it")
    verification = PagesVerification(place, state, edition_of(edition), writer_of(state), processes(jobs))
    lines = form is ListFormat.jsonl
    view = PagesText() if form is ListFormat.text else PagesJson(lines=lines)
    once = bytes_to_read(place)
    total = None if once is None else once * verification.times_read
    with progress("reading pages", total, beside_output=lines) as bar:
        for store, pages in verification.stores():
            view.store(store, _watched(pages, bar))
        for finding in chain(closed_finding(place, Reads.PAGES | Reads.LARGE), verification.findings()):
            view.finding(finding)
    if form is ListFormat.text:
        note_edition(edition, state)
    for difference in differences(place, sealed) if sealed is not None else ():
        view.finding(of_seal(difference))
    view.end()
    return Exit.FOUND if view.wrong else Exit.OK


def _watched(pages: Iterator[PageReport], bar: Progress) -> Iterator[PageReport]:
    """Yield the pages with progress, and note what a running broker is doing with one."""
    for report in pages:
        yield report
        if report.motion:
            note(f"{report.store.name}: {report.file}: {report.motion}")
        bar.advance(report.size or 0)
    bar.clear()
