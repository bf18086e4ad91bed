"""All that is left of a broker's directories, read once, with queues made where the bindings are lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from pagefmt.directory.bindings import Bindings, QueueBinding
from pagefmt.directory.edition_evidence import assumed_edition
from pagefmt.directory.locate import DataLocation
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.files import Journal, folder_names
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.record_types import RecordType
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.knowledge import KnownJournals
from pagefmt.outstanding.state import PagingState
from pagefmt.pages.paging import PagingDirectory, Store, read_paging, same_addresses
from pagefmt.pages.record import Layout
from pagefmt.quantities import count_text
from pagefmt.recovery.evidence import Evidence, gather
from pagefmt.recovery.kept_journal import KeptJournal, read_kept, readable_bindings
from pagefmt.recovery.kept_messages import kept_messages, knows_pages, living_queues
from pagefmt.recovery.message_outcomes import MessageOutcomes
from pagefmt.recovery.plan import DamagedPart, MessageRange, RecoveryStep
from pagefmt.recovery.queues import MadeBindings, QueueToName, emptied, foreign, make_queues, without_address

AHEAD: Final = 1 << 16
"""New ids lie so far behind all that were found."""
GONE: Final = "nothing is left that shows which messages"


class NothingLeft(PageFmtError):
    """Neither pages nor journals to recover anything from."""


@dataclass(slots=True)
class RecoverySources:
    """All that is known once the sources were read."""

    place: DataLocation
    edition: Edition
    paging: PagingDirectory
    journal: KeptJournal
    bindings: KeptJournal
    jms: KeptJournal
    made: MadeBindings
    state: PagingState
    evidence: Evidence
    next_id: int
    steps: list[RecoveryStep]
    outcomes: MessageOutcomes
    _queues: dict[str | None, dict[int, QueueBinding]] = field(default_factory=dict)

    def rule(self, address: str | None, page: int) -> PageRule:
        """Of the pages that are written."""
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
    """Reads every journal file and every page. Raises ``NothingLeft``."""
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
    made = MadeBindings(bindings)
    if why is not None:
        if why[2]:
            bindings = emptied(bindings)
        sure = Counter[int]() if kept.damaged or kept.gone else living
        made = make_queues(bindings, evidence, sure, declared, edition, next_id)
        next_id += len(made.addresses)
        bindings.queues |= {each.binding.id: each.binding for each in made.made}
        bindings.addresses |= {each.id: each for each in made.addresses}
        steps.append(_made_step(why, made, evidence))
    if kept.gone and evidence.transactions:
        journal.page_transactions |= evidence.transactions
    state = PagingState(paging, KnownJournals(journal, bindings, None, None), same_addresses(paging))
    jms = read_kept(place.bindings, Journal.JMS)
    return RecoverySources(
        place, edition, paging, kept, bindings_kept, jms, made, state, evidence, next_id, steps, outcomes
    )


def listed_stores(paging: PagingDirectory) -> Iterator[Store]:
    """Those that can be listed."""
    return (store for store in paging.stores() if store.problem is None) if paging.listing or paging.links else iter(())


def _largest(loaded: LoadedJournal) -> int:
    ids = loaded.columns.ids
    return max(max(ids, default=0), *(branch.tx for branch in loaded.prepared), 0)


def _edition(place: DataLocation, bindings: Bindings, journal: MessageJournal, evidence: Evidence) -> Edition:
    """By what was written; of two old ones by the names of files."""
    if evidence.layouts[Layout.OLD] > evidence.layouts[Layout.NEW] or (
        not evidence.layouts and next(journal.of_type(RecordType.ADD_MESSAGE), None) is not None
    ):
        return Edition.HORNETQ_2_4 if name_prefix(place, None) == "hornetq" else Edition.ARTEMIS_1_5
    return assumed_edition(bindings, journal)


def name_prefix(place: DataLocation, edition: Edition | None) -> str:
    """What names of journal files begin with. ``edition``: tells where there is none."""
    folders = [folder for folder in (place.journal, place.bindings) if folder is not None]
    names = {name.partition("-")[0] for folder in folders for name in folder_names(folder)}
    if "hornetq" in names or (edition is Edition.HORNETQ_2_4 and "activemq" not in names):
        return "hornetq"
    return "activemq"


def _bindings_fault(
    place: DataLocation, kept: KeptJournal, bindings: Bindings, evidence: Evidence, largest: int, living: bool
) -> tuple[str, str, bool] | None:
    """(file, what is wrong, whether nothing of it is of this broker). ``living``: the journal names queues."""
    waiting = living or any(each.address is not None for each in evidence.queues.values())
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


def _made_step(why: tuple[str, str, bool], made: MadeBindings, evidence: Evidence) -> RecoveryStep:
    action = (
        f"rebuilt: {count_text(len(made.bindings.queues) - len(made.made), 'queue')} unchanged, "
        f"{count_text(len(made.made), 'queue')} recreated from messages"
    )
    unsure = sum(evidence.queues[each].messages for each in made.passed_over)
    return RecoveryStep(DamagedPart.BINDINGS, why[0], why[1], action, unsure=MessageRange(0, unsure))
