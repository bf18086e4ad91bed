"""``pages ls``: one row per address."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.opening.broker import open_broker
from pagectl.opening.stores import StoreOverviews
from pagectl.options.groups import BrokerOptions, ListOptions
from pagectl.options.shared import DirArgument, JobsOption, processes
from pagectl.outputs.address_pages import print_addresses
from pagectl.reports.pages import ADDRESSES, AddressPages
from pagectl.running.exits import Exit
from pagectl.running.permissions import refuse_without_pages
from pagectl.running.reading import state_of_place

if TYPE_CHECKING:
    from pagefmt.outstanding.overview import StoreOverview

EXAMPLES = (
    ("Which addresses are paging, and is anything wrong?", "pages ls /var/lib/broker"),
    ("The five that hold the most bytes", "pages ls /var/lib/broker --sort bytes --limit 5"),
    ("For a script", "pages ls /var/lib/broker --format jsonl"),
)


def command(
    directory: DirArgument = None,
    listed: ListOptions = ListOptions(),
    long: Annotated[bool, typer.Option("--long", help="In text also the folder of each address.")] = False,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """List the addresses that have page files, one row each, with their condition.

    Without --sort they are in the order of their names in text, and of their folders in other formats. The path under
    FOLDER (--long) can be given to other commands as DIR. With a configuration, addresses that have reached their page
    limit are named. Ends with status 1 if a condition is neither ok nor empty.
    """
    view = ADDRESSES.view(listed, long=long)
    opened = open_broker(directory, broker.broker_xml, broker.reading(), far=True)
    refuse_without_pages(opened.place)
    state = state_of_place(opened.place)
    stores = StoreOverviews(opened, state, processes(jobs), beside_output=not view.as_text)
    rows: Iterable[StoreOverview] = stores
    if view.as_text or view.sort is not None:
        rows = sorted(stores, key=lambda row: (row.address is None, row.address or "", row.folder))
    elif view.limit is not None:
        rows = list(stores)  # the status is that of all of them
    if view.as_text:
        print_addresses(list(rows), view, opened.place)
    else:
        view.show(map(AddressPages.of, rows))
    return Exit.FOUND if stores.wrong or state.known.no_paging else Exit.OK
