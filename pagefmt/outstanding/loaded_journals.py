"""What has to be known before a record may be called free: the address, its queues, what they acknowledged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import Final, NamedTuple

from pagefmt.directory.bindings import Bindings, load_bindings
from pagefmt.directory.locate import DataLocation, LocationKind, stores
from pagefmt.directory.paging import Store
from pagefmt.errors import PageFmtError
from pagefmt.journal.damage import ACKNOWLEDGEMENT, JournalDamage
from pagefmt.journal.files import FileNote, FileProblem, Journal, JournalListing
from pagefmt.journal.load import LoadedJournal, load_files, load_journal
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.record_types import BINDINGS, EVERY, RecordType
from pagefmt.quantities import count_text
from pagefmt.storage.files import NotPermitted

NO_PAGING: Final = (
    "there is no paging directory, though the journal has records about pages: what waits in pages is not known"
)


class UnknownPart(StrEnum):
    """Which part of the answer is missing; the value is for messages."""

    JOURNAL = "journal"
    JOURNAL_FILE = "journal file"
    BINDINGS = "bindings"
    ADDRESS = "address"
    FOLDER = "folder"


class Unknown(NamedTuple):
    """Why it is not known what queues wait for, in words. ``missing``: it is not there, rather than not readable.

    ``alone``: pages were named that lie by themselves, so nothing is missing from what was named. ``permitted``: False
    if it is there, but this user may not read it.
    """

    part: UnknownPart
    reason: str
    missing: bool = False
    alone: bool = False
    permitted: bool = True

    def about(self, messages: int, unacknowledged: int | None) -> str:
        """Return the reason, with the counts that are known. ``unacknowledged``: None without the journal."""
        if self.part is UnknownPart.FOLDER:
            return self.reason
        figure = "" if unacknowledged is None else f", {unacknowledged} unacknowledged according to the journal"
        return f"{self.reason}: {count_text(messages, 'message')}{figure}"


class KnownJournals(NamedTuple):
    """Message journal and bindings of a place as far as they can be read, and what is not known of each.

    ``no_paging``: the journal has records about pages, and there is no paging directory. ``whole``: of a broker's
    directory, of which both are a part. ``alone``: of files by themselves, to which later ones may belong. ``again``
    counts the messages that may be delivered again at most, because acknowledgements are lost; None: not known.
    """

    journal: MessageJournal
    bindings: Bindings | None
    unknown_journal: Unknown | None
    unknown_bindings: Unknown | None
    no_paging: bool = False
    whole: bool = False
    alone: bool = False
    again: Callable[[], int | None] = lambda: None

    def unknown(self) -> list[Unknown]:
        """Return what is not known of journal and bindings; nothing for pages without any broker directory."""
        both = (self.unknown_journal, self.unknown_bindings)
        return [unknown for unknown in both if unknown is not None and not unknown.alone]

    @property
    def damaged(self) -> bool:
        """Something that is there cannot be read."""
        unread = any(not unknown.missing for unknown in self.unknown())
        return unread or self.no_paging or self._damage is not None or bool(self._misplaced)

    @property
    def unread(self) -> Unknown | None:
        """Why what the journal says is not all that it says: one of its files is not read, though a broker may."""
        if self.unknown_journal is not None:
            return None
        return next((_of_file(note) for note in self.journal.loaded.notes if note.kind in _NOT_READ), None)

    @property
    def incomplete(self) -> bool:
        """Something of what was asked about is damaged, cannot be read, or is not there."""
        return self.damaged or (self.whole and bool(self.unknown()))

    @property
    def closed(self) -> bool:
        """Something that is there may not be read by this user; whether it is damaged is not known."""
        damage = self._damage
        return any(not unknown.permitted for unknown in self.unknown()) or bool(damage and damage.not_permitted)

    @property
    def _damage(self) -> JournalDamage | None:
        return self.journal.loaded.damage if self.unknown_journal is None else None

    @property
    def _misplaced(self) -> str:
        loaded = None if self.unknown_bindings is not None or self.bindings is None else self.bindings.loaded
        misplaced = None if loaded is None else loaded.misplaced(BINDINGS)
        return misplaced.text if misplaced else ""

    def lost(self) -> list[str]:
        """Return one line for each loss from journals that can be read, and what it means."""
        losses = []
        if self._damage is not None:
            losses.append(lost_acknowledgements(self._damage, self.again()))
        if misplaced := self._misplaced:
            losses.append(f"the bindings have {misplaced}: brokers up to 2.44 do not start, later ones skip it")
        if self.no_paging:
            losses.append(NO_PAGING)
        return losses


def lost_acknowledgements(damage: JournalDamage, most: int | None) -> str:
    """Return the remark on a damaged journal.

    ``most``: messages that may be delivered again, None if not known.
    """
    if damage.not_permitted:
        return f"{damage.not_permitted}: what its records acknowledge is not known; run as a user who may read it"
    upto = "an unknown number of messages" if most is None else f"up to {count_text(most, 'message')}"
    return f"the journal is damaged ({damage.place}): acknowledgements are lost, {upto} may be delivered again"


def load_journals(
    place: DataLocation, inspect: Callable[[LoadedJournal], object] = lambda loaded: None
) -> KnownJournals:
    """Load journal and bindings.

    What cannot be read becomes ``unknown_journal`` or ``unknown_bindings``: never raises.

    ``inspect`` receives the records of the message journal, including acknowledgements, which are not kept.
    """
    journal, unknown_journal = _journal(place, inspect)
    bindings, unknown_bindings = _bindings(place)
    if bindings is not None and unknown_bindings is None and unknown_journal is None:
        unknown_bindings = _lost_bindings(bindings, journal)
    if place.kind.is_journal and unknown_bindings is not None and unknown_bindings.missing:
        unknown_bindings = None  # queues are those that the journal names, by their ids
    whole = place.kind in (LocationKind.INSTANCE, LocationKind.DATA)
    if not whole and place.journal is None and place.bindings is None:
        unknown_journal = unknown_journal._replace(alone=True) if unknown_journal else None
        unknown_bindings = unknown_bindings._replace(alone=True) if unknown_bindings else None
    no_paging = whole and place.paging is None and _mentions_pages(journal)
    return KnownJournals(journal, bindings, unknown_journal, unknown_bindings, no_paging, whole, place.kind.is_journal)


_ABOUT_PAGES: Final = (
    RecordType.PAGE_TRANSACTION,
    RecordType.PAGE_CURSOR_COUNTER_VALUE,
    RecordType.PAGE_CURSOR_COUNTER_INC,
    RecordType.PAGE_CURSOR_COMPLETE,
    RecordType.PAGE_CURSOR_PENDING_COUNTER,
)


def _mentions_pages(journal: MessageJournal) -> bool:
    """Return whether anything of it is about pages, acknowledgements among them; a broker that never paged has none."""
    return bool(len(journal.loaded.rows_of(*_ABOUT_PAGES))) or any(True for _ in journal.ack_index.pages())


def load_names(place: DataLocation) -> KnownJournals:
    """Load the names of queues only; the message journal is not read."""
    bindings, unknown_bindings = _bindings(place)
    if unknown_bindings is not None and unknown_bindings.missing:
        unknown_bindings = unknown_bindings._replace(alone=True)
    unread = Unknown(UnknownPart.JOURNAL, "the journal is not read", alone=True)
    return KnownJournals(MessageJournal(load_files(JournalListing((), ()))), bindings, unread, unknown_bindings)


def _journal(place: DataLocation, inspect: Callable[[LoadedJournal], object]) -> tuple[MessageJournal, Unknown | None]:
    loaded = load_files(JournalListing((), ()))
    if place.journal is None:
        reason = "there is no journal beside the pages, so it is not known what was acknowledged"
        return MessageJournal(loaded), Unknown(UnknownPart.JOURNAL, reason, missing=True)
    try:
        loaded = _with_losses(load_journal(place.journal), place)
        if loaded.files:
            inspect(loaded)
        return MessageJournal(loaded), _nothing_read(loaded, UnknownPart.JOURNAL)
    except PageFmtError as err:
        closed = isinstance(err, NotPermitted)
        reason = str(err) if closed else f"the journal cannot be read: {err}"
        return MessageJournal(loaded), Unknown(UnknownPart.JOURNAL, reason, permitted=not closed)


def _with_losses(loaded: LoadedJournal, place: DataLocation) -> LoadedJournal:
    """Add notes about what is lost from a message journal and does not show in one of its files.

    A broker that pages writes to its journal, so one without any record beside pages has lost it. A record of a type
    that does not belong there may have been a message or an acknowledgement.
    """
    if not loaded.files:
        return loaded
    notes, file = [], loaded.files[0].name
    if any(note.kind is FileProblem.NOT_PERMITTED for note in loaded.notes):
        return loaded
    if not any(torn.holds_records for _, torn in loaded.torn):
        if place.paging is not None and any(page.size for store in stores(place) for page in store.pages):
            notes.append(FileNote(FileProblem.NO_RECORD, file, "it contains no record, though there are pages"))
    elif misplaced := loaded.misplaced(EVERY - BINDINGS):
        size = len(misplaced.rows) * ACKNOWLEDGEMENT
        notes.append(FileNote(FileProblem.MISPLACED, file, misplaced.text, size))
    return replace(loaded, notes=(*loaded.notes, *notes)) if notes else loaded


def _bindings(place: DataLocation) -> tuple[Bindings | None, Unknown | None]:
    """Load the bindings.

    All have to be readable, as a queue whose binding is missed would look like a deleted one.
    """
    if place.bindings is None:
        reason = "there are no bindings beside the pages, so it is not known which queues exist"
        return None, Unknown(UnknownPart.BINDINGS, reason, missing=True)
    try:
        bindings = load_bindings(place.bindings)
    except PageFmtError as err:
        closed = isinstance(err, NotPermitted)
        reason = str(err) if closed else f"the bindings cannot be read: {err}"
        return None, Unknown(UnknownPart.BINDINGS, reason, permitted=not closed)
    unknown = _nothing_read(bindings.loaded, UnknownPart.BINDINGS)
    if unknown is None and (damage := bindings.loaded.damage) is not None:
        problem = damage.not_permitted or f"the bindings are damaged ({damage.place})"
        reason = f"{problem}, so it is not known which queues exist"
        unknown = Unknown(UnknownPart.BINDINGS, reason, permitted=not damage.not_permitted)
    bad = next((bad for bad in bindings.bad if bad.user_type == RecordType.QUEUE_BINDING_RECORD), None)
    if unknown is None and bad is not None:
        reason = f"record {bad.record} of the bindings, a queue, cannot be read: {bad.detail}"
        unknown = Unknown(UnknownPart.BINDINGS, reason)
    return bindings, unknown


def _lost_bindings(bindings: Bindings, journal: MessageJournal) -> Unknown | None:
    """Return why bindings without a queue are not believed: they have no record at all, or the journal names queues.

    Brokers store their id counter beside queues, and remove a queue's references and acknowledgements with it.
    """
    if bindings.queues:
        return None
    lost = "so it is not known which queues exist"
    if not bindings.loaded.rows:
        return Unknown(UnknownPart.BINDINGS, f"the bindings contain no record, {lost}")
    references = len(journal.reference_columns()[0])
    if not references and not any(True for _ in journal.ack_index.pages()):
        return None
    return Unknown(UnknownPart.BINDINGS, f"the bindings contain no queue, while the journal refers to some, {lost}")


_FILES: Final = {
    UnknownPart.JOURNAL: (Journal.MESSAGES, "it is not known what was acknowledged"),
    UnknownPart.BINDINGS: (Journal.BINDINGS, "it is not known which queues exist"),
}


_NOT_READ: Final = (FileProblem.NOT_PERMITTED, FileProblem.UNREADABLE, FileProblem.NOT_REGULAR)


def _of_file(note: FileNote) -> Unknown:
    """Return what is unknown if a file of the message journal is not read."""
    closed = note.kind is FileProblem.NOT_PERMITTED
    why = f" {note.detail}" if closed else f": {note.kind.value}"
    reason = f"{note.file}{why}, so it is not known what is waiting"
    return Unknown(UnknownPart.JOURNAL_FILE, reason, permitted=not closed)


def _nothing_read(loaded: LoadedJournal, part: UnknownPart) -> Unknown | None:
    """Return what is unknown if no journal file can be read. A journal without records is known to be empty."""
    if loaded.files:
        return None
    journal, so = _FILES[part]
    first = next((note for note in loaded.notes if note.file.endswith(journal.value)), None)
    if first is None:
        return Unknown(part, f"the {part} folder contains no journal file, so {so}", missing=True)
    if first.kind is FileProblem.NOT_PERMITTED:
        return Unknown(part, f"{first.file} {first.detail}, so {so}", permitted=False)
    why = f"{first.file}: {first.kind.value}: {first.detail}"
    return Unknown(part, f"no file of the {part} can be read ({why}), so {so}")


def unknown_address(store: Store) -> Unknown | None:
    """Set for a folder that brokers skip."""
    if store.address is not None:
        return None
    if store.from_replica:
        return Unknown(UnknownPart.ADDRESS, "left by a replication backup, without address.txt; the broker skips it")
    if not store.text.permitted:
        return Unknown(UnknownPart.ADDRESS, "its address.txt is not permitted to be read", permitted=False)
    until = "the broker skips this folder until it has an address.txt again ('pagectl pages salvage' writes one)"
    return Unknown(UnknownPart.ADDRESS, f"{store.text.problem}; {until}")
