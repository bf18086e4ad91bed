"""The log of the pages and journals in a table, by which ``export --incremental`` adds only what is new.

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

from pagefmt.arrays import Ints
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.locate import stores
from pagefmt.directory.paging import Store, store_entries
from pagefmt.errors import PageFmtError
from pagefmt.spark.groups import JOURNAL, PageMessages, Piece, runs_of
from pagefmt.spark.known_brokers import BrokerIdentity, KnownPlaces
from pagefmt.spark.table_folder import EXPORTED
from pagefmt.spark.table_formats import data_files
from pagefmt.storage.files import listed, utf8_name
from pagefmt.storage.interruptible_calls import thread_pool
from pagefmt.storage.remote_outputs import create_folder
from pagefmt.table.table_content import StoredIn
from pagefmt.table.table_files import ARROW, TableFile, table_file

SETTLED: Final = 2.0  # seconds after a change until the times of a file detect the next one
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
# data files of a table, with the run that wrote them
_MADE: Final = re.compile(r"part-\d+-\d+-([0-9a-f]{12})\.parquet")
# files of a log that have the CRC-32C of their content in the name
_SUMMED: Final = re.compile(r"part-\d+-([0-9a-f]{8})-[0-9a-f]{12}\.arrow")
_AT_ONCE: Final = 16
# errors of a store or disk that may not occur at the next attempt
_PASSING: Final = (errno.EIO, errno.EACCES, errno.ENXIO)
_FLUSHED: Final = 1 << 20  # number of messages of the pages of one batch


# by broker: text, and whether something is missing rather than unreadable
BrokerRemarks: TypeAlias = Mapping[str, Sequence[tuple[str, bool]]]


class LogRefused(PageFmtError):
    """The table cannot be added to: it was written with other settings, or its log cannot be read."""


class PageEntry(NamedTuple):
    """The result of a run for one page. ``rows``: number of rows that it added.

    ``missing``: number of messages that earlier runs exported and the page no longer has.
    """

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
    """Writes entries in batches of about a fixed number of messages."""

    def __init__(self, out: TableFile) -> None:
        self.out = out
        self._entries: list[PageEntry] = []
        self._messages = 0

    def add(self, entry: PageEntry) -> None:
        """Add the entry of a page; entries are written in batches."""
        self._entries.append(entry)
        self._messages += len(entry.ids) + 1
        if self._messages > _FLUSHED:
            self.flush()

    def flush(self) -> None:
        """Write the entries that were added since."""
        if self._entries:
            columns: list[Any] = [*zip(*self._entries, strict=True)]
            for at in (-2, -1):  # steps compress to nearly nothing
                columns[at] = [np.diff(value, prepend=0) for value in columns[at]]
            arrays = [pa.array(values, value.type) for values, value in zip(columns, SCHEMA, strict=True)]
            self.out.write_batch(pa.record_batch(arrays, SCHEMA))
        self._entries, self._messages = [], 0


@contextmanager
def entries_to(
    path: Path,
    settings: Mapping[str, Any] | None = None,
    wrong: BrokerRemarks | None = None,
    brokers: Mapping[str, KnownPlaces] | None = None,
) -> Iterator[LogWriter]:
    """Open a file of entries for writing.

    The file of a whole run begins with the ``settings`` of its table, what is ``wrong`` with brokers, and the
    directories from which the ``brokers`` of the table were read. That of a task has none of them: ``settings`` is
    None.
    """
    values = {_SETTINGS: settings, _WRONG: wrong or {}, _BROKERS: brokers or {}}
    noted = {} if settings is None else {name: json.dumps(value) for name, value in values.items()}
    form = SCHEMA.with_metadata(noted or None)
    with table_file(path, ARROW, form) as out:
        writer = LogWriter(out)
        yield writer
        writer.flush()


def write_entries(
    path: Path,
    parts: Iterable[Path],
    news: Iterable[BrokerNews],
    settings: Mapping[str, Any],
    wrong: BrokerRemarks | None = None,
    brokers: Mapping[str, KnownPlaces] | None = None,
) -> pa.Table:
    """Write the log of a run: the entries of its tasks and those of deleted pages. Return the tasks' entries."""
    plain = [item.name for item in _FIELDS]
    batches: list[pa.RecordBatch] = []
    with (
        create_folder(path.parent, exist_ok=True) as local_folder,
        entries_to(local_folder / path.name, settings, wrong, brokers) as log,
    ):
        for part in parts:
            reader = _opened(part, SCHEMA)
            for n in range(reader.num_record_batches):
                batch = _batch(reader, n)
                log.out.write_batch(batch)
                batches.append(batch.select(plain))
        for item in news:
            for entry in item.deleted:
                log.add(entry)
    return pa.Table.from_batches(batches, pa.schema(_FIELDS))


