"""``pages salvage``: the readable messages of damaged pages, as pages a broker loads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.opening.broker import located
from pagectl.options.formats import TextOrJson
from pagectl.options.shared import BrokerXmlOption, DirArgument, OutOption, PropertiesOption, TextOrJsonOption
from pagectl.running.exits import CallError, Exit
from pagectl.running.reading import known_state
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note, print_json

if TYPE_CHECKING:
    from pagefmt.salvage.directory import SalvagedDirectory
    from pagefmt.salvage.store import SalvagedStore

LOSSES_SHOWN = 20


def command(
    given: DirArgument = None,
    out: OutOption = None,
    form: TextOrJsonOption = TextOrJson.text,
    broker_xml: BrokerXmlOption = None,
    properties: PropertiesOption = None,
) -> int:
    """Write the paging directory anew, with all messages of damaged, put-aside and orphaned pages that can be read.

    NEW takes the place of the paging directory; stores that are well are copied. Acknowledgements keep their meaning: a
    record whose number is sure stays where it is, the others go to new pages behind the last one. Ends with status 1
    where something was lost.
    """
    from pagefmt.bytes.writing import check_new_folder
    from pagefmt.salvage.directory import salvage_directory, salvage_single_page

    if out is None:
        raise CallError("--out NEW is missing: salvage writes into a new folder and changes nothing where it reads")
    place = located(given, broker_xml, properties)
    if place.page is not None:
        note("one page by itself: acknowledgements are not looked at; records keep their numbers where these are sure")
        found = salvage_single_page(place.page, out)
    else:
        check_new_folder(out)  # before the journal is read
        found = salvage_directory(place, known_state(place), out)
    if form is TextOrJson.json:
        print_json(
            {
                "out": str(out),
                "wrote": str(out.absolute()),
                "copied": found.copied,
                "stores": [_object(each) for each in found.stores],
            }
        )
    else:
        _text(found, out)
    note(f"wrote {out.absolute()}")
    return Exit.FOUND if any(each.losses for each in found.stores) else Exit.OK


def _object(each: SalvagedStore) -> dict[str, object]:
    return {
        "folder": each.folder,
        "address": each.address,
        "address_from_records": each.unnamed,
        "merged": each.merged,
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


def _text(found: SalvagedDirectory, out: Path) -> None:
    for each in found.stores:
        _store(each, out)
    if found.copied:
        print(f"{found.copied} stores that are well were copied")


def _store(each: SalvagedStore, out: Path) -> None:
    name = one_line(each.address or "(address not known: write address.txt before a broker reads it)")
    print(f"{name}  {one_line(str(out / each.folder))}")
    if each.damaged:
        print(f"  damaged: {', '.join(one_line(file) for file in each.damaged)}")
    if each.merged:
        folders = ", ".join(one_line(folder) for folder in each.merged)
        print(f"  with what was in other folders of the address, of which a broker reads one: {folders}")
    if each.unnamed:
        print("  its folder named no address; its records do")
    print(f"  {each.kept} messages where they were ({each.mended} mended), {each.rescued} in new pages "
          f"({', '.join(each.new_pages) or 'none'})")  # fmt: skip
    if each.repeated:
        print(f"  {each.repeated} left out: the store has their message ids elsewhere")
    for loss in each.losses[:LOSSES_SHOWN]:
        print(f"  lost: {one_line(loss.file)} bytes {loss.start}-{loss.end}: {loss.detail}")
    if len(each.losses) > LOSSES_SHOWN:
        print(f"  lost: {len(each.losses) - LOSSES_SHOWN} more ranges (--format json has them all)")
