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

from pagefmt.bytes.file_snapshot import FileSnapshot, take_snapshot
from pagefmt.bytes.wire import Undecodable
from pagefmt.compaction.journals import LARGEST_ID, UNSOUND, JournalFiles, read_journals
from pagefmt.compaction.planning import layout_of_bindings, roots_of
from pagefmt.conversion.bindings import NewBindings, new_bindings
from pagefmt.conversion.forms import CHANGED, NewForm
from pagefmt.conversion.names import NewNames
from pagefmt.conversion.pages import NewPage
from pagefmt.directory.bindings import Bindings
from pagefmt.directory.counters import recounts_at_start
from pagefmt.directory.edition_evidence import INCREMENTS
from pagefmt.directory.locate import DataLocation, LocationKind
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.bodies import BadBody
from pagefmt.journal.files import Journal
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.record_types import MESSAGES, RecordType, type_name
from pagefmt.outstanding.held import QueueHeld, held_by
from pagefmt.outstanding.state import PagingState, StoreState, load_place
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import EntryKind, PageFile
from pagefmt.pages.record import Layout
from pagefmt.quantities import count_text

TARGETS: Final = tuple(edition for edition in Edition if edition >= Edition.ARTEMIS_2_10)
"""Editions that were started on what is written here."""
COUNTERS: Final = (RecordType.PAGE_CURSOR_COUNTER_VALUE, *INCREMENTS)
AT_ONCE: Final = 256
"""Bodies of journal records that are in memory."""


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
    """``held``: by queue id, what is outstanding. ``kinds``: records of the message journal by type.

    ``dropped``: what has no counterpart, or no meaning in 2.x; ``lost``: what is damaged, and so not carried.
    ``remarks``: what is different afterwards. ``unread``: ids of messages of the journal that cannot be read.
    """

    roots: dict[str, Path]
    form: NewForm
    bindings: NewBindings
    held: Mapping[int, QueueHeld]
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
        """Counters are those of a broker that adds to them, and the new one counts at start (docs/spec/journal.md 7.4):
        it would take increments that it finds meanwhile for messages."""
        increments = any(type_name(kind) in self.kinds for kind in INCREMENTS)
        return increments and recounts_at_start(self.form.edition)

    @property
    def paged(self) -> int:
        """Records of pages, with those that nobody waits for."""
        return sum(page.records for store in self.stores for page in store.pages)


@dataclass(slots=True)
class _Losses:
    """What has to be told on the way. ``highest``: of the ids in use."""

    dropped: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    highest: int = 0

    def saw(self, highest: int) -> None:
        self.highest = max(self.highest, highest)


def plan_conversion(
    place: DataLocation, edition: Edition, *, keep_prefixes: bool = False, locked: bool = False
) -> ConversionPlan:
    """Reads everything but bodies of large messages. ``locked``: this process holds the broker's locks.

    Raises ``CannotConvert`` where queues or messages of the journal are not known.
    """
    sources = take_snapshot(roots_of(place).values())
    state = _state(place, edition, locked)
    _refuse_links(place)
    assert state.bindings is not None
    journals = {each.journal: each for each in read_journals(place)}
    messages, definitions = journals[Journal.MESSAGES].loaded, journals[Journal.BINDINGS].loaded
    form = NewForm(NewNames(keep_prefixes), edition, layout_of_bindings(state.bindings) is Layout.OLD)
    told = _Losses()
    for each in journals.values():
        if each.loaded.damage is not None:
            told.lost.append(
                f"{each.folder.name}: damaged, and what was there is not known: {each.loaded.damage.place}"
            )
    stores = _one_store_each(place, _stores(place, state, form, told))
    unread = _unread(messages, form, told)
    for loaded in (messages, definitions):
        told.saw(_most(loaded))
    if Journal.JMS in journals:
        _jms(journals[Journal.JMS], told)
    told.saw(state.bindings.id_counter or 0)
    if told.highest >= LARGEST_ID:
        raise CannotConvert(f"{place.given}: no id can follow {told.highest}; see: {place.call('journal inspect')}")
    bindings = new_bindings(state.bindings, form, told.highest)
    queues = state.bindings.queues.values()
    return ConversionPlan(
        roots_of(place), form, bindings, held_by(state, list(queues)), stores, messages, definitions, unread,
        _kinds(messages), (*bindings.dropped, *told.dropped), (*bindings.lost, *told.lost),
        (*bindings.remarks, *told.remarks), sources,
    )  # fmt: skip


def _state(place: DataLocation, edition: Edition, locked: bool) -> PagingState:
    """Journals and bindings that are known. Raises ``CannotConvert``."""
    if place.kind in (LocationKind.STORE, LocationKind.PAGE):
        raise CannotConvert(f"{place.given}: {place.kind.value}; name the whole data directory or the instance")
    if edition not in TARGETS:
        names = ", ".join(each.value for each in TARGETS)
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
    """Raises ``CannotConvert``: a broker follows links, and nothing here does."""
    for root in roots_of(place).values():
        for folder, names, files in os.walk(root):
            for path in (Path(folder, name) for name in (*names, *files)):
                if path.is_symlink():
                    raise CannotConvert(f"{path}: is a symbolic link, and its target would be missing from NEW")


