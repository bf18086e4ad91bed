"""``journal inspect``: journal files down to the byte."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.opening.broker import Alone, located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.journal_records import JournalRecordOptions
from pagectl.options.shared import DirArgument, ListFormatOption
from pagectl.outputs.inspection import journal_inspection
from pagectl.running.exits import CallError, Exit
from pagectl.running.journal_records import ShownRecords
from pagectl.terminal.streams import warning
from pagefmt.quantities import count_text

EXAMPLES = (
    ("The records of one file, field by field", "journal inspect /var/lib/broker --file activemq-data-1.amq"),
    ("Queues of the bindings, with their bytes", "journal inspect /var/lib/broker --type QUEUE_BINDING_RECORD --hex"),
    ("Retained files of one night", "journal inspect /var/lib/broker --since 2026-11-27T22:00 --until 2026-11-28"),
)


def command(
    directory: DirArgument = None,
    chosen: JournalRecordOptions = JournalRecordOptions(),
    with_bytes: Annotated[bool, typer.Option("--hex", help="Show the bytes beside the names of the fields.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on with what a broker appends, until interrupted (text, jsonl).")
    ] = False,
    form: ListFormatOption = ListFormat.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Show journal files down to the byte: records of every kind, including dead ones, and every field of their bodies.

    Ends with status 1 if a record is torn or a file cannot be read, and with 2 if there is no such file or record.
    """
    from pagefmt.change.compaction.journals import listings
    from pagefmt.journal.damage import UNREAD

    if follow and form is ListFormat.json:
        raise CallError("--follow never ends, and a JSON document does; take --format jsonl")
    place = located(directory, broker, alone=Alone.ALL)
    journals = list(listings(place))
    files = chosen.chosen([file for journal in journals for file in journal.files])
    notes = [note for journal in journals for note in journal.notes if chosen.file in (None, note.file)]
    unread = [note for note in notes if note.kind in UNREAD]
    for note in unread:
        warning(f"{note.file}: {note.kind.value}: {note.detail}")
    if not files and not unread and not follow:
        raise CallError(f"{place.given}: no such journal file; {place.call('journal ls')} lists them")
    view = journal_inspection(form, with_bytes=with_bytes)
    records = ShownRecords(view, chosen.record, chosen.user_type)
    records.show(files)
    if follow:
        records.follow(place, chosen.file)
    view.close()
    wrong = bool(unread) or records.torn
    if chosen.record is not None and not records.number:
        of_type = "" if chosen.kind is None else f" of type {chosen.kind}"
        raise CallError(
            f"{place.given}: no record {chosen.record}{of_type}: {count_text(len(files), 'journal file')} looked at"
            f"{', not all of it readable' * wrong}; {place.call('journal inspect')} shows all records"
        )
    return Exit.FOUND if wrong else Exit.OK
