"""What becomes of everything, in messages, once pages were salvaged and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from pagefmt.bytes.files import FileGone, NotReadable
from pagefmt.bytes.writing import Disk
from pagefmt.compaction.planning import roots_of
from pagefmt.cross_checks.large_files import surveyed_rows
from pagefmt.cross_checks.of_large import named_by_journal
from pagefmt.cross_checks.survey import survey
from pagefmt.directory.counters import counters, recounts_at_start
from pagefmt.journal.held_messages import NO_TRANSACTION
from pagefmt.messages.large import SUFFIXES, LargeMessages, chunks
from pagefmt.outstanding.ack_state import AckState
from pagefmt.outstanding.journal_parts import JournalParts
from pagefmt.pages.paging import PagingDirectory, Store, java_number, read_store
from pagefmt.quantities import count_text
from pagefmt.recovery.counting import PageTally
from pagefmt.recovery.message_outcomes import NamesOfPages, RecoveryOutcome
from pagefmt.recovery.plan import DamagedPart, MessageRange, QueuePlan, RecoveryPlan, RecoveryStep
from pagefmt.recovery.queues import NameSource
from pagefmt.recovery.sources import GONE, RecoverySources, listed_stores
from pagefmt.salvage.directory import SalvagedDirectory, salvage_stores
from pagefmt.salvage.owners import specials
from pagefmt.salvage.store import Loss, SalvagedStore

_SMALLEST_MESSAGE: Final = 23 + 61
"""Bytes of the record of a message in a journal, at least."""


def salvaged_pages(found: RecoverySources, out: Path, disk: Disk) -> SalvagedDirectory:
    """Write all stores below ``out``."""
    if found.place.paging is None:
        return SalvagedDirectory([], 0)

    def again(folder: str, pairs: Iterable[tuple[int, int]]) -> None:
        found.outcomes.add(
            RecoveryOutcome.AGAIN, folder, "acknowledged at its old position, and moved to a new one", pairs
        )

    return salvage_stores(found.place._replace(store=None, page=None), found.state, out, disk, again=again)


def names_of_pages(found: RecoverySources) -> NamesOfPages | None:
    """Takes what becomes of messages in pages, where it is not sure that this is right."""
    passed_over = found.made.passed_over
    holes = _holes(found)
    if not passed_over and holes is None:
        return None

    def named(message: int, queue: int, ack_state: AckState) -> None:
        if ack_state is AckState.NO_QUEUE and queue in passed_over:
            found.outcomes.add(
                RecoveryOutcome.UNSURE, "bindings", f"no queue is created: {passed_over[queue]}", [(message, queue)]
            )
        elif holes is not None and ack_state is AckState.OUTSTANDING:
            found.outcomes.add(RecoveryOutcome.UNSURE, *holes, [(message, queue)])
        elif holes is not None and ack_state is AckState.IGNORED:
            why = "withheld: the lost part of the journal may have committed its transaction"
            found.outcomes.add(RecoveryOutcome.UNSURE, holes[0], why, [(message, queue)])

    return named


def _holes(found: RecoverySources) -> tuple[str, str] | None:
    """The file, and why it is not sure that what waits in pages and journal should be delivered."""
    kept = found.journal
    if kept.gone:
        return "journal", "delivered, acknowledged or not, committed or not: there is no journal"
    for stretch in kept.stretches:
        return stretch.file, "delivered: the lost part of the journal may have acknowledged it"
    return None


def plan_of_recovery(found: RecoverySources, salvaged: SalvagedDirectory, tally: PageTally) -> RecoveryPlan:
    """``tally``: of the pages that were written."""
    steps = [_page_step(found, each) for each in salvaged.stores]
    steps += [
        RecoveryStep(DamagedPart.PAGES, "paging", remark, "stays as it is", mends=False) for remark in salvaged.remarks
    ]
    steps += [
        RecoveryStep(
            DamagedPart.PAGES, "paging", remark, "not in the new directory", MessageRange(0, None), mends=False,
            nameless="it is not read",
        )
        for remark in salvaged.unread
    ]  # fmt: skip
    steps += _empty_steps(found.paging)
    _note_absent_pages(found, salvaged, tally, steps)
    due = _due(found)
    waiting = tally.outstanding.total() + due.total()
    unreadable = _unreadable_bodies(found)
    steps += [*found.steps, *_journal_steps(found, tally, waiting), *_large_steps(found, tally, unreadable)]
    order = list(DamagedPart)
    steps.sort(key=lambda step: order.index(step.part))
    sources = {each.binding.id: each for each in found.made.made}
    queues = tuple(
        QueuePlan(
            queue.address, queue.name, number, queue.routing, due[number], tally.outstanding[number],
            tally.in_doubt[number], sources[number].source if number in sources else NameSource.BINDINGS,
            sources[number].routing_known if number in sources else True,
        )
        for number, queue in sorted(found.made.bindings.queues.items())
    )  # fmt: skip
    aside = tuple(sorted(name for name in _orphans(found, tally) if name not in unreadable))
    return RecoveryPlan(
        found.edition, roots_of(found.place), tuple(steps), queues, found.made.passed_over, aside, tuple(unreadable)
    )  # fmt: skip


def _page_step(found: RecoverySources, each: SalvagedStore) -> RecoveryStep:
    what = [f"damaged: {', '.join(each.damaged)}"] if each.damaged else []
    what += ["its address.txt names no address, or one that its messages are not for"] if each.readdressed else []
    what += [f"other folders have the same address: {', '.join(each.merged)}"] if each.merged else []
    action = f"{count_text(each.kept, 'message')} stay in place, {each.rescued} go to new pages"
    done = _name_losses(found, each)
    fewest, most = (max(count - done, 0) for count in each.lost)
    unread = [entry.name for entry in specials(read_store(found.paging.path / each.folder))]
    cut = _cut_pages(read_store(found.paging.path / each.folder), each)
    what += [f"how much of {', '.join(cut)} was cut off is not known"] if cut else []
    again = MessageRange(0, each.delivered_again)
    command = f"{found.place.call('pages salvage')} --out NEW"
    name = f"{each.folder} ({each.address})" if each.address is not None else each.folder
    return RecoveryStep(
        DamagedPart.PAGES,
        name,
        "; ".join([*what, *each.remarks]),
        action,
        MessageRange(fewest, None if cut or unread else most),
        again,
        command=command,
        nameless="bytes that are not a record have no message id"
        if cut or _nameless(each.losses)
        else ("what is not a regular file is not read" if unread else None),
    )


def _nameless(losses: Sequence[Loss]) -> bool:
    return any(loss.most > bool(loss.message) for loss in losses)


def _name_losses(found: RecoverySources, each: SalvagedStore) -> int:
    """How many were acknowledged by all queues, so that nothing is lost with them. A record that cannot be read does
    not say for which queues it is: it may be for all of the address."""
    queues = list(found.queues_of(each.address))
    done = 0
    for loss in each.losses:
        page = java_number(loss.file) if "." in loss.file else None
        lost_by: Sequence[int | None] = queues
        if loss.number is not None and page is not None:
            rule = found.rule(each.address, page)
            acked = rule.acked_by(loss.number, queues)
            lost_by = [queue for queue in queues if queue not in acked]
        done += bool(queues and not lost_by)
        if loss.message and (lost_by or not queues):
            pairs = [(loss.message, queue) for queue in lost_by or (None,)]
            where = loss.file if "/" in loss.file else f"{each.folder}/{loss.file}"
            found.outcomes.add(
                RecoveryOutcome.LOST, where, f"it cannot be read: {loss.detail}", pairs, sure=len(queues) == 1
            )
    return done


def _cut_pages(store: Store, each: SalvagedStore) -> list[str]:
    """Pages that end in damage although brokers have written to others since: no crash has torn them."""
    sizes = {page.name: page.size for page in store.pages[:-1]}
    return sorted({loss.file for loss in each.losses if sizes.get(loss.file) == loss.end} - each.unread)


def _note_absent_pages(
    found: RecoverySources, salvaged: SalvagedDirectory, tally: PageTally, steps: list[RecoveryStep]
) -> None:
    """Add what the counter records say of pages that are not there any more.

    Brokers up to 2.27 keep exact counters, so messages that no page has are lost. The counters of later brokers lag
    behind acknowledgements: where a store is damaged anyway they only tell that its losses may be more.
    """
    if found.journal.damaged:
        return  # records that bring the counters down may be lost
    stored = counters(found.state.journal)
    losses = {each.address: each.lost[1] for each in salvaged.stores}
    damaged = {each.address: n for n, each in enumerate(salvaged.stores)}
    folders = {store.address: store for store in listed_stores(found.paging)}
    for number, queue in sorted(found.made.bindings.queues.items()):
        counter, store = stored.get(number), folders.get(queue.address)
        if counter is None or store is None:
            continue
        missing = counter.value + counter.increments - tally.counted[number] - losses.get(queue.address, 0)
        if missing <= 0:
            continue
        if not recounts_at_start(found.edition):
            what = f"the broker counted {count_text(missing, 'message')} for {queue.name} that no page has"
            steps.append(
                RecoveryStep(
                    DamagedPart.PAGES, store.name, what, "pages are missing: nothing brings these back",
                    MessageRange(0, missing), mends=False, nameless=GONE,
                )
            )  # fmt: skip
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
                DamagedPart.PAGES, store.name, what, "what was in it is not known", MessageRange(0, None), mends=False,
                nameless=GONE,
            )  # fmt: skip


def _due(found: RecoverySources) -> Counter[int]:
    """Messages of the journal by queue."""
    parts = JournalParts(found.state, None)
    references = parts.messages.references
    waiting = ~references.acked & ~references.held & (parts.messages.tx[references.message] == NO_TRANSACTION)
    holes = _holes(found)
    if holes is not None:
        ids = parts.messages.ids[references.message[waiting]]
        pairs = zip(ids.tolist(), references.queue[waiting].tolist(), strict=True)
        found.outcomes.add(RecoveryOutcome.UNSURE, *holes, pairs)
    queues, counts = np.unique(references.queue[waiting], return_counts=True)
    bound = found.made.bindings.queues
    return Counter({n: count for n, count in zip(queues.tolist(), counts.tolist(), strict=True) if n in bound})


def _journal_steps(found: RecoverySources, tally: PageTally, waiting: int) -> Iterator[RecoveryStep]:
    kept, place = found.journal, found.place
    paged = tally.outstanding.total()
    if kept.gone and (paged or kept.damaged or not kept.loaded.files):
        what = "it contains no record" if kept.loaded.files else "there is no journal"
        if kept.loaded.damage is not None:
            what = kept.loaded.damage.place
        action = "a new one is created, and all messages in pages are delivered, acknowledged or not, committed or not"
        yield RecoveryStep(
            DamagedPart.JOURNAL, "journal", what, action, MessageRange(0, None), unsure=MessageRange(0, paged),
            nameless=GONE,
        )  # fmt: skip
        return
    for stretch in kept.stretches:
        room = stretch.most_acknowledgements
        most = waiting if room is None else min(waiting, room * max(tally.largest, 1))
        lost = None if stretch.open_ended else stretch.size // _SMALLEST_MESSAGE
        yield RecoveryStep(
            DamagedPart.JOURNAL, stretch.file, stretch.why, "rewritten without it",
            MessageRange(0, lost), unsure=MessageRange(0, most + tally.ignored),
            command=place.call("journal verify"), nameless="what was there is not known",
        )  # fmt: skip


def _named_large(found: RecoverySources, tally: PageTally) -> dict[int, bool]:
    """Large messages → whether someone waits for them."""
    return {**tally.large, **dict.fromkeys(named_by_journal(found.state.journal), True)}


def _unreadable_bodies(found: RecoverySources) -> dict[str, tuple[int | None, str]]:
    """Return the large-message files that the system does not give: name → message id and reason.

    All of each file is read: a failing disk shows only there, and whoever copies the directory would stop at it.
    """
    unreadable: dict[str, tuple[int | None, str]] = {}
    if found.place.large_messages is not None:
        for file in LargeMessages(found.place.large_messages).unsorted():
            try:
                for _ in chunks(file):
                    pass
            except FileGone:
                continue
            except NotReadable as err:
                unreadable[file.name] = file.id, err.reason
    return unreadable


def _large_steps(
    found: RecoverySources, tally: PageTally, unreadable: dict[str, tuple[int | None, str]]
) -> Iterator[RecoveryStep]:
    named = _named_large(found, tally)
    folder = found.place.large_messages
    bodies = LargeMessages(folder) if folder is not None else None
    sure = not (found.journal.damaged or found.journal.gone)  # else acknowledgements of these messages may be lost
    missing = sorted(number for number, waits in named.items() if waits and (bodies is None or not bodies.find(number)))
    lost = MessageRange(len(missing) * sure, len(missing))
    if missing:
        pairs: list[tuple[int, int | None]] = [(number, None) for number in missing]
        found.outcomes.add(RecoveryOutcome.LOST, "large-messages", "its body is missing", pairs, sure=sure)
        first = f", the first is message {missing[0]}"
        yield RecoveryStep(
            DamagedPart.LARGE, "large-messages", f"{count_text(len(missing), 'body', 'bodies')} missing{first}",
            "the messages are delivered without their bodies", lost, mends=False,
        )  # fmt: skip
    for name, (number, why) in sorted(unreadable.items()):
        waits = number is not None and named.get(number, False)
        if waits and number is not None:
            found.outcomes.add(RecoveryOutcome.LOST, name, f"its body {why}", [(number, None)], sure=sure)
        action = "not in the new directory" + f": message {number} is delivered without its body" * waits
        yield RecoveryStep(DamagedPart.LARGE, name, why, action, MessageRange(waits and sure, int(waits)))
    yield from _short_bodies(found, named, sure=sure)


def _short_bodies(found: RecoverySources, named: dict[int, bool], *, sure: bool) -> Iterator[RecoveryStep]:
    """Yield a step for each body that has fewer bytes than its message says; brokers deliver what is there."""
    folder = found.place.large_messages
    if folder is None or not any(named.values()):
        return
    for row in surveyed_rows(survey(found.state, bodies=True), LargeMessages(folder)):
        if row.short and row.file is not None and row.reference is not None:
            what = f"{row.file.size} bytes, its message says {row.reference.declared}"
            found.outcomes.add(RecoveryOutcome.LOST, row.file.name, "its body is cut off", [(row.reference.id, None)],
                               sure=sure)  # fmt: skip
            yield RecoveryStep(
                DamagedPart.LARGE, row.file.name, what, f"message {row.reference.id} is delivered with what is there",
                MessageRange(int(sure), 1), mends=False,
            )  # fmt: skip


def _orphans(found: RecoverySources, tally: PageTally) -> Iterator[str]:
    if found.place.large_messages is not None:
        named = _named_large(found, tally)
        for file in LargeMessages(found.place.large_messages).unsorted():
            if file.id is not None and file.id not in named and file.name.endswith(SUFFIXES):
                yield file.name