def _least(bindings: Bindings) -> Edition:
    """The oldest edition that may have written them: a binding ends with the fields that its writer knew."""
    fields = {name for queue in bindings.queues.values() for name in queue.fields}
    for name, edition in (("internal", Edition.ARTEMIS_2_44), ("enabled", Edition.ARTEMIS_2_17)):
        if name in fields:
            return edition
    return Edition.HORNETQ_2_4


def _most(loaded: LoadedJournal) -> int:
    """The highest id of a record or transaction."""
    return max([0, *(each.tx for each in loaded.prepared)] + ([max(loaded.columns.ids)] if loaded.columns.ids else []))


def _stores(place: DataLocation, state: PagingState, form: NewForm, told: _Losses) -> Iterator[ConvertedStore]:
    salvage = f"{place.call('pages salvage')} --out NEW"
    for name in state.paging.strays:
        told.dropped.append(f"paging/{name}: not a folder; brokers ignore it")
    for known in state.stores():
        store = known.store
        pages = count_text(len(store.pages), "page")
        where = f"paging/{store.name}"
        if store.problem is not None:
            told.lost.append(f"{where}: {store.problem}")
        elif store.address is None:
            (told.lost if store.pages else told.dropped).append(
                f"{where}: {store.text.problem}, so brokers ignore it, with {pages}; see: {salvage}"
            )
        elif known.read_instead is not None:
            (told.lost if store.pages else told.dropped).append(
                f"{where}: {known.read_instead} names the same address, and brokers read only that one; {pages}; "
                f"see: {salvage}"
            )
        else:
            for entry in store.others:
                if entry.kind is EntryKind.SPECIAL:
                    told.lost.append(f"{where}/{entry.name}: not a regular file")
                elif entry.kind is not EntryKind.ADDRESS:
                    told.dropped.append(f"{where}/{entry.name}: {entry.kind.value}; brokers do not read it as a page")
            address = form.names.address(store.address) if form.old else store.address
            found = tuple(_page(known, page, form, told) for page in store.pages)
            yield ConvertedStore(store.folder, store.address, address, found)


def _page(store: StoreState, page: PageFile, form: NewForm, told: _Losses) -> PagePlan:
    with open_page(page) as opened:
        new = NewPage(opened, form, store.store.address)
        for _ in new.records():
            pass
        told.saw(new.highest)
        damage = opened.damage_in_messages()
        plan = PagePlan(page, opened.count, new.rewritten, len(new.lost))
    where = f"paging/{store.store.name}/{page.name}"
    told.lost += [f"{where}: record {each.number}: cannot be read: {each.detail}" for each in new.lost]
    if damage is not None:
        kept = "" if new.rewritten else "; copied as it is"
        told.lost.append(f"{where}: damaged at offset {damage.offset}, record {damage.number}: {damage.detail}{kept}")
    return plan


def _one_store_each(place: DataLocation, stores: Iterator[ConvertedStore]) -> tuple[ConvertedStore, ...]:
    """Raises ``CannotConvert`` where two addresses that have pages would become one."""
    found: dict[str, ConvertedStore] = {}
    for store in stores:
        other = found.get(store.address)
        if other is not None and other.pages and store.pages:
            raise CannotConvert(
                f"{place.given}: {other.old_address} and {store.old_address} would both become {store.address}, and "
                "both have pages, of which a broker would read only one; --keep-prefixes keeps them apart"
            )
        if other is None or store.pages:
            found[store.address] = store
    return tuple(found.values())


def _unread(messages: LoadedJournal, form: NewForm, told: _Losses) -> frozenset[int]:
    """Messages of the journal that cannot be read, and records of no known type."""
    import numpy as np

    columns, unread = messages.columns, set()
    branches = (np.frombuffer(branch.rows, np.int64) for branch in messages.prepared)
    rows = np.concatenate([messages.rows.every(), *branches])
    types = columns.types.at(rows)
    sought = rows[np.isin(types, CHANGED)]
    for at in range(0, len(sought), AT_ONCE):
        some = sought[at : at + AT_ONCE].tolist()
        for row, body in zip(some, columns.bodies(some), strict=True):
            try:
                form.journal_body(columns.types[row], body)
            except (Undecodable, BadBody) as err:
                if columns.types[row] in MESSAGES:
                    unread.add(columns.ids[row])
                told.lost.append(f"journal: record {columns.ids[row]}, {type_name(columns.types[row])}: {err}")
    kinds, counts = np.unique(types[~np.isin(types, list(RecordType))], return_counts=True)
    for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True):
        told.lost.append(f"journal: {count_text(count, 'record')} of type {kind}, which no broker reads")
    return frozenset(unread)


def _jms(jms: JournalFiles, told: _Losses) -> None:
    """Its destinations are addresses and queues of the bindings; the rest belongs to the clients since 2.0."""
    count = len(jms.loaded.rows)
    if count:
        told.dropped.append(
            f"{jms.folder.name}: {count_text(count, 'record')} of the JMS journal: in 2.x, connection factories "
            "and JNDI names belong to the clients, and destinations are addresses and queues"
        )


def _kinds(messages: LoadedJournal) -> dict[str, int]:
    found = Counter(messages.columns.types[row] for row in messages.rows)
    kinds = {type_name(kind): count for kind, count in sorted(found.items())}
    return kinds | ({"PREPARED_TRANSACTION": len(messages.prepared)} if messages.prepared else {})
