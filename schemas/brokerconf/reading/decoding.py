"""Decoding of bytes, as the broker does it and as XML says (docs/spec/config-behaviour.md, step 1)."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

_DECLARED = r"""^(<\?xml\s[^>]*?)(\sencoding\s*=\s*(?:"[^"]*"|'[^']*'))"""
_DECLARED_NAME = rb"""^<\?xml\s[^>]*?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']"""
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WIDE = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))


def read_at_most(path: Path, limit: int) -> bytes:
    """Return the content of a file that an operator named, or the first ``limit + 1`` bytes of a longer one.

    Links are followed, and pipes read: only files in data directories are not trusted (``pagefmt.storage.files``).
    Raises ``OSError``.
    """
    with path.open("rb") as stream:
        return stream.read(limit + 1)


def foreign_encoding(raw: bytes) -> str | None:
    """Return why the broker's UTF-8 reader cannot read these bytes, judged by the first few; None if it can."""
    if raw.startswith(codecs.BOM_UTF8):
        return "it begins with a byte order mark"
    if any(raw.startswith(mark) for mark, _ in (*_MARKS[1:], *_WIDE)):
        return "it is written in UTF-16"
    if raw.startswith(b"\x4c\x6f\xa7\x94"):
        return "it is written in EBCDIC"
    return None


def as_the_broker(raw: bytes) -> tuple[str, bool]:
    """Decode the bytes as UTF-8, ignoring the XML declaration as the broker does.

    Returns the text, and whether invalid bytes had to be replaced.
    """
    try:
        return raw.decode("utf-8"), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), True


def as_xml_says(raw: bytes) -> str:
    """Decode the bytes by byte order mark or XML declaration, as an XML parser reads an included file.

    Raises ``UnicodeError``, also for an unknown encoding.
    """
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(name)
    for start, name in _WIDE:
        if raw.startswith(start):
            return raw.decode(name)
    declared = re.match(_DECLARED_NAME, raw)
    try:
        return raw.decode(declared.group(1).decode("ascii") if declared else "utf-8")
    except LookupError as err:
        raise UnicodeError(str(err)) from err


def without_declared_encoding(text: str) -> str:
    """Return the text with its declared encoding blanked out, because it is decoded already; offsets do not change."""
    return re.sub(_DECLARED, lambda match: match.group(1) + " " * len(match.group(2)), text, count=1)
