"""``--type``: records of a journal by their type."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.running.exits import CallError
from pagefmt.findings import did_you_mean

RecordTypeOption = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="NAME",
        help="Only records of this type, by name or number; a wrong name lists all.",
        show_default=False,
    ),
]


def record_type(word: str | None) -> int | None:
    """Return the number of a type that was named. Raise ``CallError`` if there is no such type."""
    from pagefmt.journal.record_types import RecordType

    if word is None:
        return None
    if word.isascii() and word.isdecimal() and len(word) < 10:
        return int(word)
    try:
        return RecordType[word.upper()].value
    except KeyError:
        names = [known_type.name for known_type in RecordType]
        advice = did_you_mean(word.upper(), names, f"types are {', '.join(names)}")
        raise CallError(f"--type {word}: no such type; {advice}") from None
