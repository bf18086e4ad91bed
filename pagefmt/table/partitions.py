"""A table as a folder: a file for each combination of some columns' values, named as Hive, Spark and DuckDB read them.

FOLDER/address=orders/day=2026-11-22/part-0.parquet
"""

from __future__ import annotations

import json
from bisect import bisect
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Final
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Ints
from pagefmt.describe.arrow_schema import STRING
from pagefmt.errors import PageFmtError
from pagefmt.table.table_files import TableFile, table_file

ABSENT: Final = "__HIVE_DEFAULT_PARTITION__"
# The period of messages without a time: pandas cannot read a null partition among others, and as text this value comes
# before every period, so that a range does not contain these messages.
NO_TIME: Final = "-none"
# Readers of tables ignore names with ``_``.
SHORTENED: Final = "_shortened.json"
# Values that readers treat as absent; Spark does not read a table with a folder of an empty value.
_TAKEN: Final = ("", ABSENT)
# Bytes of a file name on nearly every file system.
NAME_MAX: Final = 255
# Partitions; more are a mistake in the choice of columns.
MOST: Final = 10_000
_OPEN: Final = 200
# Bytes of rows that wait to be written, over all partitions.
_BYTES: Final = 1 << 25
# Format of a period's start, and its length in ms.
_PERIODS: Final = {"day": ("%Y-%m-%d", 86_400_000), "hour": ("%Y-%m-%dT%H", 3_600_000)}
Key = tuple[str | None, ...]


def is_absent(name: str, text: str) -> bool:
    """Return whether a folder NAME=TEXT is that of rows without a value."""
    return text == ABSENT or (name in _PERIODS and text == NO_TIME)


class TooManyPartitions(PageFmtError):
    """The columns have more combinations of values than ``MOST`` partitions."""


def needs(split: str, *, outstanding: bool) -> str:
    """Return the column of a table with names that a split is derived from."""
    names = "outstanding_names" if outstanding else "queue_names"
    return {"queue": names, **dict.fromkeys(_PERIODS, "sent")}.get(split, split)


@dataclass(slots=True)
class _Part:
    """One partition: its folder, its files so far, the one that is open, and rows that wait."""

    folder: Path
    files: int = 0
    opened: tuple[AbstractContextManager[TableFile], TableFile] | None = None
    waiting: list[pa.RecordBatch] = field(default_factory=list)
    bytes: int = 0


