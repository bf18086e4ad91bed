"""What a table holds of pages and journals, so that an export adds only what is new (``export --incremental``).

The folder ``_exported`` of the table has a file for each run. It appears with the rows of the run or not at all, and
none is ever changed. Of every page that was looked at it has size and checksum, and the messages of it that are in the
table by number and id: a broker that begins anew gives page numbers again, and message ids never. The last file that
names a page counts.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.bytes.files import listed, utf8_name
from pagefmt.bytes.stored_paths import made_folder
from pagefmt.bytes.waiting import thread_pool
from pagefmt.columns.files import ARROW, TableFile, table_file
from pagefmt.columns.table_content import StoredIn
from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.locate import stores
from pagefmt.errors import PageFmtError
from pagefmt.pages.gather import Ints
from pagefmt.pages.paging import PageFile, Store, store_entries
from pagefmt.spark.groups import JOURNAL, PageMessages, Piece, runs_of
from pagefmt.spark.known_brokers import BrokerIdentity, KnownPlaces
from pagefmt.spark.table_folder import EXPORTED
from pagefmt.spark.table_formats import data_files

SETTLED: Final = 2.0
"""Seconds after which a change of a file can be told by its times."""
ADDED, GREW, SAME, CHANGED, DELETED = "added", "grew", "same", "changed", "deleted"
_MESSAGES: Final = ("numbers", "ids")
_LISTS: Final = [pa.field(name, pa.list_(pa.int64())) for name in _MESSAGES]
_FIELDS: Final = [
    pa.field("broker", pa.string()), pa.field("store", pa.string()), pa.field("page", pa.int64()),
    pa.field("state", pa.string()), pa.field("size", pa.int64()), pa.field("crc32c", pa.string()),
    pa.field("identity", pa.string()), pa.field("rows", pa.int64()), pa.field("missing", pa.int64()),
]  # fmt: skip
SCHEMA: Final = pa.schema([*_FIELDS, *_LISTS])
NO_PAGES: Final = pa.schema(_FIELDS).empty_table()
_SETTINGS: Final = b"pagectl.export"
_WRONG: Final = b"pagectl.wrong"
_BROKERS: Final = b"pagectl.brokers"
_MADE: Final = re.compile(r"part-\d+-\d+-([0-9a-f]{12})\.parquet")
"""Files of a table, and the run that made them."""
_SUMMED: Final = re.compile(r"part-\d+-([0-9a-f]{8})-[0-9a-f]{12}\.arrow")
"""Files of a log that name the CRC-32C of their content."""
_AT_ONCE: Final = 16
_PASSING: Final = (errno.EIO, errno.EACCES, errno.ENXIO)
"""Of what a store or a disk does not give, and may give another time."""
_FLUSHED: Final = 1 << 20
"""Messages of the pages of one batch."""


BrokerRemarks: TypeAlias = Mapping[str, Sequence[tuple[str, bool]]]
"""By the names of brokers: what is wrong there, and whether something is missing, rather than not readable."""


class LogRefused(PageFmtError):
    """A table that cannot be added to: it was made otherwise, or its log cannot be read."""


class PageEntry(NamedTuple):
    """What a run found out about a page. ``rows``: added by it; ``missing``: exported, and no longer in the page."""

    broker: str
    store: str
    page: int
    state: str
    size: int = 0
    crc32c: str | None = None
    identity: str | None = None
    rows: int = 0
    missing: int = 0
    numbers: Ints = np.zeros(0, np.int64)
    ids: Ints = np.zeros(0, np.int64)


class LogWriter:
    """Writes entries, a batch for about so many messages."""

    def __init__(self, out: TableFile) -> None:
        self.out = out
        self._entries: list[PageEntry] = []
        self._messages = 0

    def add(self, entry: PageEntry) -> None:
        """One page."""
        self._entries.append(entry)
        self._messages += len(entry.ids) + 1
        if self._messages > _FLUSHED:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self._entries:
            columns: list[Any] = [*zip(*self._entries, strict=True)]
            for at in (-2, -1):  # steps compress to nearly nothing
                columns[at] = [np.diff(each, prepend=0) for each in columns[at]]
            arrays = [pa.array(values, each.type) for values, each in zip(columns, SCHEMA, strict=True)]
            self.out.write_batch(pa.record_batch(arrays, SCHEMA))
        self._entries, self._messages = [], 0


@contextmanager
def entries_to(
    path: Path, settings: Mapping[str, Any] | None = None, wrong: BrokerRemarks | None = None,
    brokers: Mapping[str, KnownPlaces] | None = None,
) -> Iterator[LogWriter]:  # fmt: skip
    """Open a file of entries for writing.

    ``settings``: how the table is made; ``wrong``: what is damaged or not known of brokers; ``brokers``: where the
    brokers of the table were read.
    """
    values = {_SETTINGS: settings, _WRONG: wrong or {}, _BROKERS: brokers or {}}
    noted = {} if settings is None else {name: json.dumps(value) for name, value in values.items()}
    form = SCHEMA.with_metadata(noted or None)
    with table_file(path, ARROW, form) as out:
        writer = LogWriter(out)
        yield writer
        writer.flush()


def write_entries(
    path: Path, parts: Iterable[Path], news: Iterable[BrokerNews], settings: Mapping[str, Any],
    wrong: BrokerRemarks | None = None, brokers: Mapping[str, KnownPlaces] | None = None,
) -> pa.Table:  # fmt: skip
    """The files of tasks, and the pages that are no longer there, as one; what the tasks looked at."""
    plain = [each.name for each in _FIELDS]
    batches: list[pa.RecordBatch] = []
    with made_folder(path.parent, exist_ok=True) as here, entries_to(here / path.name, settings, wrong, brokers) as log:
        for part in parts:
            reader = _opened(part, SCHEMA)
            for n in range(reader.num_record_batches):
                batch = _batch(reader, n)
                log.out.write_batch(batch)
                batches.append(batch.select(plain))
        for each in news:
            for entry in each.deleted:
                log.add(entry)
    return pa.Table.from_batches(batches, pa.schema(_FIELDS))


def told_pages(looked: pa.Table, news: Iterable[BrokerNews]) -> dict[str, Any]:
    """What has to be told of the pages of a run."""
    looked = looked.filter(pc.not_equal(looked.column("page"), JOURNAL))
    states = Counter(looked.column("state").to_pylist())
    gone = [each[:3] for one in news for each in one.deleted]
    gone += [(each["broker"], each["store"], each["page"]) for each in _in_state(DELETED, looked)]
    by_store = groupby(sorted(gone), key=lambda each: each[:2])
    return {
        "skipped": states[SAME] + sum(len(pages) for each in news for pages in each.skipped.values()),
        "added": states[ADDED], "grew": states[GREW],
        "changed": [
            {name: each[name] for name in ("broker", "store", "page", "rows", "missing")}
            for each in _in_state(CHANGED, looked)
        ],
        "deleted": [
            {"broker": broker, "store": store, "pages": [*map(list, runs_of(page for *_, page in pages))]}
            for (broker, store), pages in by_store
        ],
    }  # fmt: skip


def _in_state(state: str, looked: pa.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = looked.filter(pc.equal(looked.column("state"), state)).to_pylist()
    return found


def journal_identity(folder: Path | None) -> str | None:
    """Return what tells, without reading it, that a journal is as it was; None while the times of files cannot."""
    if folder is None:
        return None
    found = []
    try:
        with listed(folder) as entries:
            for entry in entries:
                status = entry.stat()
                if time.time() - max(status.st_mtime, status.st_ctime) < SETTLED:
                    return None
                found.append(f"{entry.name}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}")
    except OSError:
        return None  # who reads it says why
    return hashlib.sha256(" ".join(sorted(found)).encode("utf-8", "surrogateescape")).hexdigest()


def identity_of(page: PageFile, status: os.stat_result | None) -> str | None:
    """What tells, without reading it, that a file is the one that was listed; None while its times cannot."""
    if status is None or status.st_size != page.size:
        return None
    if time.time() - max(status.st_mtime, status.st_ctime) < SETTLED:
        return None
    return f"{status.st_ino}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


@dataclass(frozen=True, slots=True)
class ExportLog:
    """The log of a table. ``pages``: its columns but the messages, in the order of the runs.

    ``wrong``: what the last run that looked at a broker found damaged or not known, beside its pages.
    ``brokers``: where the brokers of the table were read.
    """

    files: tuple[Path, ...]
    pages: pa.Table
    settings: Mapping[str, Any]
    wrong: BrokerRemarks
    brokers: Mapping[str, KnownPlaces]
    _rows: Mapping[str, Ints] = field(repr=False)
    _batches: tuple[tuple[int, ...], ...] = field(repr=False)

    @classmethod
    def of(cls, folder: Path) -> ExportLog | None:
        """Of the table in a folder; None where it has none. Raises ``LogRefused``."""
        files = tuple(sorted((folder / EXPORTED).glob("part-*.arrow")))
        if not files:
            return None
        with _refused(folder / EXPORTED):
            tables = [_batches(_opened(path, _FIELDS)) for path in files]
            noted = {_WRONG: b"{}", _BROKERS: b"{}", **tables[-1].schema.metadata}
            settings, wrong, brokers = (dict(json.loads(noted[each])) for each in (_SETTINGS, _WRONG, _BROKERS))
            identities = {
                name: [BrokerIdentity(*each) for each in places] for name, places in brokers.items() if places
            }
            pages = pa.concat_tables(tables).select([each.name for each in _FIELDS])
        if not _is_complete(folder, files):
            raise LogRefused(
                f"{folder / EXPORTED}: lacks an export whose rows are in the table, so they would be added again; "
                "rewrite the table with --mode overwrite"
            )
        named = pages.column("broker").combine_chunks().dictionary_encode()
        codes = np.asarray(named.indices)
        order = np.argsort(codes, kind="stable")
        cuts = np.searchsorted(codes[order], np.arange(1, len(named.dictionary)))
        names = named.dictionary.to_pylist()  # none where no run has met a page
        rows = dict(zip(names, np.split(order, cuts)[: len(names)], strict=True))
        batches = tuple(tuple(map(len, each.column("page").chunks)) for each in tables)
        return cls(files, pages, settings, wrong, identities, rows, batches)

    @property
    def run(self) -> int:
        """The number of the last run."""
        return int(self.files[-1].name.split("-")[1])

    def stores_of(self, names: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return the store folders of brokers."""
        column = self.pages.column("store")
        return {
            name: frozenset(pc.unique(column.take(pa.array(self._rows[name]))).to_pylist()) - {""}
            for name in names if name in self._rows
        }  # fmt: skip

    def of_broker(self, name: str) -> dict[tuple[str, int], dict[str, Any]]:
        """The last entry of each page, by store and number, with its row in ``pages``."""
        mine = self._rows.get(name)
        if mine is None:
            return {}
        taken = self.pages.take(pa.array(mine)).select(["store", "page", "state", "size", "crc32c", "identity"])
        found: dict[tuple[str, int], dict[str, Any]] = {}
        for row, each in zip(mine.tolist(), taken.to_pylist(), strict=True):
            key = each["store"], each["page"]
            if each["state"] == DELETED and key in found:
                found[key]["state"] = DELETED  # the messages are in the table all the same
            else:
                found[key] = {**each, "row": row}
        return found

    def messages(self, entries: Iterable[Mapping[str, Any]]) -> dict[int, PageMessages]:
        """Of the pages of these entries, by row."""
        by_row = {each["row"]: each for each in entries}
        wanted = np.array(sorted(by_row), np.int64)
        found: dict[int, PageMessages] = {}
        before = 0
        for path, sizes in zip(self.files, self._batches, strict=True):
            with _refused(path.parent):
                reader = _opened(path, _LISTS)
                for n, size in enumerate(sizes):
                    here = wanted[(wanted >= before) & (wanted < before + size)]
                    columns = [_batch(reader, n).column(name) for name in _MESSAGES] if len(here) else []
                    for row in here.tolist():
                        lists = (np.cumsum(column[row - before].values.to_numpy()) for column in columns)
                        found[row] = PageMessages(by_row[row]["size"], by_row[row]["crc32c"], *lists)
                    before += size
        return found


