"""``pages ls`` as text."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pagectl.reports.listing import View
from pagectl.reports.pages import AddressPages
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import say
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.overview import StoreOverview


def print_addresses(stores: list[StoreOverview], view: View[AddressPages], place: DataLocation) -> None:
    """Print the table, the sums of all stores, and below them what is wrong with those that the table shows."""
    if not stores:
        print("no address has page files")
        return
    paging = (place.paging if place.store is None else place.store.parent) or Path()
    rows = [AddressPages.of(store) for store in stores]
    shown = list(view.chosen(rows))
    view.write([replace(row, folder=_shell_path(paging / row.folder)) for row in shown])  # type: ignore[type-var]
    waiting = [row.outstanding for row in rows if row.outstanding is not None]
    waits = f", {sum(waiting)} outstanding" if len(waiting) == len(rows) else ""
    say(
        f"{count_text(len(rows), 'address', 'addresses')}, {count_text(sum(row.pages for row in rows), 'page')}, "
        f"{count_text(sum(row.messages for row in rows), 'message')}{waits}, "
        f"{size_text(sum(row.bytes for row in rows))}"
    )
    by_folder = {store.folder: store for store in stores}
    for row in shown:
        if row.page_full:
            check = place.call("messages check")
            say(f"{row.address}: its page limit is reached; {check} says what becomes of what is sent")
        verdict = by_folder[row.folder].verdict
        if verdict.remarks and not verdict.fine:
            print(f"\n{one_line(row.address or '(no address)')}  {one_line(row.folder)}")
            for remark in verdict.remarks:
                print(f"  {one_line(remark)}")


def _shell_path(path: Path) -> str:
    """Return a path for a shell, from the current folder if it is below that."""
    return quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))
