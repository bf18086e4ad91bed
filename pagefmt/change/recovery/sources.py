"""All that is left of a broker's directories, read once, with queues recreated if the bindings are lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from pagefmt.change.recovery.evidence import Evidence, gather
from pagefmt.change.recovery.kept_journal import RetainedJournal, read_kept, readable_bindings
from pagefmt.change.recovery.kept_messages import kept_messages, knows_pages, living_queues
from pagefmt.change.recovery.message_outcomes import MessageOutcomes
from pagefmt.change.recovery.plan import DamagedPart, MessageRange, RecoveryStep
from pagefmt.change.recovery.queues import QueueToName, RebuiltBindings, emptied, foreign, make_queues, without_address
from pagefmt.codec.pages.record import Layout
from pagefmt.directory.bindings import Bindings, QueueBinding
from pagefmt.directory.edition_evidence import assumed_edition
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.paging import PagingDirectory, Store, read_paging, same_addresses
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.files import Journal, folder_names
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.record_types import RecordType
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.loaded_journals import KnownJournals
from pagefmt.outstanding.state import PagingState
from pagefmt.quantities import count_text

AHEAD: Final = 1 << 16  # distance of new ids from the largest existing one
GONE: Final = "nothing is left that shows which messages"


class NothingLeft(PageFmtError):
    """Neither pages nor journals to recover anything from."""


@dataclass(slots=True)
class RecoverySources:
    """All that is known once the sources were read."""

    place: DataLocation
    edition: Edition
    paging: PagingDirectory
    journal: RetainedJournal
    bindings: RetainedJournal
    jms: RetainedJournal
    made: RebuiltBindings
    state: PagingState
    evidence: Evidence
    next_id: int
    steps: list[RecoveryStep]
    outcomes: MessageOutcomes
    _queues: dict[str | None, dict[int, QueueBinding]] = field(default_factory=dict)

    def rule(self, address: str | None, page: int) -> PageRule:
        """Return the rule that gives the acknowledgement states in a page of the new directory."""
        return PageRule(self.state.journal, self.queues_of(address), page)

    def queues_of(self, address: str | None) -> dict[int, QueueBinding]:
        """Return the queues of an address by id."""
        if not self._queues:
            for number, queue in self.made.bindings.queues.items():
                self._queues.setdefault(queue.address, {})[number] = queue
        return self._queues.get(address, {})


def read_sources(
    place: DataLocation,
    declared: Sequence[QueueToName],
    edition: Edition | None,
    outcomes: MessageOutcomes | None = None,
) -> RecoverySources:
    """Read every journal file and every page. Raise ``NothingLeft``."""
    if place.journal is None and place.bindings is None and place.paging is None:
        raise NothingLeft(
            f"{place.given}: no paging, journal or bindings folder; name the data directory or the instance"
        )
    steps: list[RecoveryStep] = []
    outcomes = MessageOutcomes() if outcomes is None else outcomes
    paging = read_paging(place.paging) if place.paging is not None else PagingDirectory(place.given, (), ())
    kept, journal, parts = kept_messages(place, steps, outcomes)
    bindings_kept, bindings = readable_bindings(read_kept(place.bindings, Journal.BINDINGS))
    evidence = gather(listed_stores(paging), parts)
    largest = max(evidence.largest, _largest(kept.loaded), 0)
    living = living_queues(journal)
    if not (kept.loaded.files or kept.stretches or bindings_kept.loaded.files or evidence.queues or kept.faults):
        raise NothingLeft(f"{place.given}: no journal file, no bindings, no message in pages: nothing to recover from")
    if place.paging is None and knows_pages(journal):
        what = "there are no pages, though the journal has records about pages"
        lost = MessageRange(0, None)
        steps.append(RecoveryStep(DamagedPart.PAGES, "paging", what, "an empty folder is created", lost, nameless=GONE))
    why = _bindings_fault(place, bindings_kept, bindings, evidence, largest, bool(living))
    edition = edition or _edition(place, bindings, journal, evidence)
    next_id = max(largest, _largest(bindings.loaded), bindings.id_counter or 0) + AHEAD
    new_bindings = RebuiltBindings(bindings)
    if why is not None:
        if why[2]:
            bindings = emptied(bindings)
        sure = Counter[int]() if kept.damaged or kept.gone else living
        new_bindings = make_queues(bindings, evidence, sure, declared, edition, next_id)
        next_id += len(new_bindings.addresses)
        bindings.queues |= {entry.binding.id: entry.binding for entry in new_bindings.made}
        bindings.addresses |= {entry.id: entry for entry in new_bindings.addresses}
        steps.append(_made_step(why, new_bindings, evidence))
    if kept.gone and evidence.transactions:
        journal.page_transactions |= evidence.transactions
    state = PagingState(paging, KnownJournals(journal, bindings, None, None), same_addresses(paging))
    jms = read_kept(place.bindings, Journal.JMS)
    return RecoverySources(
        place, edition, paging, kept, bindings_kept, jms, new_bindings, state, evidence, next_id, steps, outcomes
    )


def listed_stores(paging: PagingDirectory) -> Iterator[Store]:
    """Return the stores that can be listed."""
    return (store for store in paging.stores() if store.problem is None) if paging.listing or paging.links else iter(())


def _largest(loaded: LoadedJournal) -> int:
    ids = loaded.columns.ids
    return max(max(ids, default=0), *(branch.tx for branch in loaded.prepared), 0)


def _edition(place: DataLocation, bindings: Bindings, journal: MessageJournal, evidence: Evidence) -> Edition:
    """Return the edition that wrote the data; names of files tell HornetQ from Artemis 1.x."""
    if evidence.layouts[Layout.OLD] > evidence.layouts[Layout.NEW] or (
        not evidence.layouts and next(journal.of_type(RecordType.ADD_MESSAGE), None) is not None
    ):
        return Edition.HORNETQ_2_4 if name_prefix(place, None) == "hornetq" else Edition.ARTEMIS_1_5
    return assumed_edition(bindings, journal)


def name_prefix(place: DataLocation, edition: Edition | None) -> str:
    """Return the prefix of journal file names. ``edition`` decides if there are no files."""
    folders = [folder for folder in (place.journal, place.bindings) if folder is not None]
    names = {name.partition("-")[0] for folder in folders for name in folder_names(folder)}
    if "hornetq" in names or (edition is Edition.HORNETQ_2_4 and "activemq" not in names):
        return "hornetq"
    return "activemq"


def _bindings_fault(
    place: DataLocation, kept: RetainedJournal, bindings: Bindings, evidence: Evidence, largest: int, living: bool
) -> tuple[str, str, bool] | None:
    """Return (file, fault, whether nothing in it is of this broker), or None if the bindings are sound.

    ``living``: the journal names queues.
    """
    waiting = living or any(queue.address is not None for queue in evidence.queues.values())
    if place.bindings is None:
        return ("bindings", "there are none", False) if waiting else None
    if foreign(bindings, evidence, largest):
        return "bindings", "they belong to another broker: none of their queues has messages here", True
    if kept.faults:
        return kept.faults[0].file, kept.faults[0].what, False
    for stretch in kept.stretches:
        return stretch.file, stretch.why, False
    for address in without_address(bindings, bindings.queues.values()):
        return "bindings", f"the record of address {address} is missing, and a broker does not start without it", False
    if kept.gone and waiting:
        return "bindings", "they contain no record", False
    return None


def _made_step(why: tuple[str, str, bool], new_bindings: RebuiltBindings, evidence: Evidence) -> RecoveryStep:
    action = (
        f"rebuilt: {count_text(len(new_bindings.bindings.queues) - len(new_bindings.made), 'queue')} unchanged, "
        f"{count_text(len(new_bindings.made), 'queue')} recreated from messages"
    )
    unsure = sum(evidence.queues[queue_id].messages for queue_id in new_bindings.passed_over)
    return RecoveryStep(DamagedPart.BINDINGS, why[0], why[1], action, unsure=MessageRange(0, unsure))
