"""What of the bodies a table holds. Apart from the table itself: a command line lists these without its libraries."""

from __future__ import annotations

from enum import StrEnum


class TableBody(StrEnum):
    """What a table shows of message bodies.

    ``base64`` is the bytes themselves, in a binary column.
    """

    NONE = "none"
    SIZE = "size"
    TEXT = "text"
    VALUE = "value"
    BASE64 = "base64"