@dataclass(slots=True)
class PartitionedTable:
    """A table written as files in folders by the values of columns.

    ``columns`` are written, ``splits`` name the folders; ``queues``: only those count (None: all).

    ``shortened`` takes values that cannot be a folder's name, as they are too long, empty, or what stands there for
    none, by the value that is in the name: its beginning, ``~`` (which is ``%7E`` in any other name) and a sum of the
    whole. ``SHORTENED`` in the folder has them for readers.
    """

    folder: Path
    form: str
    schema: pa.Schema
    splits: tuple[str, ...]
    outstanding: bool = False
    queues: frozenset[str] | None = None
    shortened: dict[str, str] = field(default_factory=dict)
    compression: str = "zstd"
    _parts: dict[Key, _Part] = field(default_factory=dict)
    _bytes: int = 0

    @property
    def files(self) -> int:
        """Return the number of files written."""
        return sum(part.files for part in self._parts.values())

    @property
    def _written(self) -> pa.Schema:
        return pa.schema([field for field in self.schema if field.name not in self.splits])

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch with the table's columns and those that the splits need."""
        if "queue" in self.splits:
            batch = self._by_queue(batch)
        keys, which = self._keys(batch)
        rows = batch.select(self._written.names)
        if len(keys) == 1:
            self._add(keys[0], rows)
        else:
            rows = rows.take(pa.array(np.argsort(which, kind="stable")))
            ends = np.cumsum(np.bincount(which, minlength=len(keys))).tolist()
            for key, start, end in zip(keys, [0, *ends], ends, strict=False):
                self._add(key, rows.slice(start, end - start))
        while self._bytes > _BYTES:
            self._flush(max(self._parts.values(), key=lambda part: part.bytes))

    def _by_queue(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a row for each queue of each message, with the queue in a column ``queue``.

        Only ``self.queues`` count, unless that is None. A message without any has no row.
        """
        lists = batch.column(needs("queue", outstanding=self.outstanding))
        names, rows = pc.list_flatten(lists), pc.list_parent_indices(lists)
        if self.queues is not None:
            mine = pc.is_in(names, pa.array(sorted(self.queues), STRING))
            names, rows = names.filter(mine), rows.filter(mine)
        return batch.take(rows).append_column("queue", names)

    def _keys(self, batch: pa.RecordBatch) -> tuple[list[Key], Ints]:
        """Return the distinct combinations of the splits' values, and the index of each row's combination."""
        # One split after another: the code of a row's combination so far and that of its next value make one number.
        # Numbering the distinct numbers again keeps the codes small, however many splits there are.
        which = np.zeros(batch.num_rows, np.int64)
        keys: list[Key] = [()]
        for split in self.splits:
            values, codes = self._values(split, batch)
            distinct, which = np.unique(which * len(values) + codes, return_inverse=True)
            keys = [(*keys[combined // len(values)], values[combined % len(values)]) for combined in distinct.tolist()]
        return keys, which

    def _values(self, split: str, batch: pa.RecordBatch) -> tuple[list[str | None], Ints]:
        """Return the distinct values of a split, and the index of each row's value."""
        if split not in _PERIODS:
            column = batch.column(split).dictionary_encode("encode")
            return column.dictionary.cast(STRING).to_pylist(), np.asarray(column.indices)
        form, length = _PERIODS[split]
        times = pc.floor_temporal(batch.column("sent"), length, "millisecond").dictionary_encode("encode")
        periods = pc.strftime(times.dictionary, format=form).fill_null(NO_TIME)
        return periods.to_pylist(), np.asarray(times.indices)

    def _add(self, key: Key, rows: pa.RecordBatch) -> None:
        part = self._parts.get(key)
        if part is None:
            if len(self._parts) == MOST:
                raise TooManyPartitions(f"--partition-by {', '.join(self.splits)}: more than {MOST} partitions")
            folder = self.folder.joinpath(*map(self._segment, self.splits, key))
            part = self._parts[key] = _Part(folder)
        part.waiting.append(rows)
        part.bytes += rows.nbytes
        self._bytes += rows.nbytes

    def _flush(self, part: _Part) -> None:
        if part.waiting:
            rows = pa.Table.from_batches(part.waiting).combine_chunks()
            for batch in rows.to_batches():
                self._file(part).write_batch(batch)
        self._bytes -= part.bytes
        part.waiting, part.bytes = [], 0

    def _file(self, part: _Part) -> TableFile:
        """Return the open file of a partition.

        If it has none, its next file is opened; if ``_OPEN`` files are open already, the partition that was created
        first closes its file, and continues in a new one.
        """
        if part.opened is None:
            opened = [part_ for part_ in self._parts.values() if part_.opened is not None]
            if len(opened) >= _OPEN:
                self._close(opened[0])
            part.folder.mkdir(parents=True, exist_ok=True)
            file = part.folder / f"part-{part.files}.{self.form}"
            context = table_file(file, self.form, self._written, self.compression, gathered=False)
            part.opened = context, context.__enter__()
            part.files += 1
        return part.opened[1]

    def _close(self, part: _Part) -> None:
        if part.opened is not None:
            context, part.opened = part.opened[0], None
            context.__exit__(None, None, None)

    def close(self) -> None:
        """Write what waits, and close all files."""
        for part in self._parts.values():
            self._flush(part)
            self._close(part)
        if self.shortened:
            text = json.dumps(self.shortened, ensure_ascii=False, indent=2, sort_keys=True)
            (self.folder / SHORTENED).write_text(text + "\n", "utf-8")

    def _segment(self, name: str, value: str | None) -> str:
        """Return the name of a folder; escaping keeps any value inside the table's folder."""
        if value is None:
            return f"{name}={ABSENT}"
        # also what is no ASCII: Java passes over such names where the locale is C, with all that is in them
        escaped = [quote(char, safe=" ").replace("~", "%7E") for char in value]
        lengths = [*accumulate(map(len, escaped), initial=len(name) + 1)]
        if value not in _TAKEN and lengths[-1] <= NAME_MAX:
            return f"{name}={''.join(escaped)}"
        count, end = bisect(lengths, NAME_MAX - 17) - 1, f"~{sha256(value.encode()).hexdigest()[:16]}"
        self.shortened[value[:count] + end] = value
        return f"{name}={''.join(escaped[:count])}{end}"
