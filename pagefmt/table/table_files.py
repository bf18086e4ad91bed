"""The table as one Parquet or Arrow file, written batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

import pyarrow as pa

PARQUET, ARROW = "parquet", "arrow"
COMPRESSION_LEVEL: Final = 1
_ROWS: Final = 1 << 16
_BYTES: Final = 1 << 23

_NAMES: Final = ("store", "store_address", "protocol", "address", "type_name", "file")
_LISTS: Final = ("queue_names", "outstanding_names", "acked_by_names")
_STATISTICS: Final = ["page", "number", "id", "timestamp", "expiration", "tx", "sent", "expires"]


class TableFile(Protocol):
    """Takes record batches of one schema."""

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Append the rows of a batch."""


@contextmanager
def table_file(
    path: Path | pa.NativeFile, form: str, schema: pa.Schema, compression: str = "zstd", *, gathered: bool = True
) -> Iterator[TableFile]:
    """Open a file of the form ``parquet`` or ``arrow`` (IPC file) for writing.

    It is complete only without an error.

    ``gathered``: small batches are collected into row groups.
    """
    if form == ARROW:
        options = pa.ipc.IpcWriteOptions(compression=None if compression == "none" else compression)
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema, options=options) as writer:
            yield _Plain(writer)
        return
    with _parquet(path, schema, compression) as parquet:
        collected = _Gathered(parquet, schema)
        yield collected if gathered else parquet
        collected.flush()


@contextmanager
def _parquet(path: Path | pa.NativeFile, schema: pa.Schema, compression: str) -> Iterator[TableFile]:
    import pyarrow.parquet as pq

    present = set(schema.names)
    names = [name for name in _NAMES if name in present]
    names += [f"{name}.list.element" for name in _LISTS if name in present]
    if "properties" in present:
        names += ["properties.key_value.key", "properties.key_value.value.type"]
    with pq.ParquetWriter(
        path,
        schema,
        compression=compression,
        compression_level=COMPRESSION_LEVEL if compression == "zstd" else None,
        use_dictionary=names,
        write_statistics=[name for name in _STATISTICS if name in present],
    ) as writer:
        yield writer


class _Plain:
    """A writer that copies columns first.

    For a slice of a longer column, Arrow writes the bytes that the buffers have after the last row; their number
    depends on what was read before.
    """

    def __init__(self, writer: TableFile) -> None:
        self._writer = writer

    def write_batch(self, batch: pa.RecordBatch) -> None:
        columns = [pa.concat_arrays([column]) for column in batch.columns]
        self._writer.write_batch(pa.record_batch(columns, schema=batch.schema))


class _Gathered:
    """Collects the batches of small pages into row groups."""

    def __init__(self, writer: TableFile, schema: pa.Schema) -> None:
        self._writer, self._schema = writer, schema
        self._batches: list[pa.RecordBatch] = []
        self._bytes = self._rows = 0

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._bytes += batch.nbytes
        self._rows += batch.num_rows
        if self._bytes >= _BYTES or self._rows >= _ROWS:
            self.flush()

    def flush(self) -> None:
        if self._batches:
            self._writer.write_batch(pa.concat_batches(self._batches))
            self._batches, self._bytes, self._rows = [], 0, 0
