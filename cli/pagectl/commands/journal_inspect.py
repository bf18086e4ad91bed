"""``journal inspect``: journal files down to the byte."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.opening.broker import Alone, located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.record_type import RecordTypeOption, record_type
from pagectl.options.shared import DirArgument, ListFormatOption, RecordOption
from pagectl.outputs.inspection import journal_inspection
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import warning
from pagefmt.quantities import count_text

EXAMPLES = (
    ("The records of one file, field by field", "journal inspect /var/lib/broker --file activemq-data-1.amq"),
    ("Queues of the bindings, with their bytes", "journal inspect /var/lib/broker --type QUEUE_BINDING_RECORD --hex"),
)


def command(
    directory: DirArgument = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="NAME", help="Only the file with this name.", show_default=False)
    ] = None,
    record: RecordOption = None,
    kind: RecordTypeOption = None,
    with_bytes: Annotated[bool, typer.Option("--hex", help="Show the bytes beside the names of the fields.")] = False,
    form: ListFormatOption = ListFormat.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Show journal files down to the byte: records of every kind, including dead ones, and every field of their bodies.

    Ends with status 1 if a record is torn or a file cannot be read, and with 2 if there is no such file or record.
    """
    from pagefmt.change.compaction.journals import listings
    from pagefmt.journal.damage import UNREAD
    from pagefmt.journal.scan import TornRecords
    from pagefmt.journal.windows import chosen_frames
    from pagefmt.storage.files import FileStretches

    place = located(directory, broker, alone=Alone.ALL)
    user_type = record_type(kind)
    journals = list(listings(place))
    files = [listed for journal in journals for listed in journal.files if file in (None, listed.name)]
    notes = [note for journal in journals for note in journal.notes if file in (None, note.file)]
    unread = [note for note in notes if note.kind in UNREAD]
    for note in unread:
        warning(f"{note.file}: {note.kind.value}: {note.detail}")
    if not files and not unread:
        raise CallError(f"{place.given}: no such journal file; {place.call('journal ls')} lists them")
    view = journal_inspection(form, with_bytes=with_bytes)
    wrong, shown = bool(unread), 0
    for journal_file in files:
        torn = TornRecords()
        view.begin(journal_file)
        with FileStretches(journal_file.path) as opened:
            for frame in chosen_frames(opened, journal_file.header, torn, record, user_type):
                view.record(frame, bytes(opened[frame.at : frame.at + frame.total]))
                shown += 1
        wrong = wrong or torn.count > 0
        view.torn(torn.first if record is None and user_type is None else [])
    view.close()
    if record is not None and not shown:
        of_type = "" if user_type is None else f" of type {kind}"
        raise CallError(
            f"{place.given}: no record {record}{of_type}: {count_text(len(files), 'journal file')} looked at"
            f"{', not all of it readable' * wrong}; {place.call('journal inspect')} shows all records"
        )
    return Exit.FOUND if wrong else Exit.OK
