"""The columns of messages in ``docs/message-table.md``, from the Arrow schema and the class of lines."""

from __future__ import annotations

import re

import pyarrow as pa
from json_schemas import schema

from pagefmt.describe.message_line import PageMessageLine
from pagefmt.table.table import VALUE_FIELD, TableQuery
from pagefmt.table.table_body import TableBody

_HEAD = "| column | type | meaning |\n|---|---|---|\n"
_WORDS = {"int8": "byte", "int32": "int", "int64": "long", "bool": "boolean"}
_NO_LINE = {
    "body": "Bytes of a core body, or the encoded AMQP message.",
    "outstanding": "Ids of the queues that it is still to be delivered to.",
}  # columns that lines of JSON have not


def with_table(page: str) -> str:
    """Return the page with its first table brought up to date."""
    lines = schema("line", PageMessageLine)["properties"]
    columns = list(TableQuery(body=TableBody.BASE64).schema)
    columns.insert([column.name for column in columns].index("body"), VALUE_FIELD)
    rows = []
    for column in columns:
        meaning = (_NO_LINE.get(column.name) or lines[column.name]["description"]).rstrip(".")
        if pa.types.is_struct(column.type):
            meaning += f": {', '.join(f'`{part.name}`' for part in column.type)}"
        rows.append(f"| `{column.name}` | {_word(column.type)} | {meaning} |\n")
    return re.sub(re.escape(_HEAD) + r"(?:\|.*\n)+", lambda _: _HEAD + "".join(rows), page, count=1)


def _word(kind: pa.DataType) -> str:
    """Return a type in the words of the page."""
    if pa.types.is_list(kind):
        return f"list of {_word(kind.value_type)}"
    if pa.types.is_map(kind):
        return f"map of {_word(kind.key_type)} to value"
    return "struct" if pa.types.is_struct(kind) else _WORDS.get(str(kind), str(kind))
