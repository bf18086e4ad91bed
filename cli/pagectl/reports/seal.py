"""A seal of pages and large messages: the lines of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pagectl.reports.form import Checksum, Count, Report

if TYPE_CHECKING:
    from pagefmt.check.seal import SealedFile


class SealHeader(Report):
    """The first line of a seal."""

    seal: Literal["pagectl"]
    version: Literal[1]
    checksum: Literal["crc32c"]


class SealedFileLine(Report):
    """A file with its size and checksum when it was sealed."""

    file: str
    """``paging/FOLDER/NAME`` or ``large-messages/NAME``, wherever the directories are."""
    size: Count
    crc32c: Checksum

    @classmethod
    def of(cls, sealed: SealedFile) -> SealedFileLine:
        """Return the line of a file."""
        return cls(file=sealed.file, size=sealed.size, crc32c=sealed.crc32c)


ANSWERS = {"pages-seal.line": (SealHeader, SealedFileLine)}
