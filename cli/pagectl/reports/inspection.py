"""Records of pages and journals down to the byte."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from pagectl.reports.form import Count, Either, Report

if TYPE_CHECKING:
    from pagefmt.codec.pages.frames import Damage
    from pagefmt.describe.field import Field

DamageName: TypeAlias = Literal[
    "fragment",
    "torn",
    "bad-start",
    "bad-end",
    "bad-length",
    "zero-tail",
    "swallowed",
    "undecodable",
    "unreadable",
    "not-permitted",
    "gone",
]


class InspectedField(Report):
    """A field of a record."""

    offset: Count
    """Offset in the file."""
    size: Count
    name: str
    text: str
    """The value, and what it means."""
    hex: Annotated[str, Meta(pattern="^([0-9a-f]{2})*$")] | UnsetType = UNSET
    """The bytes; with ``--hex``."""


def inspected_fields(
    buf: bytes | memoryview, fields: Iterable[Field], *, with_bytes: bool, base: int = 0
) -> list[InspectedField]:
    """Return the reports of fields. ``base``: the offset in the file at which ``buf`` begins."""
    return [
        InspectedField(
            offset=base + field.offset,
            size=field.size,
            name=field.name,
            text=field.text,
            hex=bytes(buf[field.offset : field.offset + field.size]).hex() if with_bytes else UNSET,
        )
        for field in fields
    ]


class InspectedRecord(Report):
    """A record of a page."""

    store: str
    store_address: str | None
    page: Count | None
    number: Count
    """Number of the record in the page; the first is 0."""
    offset: Count
    length: Count
    fields: list[InspectedField]


class DamageDetail(Report):
    """What is wrong where the reading of a page stopped."""

    kind: DamageName
    offset: Count
    number: Count | None
    """Number of the record; null if it is not certain."""
    detail: str

    @classmethod
    def of(cls, damage: Damage) -> DamageDetail:
        """Return the report of a damage."""
        return cls(kind=damage.kind.value, offset=damage.offset, number=damage.number, detail=damage.detail)


class DamagedEnd(Report):
    """Where the reading of a page stopped."""

    store: str
    store_address: str | None
    page: Count | None
    damage: DamageDetail


class InspectedPages(Report):
    """``pages inspect --format json``: the records of pages, and where reading stopped."""

    records: list[Either[InspectedRecord, DamagedEnd]]


class InspectedJournalRecord(Report):
    """A record of a journal."""

    file: str
    offset: Count
    length: Count
    fields: list[InspectedField]


class TornDetail(Report):
    """What begins like a record and is none."""

    offset: Count
    detail: str


class TornJournalRecord(Report):
    """A torn record of a journal."""

    file: str
    torn: TornDetail


class InspectedJournals(Report):
    """``journal inspect --format json``: the records of journal files, and torn ones."""

    records: list[Either[InspectedJournalRecord, TornJournalRecord]]


ANSWERS = {
    "pages-inspect": InspectedPages,
    "pages-inspect.line": (InspectedRecord, DamagedEnd),
    "journal-inspect": InspectedJournals,
    "journal-inspect.line": (InspectedJournalRecord, TornJournalRecord),
}
