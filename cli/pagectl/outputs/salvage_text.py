"""What ``pages salvage`` reports, as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.outputs.in_place import Move, commands, free_ending, print_command, quoted, with_ending
from pagectl.terminal.sanitise import one_line
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.change.salvage.directory import SalvagedDirectory
    from pagefmt.change.salvage.store import SalvagedStore
    from pagefmt.directory.locate import DataLocation

LOSSES_SHOWN = 20


def print_salvage(salvaged: SalvagedDirectory, place: DataLocation, out: Path) -> None:
    """Print each store, and how the new directory takes the place of the damaged one."""
    for store in salvaged.stores:
        _store(store, out)
    if salvaged.copied:
        print(f"copied unchanged: {count_text(salvaged.copied, 'store')} without damage")
    _next_steps(place, out)


def _store(store: SalvagedStore, out: Path) -> None:
    name = one_line(store.address or "(address not known: write address.txt before a broker reads it)")
    print(f"{name}  {one_line(str(out / store.folder))}")
    if store.damaged:
        print(f"  damaged: {', '.join(one_line(file) for file in store.damaged)}")
    if store.merged:
        folders = ", ".join(one_line(folder) for folder in store.merged)
        print(f"  merged with other folders of the address, of which a broker reads only one: {folders}")
    if store.readdressed:
        print(
            "  its address.txt named no address, or one that its messages are not for; its records show the right one"
        )
    print(
        f"  {_messages(store.kept)} in place ({store.mended} repaired), {store.rescued} in new pages "
        f"({', '.join(store.new_pages) or 'none'})"
    )
    if store.delivered_again is None:
        print("  how many of them will be delivered again is not known without the journal")
    elif store.delivered_again:
        again = _messages(store.delivered_again)
        print(f"  at most {again} will be delivered again: they were acknowledged, but at positions that are lost")
    if store.repeated:
        print(f"  {store.repeated} left out: their message ids occur elsewhere in the store")
    for loss in store.losses[:LOSSES_SHOWN]:
        message = f" (id {loss.message})" if loss.message else ""
        where = f"{one_line(loss.file)} bytes {loss.start}-{loss.end}: {loss.detail}"
        print(f"  lost: {_messages(loss.fewest, loss.most)}{message}, {where}")
    if len(store.losses) > LOSSES_SHOWN:
        more = len(store.losses) - LOSSES_SHOWN
        print(f"  lost: {_messages(*store.lost)} with {more} more ranges (--format json lists all of them)")
    for remark in store.remarks:
        print(f"  {one_line(remark)}")


def _messages(fewest: int, most: int | None = None) -> str:
    if most is None or fewest == most:
        return count_text(fewest, "message") if fewest else "no message"
    return f"at least {fewest}, " * bool(fewest) + f"at most {count_text(most, 'message')}"


def _next_steps(place: DataLocation, out: Path) -> None:
    from pagefmt.directory.locate import LocationKind

    new, old = out.absolute(), place.paging
    if place.store is not None:
        old, new = place.store, new / place.store.name
    if old is None or place.page is not None:
        return
    old = old.absolute()
    beside = old.parent if place.store is not None else old
    aside = with_ending(beside.with_name(old.name), free_ending([beside.with_name(old.name)], ".damaged"))
    verified = old if place.kind in (LocationKind.PAGING, LocationKind.STORE) else place.given
    print("\nwhat to do next:")
    print("  1. stop the broker")
    print("  2. put the new folder in place; 'done' is printed at the end")
    print_command(commands([Move(old, aside), Move(new, old)]))
    print("  3. check it")
    print_command(f"pagectl pages verify {quoted(verified)}")
    print("  4. start the broker; keep the damaged pages until the messages have arrived")
