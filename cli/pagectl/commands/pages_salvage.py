"""``pages salvage``: the readable messages of damaged pages, as pages a broker loads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.opening.broker import located
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, JobsOption, TextOrJsonOption, processes
from pagectl.outputs.in_place import Move, commands, free_ending, print_command, quoted, with_ending
from pagectl.running.exits import CallError, Exit
from pagectl.running.locking import check_outside, instance_of
from pagectl.running.permissions import refuse_closed
from pagectl.running.reading import told_state
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note, print_json, warning
from pagefmt.directory.permissions import Reads
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.salvage.directory import SalvagedDirectory
    from pagefmt.salvage.store import SalvagedStore

LOSSES_SHOWN = 20


EXAMPLES = (("The readable messages of damaged pages, in a new folder", "pages salvage /var/lib/broker --out rescued"),)


def command(
    given: DirArgument = None,
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
    from pagectl.files.destination import note_written
    from pagefmt.directory.locks import running_broker
    from pagefmt.salvage.directory import salvage_directory, salvage_single_page, source_files

    if out is None:
        raise CallError("--out NEW is missing: salvage writes into a new folder and leaves the original unchanged")
    place = located(given, broker)
    refuse_closed(place, Reads.PAGES if place.page is not None else Reads.PAGES | Reads.JOURNALS)
    process = running_broker(place.journal, instance_of(place))
    if process is not None:
        by = f" (process {process})" if process else ""
        warning(f"a broker is running on these files{by}: stop it, and salvage again before you swap the folders")
    check_outside(out, place)
    if place.page is not None:
        note("a single page: acknowledgements are not considered; records keep their numbers where these are certain")
        found, lost = salvage_single_page(place.page, out), list[str]()
    else:
        sources = source_files(place)
        state = told_state(place)
        found = salvage_directory(place, state, out, jobs=processes(jobs), sources=sources)
        lost = state.known.lost()
    if form is TextOrJson.json:
        print_json(
            {
                "out": str(out),
                "wrote": str(out.absolute()),
                "copied": found.copied,
                "stores": [_object(each, lost) for each in found.stores],
            }
        )
    else:
        _text(found, out)
        _next_steps(place, out)
    for remark in [*found.remarks, *found.unread]:
        warning(one_line(remark))
    note_written(out.absolute(), place.paging)
    return (
        Exit.FOUND
        if lost or found.remarks or found.unread or any(each.losses or each.remarks for each in found.stores)
        else Exit.OK
    )


def _object(each: SalvagedStore, lost: list[str]) -> dict[str, object]:
    fewest, most = each.lost
    return {
        "folder": each.folder,
        "address": each.address,
        "address_from_records": each.readdressed,
        "merged": each.merged,
        "damaged": each.damaged,
        "kept": each.kept,
        "mended": each.mended,
        "rescued": each.rescued,
        "already_there": each.repeated,
        "new_pages": each.new_pages,
        "delivered_again": each.delivered_again,
        "lost_messages": fewest if fewest == most else {"at_least": fewest, "at_most": most},
        "lost": [
            {
                "file": loss.file,
                "start": loss.start,
                "end": loss.end,
                "detail": loss.detail,
                "messages": loss.fewest if loss.fewest == loss.most else None,
                "ids": [loss.message] if loss.message else [],
            }
            for loss in each.losses
        ],
        "remarks": [*each.remarks, *lost],
    }


def _text(found: SalvagedDirectory, out: Path) -> None:
    for each in found.stores:
        _store(each, out)
    if found.copied:
        print(f"copied unchanged: {count_text(found.copied, 'store')} without damage")


def _store(each: SalvagedStore, out: Path) -> None:
    name = one_line(each.address or "(address not known: write address.txt before a broker reads it)")
    print(f"{name}  {one_line(str(out / each.folder))}")
    if each.damaged:
        print(f"  damaged: {', '.join(one_line(file) for file in each.damaged)}")
    if each.merged:
        folders = ", ".join(one_line(folder) for folder in each.merged)
        print(f"  merged with other folders of the address, of which a broker reads only one: {folders}")
    if each.readdressed:
        print(
            "  its address.txt named no address, or one that its messages are not for; its records show the right one"
        )
    print(f"  {_messages(each.kept)} in place ({each.mended} repaired), {each.rescued} in new pages "
          f"({', '.join(each.new_pages) or 'none'})")  # fmt: skip
    if each.delivered_again is None:
        print("  how many of them will be delivered again is not known without the journal")
    elif each.delivered_again:
        again = _messages(each.delivered_again)
        print(f"  at most {again} will be delivered again: they were acknowledged, but at positions that are lost")
    if each.repeated:
        print(f"  {each.repeated} left out: their message ids occur elsewhere in the store")
    for loss in each.losses[:LOSSES_SHOWN]:
        known = f" (id {loss.message})" if loss.message else ""
        where = f"{one_line(loss.file)} bytes {loss.start}-{loss.end}: {loss.detail}"
        print(f"  lost: {_messages(loss.fewest, loss.most)}{known}, {where}")
    if len(each.losses) > LOSSES_SHOWN:
        more = len(each.losses) - LOSSES_SHOWN
        print(f"  lost: {_messages(*each.lost)} with {more} more ranges (--format json lists all of them)")
    for remark in each.remarks:
        print(f"  {one_line(remark)}")


def _messages(fewest: int, most: int | None = None) -> str:
    if most is None or fewest == most:
        return count_text(fewest, "message") if fewest else "no message"
    return f"at least {fewest}, " * bool(fewest) + f"at most {count_text(most, 'message')}"


def _next_steps(place: DataLocation, out: Path) -> None:
    """How what was written takes the place of what is damaged."""
    from pagefmt.directory.locate import LocationKind

    made, old = out.absolute(), place.paging
    if place.store is not None:
        old, made = place.store, made / place.store.name
    if old is None or place.page is not None:
        return
    old = old.absolute()
    beside = old.parent if place.store is not None else old
    aside = with_ending(beside.with_name(old.name), free_ending([beside.with_name(old.name)], ".damaged"))
    verified = old if place.kind in (LocationKind.PAGING, LocationKind.STORE) else place.given
    print("\nwhat to do next:")
    print("  1. stop the broker")
    print("  2. put the new folder in place; 'done' is printed at the end")
    print_command(commands([Move(old, aside), Move(made, old)]))
    print("  3. check it")
    print_command(f"pagectl pages verify {quoted(verified)}")
    print("  4. start the broker; keep the damaged pages until the messages have arrived")