def page_summary(looked: pa.Table, news: Iterable[BrokerNews]) -> dict[str, Any]:
    """Return the summary of a run's pages for its report."""
    looked = looked.filter(pc.not_equal(looked.column("page"), JOURNAL))
    states = Counter(looked.column("state").to_pylist())
    gone = [entry[:3] for broker_news in news for entry in broker_news.deleted]
    gone += [(entry["broker"], entry["store"], entry["page"]) for entry in _in_state(DELETED, looked)]
    by_store = groupby(sorted(gone), key=lambda entry: entry[:2])
    return {
        "skipped": states[SAME] + sum(len(pages) for entry in news for pages in entry.skipped.values()),
        "added": states[ADDED],
        "grew": states[GREW],
        "changed": [
            {name: entry[name] for name in ("broker", "store", "page", "rows", "missing")}
            for entry in _in_state(CHANGED, looked)
        ],
        "deleted": [
            {"broker": broker, "store": store, "pages": [*map(list, runs_of(page for *_, page in pages))]}
            for (broker, store), pages in by_store
        ],
    }


def _in_state(state: str, looked: pa.Table) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = looked.filter(pc.equal(looked.column("state"), state)).to_pylist()
    return entries


def journal_identity(folder: Path | None) -> str | None:
    """Return a fingerprint of names, sizes and times that detects changes of a journal.

    Return None if there is no journal, or if a file is too recent for its times to be conclusive.
    """
    if folder is None:
        return None
    fingerprints = []
    try:
        with listed(folder) as entries:
            for entry in entries:
                status = entry.stat()
                if time.time() - max(status.st_mtime, status.st_ctime) < SETTLED:
                    return None
                fingerprints.append(f"{entry.name}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}")
    except OSError:
        return None  # who reads it says why
    return hashlib.sha256(" ".join(sorted(fingerprints)).encode("utf-8", "surrogateescape")).hexdigest()


def identity_of(page: PageFile, status: os.stat_result | None) -> str | None:
    """Return a fingerprint (inode, size, times) that detects replacement of a listed page file.

    Return None if the file changed since it was listed, or is too recent for its times to be conclusive.
    """
    if status is None or status.st_size != page.size:
        return None
    if time.time() - max(status.st_mtime, status.st_ctime) < SETTLED:
        return None
    return f"{status.st_ino}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