def _is_complete(folder: Path, files: Sequence[Path]) -> bool:
    """Whether the log has the exports of all rows, as the names of files tell: the rows of others are others'."""
    made = {found[1] for name in data_files(folder) if (found := _MADE.fullmatch(name))}
    return made <= {path.stem.rpartition("-")[2] for path in files}


def log_name(number: int, run: str, path: Path) -> str:
    """Return the name in a table's log of the file at ``path``: number of the export, CRC-32C of the file, run."""
    return f"part-{number:06d}-{_sum_of(path.read_bytes())}-{run}.arrow"


def _sum_of(content: bytes) -> str:
    from crc32c import crc32c

    return f"{crc32c(content):08x}"


@contextmanager
def _refused(log: Path) -> Iterator[None]:
    """Raise ``LogRefused`` for whatever a damaged log raises; ``OSError`` if a store or disk may give it later."""
    try:
        yield
    except (OSError, pa.ArrowException, LookupError, TypeError, ValueError, AttributeError, RecursionError) as err:
        if isinstance(err, OSError) and err.errno in _PASSING:
            raise OSError(err.errno, err.strerror, str(log)) from err
        raise LogRefused(
            f"{log}: the log of what was exported cannot be read "
            f"({' '.join(str(err).split())[:200]}); rewrite the table with --mode overwrite"
        ) from err


