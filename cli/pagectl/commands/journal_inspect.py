"""``journal inspect``: journal files down to the byte."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.opening.broker import located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, ListFormatOption, RecordOption
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.hexview import HexView
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import JsonItems, coloured, folded, warning
from pagefmt.findings import did_you_mean
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.bytes.files import FileStretches
    from pagefmt.journal.files import JournalFile, JournalHeader
    from pagefmt.journal.records import JournalFrame
    from pagefmt.journal.scan import TornRecords

EXAMPLES = (
    ("The records of one file, field by field", "journal inspect /var/lib/broker --file activemq-data-1.amq"),
    ("Queues of the bindings, with their bytes", "journal inspect /var/lib/broker --type QUEUE_BINDING_RECORD --hex"),
)


def command(
    given: DirArgument = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="NAME", help="Only the file with this name.", show_default=False)
    ] = None,
    record: RecordOption = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="NAME",
            help="Only records of this type, by name or number; a wrong name lists all.",
            show_default=False,
        ),
    ] = None,
    with_bytes: Annotated[bool, typer.Option("--hex", help="Show the bytes beside the names of the fields.")] = False,
    form: ListFormatOption = ListFormat.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Show journal files down to the byte: records of every kind, including dead ones, and every field of their bodies.

    Ends with status 1 if a record is torn or a file cannot be read, and with 2 if there is no such file or record.
    """
    from pagefmt.bytes.files import FileStretches
    from pagefmt.compaction.journals import listings
    from pagefmt.describe.journal_anatomy import journal_fields
    from pagefmt.journal.damage import UNREAD
    from pagefmt.journal.scan import TornRecords

    place = located(given, broker)
    user_type = None if kind is None else _type(kind)
    every = list(listings(place))
    files = [each for found in every for each in found.files if file in (None, each.name)]
    unread = [note for found in every for note in found.notes if note.kind in UNREAD and file in (None, note.file)]
    for note in unread:
        warning(f"{note.file}: {note.kind.value}: {note.detail}")
    if not files and not unread:
        raise CallError(f"{place.given}: no such journal file; {place.call('journal ls')} lists them")
    items = None if form is ListFormat.text else JsonItems("records", lines=form is ListFormat.jsonl)
    view = HexView(sys.stdout, with_bytes=with_bytes, coloured=coloured(sys.stdout))
    torn_any, shown_any = bool(unread), False
    for each in files:
        torn = TornRecords()
        with FileStretches(each.path) as opened:
            if items is None:
                _head(view, each)
            for frame in _chosen_frames(opened, each.header, torn, record, user_type):
                shown_any = True
                content = bytes(opened[frame.at : frame.at + frame.total])
                within = frame._replace(at=0, body=frame.body - frame.at)
                fields = journal_fields(content, within, each.header.version)
                if items is None:
                    view.fields(content, _title(frame), 0, frame.total, fields, frame.at)
                    continue
                shown = [
                    {"offset": frame.at + field.offset, "size": field.size, "name": field.name, "text": field.text}
                    | ({"hex": content[field.offset : field.offset + field.size].hex()} if with_bytes else {})
                    for field in fields
                ]
                items.add("records", {"file": each.name, "offset": frame.at, "length": frame.total, "fields": shown})
            torn_any = torn_any or torn.count > 0
            for one in torn.first if record is None and user_type is None else ():
                if items is None:
                    view.torn(one.offset, one.detail)
                else:
                    items.add("records", {"file": each.name, "torn": {"offset": one.offset, "detail": one.detail}})
    if items is not None:
        items.end()
    if record is not None and not shown_any:
        kind_text = "" if user_type is None else f" of type {kind}"
        raise CallError(
            f"{place.given}: no record {record}{kind_text}: {count_text(len(files), 'journal file')} looked at"
            f"{', not all of it readable' * torn_any}; {place.call('journal inspect')} shows all records"
        )
    return Exit.FOUND if torn_any else Exit.OK


def _head(view: HexView, file: JournalFile) -> None:
    view.heading(folded(f"{file.name}  {one_line(str(file.path))}"))
    header = file.header
    view.line(
        f"file id {header.file_id}, {file.size} bytes, format {header.version}, user version {header.user_version}"
    )


def _title(frame: JournalFrame) -> str:
    from pagefmt.journal.record_types import type_name
    from pagefmt.journal.records import RecordKind

    kind = RecordKind(frame.kind).name
    return f"{kind} {frame.id} {type_name(frame.user_type)}" if frame.user_type else f"{kind} {frame.id or frame.tx}"


def _chosen_frames(
    opened: FileStretches, header: JournalHeader, torn: TornRecords, record: int | None, user_type: int | None
) -> Iterator[JournalFrame]:
    from pagefmt.journal.windows import frames_in_windows

    for found in frames_in_windows(opened, header, torn):
        for frame in map(found.frame, range(len(found.at))):
            if record in (None, frame.id) and user_type in (None, frame.user_type):
                yield frame


def _type(word: str) -> int:
    from pagefmt.journal.record_types import RecordType

    if word.isascii() and word.isdecimal() and len(word) < 10:
        return int(word)
    try:
        return RecordType[word.upper()].value
    except KeyError:
        names = [each.name for each in RecordType]
        advice = did_you_mean(word.upper(), names, f"types are {', '.join(names)}")
        raise CallError(f"--type {word}: no such type; {advice}") from None
