"""How many messages have each value of a field (``--count-by``)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from pagectl.reports.form import Count, Report
from pagectl.reports.typed_values import AmqpValue


class ValueCount(Report):
    """The messages with one value of a field."""

    value: AmqpValue
    """Null: messages without the field."""
    messages: Annotated[int, Meta(ge=1)]
    bytes: Count
    """Bytes of their records."""


class ValueCounts(Report):
    """``messages decode|find --count-by --format json``: messages by the value of a field, the largest number first."""

    counts: list[ValueCount]


ANSWERS = {
    "messages-decode.counts": ValueCounts,
    "messages-decode.counts.line": ValueCount,
    "messages-find.counts": ValueCounts,
    "messages-find.counts.line": ValueCount,
}