def _opened(path: Path, fields: Iterable[pa.Field]) -> pa.RecordBatchFileReader:
    """Open a file of entries. Its content is checked against the checksum in its name, which older files lack."""
    options = pa.ipc.IpcReadOptions(included_fields=[SCHEMA.get_field_index(each.name) for each in fields])
    content = path.read_bytes()
    named = _SUMMED.fullmatch(path.name)
    if named and named[1] != _sum_of(content):
        raise ValueError(f"{path.name} is damaged: its checksum is not the one in its name")
    found = pa.ipc.open_file(content, options=options)
    if not found.schema.equals(pa.schema(fields)):
        raise ValueError(f"{path.name} has other columns")
    return found


def _batch(reader: pa.RecordBatchFileReader, number: int) -> pa.RecordBatch:
    """Read a batch. Arrow believes offsets and lengths in a file, and reads anywhere in memory by damaged ones."""
    batch = reader.get_batch(number)
    batch.validate(full=True)
    for column in batch.columns:
        lists = column.flatten() if pa.types.is_list(column.type) else None
        if (lists is not None and lists.null_count) or (column.null_count and column.type != pa.string()):
            raise ValueError("a value is missing")
    return batch


def _batches(reader: pa.RecordBatchFileReader) -> pa.Table:
    return pa.Table.from_batches(map(partial(_batch, reader), range(reader.num_record_batches)), reader.schema)


