"""``journal ls``: one row per file of the journals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagectl.opening.broker import located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, ListFormatOption
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import JsonItems, print_table, say
from pagefmt.quantities import size_text

if TYPE_CHECKING:
    from pagefmt.compaction.journals import JournalFiles
    from pagefmt.directory.locate import DataLocation
    from pagefmt.journal.overview import JournalFileOverview

EXAMPLES = (("What is in the journal files, and how much of it is live", "journal ls /var/lib/broker"),)


def command(
    given: DirArgument = None, form: ListFormatOption = ListFormat.text, broker: BrokerOptions = BrokerOptions()
) -> int:
    """List the files of message journal, bindings and JMS journal: records, live records, condition.

    Ends with status 1 if a condition is worse than a remark.
    """
    from pagefmt.compaction.journals import freeable, read_journals
    from pagefmt.directory.locks import running_broker
    from pagefmt.journal.overview import journal_overview

    place = located(given, broker)
    live = running_broker(place.journal) is not None
    found = [(each, list(journal_overview(each.loaded, live=live))) for each in read_journals(place)]
    if not found:
        raise CallError(f"{place.given}: no journal and no bindings; name the data directory or the instance")
    totals = [_total(each, rows, freeable(each)) for each, rows in found]
    if form is ListFormat.text:
        _text(found, totals, place)
    else:
        items = JsonItems("files", "journals", lines=form is ListFormat.jsonl)
        for each, rows in found:
            for row in rows:
                items.add("files", _object(each, row))
        for total in totals:
            items.add("journals", total)
        items.end()
    return Exit.OK if all(row.sound for _, rows in found for row in rows) else Exit.FOUND


def _object(journal: JournalFiles, row: JournalFileOverview) -> dict[str, Any]:
    known = row.records is not None
    return {
        "journal": journal.name,
        "file": row.name,
        "id": row.id,
        "size": row.size,
        "records": row.records,
        "live_records": row.live,
        "dead_records": (row.records or 0) - (row.live or 0) if known else None,
        "live_bytes": row.live_bytes,
        "dead_bytes": max(0, (row.record_bytes or 0) - (row.live_bytes or 0)) if known else None,
        "condition": row.conditions[0],
        "conditions": list(row.conditions),
        "remarks": list(row.remarks),
    }


def _total(journal: JournalFiles, rows: list[JournalFileOverview], free: int | None) -> dict[str, Any]:
    """``freeable``: by 'journal compact'; null where that leaves the journal alone."""
    return {
        "journal": journal.name,
        "folder": str(journal.folder),
        "files": len(journal.loaded.files),
        "bytes": sum(row.size for row in rows),
        "records": sum(row.records or 0 for row in rows),
        "live_records": sum(row.live or 0 for row in rows),
        "prepared_transactions": len(journal.loaded.prepared),
        "freeable": free,
    }


def _text(
    found: list[tuple[JournalFiles, list[JournalFileOverview]]], totals: list[dict[str, Any]], place: DataLocation
) -> None:
    right = ("ID", "SIZE", "RECORDS", "LIVE", "DEAD", "LIVE BYTES", "DEAD BYTES")
    objects = [_object(each, row) for each, rows in found for row in rows]
    keys = ("id", "records", "live_records", "dead_records")
    print_table(
        (*right, "CONDITION", "FILE"),
        [
            (
                *("?" if row[key] is None else row[key] for key in keys[:1]), size_text(row["size"]),
                *("?" if row[key] is None else row[key] for key in keys[1:]),
                *("?" if row[key] is None else size_text(row[key]) for key in ("live_bytes", "dead_bytes")),
                ", ".join(row["conditions"]), row["file"],
            )
            for row in objects
        ],
        right=right,
    )  # fmt: skip
    for total in totals:
        free = "?" if total["freeable"] is None else size_text(total["freeable"])
        say(f"{total['journal']}: {size_text(total['bytes'])}, {total['live_records']} of {total['records']} records "
              f"are live; {place.call('journal compact')} frees {free}")  # fmt: skip
    for row in objects:
        for remark in row["remarks"]:
            say(f"{row['file']}: {remark}")
