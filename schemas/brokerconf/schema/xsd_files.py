"""The XSD files that come with the package."""

from __future__ import annotations

from pathlib import Path

from pagefmt.editions import Edition

XML_XSD = "xml.xsd"


def own_file(edition: Edition | None, name: str) -> bytes:
    """Return the bytes of an edition's schema file, or (None) of one that all editions share."""
    return path_of(edition, name).read_bytes()


def path_of(edition: Edition | None, name: str) -> Path:
    """Return the path of an edition's schema file, or (None) of one that all editions share."""
    folder = Path(__file__).parents[1] / "xsd"
    return (folder / edition.value if edition else folder) / name
