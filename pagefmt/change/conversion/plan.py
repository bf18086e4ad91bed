"""What a conversion makes of a data directory. No file is changed here.

=====================  ================================================================================================
bindings journal       queues with all fields of 2.x, an address record for each address, settings with new names
message journal        what survives loading, in its order, messages in the form of 2.x; prepared transactions
pages                  record by record, with the same numbers: acknowledgements stay as they are
large messages         the files as they are, and ``server.lock``, which holds the node's id
JMS journal            nothing: its destinations are addresses and queues of the bindings
=====================  ================================================================================================

A directory of 2.x is nearly the same in all editions: of it only records change that later ones misread.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pagefmt.change.compaction.journals import LARGEST_ID, UNSOUND, JournalFiles, read_journals
from pagefmt.change.compaction.planning import layout_of_bindings, roots_of
from pagefmt.change.conversion.bindings import NewBindings, new_bindings
from pagefmt.change.conversion.forms import CHANGED, NewForm
from pagefmt.change.conversion.names import NewNames
from pagefmt.change.conversion.pages import NewPage
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import Layout
from pagefmt.codec.wire import Undecodable
from pagefmt.directory.bindings import Bindings
from pagefmt.directory.counters import recounts_at_start
from pagefmt.directory.edition_evidence import INCREMENTS
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.paging import EntryKind
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.bodies import BadBody
from pagefmt.journal.files import Journal
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.record_types import MESSAGES, RecordType, type_name
from pagefmt.outstanding.queue_totals import QueueContent, held_by
from pagefmt.outstanding.state import PagingState, StoreState
from pagefmt.quantities import count_text
from pagefmt.storage.file_snapshot import FileSnapshot, take_snapshot
from pagefmt.vectors import load_place

# editions that were started on converted directories
TARGETS: Final = tuple(edition for edition in Edition if edition >= Edition.ARTEMIS_2_10)
COUNTERS: Final = (RecordType.PAGE_CURSOR_COUNTER_VALUE, *INCREMENTS)
AT_ONCE: Final = 256  # number of bodies of journal records in memory at a time


class CannotConvert(PageFmtError):
    """A directory that no conversion is sound for."""


@dataclass(frozen=True, slots=True)
class PagePlan:
    """One page. ``rewritten``: not copied as it is; ``lost``: records of it that cannot be read."""

    page: PageFile
    records: int
    rewritten: bool
    lost: int


@dataclass(frozen=True, slots=True)
class ConvertedStore:
    """One folder of pages, with its address now and then."""

    folder: Path
    old_address: str
    address: str
    pages: tuple[PagePlan, ...]


@dataclass(frozen=True, slots=True)
class ConversionPlan:
    """What a conversion writes, and what it leaves out.

    ``held``: by queue id, what is outstanding. ``kinds``: number of records of the message journal by type.
    ``dropped``: what has no counterpart, or no meaning in 2.x. ``lost``: what is damaged, and so not carried over.
    ``remarks``: what is different afterwards. ``unread``: ids of journal messages that cannot be read.
    """

    roots: dict[str, Path]
    form: NewForm
    bindings: NewBindings
    held: Mapping[int, QueueContent]
    stores: tuple[ConvertedStore, ...]
    messages: LoadedJournal
    definitions: LoadedJournal
    unread: frozenset[int]
    kinds: Mapping[str, int]
    dropped: tuple[str, ...]
    lost: tuple[str, ...]
    remarks: tuple[str, ...]
    sources: FileSnapshot

    @property
    def recounted(self) -> bool:
        """Return whether page counters are replaced by counts of the messages in the pages.

        This is so if the old broker kept increments and the new one counts at start (docs/spec/journal.md 7.4): it
        would take increments that it finds while counting for new messages.
        """
        increments = any(type_name(kind) in self.kinds for kind in INCREMENTS)
        return increments and recounts_at_start(self.form.edition)

    @property
    def paged(self) -> int:
        """Return the number of records in pages, including those that no queue waits for."""
        return sum(page.records for store in self.stores for page in store.pages)


@dataclass(slots=True)
class _Losses:
    """What the conversion drops, loses and remarks on. ``highest``: the highest id in use so far."""

    dropped: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    highest: int = 0

    def saw(self, highest: int) -> None:
        self.highest = max(self.highest, highest)


def plan_conversion(
    place: DataLocation, edition: Edition, *, keep_prefixes: bool = False, locked: bool = False
) -> ConversionPlan:
    """Read everything except bodies of large messages and return the plan. ``locked``: this process holds the locks.

    Raises ``CannotConvert`` if queues or messages of the journal are not known.
    """
    sources = take_snapshot(roots_of(place).values())
    state = _state(place, edition, locked)
    _refuse_links(place)
    assert state.bindings is not None
    journals = {files.journal: files for files in read_journals(place)}
    messages, definitions = journals[Journal.MESSAGES].loaded, journals[Journal.BINDINGS].loaded
    form = NewForm(NewNames(keep_prefixes), edition, layout_of_bindings(state.bindings) is Layout.OLD)
    losses = _Losses()
    for files in journals.values():
        if files.loaded.damage is not None:
            losses.lost.append(
                f"{files.folder.name}: damaged, and what was there is not known: {files.loaded.damage.place}"
            )
    stores = _one_store_each(place, _stores(place, state, form, losses))
    unread = _unread(messages, form, losses)
    for loaded in (messages, definitions):
        losses.saw(_most(loaded))
    if Journal.JMS in journals:
        _jms(journals[Journal.JMS], losses)
    losses.saw(state.bindings.id_counter or 0)
    if losses.highest >= LARGEST_ID:
        raise CannotConvert(f"{place.given}: no id can follow {losses.highest}; see: {place.call('journal inspect')}")
    bindings = new_bindings(state.bindings, form, losses.highest)
    queues = state.bindings.queues.values()
    return ConversionPlan(
        roots_of(place),
        form,
        bindings,
        held_by(state, list(queues)),
        stores,
        messages,
        definitions,
        unread,
        _kinds(messages),
        (*bindings.dropped, *losses.dropped),
        (*bindings.lost, *losses.lost),
        (*bindings.remarks, *losses.remarks),
        sources,
    )


def _state(place: DataLocation, edition: Edition, locked: bool) -> PagingState:
    """Return the state of journals and bindings. Raise ``CannotConvert`` if it is not known or cannot be converted."""
    if place.kind.is_part:
        raise CannotConvert(f"{place.given}: {place.kind.value}; name the whole data directory or the instance")
    if edition not in TARGETS:
        names = ", ".join(target.value for target in TARGETS)
        raise CannotConvert(f"{edition.value}: directories of that edition cannot be written; choose one of {names}")
    state = load_place(place, locked=locked)
    unknown = state.known.unknown_journal or state.known.unknown_bindings
    if unknown is not None or state.bindings is None:
        why = unknown.reason if unknown is not None else "no bindings"
        raise CannotConvert(f"{place.given}: {why}; see: {place.call('journal ls')}")
    for loaded in (state.journal.loaded, state.bindings.loaded):
        for note in loaded.notes:
            if note.kind in UNSOUND:
                raise CannotConvert(f"{place.given}: {note.file}: {note.kind.value}: {note.detail}; resolve it first")
    least = _least(state.bindings)
    if edition < least:
        raise CannotConvert(
            f"{place.given}: written by a broker of {least.value} or later, and {edition.value} cannot read all "
            "that it may have written; name a later edition"
        )
    return state


def _refuse_links(place: DataLocation) -> None:
    """Raise ``CannotConvert`` if a directory contains a symbolic link, which a broker follows but a copy does not."""
    for root in roots_of(place).values():
        for folder, names, files in os.walk(root):
            for path in (Path(folder, name) for name in (*names, *files)):
                if path.is_symlink():
                    raise CannotConvert(f"{path}: is a symbolic link, and its target would be missing from NEW")


def _least(bindings: Bindings) -> Edition:
    """Return the oldest edition that may have written the bindings.

    A binding ends with the last field that its writer knew.
    """
    fields = {name for queue in bindings.queues.values() for name in queue.fields}
    for name, edition in (("internal", Edition.ARTEMIS_2_44), ("enabled", Edition.ARTEMIS_2_17)):
        if name in fields:
            return edition
    return Edition.HORNETQ_2_4


def _most(loaded: LoadedJournal) -> int:
    """Return the highest id of a record or prepared transaction."""
    return max(
        [0, *(branch.tx for branch in loaded.prepared)] + ([max(loaded.columns.ids)] if loaded.columns.ids else [])
    )


def _stores(place: DataLocation, state: PagingState, form: NewForm, losses: _Losses) -> Iterator[ConvertedStore]:
    salvage = f"{place.call('pages salvage')} --out NEW"
    for name in state.paging.strays:
        losses.dropped.append(f"paging/{name}: not a folder; brokers ignore it")
    for store_state in state.stores():
        store = store_state.store
        pages = count_text(len(store.pages), "page")
        where = f"paging/{store.name}"
        if store.problem is not None:
            losses.lost.append(f"{where}: {store.problem}")
        elif store.address is None:
            (losses.lost if store.pages else losses.dropped).append(
                f"{where}: {store.text.problem}, so brokers ignore it, with {pages}; see: {salvage}"
            )
        elif store_state.read_instead is not None:
            (losses.lost if store.pages else losses.dropped).append(
                f"{where}: {store_state.read_instead} names the same address, and brokers read only that one; {pages}; "
                f"see: {salvage}"
            )
        else:
            for entry in store.others:
                if entry.kind is EntryKind.SPECIAL:
                    losses.lost.append(f"{where}/{entry.name}: not a regular file")
                elif entry.kind is not EntryKind.ADDRESS:
                    losses.dropped.append(f"{where}/{entry.name}: {entry.kind.value}; brokers do not read it as a page")
            address = form.names.address(store.address) if form.old else store.address
            pages_planned = tuple(_page(store_state, page, form, losses) for page in store.pages)
            yield ConvertedStore(store.folder, store.address, address, pages_planned)


def _page(store: StoreState, page: PageFile, form: NewForm, losses: _Losses) -> PagePlan:
    with open_page(page) as opened:
        new = NewPage(opened, form, store.store.address)
        for _ in new.records():
            pass
        losses.saw(new.highest)
        damage = opened.damage_in_messages()
        plan = PagePlan(page, opened.count, new.rewritten, len(new.lost))
    where = f"paging/{store.store.name}/{page.name}"
    losses.lost += [f"{where}: record {lost.number}: cannot be read: {lost.detail}" for lost in new.lost]
    if damage is not None:
        kept = "" if new.rewritten else "; copied as it is"
        losses.lost.append(f"{where}: damaged at offset {damage.offset}, record {damage.number}: {damage.detail}{kept}")
    return plan


def _one_store_each(place: DataLocation, stores: Iterator[ConvertedStore]) -> tuple[ConvertedStore, ...]:
    """Return the stores, each address once. Raise ``CannotConvert`` if two addresses with pages would become one."""
    by_address: dict[str, ConvertedStore] = {}
    for store in stores:
        other = by_address.get(store.address)
        if other is not None and other.pages and store.pages:
            raise CannotConvert(
                f"{place.given}: {other.old_address} and {store.old_address} would both become {store.address}, and "
                "both have pages, of which a broker would read only one; --keep-prefixes keeps them apart"
            )
        if other is None or store.pages:
            by_address[store.address] = store
    return tuple(by_address.values())


def _unread(messages: LoadedJournal, form: NewForm, losses: _Losses) -> frozenset[int]:
    """Return ids of journal messages that cannot be read; note them and the records of unknown types as lost."""
    import numpy as np

    columns, unread = messages.columns, set()
    branches = (np.frombuffer(branch.rows, np.int64) for branch in messages.prepared)
    rows = np.concatenate([messages.rows.every(), *branches])
    types = columns.types.at(rows)
    sought = rows[np.isin(types, CHANGED)]
    for at in range(0, len(sought), AT_ONCE):
        row_numbers = sought[at : at + AT_ONCE].tolist()
        for row, body in zip(row_numbers, columns.bodies(row_numbers), strict=True):
            try:
                form.journal_body(columns.types[row], body)
            except (Undecodable, BadBody) as err:
                if columns.types[row] in MESSAGES:
                    unread.add(columns.ids[row])
                losses.lost.append(f"journal: record {columns.ids[row]}, {type_name(columns.types[row])}: {err}")
    kinds, counts = np.unique(types[~np.isin(types, list(RecordType))], return_counts=True)
    for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True):
        losses.lost.append(f"journal: {count_text(count, 'record')} of type {kind}, which no broker reads")
    return frozenset(unread)


def _jms(jms: JournalFiles, losses: _Losses) -> None:
    """Note the records of the JMS journal as dropped.

    Its destinations are addresses and queues of the bindings; since 2.0 connection factories and JNDI names belong to
    clients.
    """
    count = len(jms.loaded.rows)
    if count:
        losses.dropped.append(
            f"{jms.folder.name}: {count_text(count, 'record')} of the JMS journal: in 2.x, connection factories "
            "and JNDI names belong to the clients, and destinations are addresses and queues"
        )


def _kinds(messages: LoadedJournal) -> dict[str, int]:
    counts = Counter(messages.columns.types[row] for row in messages.rows)
    kinds = {type_name(kind): count for kind, count in sorted(counts.items())}
    return kinds | ({"PREPARED_TRANSACTION": len(messages.prepared)} if messages.prepared else {})