@dataclass(frozen=True, slots=True)
class ExportLog:
    """The log of a table. ``pages``: its columns without the messages, in the order of the runs.

    ``wrong``: what the last survey of each broker found damaged or not known outside of pages. ``brokers``: directories
    from which the brokers of the table were read.
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
        """Read the log of the table in a folder. Return None if it has no log. Raise ``LogRefused``."""
        files = tuple(sorted((folder / EXPORTED).glob("part-*.arrow")))
        if not files:
            return None
        with _refused(folder / EXPORTED):
            tables = [_batches(_opened(path, _FIELDS)) for path in files]
            noted = {_WRONG: b"{}", _BROKERS: b"{}", **tables[-1].schema.metadata}
            settings, wrong, brokers = (dict(json.loads(noted[item])) for item in (_SETTINGS, _WRONG, _BROKERS))
            identities = {
                name: [BrokerIdentity(*item) for item in places] for name, places in brokers.items() if places
            }
            pages = pa.concat_tables(tables).select([item.name for item in _FIELDS])
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
        batches = tuple(tuple(map(len, item.column("page").chunks)) for item in tables)
        return cls(files, pages, settings, wrong, identities, rows, batches)

    @property
    def run(self) -> int:
        """Return the number of the last run."""
        return int(self.files[-1].name.split("-")[1])

    def stores_of(self, names: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return the store folders of brokers."""
        column = self.pages.column("store")
        return {
            name: frozenset(pc.unique(column.take(pa.array(self._rows[name]))).to_pylist()) - {""}
            for name in names
            if name in self._rows
        }

    def of_broker(self, name: str) -> dict[tuple[str, int], dict[str, Any]]:
        """Return the last entry of each page by store and number, with its row in ``pages``."""
        rows = self._rows.get(name)
        if rows is None:
            return {}
        entries = self.pages.take(pa.array(rows)).select(["store", "page", "state", "size", "crc32c", "identity"])
        last_entries: dict[tuple[str, int], dict[str, Any]] = {}
        for row, entry in zip(rows.tolist(), entries.to_pylist(), strict=True):
            key = entry["store"], entry["page"]
            if entry["state"] == DELETED and key in last_entries:
                last_entries[key]["state"] = DELETED  # the messages are in the table all the same
            else:
                last_entries[key] = {**entry, "row": row}
        return last_entries

    def messages(self, entries: Iterable[Mapping[str, Any]]) -> dict[int, PageMessages]:
        """Return the messages of the pages of these entries, by row."""
        by_row = {entry["row"]: entry for entry in entries}
        wanted = np.array(sorted(by_row), np.int64)
        messages: dict[int, PageMessages] = {}
        before = 0
        for path, sizes in zip(self.files, self._batches, strict=True):
            with _refused(path.parent):
                reader = _opened(path, _LISTS)
                for n, size in enumerate(sizes):
                    rows_in_batch = wanted[(wanted >= before) & (wanted < before + size)]
                    columns = [_batch(reader, n).column(name) for name in _MESSAGES] if len(rows_in_batch) else []
                    for row in rows_in_batch.tolist():
                        lists = (np.cumsum(column[row - before].values.to_numpy()) for column in columns)
                        messages[row] = PageMessages(by_row[row]["size"], by_row[row]["crc32c"], *lists)
                    before += size
        return messages


def _is_complete(folder: Path, files: Sequence[Path]) -> bool:
    """Return whether the log has every export whose rows are in the table, judged by file names.

    Files of other programs are ignored.
    """
    exports_in_table = {match[1] for name in data_files(folder) if (match := _MADE.fullmatch(name))}
    return exports_in_table <= {path.stem.rpartition("-")[2] for path in files}


def log_name(number: int, run: str, path: Path) -> str:
    """Return the name in a table's log of the file at ``path``: number of the export, CRC-32C of the file, run."""
    return f"part-{number:06d}-{_sum_of(path.read_bytes())}-{run}.arrow"


def _sum_of(content: bytes) -> str:
    from crc32c import crc32c

    return f"{crc32c(content):08x}"


@contextmanager
def _refused(log: Path) -> Iterator[None]:
    """Turn errors of a damaged log into ``LogRefused``; ``OSError`` stays if a store or disk may recover."""
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
    """Open a file of entries. Raise ``ValueError`` for a wrong checksum or other columns.

    The checksum is in the file's name, except in older files.
    """
    options = pa.ipc.IpcReadOptions(included_fields=[SCHEMA.get_field_index(field.name) for field in fields])
    content = path.read_bytes()
    named = _SUMMED.fullmatch(path.name)
    if named and named[1] != _sum_of(content):
        raise ValueError(f"{path.name} is damaged: its checksum is not the one in its name")
    reader = pa.ipc.open_file(content, options=options)
    if not reader.schema.equals(pa.schema(fields)):
        raise ValueError(f"{path.name} has other columns")
    return reader


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
    """The changes of a broker since the log was written. ``skipped``: numbers of unchanged pages, by store.

    ``looked``: number of other pages, and of journals that may have changed. ``same_journal``: the journal has not.
    ``known``: messages that the table has already, of the pages and journal to be read. ``deleted``: pages that are
    gone.
    """

    broker: FleetBroker
    skipped: dict[str, Ints] = field(default_factory=dict)
    known: dict[tuple[str, int], PageMessages] = field(default_factory=dict)
    deleted: list[PageEntry] = field(default_factory=list)
    looked: int = 0
    same_journal: bool = False

    def remaining(self, piece: Piece) -> Piece | None:
        """Return the part of a piece that has to be read, or None."""
        if piece.store is None:
            known_pages = {JOURNAL: self.known["", JOURNAL]} if ("", JOURNAL) in self.known else {}
            return None if self.same_journal else replace(piece, known=known_pages)
        if not piece.runs:
            return piece
        store, every = utf8_name(piece.store), np.fromiter(piece.numbers(), np.int64)
        numbers = every[~np.isin(every, self.skipped.get(piece.store, every[:0]))].tolist()
        known_pages = {number: self.known[store, number] for number in numbers if (store, number) in self.known}
        size = piece.size * len(numbers) // len(every)
        return replace(piece, runs=runs_of(numbers), size=size, known=known_pages) if numbers else None


