"""The conversion carried out: a new folder, which appears whole or not at all; the old one is only read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from pagefmt.change.compaction.copy_out import copy_file
from pagefmt.change.conversion.forms import CHANGED
from pagefmt.change.conversion.pages import NewPage
from pagefmt.change.conversion.plan import AT_ONCE, COUNTERS, ConversionPlan, ConvertedStore
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.directory.locate import new_names
from pagefmt.directory.paging import ADDRESS_FILE
from pagefmt.journal.bodies import BadBody, CounterValue, encode_body
from pagefmt.journal.numbers import Numbers
from pagefmt.journal.packing import usual_size
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal
from pagefmt.outstanding.queue_totals import QueueContent
from pagefmt.storage.writing import Disk, whole_folder

NODE_FILE: Final = "server.lock"


def convert(
    plan: ConversionPlan,
    target: Path,
    held: Mapping[Path, int] | None = None,
    disk: Disk | None = None,
    passed: Callable[[int], object] = lambda size: None,
) -> None:
    """Write bindings, journal, large messages and pages below ``target``, which must not exist.

    ``held``: descriptors of locked lock files, for which no second descriptor may be opened. ``passed`` receives the
    size of each file that was read. Raises ``SourceChanged``, ``TargetRefused``, ``OSError``.
    """
    roots = plan.roots
    like_folder = next(iter(roots.values())).parent
    with whole_folder(target, roots.values(), disk, like_folder) as (folder, disk), plan.sources.unchanged():
        new = {kind: folder / name for kind, name in new_names(roots, since_2=True).items()}
        for new_folder in new.values():
            disk.make_folder(new_folder)
        like = plan.definitions.files[0]
        size = usual_size(plan.definitions.files)
        write_journal(new["bindings"], "activemq-bindings-{}.bindings", plan.bindings.records, disk, size, like.path)
        like = plan.messages.files[0]
        size = usual_size(plan.messages.files)
        write_journal(new["journal"], "activemq-data-{}.amq", _messages(plan), disk, size, like.path)
        for files in (plan.definitions.files, plan.messages.files):
            passed(sum(file.size for file in files))
        node = roots["journal"] / NODE_FILE
        if node.is_file() and not node.is_symlink():
            copy_file(node, new["journal"] / NODE_FILE, disk, (held or {}).get(node))
        if "large-messages" in roots:
            for body in LargeMessages(roots["large-messages"]).files():
                copy_file(body.path, new["large-messages"] / body.name, disk)
                passed(body.size)
        for store in plan.stores:
            _store(plan, store, new["paging"] / store.folder.name, disk, passed)
        for kind, root in roots.items():
            disk.give_rights(new[kind], root)


def _store(plan: ConversionPlan, store: ConvertedStore, to: Path, disk: Disk, passed: Callable[[int], object]) -> None:
    disk.make_folder(to)
    like = store.folder / ADDRESS_FILE
    if store.address == store.old_address:
        copy_file(like, to / ADDRESS_FILE, disk)
    else:
        disk.create(to / ADDRESS_FILE, [f"{store.address}\n".encode()], like=like)
    for page in store.pages:
        path = page.page.path
        if page.rewritten:
            with open_page(page.page) as opened:
                content = NewPage(opened, plan.form, store.old_address).content()
                disk.create(to / path.name, content, like=path)
        else:
            copy_file(path, to / path.name, disk)
        passed(page.page.size)
    disk.give_rights(to, store.folder)


def _messages(plan: ConversionPlan) -> Iterator[JournalRecord]:
    """Yield the records of the new message journal. Those of a prepared transaction end with its PREPARE."""
    loaded = plan.messages
    columns = loaded.columns
    yield from _records(plan, loaded.rows, 0)
    for branch in loaded.prepared:
        yield from _records(plan, Numbers(branch.rows), branch.tx)
        for row in branch.deletes:
            yield JournalRecord(RecordKind.DELETE_TX, id=columns.ids[row], tx=branch.tx, body=columns.body(row))
        yield JournalRecord(RecordKind.PREPARE, tx=branch.tx, body=branch.xid)


def _records(plan: ConversionPlan, rows: Numbers, tx: int) -> Iterator[JournalRecord]:
    columns, known_types = plan.messages.columns, frozenset(RecordType)
    counted: set[int] = set()
    for at in range(0, len(rows), AT_ONCE):
        row_numbers = rows.between(at, min(at + AT_ONCE, len(rows))).tolist()
        for row, body in zip(row_numbers, columns.bodies(row_numbers), strict=True):
            kind, record = columns.types[row], columns.ids[row]
            if kind not in known_types or record in plan.unread:
                continue
            if plan.recounted and kind in COUNTERS:
                queue = ByteReader(body).i64() if len(body) >= 8 else 0
                if tx or queue in counted or queue not in plan.held:
                    continue
                counted.add(queue)
                kind, body = RecordType.PAGE_CURSOR_COUNTER_VALUE, _counter(plan.held[queue])
            elif kind in CHANGED:
                try:
                    kind, body = plan.form.journal_body(kind, body)
                except (Undecodable, BadBody):  # the plan says so
                    continue
            update = bool(columns.updates[row])
            if tx:
                how = RecordKind.UPDATE_TX if update else RecordKind.ADD_TX
            else:
                how = RecordKind.UPDATE if update else RecordKind.ADD
            yield JournalRecord(how, id=record, tx=tx, user_type=kind, body=body)


def _counter(held: QueueContent) -> bytes:
    """Return the body of a counter record with the figure that the broker will count itself when it starts."""
    paged = held.paged
    return encode_body(CounterValue(paged.id, paged.messages + paged.in_doubt_acks, paged.bytes))
