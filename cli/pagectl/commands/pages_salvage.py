"""``pages salvage``: the readable messages of damaged pages, as pages a broker loads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.files.destination import note_written
from pagectl.opening.broker import located
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, JobsOption, TextOrJsonOption, processes
from pagectl.outputs.salvage_text import print_salvage
from pagectl.reports.salvage import PagesSalvage
from pagectl.running.exits import CallError, Exit
from pagectl.running.locking import check_outside, instance_of
from pagectl.running.permissions import refuse_closed
from pagectl.running.reading import state_of_place
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note, print_json, warning
from pagefmt.directory.permissions import Reads

EXAMPLES = (("The readable messages of damaged pages, in a new folder", "pages salvage /var/lib/broker --out rescued"),)


def command(
    directory: DirArgument = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="NEW", help="Write into a new folder.  [required]")
    ] = None,
    form: TextOrJsonOption = TextOrJson.text,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Rebuild the paging directory with all readable messages of damaged, set-aside and orphaned pages.

    The broker must be stopped: what it is writing looks like damage. NEW takes the place of the paging directory;
    undamaged stores are copied. Acknowledgements keep their meaning: a
    record whose number is certain stays where it is, the others go to new pages. A folder without an address, or with
    one that its messages are not for, gets the address of its messages. The output reports how many messages are lost
    and how many will be delivered again. Ends with status 1 if something was lost.
    """
    from pagefmt.change.salvage.directory import salvage_directory, salvage_single_page, source_files
    from pagefmt.directory.locks import running_broker

    if out is None:
        raise CallError("--out NEW is missing: salvage writes into a new folder and leaves the original unchanged")
    place = located(directory, broker)
    refuse_closed(place, Reads.PAGES if place.page is not None else Reads.PAGES | Reads.JOURNALS)
    process = running_broker(place.journal, instance_of(place))
    if process is not None:
        by = f" (process {process})" if process else ""
        warning(f"a broker is running on these files{by}: stop it, and salvage again before you swap the folders")
    check_outside(out, place)
    lost: list[str] = []
    if place.page is not None:
        note("a single page: acknowledgements are not considered; records keep their numbers where these are certain")
        salvaged = salvage_single_page(place.page, out)
    else:
        sources = source_files(place)
        state = state_of_place(place)
        salvaged = salvage_directory(place, state, out, jobs=processes(jobs), sources=sources)
        lost = state.known.lost()
    if form is TextOrJson.json:
        print_json(PagesSalvage.of(salvaged, out, lost))
    else:
        print_salvage(salvaged, place, out)
    for remark in [*salvaged.remarks, *salvaged.unread]:
        warning(one_line(remark))
    note_written(out.absolute(), place.paging)
    return Exit.FOUND if lost or not salvaged.whole else Exit.OK
