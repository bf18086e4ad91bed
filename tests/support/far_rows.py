"""Rows of brokers, wherever these lie, compared with those of local directories."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from golden_cases import GoldenCase

from pagefmt.directory.fleet import FleetBroker, absolute, fleet_of
from pagefmt.directory.locate import locate
from pagefmt.spark.groups import grouped
from pagefmt.spark.options import TableSpec
from pagefmt.spark.rows import rows_of
from pagefmt.spark.survey import surveyed
from pagefmt.table.table_body import TableBody
from pagefmt.table.table_content import TableContent

READING = (
    ("pages", "ls", "--format", "json"), ("pages", "verify"), ("pages", "outstanding", "--format", "json"),
    ("pages", "decode", "--format", "jsonl", "--body", "text"), ("messages", "find", "--contains", "a"),
    ("messages", "ls"), ("messages", "decode"), ("messages", "verify"),
)  # fmt: skip


def read(given: str, content: TableContent = TableContent.MESSAGES) -> tuple[list[Any], list[Any]]:
    """Return a broker's rows; and its failure, its damage and the number of its remarks."""
    (entry,) = fleet_of([given])
    broker = FleetBroker("broker", absolute(locate(entry.path)))
    broker = pickle.loads(pickle.dumps(broker))  # as a task gets it
    body = TableBody.BASE64 if content.of_messages else TableBody.SIZE
    spec = replace(TableSpec.now(content=content, body=body), exported_at=1)
    found = surveyed(broker, spec)
    made = [each for group in grouped(found.pieces) for piece in group.pieces for each in rows_of(piece, spec)]
    rows = [repr(row) for each in made if isinstance(each, pa.RecordBatch) for row in each.to_pylist()]  # NaN is NaN
    told = [each for each in made if not isinstance(each, pa.RecordBatch)]
    return rows, [found.failed, *told, *(len(found.remarks),)]


def assert_equal(case: GoldenCase, given: Iterable[Path | str], tables: Iterable[TableContent] = TableContent) -> None:
    urls = list(map(str, given))
    for content in tables:
        expected = read(str(case.data()), content)
        for url in urls:
            assert read(url, content) == expected, (url, content)
