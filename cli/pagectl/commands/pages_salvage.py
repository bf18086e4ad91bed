"""``pages salvage``: the readable messages of damaged pages, as pages a broker loads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.exits import CallError, Exit
from pagectl.location import located
from pagectl.options import BrokerXmlOption, DirArgument, OutOption, TextOrJsonOption
from pagectl.outputs.formats import TextOrJson
from pagectl.reading import each_store, known_state
from pagectl.sanitise import one_line
from pagectl.streams import note, print_json

if TYPE_CHECKING:
    from pagefmt.locate import Place
    from pagefmt.outstanding import State
    from pagefmt.record import Layout
    from pagefmt.salvage_store import Salvaged

LOSSES_SHOWN = 20


def command(
    given: DirArgument = None,
    out: OutOption = None,
    form: TextOrJsonOption = TextOrJson.text,
    broker_xml: BrokerXmlOption = None,
) -> int:
    """Write every store that has damaged or put-aside pages anew, with all messages that can still be read.

    Acknowledgements keep their meaning: a record whose number is sure stays where it is, the others go to new pages
    behind the last one. A folder below NEW takes the place of the folder of the same name. Ends with status 1 where
    something was lost.
    """
    if out is None:
        raise CallError("--out NEW is missing: salvage writes into a new folder and changes nothing where it reads")
    place = located(given, broker_xml)
    found = _page(place, out) if place.page is not None else _stores(place, out)
    if form is TextOrJson.json:
        print_json({"out": str(out), "stores": [_object(each) for each in found]})
    else:
        _text(found, out)
    return Exit.FOUND if any(each.losses for each in found) else Exit.OK


def _page(place: Place, out: Path) -> list[Salvaged]:
    from pagefmt.page import open_page
    from pagefmt.record import Layout
    from pagefmt.salvage_store import check_target, salvage_page, write

    assert place.page is not None
    check_target(out, [place.page.parent])
    with open_page(place.page) as page:
        layout = page.layout() or Layout.NEW
    note("one page by itself: acknowledgements are not looked at, its records keep their numbers where these are sure")
    return [write(salvage_page(place.page, layout), None, out)]


def _stores(place: Place, out: Path) -> list[Salvaged]:
    from pagefmt.salvage_store import CannotSalvage, check_target, salvage_store, write

    check_target(out, [path for path in (place.paging, place.store) if path is not None])
    state = known_state(place)
    found = []
    for store, known in each_store(place, state):
        queues = set(known.queues) if known is not None and known.queues else set()
        rescue = salvage_store(store, state.journal if state else None, _layout(state, store.folder), queues)
        if rescue is not None:
            found.append(write(rescue, store.folder, out))
    if not found:
        raise CannotSalvage(f"{place.given}: no page is damaged or put aside; nothing was written")
    return found


def _layout(state: State | None, folder: Path) -> Layout:
    """By the bindings; without them by the first page that tells."""
    from pagefmt.compaction.planning import layout_of_bindings
    from pagefmt.page import open_page
    from pagefmt.record import Layout

    if state is not None and state.bindings is not None:
        return layout_of_bindings(state.bindings)
    for path in sorted(folder.glob("*.page")):
        if path.is_file() and not path.is_symlink():
            with open_page(path) as page:
                layout = page.layout()
            if layout is not None:
                return layout
    return Layout.NEW


def _object(each: Salvaged) -> dict[str, object]:
    return {
        "folder": each.folder,
        "address": each.address,
        "damaged": each.damaged,
        "kept": each.kept,
        "mended": each.mended,
        "rescued": each.rescued,
        "already_there": each.repeated,
        "new_pages": each.new_pages,
        "lost": [
            {"file": loss.file, "start": loss.start, "end": loss.end, "detail": loss.detail} for loss in each.losses
        ],
    }


def _text(found: list[Salvaged], out: Path) -> None:
    for each in found:
        name = one_line(each.address or "(address not known: write address.txt before a broker reads it)")
        print(f"{name}  {one_line(str(out / each.folder))}")
        print(f"  damaged: {', '.join(one_line(file) for file in each.damaged)}")
        print(f"  {each.kept} messages where they were ({each.mended} mended), {each.rescued} in new pages "
              f"({', '.join(each.new_pages) or 'none'})")  # fmt: skip
        if each.repeated:
            print(f"  {each.repeated} left out: the store has their message ids elsewhere")
        for loss in each.losses[:LOSSES_SHOWN]:
            print(f"  lost: {one_line(loss.file)} bytes {loss.start}-{loss.end}: {loss.detail}")
        if len(each.losses) > LOSSES_SHOWN:
            print(f"  lost: {len(each.losses) - LOSSES_SHOWN} more ranges (--format json has them all)")
