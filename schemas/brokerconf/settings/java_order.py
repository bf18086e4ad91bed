"""The order in which a Java ``HashMap`` gives back its keys.

The broker keeps its matches in such maps and sorts what fits with a stable sort: where two matches rank alike, the
order of the map decides which one wins. It looks arbitrary and is fixed all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

_FIRST_TABLE = 16


def string_hash(text: str) -> int:
    """``String.hashCode`` as an unsigned number: over UTF-16 units."""
    raw = text.encode("utf-16-le", "surrogatepass")
    value = 0
    for at in range(0, len(raw), 2):
        value = (31 * value + raw[at] + (raw[at + 1] << 8)) & 0xFFFFFFFF
    return value


def table_size(count: int) -> int:
    """How many buckets a map has that holds so many keys."""
    table = _FIRST_TABLE
    while count > table * 3 // 4:
        table *= 2
    return table


def bucket(key: str, table: int) -> int:
    """The index of a key's bucket in a table of that size."""
    code = string_hash(key)
    return (code ^ (code >> 16)) & (table - 1)


def in_map_order(keys: Sequence[str]) -> list[str]:
    """The keys, given in the order they were put in, in the order in which the map lists them."""
    table = table_size(len(keys))
    return sorted(dict.fromkeys(keys), key=lambda key: bucket(key, table))