@dataclass(slots=True)
class BrokerNews:
    """A broker beside the log. ``skipped``: pages that are as they were, by store. ``looked``: how many others.

    ``same_journal``: the journal is as it was. ``known``: what is in the table of what has
    to be looked at.
    """

    broker: FleetBroker
    skipped: dict[str, Ints] = field(default_factory=dict)
    known: dict[tuple[str, int], PageMessages] = field(default_factory=dict)
    deleted: list[PageEntry] = field(default_factory=list)
    looked: int = 0
    same_journal: bool = False

    def remaining(self, piece: Piece) -> Piece | None:
        """What of a piece has to be looked at."""
        if piece.store is None:
            known = {JOURNAL: self.known["", JOURNAL]} if ("", JOURNAL) in self.known else {}
            return None if self.same_journal else replace(piece, known=known)
        if not piece.runs:
            return piece
        store, every = utf8_name(piece.store), np.fromiter(piece.numbers(), np.int64)
        numbers = every[~np.isin(every, self.skipped.get(piece.store, every[:0]))].tolist()
        known = {each: self.known[store, each] for each in numbers if (store, each) in self.known}
        size = piece.size * len(numbers) // len(every)
        return replace(piece, runs=runs_of(numbers), size=size, known=known) if numbers else None


def all_news(brokers: Sequence[FleetBroker], log: ExportLog | None, within: StoredIn) -> tuple[BrokerNews, ...]:
    """Of each, in their order."""
    with thread_pool(min(_AT_ONCE, len(brokers))) as pool:
        return tuple(pool.map(lambda each: news_of(each, log, within), brokers))


def news_of(broker: FleetBroker, log: ExportLog | None, within: StoredIn) -> BrokerNews:
    """By names, sizes and times of files alone: none is read."""
    found = BrokerNews(broker)
    before = log.of_broker(broker.name) if log is not None else {}
    gone = {key: each for key, each in before.items() if key[1] != JOURNAL}
    again: dict[tuple[str, int], dict[str, Any]] = {}
    if within is not StoredIn.PAGES:
        entry = before.get(("", JOURNAL))
        identity = journal_identity(broker.place.journal)
        found.same_journal = entry is not None and identity is not None and entry["identity"] == identity
        if entry is not None and not found.same_journal:
            again["", JOURNAL] = entry
        found.looked += broker.place.journal is not None and not found.same_journal
    try:
        for store in stores(broker.place) if within is not StoredIn.JOURNAL else ():
            name = utf8_name(store.name)
            same, looked = _compared(store, name, before)
            found.skipped[store.name] = np.array(same, np.int64)
            linked = [each.number for each in store.others if each.is_linked_page and each.number is not None]
            found.looked += len(store.pages) - len(same) + (store.problem is not None) + len(linked)
            again |= looked
            numbers = [*(page.number for page in store.pages), *linked]
            for key in [key for key in gone if key[0] == name] if store.problem else [(name, each) for each in numbers]:
                gone.pop(key, None)
    except (PageFmtError, OSError):
        return BrokerNews(broker, looked=1)  # who surveys it says why; nothing is known to be gone
    lost = [key for key, each in gone.items() if each["state"] != DELETED]
    found.deleted = [PageEntry(broker.name, store, page, DELETED) for store, page in lost]
    if log is not None:
        messages = log.messages(again.values())
        found.known = {key: messages[each["row"]] for key, each in again.items()}
    return found


def _compared(
    store: Store, name: str, before: Mapping[tuple[str, int], dict[str, Any]]
) -> tuple[list[int], dict[tuple[str, int], dict[str, Any]]]:  # fmt: skip
    """Pages that are as they were, and what is known of those that may not be."""
    same: list[int] = []
    again = {}
    statuses = {each.name: status for each, status in store_entries(store.folder)} if before and store.pages else {}
    for page in store.pages:
        entry = before.get((name, page.number))
        if entry is not None:
            identity = identity_of(page, statuses.get(page.name))
            if entry["state"] != DELETED and identity is not None and identity == entry["identity"]:
                same.append(page.number)
            else:
                again[name, page.number] = entry
    return same, again