def all_news(brokers: Sequence[FleetBroker], log: ExportLog | None, within: StoredIn) -> tuple[BrokerNews, ...]:
    """Return the news of each broker, in order."""
    with thread_pool(min(_AT_ONCE, len(brokers))) as pool:
        return tuple(pool.map(lambda broker: news_of(broker, log, within), brokers))


def news_of(broker: FleetBroker, log: ExportLog | None, within: StoredIn) -> BrokerNews:
    """Return what changed in a broker since the last run, judged by names, sizes and times: no file is read.

    ``log``: None for the first run. A broker that cannot be listed counts as one changed page, so that the survey of
    the run reports why; none of its pages counts as deleted.
    """
    news = BrokerNews(broker)
    before = log.of_broker(broker.name) if log is not None else {}
    gone = {key: item for key, item in before.items() if key[1] != JOURNAL}
    again: dict[tuple[str, int], dict[str, Any]] = {}
    if within is not StoredIn.PAGES:
        entry = before.get(("", JOURNAL))
        identity = journal_identity(broker.place.journal)
        news.same_journal = entry is not None and identity is not None and entry["identity"] == identity
        if entry is not None and not news.same_journal:
            again["", JOURNAL] = entry
        news.looked += broker.place.journal is not None and not news.same_journal
    try:
        for store in stores(broker.place) if within is not StoredIn.JOURNAL else ():
            name = utf8_name(store.name)
            same, looked = _compared(store, name, before)
            news.skipped[store.name] = np.array(same, np.int64)
            linked = [item.number for item in store.others if item.is_linked_page and item.number is not None]
            news.looked += len(store.pages) - len(same) + (store.problem is not None) + len(linked)
            again |= looked
            numbers = [*(page.number for page in store.pages), *linked]
            for key in [key for key in gone if key[0] == name] if store.problem else [(name, item) for item in numbers]:
                gone.pop(key, None)
    except (PageFmtError, OSError):
        return BrokerNews(broker, looked=1)  # who surveys it says why; nothing is known to be gone
    lost = [key for key, item in gone.items() if item["state"] != DELETED]
    news.deleted = [PageEntry(broker.name, store, page, DELETED) for store, page in lost]
    if log is not None:
        messages = log.messages(again.values())
        news.known = {key: messages[item["row"]] for key, item in again.items()}
    return news


def _compared(
    store: Store, name: str, before: Mapping[tuple[str, int], dict[str, Any]]
) -> tuple[list[int], dict[tuple[str, int], dict[str, Any]]]:
    """Return the numbers of unchanged pages, and the entries of pages that may have changed, by store and number."""
    same: list[int] = []
    again = {}
    statuses = (
        {entry_of_folder.name: status for entry_of_folder, status in store_entries(store.folder)}
        if before and store.pages
        else {}
    )
    for page in store.pages:
        entry = before.get((name, page.number))
        if entry is not None:
            identity = identity_of(page, statuses.get(page.name))
            if entry["state"] != DELETED and identity is not None and identity == entry["identity"]:
                same.append(page.number)
            else:
                again[name, page.number] = entry
    return same, again
