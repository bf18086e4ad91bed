"""Sends that go to the same page one after the other, decided together.

The engine decides operation by operation (``engine``); that is the one definition of what happens. Here stands when a
run of equal sends (``send_run``) must come out the same for each of them: the address pages, its queues read on at
once or have read as far as their limits allow, nobody waits for anything, and the page has room. Then only counters
grow, and the records are kept as columns until somebody looks at one. Where any of that is not so, or no longer so,
the ordinary way is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pageengine.broker.copies import Weights, arriving, weights
from pageengine.model.page import NO_TRANSACTION, Record
from pageengine.model.sizes import RECORD_FRAME, record_payload
from pageengine.running.state import hidden, of_queue, of_store
from pageengine.settings.settings import AddressFullPolicy
from pageengine.trace.operations import Protocol, Send
from pageengine.trace.send_run import SendRun

if TYPE_CHECKING:
    from pageengine.broker.routing import Bindings
    from pageengine.clients.producer import Credits
    from pageengine.paging.store import AddressStore
    from pageengine.queues.queue import Queue
    from pageengine.running.engine import Engine
    from pageengine.trace.operations import TraceHeader
    from pageengine.trace.send_run import Numbers

FEWEST = 8
"""Fewer sends are not worth the trouble."""


RESTING = ("n", "paged_n", "paged_bytes", "added")
READING = ("n", "mem_n", "mem_bytes", "paged_n", "paged_bytes", "added")
"""What changes of a queue that reads no more for now, and of one that does."""


class Known(NamedTuple):
    """What a queue showed before the sends; ``reads``: it takes each of them into memory at once."""

    name: str
    reads: bool
    n: int
    mem_n: int
    mem_bytes: int
    paged_n: int
    paged_bytes: int
    added: int


@dataclass(slots=True)
class FoldedRecords:
    """Records of a page as columns; ``id`` is that of the first message. Sizes are payloads."""

    header: TraceHeader
    run: SendRun
    id: int
    page: int
    nr: int
    store: AddressStore
    queues: tuple[int, ...]
    found: dict[int, Weights]
    sizes: Numbers

    def __len__(self) -> int:
        return len(self.run)

    def numbers(self) -> Iterator[tuple[int, int]]:
        return zip(self.run.seq.tolist(), self.sizes.tolist(), strict=True)

    def records(self) -> list[Record]:
        found, header, id, nr, owner, queues = self.found, self.header, self.id, self.nr, self.store, self.queues
        made = []
        for n, (send, size) in enumerate(zip(self.run, self.sizes.tolist(), strict=True)):
            message = arriving(id + n, header, send, found[send.size])
            message.owner = owner
            record = Record(message, queues, NO_TRANSACTION, size)
            record.page, record.nr = self.page, nr + n
            made.append(record)
        return made

    def record(self, n: int) -> Record:
        send, size = self.run.single(n), self.sizes[n : n + 1]
        one = SendRun(send, *(column[n : n + 1] for column in (self.run.t, self.run.seq, self.run.size)))
        return replace(self, run=one, id=self.id + n, nr=self.nr + n, sizes=size).records()[0]


@dataclass(frozen=True, slots=True)
class PagedSends:
    """What became of the sends of ``run``: each one a record of ``page``, from ``nr`` on. Numbers per send.

    ``page_bytes``: bytes of the page after each.
    """

    run: SendRun
    address: str
    page: int
    nr: int
    mem: Numbers
    enc: Numbers
    page_bytes: Numbers
    queues: tuple[Known, ...]

    def __len__(self) -> int:
        return len(self.run)

    def rows(self) -> Numbers:
        """One row per send: i, record number, mem, enc, and the state after it as ``line`` orders it."""
        import numpy as np

        steps = np.arange(len(self))
        sizes = np.cumsum(self.enc)
        columns = [self.run.first.i + steps, self.nr + steps, self.mem, self.enc, self.nr + 1 + steps, self.page_bytes]
        for one in self.queues:
            columns.append(one.n + 1 + steps)
            if one.reads:
                columns += [one.mem_n + 1 + steps, one.mem_bytes + np.cumsum(self.mem)]
            columns += [one.paged_n + 1 + steps, one.paged_bytes + sizes, one.added + 1 + steps]
        return np.stack(columns, axis=1)

    def line(self, row: list[int]) -> dict[str, Any]:
        """A row as a line of the outcome."""
        i, nr, mem, enc, cur_n, cur_bytes = row[:6]
        line: dict[str, Any] = {
            "i": i,
            "op": Send.op,
            "r": "paged",
            "page": self.page,
            "nr": nr,
            "mem": mem,
            "enc": enc,
        }
        if not hidden(self.address):
            line["state"] = state = {f"a:{self.address}": {"cur_n": cur_n, "cur_bytes": cur_bytes}}
            numbers = iter(row[6:])
            for one in self.queues:
                names = READING if one.reads else RESTING
                state[f"q:{one.name}"] = dict(zip(names, numbers, strict=False))
        return line


def decide(engine: Engine, run: SendRun) -> PagedSends | None:
    """Applies the first sends of the run, as many as can be decided together; None: not one of them."""
    if len(run) < FEWEST:
        return None
    store = _steady_store(engine, run.first)
    bindings = engine.broker.bindings(run.first.address)
    queues = _only_queues(bindings) if store is not None and bindings is not None else None
    credits = engine.sessions[run.first.session].credits.get(run.first.address) if queues else None
    if store is None or not queues or credits is None or not _plain(credits):
        return None
    if not all(queue.store is store and queue.cursor is not None and not queue.cursor.empty for queue in queues):
        return None
    return _apply(engine, run, store, sorted(queues, key=lambda queue: not queue.durable), credits)


def _steady_store(engine: Engine, send: Send) -> AddressStore | None:
    """The store of the address, if a send to it can do nothing but add a record to a page."""
    broker = engine.broker
    session = engine.sessions.get(send.session)
    store = broker.stores.get(send.address)
    if store is None or session is None or engine.watch is not None or engine.parts_changed:
        return None
    if session.tx is not None or session.pending or session.protocol is not Protocol.CORE:
        return None
    if broker.disk_full or (broker.expiring and any(queue.consumers for queue in broker.queues.values())):
        return None
    if broker.tasks or broker.to_resume or broker.touched_queues or engine.releases:
        return None
    address = send.address
    if address == broker.settings.management_address or any(one.address == address for one in broker.diverts):
        return None
    if send.expire_ms or broker.settings.address_settings.effective(address).changes_expiry:
        return None
    queues = [cursor.queue for cursor in store.cursors.values()]
    return store if _pages_on(store) and all(_rests(queue) or _reads(queue) for queue in queues) else None


def _pages_on(store: AddressStore) -> bool:
    page = store.current
    if page is None or not page.count or not store.paging or store.page_full or store.page_full_policy is not None:
        return False
    return store.policy is AddressFullPolicy.PAGE and not store.blocked_by_operator


def _rests(queue: Queue) -> bool:
    """Whether a look at its pages and its consumers changes nothing."""
    if queue.deleted or queue.paused:
        return True
    return not queue.needs_depage() and (not queue.references.size or _is_idle(queue))


def _is_idle(queue: Queue) -> bool:
    """Whether nobody takes anything: no consumer has credits. A delivery round then only looks at the next message."""
    busy = all(one.credits is not None and one.credits <= 0 for one in queue.consumers)
    return busy and not queue.dispatch.groups and queue.last_values is None


def _reads(queue: Queue) -> bool:
    """Whether it has read all that there is, nobody takes anything, and what comes is read at once."""
    store, cursor = queue.store, queue.cursor
    if store is None or cursor is None or queue.deleted or queue.paused or not _is_idle(queue):
        return False
    page = store.current
    return (
        page is not None
        and cursor.iterator.is_at_end_of(page)
        and cursor.pages.get(page.number) is not None
        and queue.last_values is None
        and queue.ring_size == -1
        and queue.needs_depage()
    )


def _only_queues(bindings: Bindings) -> list[Queue] | None:
    """The queues that take every message of the address; None where that depends on the message."""
    if bindings.single is not None:
        return [bindings.single]
    found = [queues[0] for queues in bindings.names if len(queues) == 1]
    if len(found) < len(bindings.names) or any(queue.filter is not None for queue in found):
        return None
    return None if any(queue.purge_on_no_consumers and not queue.consumers for queue in found) else found


def _plain(credits: Credits) -> bool:
    return not credits.refused and not credits.arriving and not credits.late


def _apply(
    engine: Engine, run: SendRun, store: AddressStore, queues: list[Queue], credits: Credits
) -> PagedSends | None:
    import numpy as np

    bare = record_payload(store.address, 0, len(queues), old=engine.profile.old_layout)
    room = store.page_size - store.current_bytes
    run = run.upto(max(room // (bare + RECORD_FRAME), 0))
    different, which = np.unique(run.size, return_inverse=True)
    found = {size: weights(engine.profile, engine.header, run.sized(size)) for size in different.tolist()}
    if not found or any(one.large or one.special for one in found.values()):
        return None
    enc, mem = (np.array(one, np.int64)[which] for one in zip(*(one[:2] for one in found.values()), strict=True))
    grown = np.cumsum(enc + (bare + RECORD_FRAME))
    page = store.current
    assert page is not None
    count = int(np.searchsorted(grown, room, "right"))
    if count < FEWEST:
        return None
    reading = [queue for queue in queues if not _rests(queue)]
    for queue in reading:
        count = queue.reads(mem[:count].tolist())
    if count < FEWEST:
        return None
    run, enc, mem = run.upto(count), enc[:count], mem[:count]
    known = tuple(_known(queue) for queue in queues)
    done = PagedSends(run, store.address, page.number, page.count, mem, enc, page.bytes + grown[:count], known)
    ids = tuple(queue.id for queue in queues)
    folded = FoldedRecords(
        engine.header, run, engine.broker.ids + 1, page.number, page.count, store, ids, found, enc + bare
    )
    page.add_folded(folded, int(grown[count - 1]))
    store.current_bytes += int(grown[count - 1])
    store.records_written += count
    for queue in queues:
        assert queue.cursor is not None
        queue.cursor.count(count, int(enc.sum()))
    if credits.step >= 0:
        credits.spend(enc.tolist())
    for queue in reading:
        queue.depage()
        engine.broker.touched_queues.pop(queue)
    for cursor in store.cursors.values():
        if cursor.queue.references.size and not cursor.queue.paused:
            cursor.queue.dispatch.hand_out()
    _tell(engine, run, store, queues)
    return done


def _known(queue: Queue) -> Known:
    assert queue.cursor is not None
    counter = queue.cursor.counter
    memory = (queue.message_count, queue.mem_count, queue.mem_bytes)
    return Known(queue.name, not _rests(queue), *memory, counter.value, counter.bytes, queue.added + counter.added)


def _tell(engine: Engine, run: SendRun, store: AddressStore, queues: list[Queue]) -> None:
    """What was done is what the next line of the outcome starts from."""
    broker, parts = engine.broker, engine.view.parts
    broker.ids += len(run)
    broker.now = int(run.t[-1])
    engine.operations += len(run)
    if not hidden(store.address):
        parts[f"a:{store.address}"] = of_store(store)
        for queue in queues:
            parts[f"q:{queue.name}"] = of_queue(queue)
