"""A Parquet file that is put together from row groups is, byte for byte, the one that PyArrow writes of them."""

from __future__ import annotations

import io
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from golden_cases import GoldenCase, cases_of_each_kind, spread
from program import call

from pagefmt.parallel import PassedBytes
from pagefmt.table.row_groups import JoinedParquet, RowGroups, encoded
from pagefmt.table.table_files import PARQUET, table_file


def joined(schema: pa.Schema, parts: Iterable[PassedBytes | RowGroups]) -> bytes:
    out = io.BytesIO()
    table = JoinedParquet(out, schema)
    for part in parts:
        table.append(part)
    table.close()
    return out.getvalue()


def in_one(schema: pa.Schema, parts: list[pa.RecordBatch]) -> bytes:
    """Write a Parquet file with one row group for each part."""
    sink = pa.BufferOutputStream()
    with table_file(sink, PARQUET, schema, gathered=False) as table:
        for part in parts:
            table.write_batch(part)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("case", spread(cases_of_each_kind(), 3), ids=str)
def test_messages_of_brokers(case: GoldenCase, tmp_path: Path) -> None:
    assert call("pages", "decode", case.data(), "--body", "base64", "--to", tmp_path / "all.parquet").status in (0, 1)
    table = pq.read_table(tmp_path / "all.parquet").combine_chunks()
    parts = [table.slice(at, 7).combine_chunks().to_batches()[0] for at in range(0, table.num_rows, 7)][:20]
    encodings = chain.from_iterable(encoded(table.schema, [part]) for part in parts)
    assert joined(table.schema, encodings) == in_one(table.schema, parts)


def test_none_at_all() -> None:
    schema = pa.schema([("id", pa.int64())])
    assert joined(schema, []) == in_one(schema, [])
    assert pq.read_table(io.BytesIO(joined(schema, []))).num_rows == 0


def test_a_part_with_several_row_groups_and_wide_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = pa.schema([(f"column {n}", pa.string()) for n in range(40)])
    batch = pa.record_batch([["a", None, "c" * 300]] * 40, schema=schema)
    monkeypatch.setattr("pagefmt.table.table_files._ROWS", 3)
    parts = list(encoded(schema, [batch] * 20))
    assert len(parts) == 21
    assert joined(schema, parts * 3) == in_one(schema, [batch] * 60)
