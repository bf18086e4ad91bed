"""Iteration order of the keys of a Java ``HashMap``.

The broker keeps its matches in such maps and sorts those that fit with a stable sort: if two matches have equal rank,
the order of the map decides which one wins. It looks arbitrary and is fixed all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

_FIRST_TABLE = 16


def string_hash(text: str) -> int:
    """Return ``String.hashCode`` as an unsigned number; it is computed over UTF-16 units."""
    raw = text.encode("utf-16-le", "surrogatepass")
    value = 0
    for at in range(0, len(raw), 2):
        value = (31 * value + raw[at] + (raw[at + 1] << 8)) & 0xFFFFFFFF
    return value


def table_size(count: int) -> int:
    """Return the number of buckets of a Java map that has that many keys."""
    table = _FIRST_TABLE
    while count > table * 3 // 4:
        table *= 2
    return table


def bucket(key: str, table: int) -> int:
    """Return the index of a key's bucket in a table of that size."""
    code = string_hash(key)
    # HashMap.hash folds the upper half into the lower one, because the table's size, a power of two, masks the upper
    return (code ^ (code >> 16)) & (table - 1)


def in_map_order(keys: Sequence[str]) -> list[str]:
    """Return keys, passed in the order of insertion, in the order in which a Java map iterates over them."""
    table = table_size(len(keys))
    return sorted(dict.fromkeys(keys), key=lambda key: bucket(key, table))
