"""Rows of a table, from Spark, from Parquet and from the columnar reader, in one form that compares."""

from __future__ import annotations

import json
from typing import Any

from golden_cases import GoldenCase

from pagefmt.directory.edition_evidence import likely_writer
from pagefmt.editions import NEWEST
from pagefmt.table.table import PageSource, TableDamage, TableQuery, page_batches
from pagefmt.table.table_body import TableBody
from pagefmt.vectors import load_state

ORDER = ("store", "page", "number")
QUEUE_LISTS = ("queues", "acked_by", "outstanding")
OF_A_FLEET = ("broker", "exported_at", "sent", "expires", "where", "file", "queues_state")


def plain(value: Any) -> Any:
    """Normalise a value for comparison: maps sorted, binaries as bytes, floats as text so that NaN equals NaN."""
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in sorted(value.items())}
    if isinstance(value, list) and value and type(value[0]) is tuple:
        return {str(key): plain(each) for key, each in sorted(value)}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return repr(value)
    return bytes(value) if isinstance(value, bytearray) else value


def rows_of(case: GoldenCase, body: TableBody = TableBody.BASE64) -> list[dict[str, Any]]:
    """Decode the rows that a table of the case must contain, in order."""
    data = case.data()
    rows: list[dict[str, Any]] = []
    state = load_state(data / "paging", data / "journal", data / "bindings")
    edition = likely_writer(state.bindings, state.journal) or NEWEST
    for store in state.stores():
        for page in store.store.pages:
            rule = store.rule(page.number)
            source = PageSource(page.path, page.number, store.store.name, store.store.address, rule, edition=edition)
            for batch in page_batches(source, TableQuery(body)):
                rows += [] if isinstance(batch, TableDamage) else batch.to_pylist()
    return [_emptied(plain(row)) for row in rows]


def _emptied(row: dict[str, Any]) -> dict[str, Any]:
    """Replace empty maps and lists by None, because Python cannot tell one from the other."""
    return {key: value if value not in ([], {}) else None for key, value in row.items()}


def of_one_broker(row: dict[str, Any]) -> dict[str, Any]:
    """Reduce a row of a fleet's table to that of a single broker: queues by id, no columns of the fleet."""
    lists = {name: row[name] for name in QUEUE_LISTS if row.get(name)}
    ids = {name: [queue["id"] if isinstance(queue, dict) else queue for queue in each] for name, each in lists.items()}
    return {name: value for name, value in (row | ids).items() if name not in OF_A_FLEET}


def texts(found: list[Any]) -> list[str]:
    """Serialise rows in the order of store, page and number."""
    rows = sorted((of_one_broker(_emptied(plain(row))) for row in found), key=lambda row: [row[name] for name in ORDER])
    return [json.dumps(row, sort_keys=True, default=str) for row in rows]


def assert_same(found: list[Any], case: GoldenCase, body: TableBody = TableBody.BASE64) -> None:
    got, expected = texts(found), [json.dumps(row, sort_keys=True, default=str) for row in rows_of(case, body)]
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        assert mine == theirs
