"""The XSD files that come with the package."""

from __future__ import annotations

from pathlib import Path

from pagefmt.editions import Edition

XML_XSD = "xml.xsd"


def own_file(edition: Edition | None, name: str) -> bytes:
    """A file of an edition, or (None) one that all share."""
    return path_of(edition, name).read_bytes()


def path_of(edition: Edition | None, name: str) -> Path:
    """The path of such a file."""
    folder = Path(__file__).parents[1] / "xsd"
    return (folder / edition.value if edition else folder) / name
