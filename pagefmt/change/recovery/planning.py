"""The plan of a recovery, in numbers of messages, made after pages were salvaged and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from pagefmt.change.compaction.planning import roots_of
from pagefmt.change.recovery.counting import PageTally
from pagefmt.change.recovery.message_outcomes import NamesOfPages, RecoveryOutcome
from pagefmt.change.recovery.plan import DamagedPart, MessageRange, QueuePlan, RecoveryPlan, RecoveryStep
from pagefmt.change.recovery.queues import NameSource
from pagefmt.change.recovery.sources import GONE, RecoverySources, listed_stores
from pagefmt.change.salvage.directory import SalvagedDirectory, salvage_stores
from pagefmt.change.salvage.owners import specials
from pagefmt.change.salvage.store import Loss, SalvagedStore
from pagefmt.check.cross.large_files import surveyed_rows
from pagefmt.check.cross.of_large import named_by_journal
from pagefmt.check.cross.survey import survey
from pagefmt.codec.messages.large import SUFFIXES, LargeMessages
from pagefmt.directory.counters import counters, recounts_at_start
from pagefmt.directory.paging import PagingDirectory, Store, java_number, read_store
from pagefmt.journal.held_messages import NO_TRANSACTION
from pagefmt.outstanding.ack_state import AckState
from pagefmt.outstanding.journal_parts import JournalParts
from pagefmt.quantities import count_text
from pagefmt.storage.files import FileGone, NotReadable
from pagefmt.storage.writing import Disk

_SMALLEST_MESSAGE: Final = 23 + 61  # bytes of the smallest record of a message in a journal


def salvaged_pages(sources: RecoverySources, out: Path, disk: Disk) -> SalvagedDirectory:
    """Write all stores below ``out``, and return what was salvaged."""
    if sources.place.paging is None:
        return SalvagedDirectory([], 0)

    def again(folder: str, pairs: Iterable[tuple[int, int]]) -> None:
        sources.outcomes.add(
            RecoveryOutcome.AGAIN, folder, "acknowledged at its old position, and moved to a new one", pairs
        )

    return salvage_stores(sources.place._replace(store=None, page=None), sources.state, out, disk, again=again)


def names_of_pages(sources: RecoverySources) -> NamesOfPages | None:
    """Return a function that adds messages of pages to the outcomes if their acknowledgement state is uncertain.

    Return None if the state of every message is certain.
    """
    passed_over = sources.made.passed_over
    holes = _holes(sources)
    if not passed_over and holes is None:
        return None

    def named(message: int, queue: int, ack_state: AckState) -> None:
        if ack_state is AckState.NO_QUEUE and queue in passed_over:
            sources.outcomes.add(
                RecoveryOutcome.UNSURE, "bindings", f"no queue is created: {passed_over[queue]}", [(message, queue)]
            )
        elif holes is not None and ack_state is AckState.OUTSTANDING:
            sources.outcomes.add(RecoveryOutcome.UNSURE, *holes, [(message, queue)])
        elif holes is not None and ack_state is AckState.IGNORED:
            why = "withheld: the lost part of the journal may have committed its transaction"
            sources.outcomes.add(RecoveryOutcome.UNSURE, holes[0], why, [(message, queue)])

    return named


def _holes(sources: RecoverySources) -> tuple[str, str] | None:
    """Return the file and the reason why acknowledgements may be missing, or None if the journal is whole."""
    kept = sources.journal
    if kept.gone:
        return "journal", "delivered, acknowledged or not, committed or not: there is no journal"
    for stretch in kept.stretches:
        return stretch.file, "delivered: the lost part of the journal may have acknowledged it"
    return None


def plan_of_recovery(sources: RecoverySources, salvaged: SalvagedDirectory, tally: PageTally) -> RecoveryPlan:
    """Return what the recovery does, once the pages are written: ``salvaged`` is the result, ``tally`` counted them.

    Steps are in the order of ``DamagedPart``, queues by rising id.
    """
    steps = [_page_step(sources, item) for item in salvaged.stores]
    steps += [
        RecoveryStep(DamagedPart.PAGES, "paging", remark, "stays as it is", mends=False) for remark in salvaged.remarks
    ]
    steps += [
        RecoveryStep(
            DamagedPart.PAGES,
            "paging",
            remark,
            "not in the new directory",
            MessageRange(0, None),
            mends=False,
            nameless="it is not read",
        )
        for remark in salvaged.unread
    ]
    steps += _empty_steps(sources.paging)
    _note_absent_pages(sources, salvaged, tally, steps)
    due = _due(sources)
    waiting = tally.outstanding.total() + due.total()
    unreadable = _unreadable_bodies(sources)
    steps += [*sources.steps, *_journal_steps(sources, tally, waiting), *_large_steps(sources, tally, unreadable)]
    order = list(DamagedPart)
    steps.sort(key=lambda step: order.index(step.part))
    made_by_id = {item.binding.id: item for item in sources.made.made}
    queues = tuple(
        QueuePlan(
            queue.address,
            queue.name,
            number,
            queue.routing,
            due[number],
            tally.outstanding[number],
            tally.in_doubt[number],
            made_by_id[number].source if number in made_by_id else NameSource.BINDINGS,
            made_by_id[number].routing_known if number in made_by_id else True,
        )
        for number, queue in sorted(sources.made.bindings.queues.items())
    )
    aside = tuple(sorted(name for name in _orphans(sources, tally) if name not in unreadable))
    return RecoveryPlan(
        sources.edition,
        roots_of(sources.place),
        tuple(steps),
        queues,
        sources.made.passed_over,
        aside,
        tuple(unreadable),
    )


def _page_step(sources: RecoverySources, store: SalvagedStore) -> RecoveryStep:
    what = [f"damaged: {', '.join(store.damaged)}"] if store.damaged else []
    what += ["its address.txt names no address, or one that its messages are not for"] if store.readdressed else []
    what += [f"other folders have the same address: {', '.join(store.merged)}"] if store.merged else []
    action = f"{count_text(store.kept, 'message')} stay in place, {store.rescued} go to new pages"
    acknowledged = _name_losses(sources, store)
    fewest, most = (max(count - acknowledged, 0) for count in store.lost)
    unread = [entry.name for entry in specials(read_store(sources.paging.path / store.folder))]
    cut = _cut_pages(read_store(sources.paging.path / store.folder), store)
    what += [f"how much of {', '.join(cut)} was cut off is not known"] if cut else []
    again = MessageRange(0, store.delivered_again)
    command = f"{sources.place.call('pages salvage')} --out NEW"
    name = f"{store.folder} ({store.address})" if store.address is not None else store.folder
    return RecoveryStep(
        DamagedPart.PAGES,
        name,
        "; ".join([*what, *store.remarks]),
        action,
        MessageRange(fewest, None if cut or unread else most),
        again,
        command=command,
        nameless="bytes that are not a record have no message id"
        if cut or _nameless(store.losses)
        else ("what is not a regular file is not read" if unread else None),
    )


def _nameless(losses: Sequence[Loss]) -> bool:
    return any(loss.most > bool(loss.message) for loss in losses)


def _name_losses(sources: RecoverySources, store: SalvagedStore) -> int:
    """Add the lost messages of a store to the outcomes. Return how many of them all queues had acknowledged already.

    A record that cannot be read does not say for which queues it is: it may be for all of the address.
    """
    queues = list(sources.queues_of(store.address))
    acknowledged = 0
    for loss in store.losses:
        page = java_number(loss.file) if "." in loss.file else None
        lost_by: Sequence[int | None] = queues
        if loss.number is not None and page is not None:
            rule = sources.rule(store.address, page)
            acked = rule.acked_by(loss.number, queues)
            lost_by = [queue for queue in queues if queue not in acked]
        acknowledged += bool(queues and not lost_by)
        if loss.message and (lost_by or not queues):
            pairs = [(loss.message, queue) for queue in lost_by or (None,)]
            where = loss.file if "/" in loss.file else f"{store.folder}/{loss.file}"
            sources.outcomes.add(
                RecoveryOutcome.LOST, where, f"it cannot be read: {loss.detail}", pairs, sure=len(queues) == 1
            )
    return acknowledged


def _cut_pages(store: Store, salvaged: SalvagedStore) -> list[str]:
    """Return names of pages that end in damage although brokers wrote to later pages: no crash has torn them."""
    sizes = {page.name: page.size for page in store.pages[:-1]}
    return sorted({loss.file for loss in salvaged.losses if sizes.get(loss.file) == loss.end} - salvaged.unread)


def _note_absent_pages(
    sources: RecoverySources, salvaged: SalvagedDirectory, tally: PageTally, steps: list[RecoveryStep]
) -> None:
    """Add steps for messages that counter records count and that no page contains.

    Brokers up to 2.27 keep exact counters, so messages that no page contains are lost. The counters of later brokers
    lag behind acknowledgements: they only show, for a store that is damaged anyway, that its losses may be larger.
    """
    if sources.journal.damaged:
        return  # records that bring the counters down may be lost
    stored = counters(sources.state.journal)
    losses = {salvaged_store.address: salvaged_store.lost[1] for salvaged_store in salvaged.stores}
    damaged = {salvaged_store.address: n for n, salvaged_store in enumerate(salvaged.stores)}
    folders = {store.address: store for store in listed_stores(sources.paging)}
    for number, queue in sorted(sources.made.bindings.queues.items()):
        counter, store = stored.get(number), folders.get(queue.address)
        if counter is None or store is None:
            continue
        missing = counter.value + counter.increments - tally.counted[number] - losses.get(queue.address, 0)
        if missing <= 0:
            continue
        if not recounts_at_start(sources.edition):
            what = f"the broker counted {count_text(missing, 'message')} for {queue.name} that no page has"
            steps.append(
                RecoveryStep(
                    DamagedPart.PAGES,
                    store.name,
                    what,
                    "pages are missing: nothing brings these back",
                    MessageRange(0, missing),
                    mends=False,
                    nameless=GONE,
                )
            )
        elif (at := damaged.get(queue.address)) is not None and _lacks_pages(store):
            step = steps[at]
            what = f"{step.what}; pages are missing, and it is not known what was in them"
            steps[at] = replace(step, what=what, lost=MessageRange(step.lost.fewest, None), nameless=GONE)


def _lacks_pages(store: Store) -> bool:
    """Return whether there is no page 1, or a hole between pages."""
    numbers = [page.number for page in store.pages]
    return numbers != list(range(1, len(numbers) + 1))


def _empty_steps(paging: PagingDirectory) -> Iterator[RecoveryStep]:
    for store in listed_stores(paging):
        empty = [page.name for page in store.pages[:-1] if not page.size]
        if empty:
            what = f"{', '.join(empty)}: empty, though later pages were written"
            yield RecoveryStep(
                DamagedPart.PAGES,
                store.name,
                what,
                "what was in it is not known",
                MessageRange(0, None),
                mends=False,
                nameless=GONE,
            )


def _due(sources: RecoverySources) -> Counter[int]:
    """Return the number of waiting messages in the journal, by queue id."""
    parts = JournalParts(sources.state, None)
    references = parts.messages.references
    waiting = ~references.acked & ~references.held & (parts.messages.tx[references.message] == NO_TRANSACTION)
    holes = _holes(sources)
    if holes is not None:
        ids = parts.messages.ids[references.message[waiting]]
        pairs = zip(ids.tolist(), references.queue[waiting].tolist(), strict=True)
        sources.outcomes.add(RecoveryOutcome.UNSURE, *holes, pairs)
    queues, counts = np.unique(references.queue[waiting], return_counts=True)
    bound = sources.made.bindings.queues
    return Counter({n: count for n, count in zip(queues.tolist(), counts.tolist(), strict=True) if n in bound})


def _journal_steps(sources: RecoverySources, tally: PageTally, waiting: int) -> Iterator[RecoveryStep]:
    kept, place = sources.journal, sources.place
    paged = tally.outstanding.total()
    if kept.gone and (paged or kept.damaged or not kept.loaded.files):
        what = "it contains no record" if kept.loaded.files else "there is no journal"
        if kept.loaded.damage is not None:
            what = kept.loaded.damage.place
        action = "a new one is created, and all messages in pages are delivered, acknowledged or not, committed or not"
        yield RecoveryStep(
            DamagedPart.JOURNAL,
            "journal",
            what,
            action,
            MessageRange(0, None),
            unsure=MessageRange(0, paged),
            nameless=GONE,
        )
        return
    for stretch in kept.stretches:
        room = stretch.most_acknowledgements
        most = waiting if room is None else min(waiting, room * max(tally.largest, 1))
        lost = None if stretch.open_ended else stretch.size // _SMALLEST_MESSAGE
        yield RecoveryStep(
            DamagedPart.JOURNAL,
            stretch.file,
            stretch.why,
            "rewritten without it",
            MessageRange(0, lost),
            unsure=MessageRange(0, most + tally.ignored),
            command=place.call("journal verify"),
            nameless="what was there is not known",
        )


def _named_large(sources: RecoverySources, tally: PageTally) -> dict[int, bool]:
    """Return the ids of large messages, with whether a queue waits for the message."""
    return {**tally.large, **dict.fromkeys(named_by_journal(sources.state.journal), True)}


def _unreadable_bodies(sources: RecoverySources) -> dict[str, tuple[int | None, str]]:
    """Return the large-message files that the system cannot read: name → message id and reason.

    Each file is read completely, because only this reveals a failing disk, and copying the directory would stop there.
    """
    unreadable: dict[str, tuple[int | None, str]] = {}
    if sources.place.large_messages is not None:
        for file in LargeMessages(sources.place.large_messages).unsorted():
            try:
                for _ in file.chunks():
                    pass
            except FileGone:
                continue
            except NotReadable as err:
                unreadable[file.name] = file.id, err.reason
    return unreadable


def _large_steps(
    sources: RecoverySources, tally: PageTally, unreadable: dict[str, tuple[int | None, str]]
) -> Iterator[RecoveryStep]:
    named = _named_large(sources, tally)
    folder = sources.place.large_messages
    bodies = LargeMessages(folder) if folder is not None else None
    sure = not (sources.journal.damaged or sources.journal.gone)  # else acknowledgements of these messages may be lost
    missing = sorted(number for number, waits in named.items() if waits and (bodies is None or not bodies.find(number)))
    lost = MessageRange(len(missing) * sure, len(missing))
    if missing:
        pairs: list[tuple[int, int | None]] = [(number, None) for number in missing]
        sources.outcomes.add(RecoveryOutcome.LOST, "large-messages", "its body is missing", pairs, sure=sure)
        first = f", the first is message {missing[0]}"
        yield RecoveryStep(
            DamagedPart.LARGE,
            "large-messages",
            f"{count_text(len(missing), 'body', 'bodies')} missing{first}",
            "the messages are delivered without their bodies",
            lost,
            mends=False,
        )
    for name, (number, why) in sorted(unreadable.items()):
        waits = number is not None and named.get(number, False)
        if waits and number is not None:
            sources.outcomes.add(RecoveryOutcome.LOST, name, f"its body {why}", [(number, None)], sure=sure)
        action = "not in the new directory" + f": message {number} is delivered without its body" * waits
        yield RecoveryStep(DamagedPart.LARGE, name, why, action, MessageRange(waits and sure, int(waits)))
    yield from _short_bodies(sources, named, sure=sure)


def _short_bodies(sources: RecoverySources, named: dict[int, bool], *, sure: bool) -> Iterator[RecoveryStep]:
    """Yield a step for each body that has fewer bytes than its message says; brokers deliver what is there."""
    folder = sources.place.large_messages
    if folder is None or not any(named.values()):
        return
    for row in surveyed_rows(survey(sources.state, bodies=True), LargeMessages(folder)):
        if row.short and row.file is not None and row.reference is not None:
            what = f"{row.file.size} bytes, its message says {row.reference.declared}"
            sources.outcomes.add(
                RecoveryOutcome.LOST, row.file.name, "its body is cut off", [(row.reference.id, None)], sure=sure
            )
            yield RecoveryStep(
                DamagedPart.LARGE,
                row.file.name,
                what,
                f"message {row.reference.id} is delivered with what is there",
                MessageRange(int(sure), 1),
                mends=False,
            )


def _orphans(sources: RecoverySources, tally: PageTally) -> Iterator[str]:
    if sources.place.large_messages is not None:
        named = _named_large(sources, tally)
        for file in LargeMessages(sources.place.large_messages).unsorted():
            if file.id is not None and file.id not in named and file.name.endswith(SUFFIXES):
                yield file.name
