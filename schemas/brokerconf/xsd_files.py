"""The XSD files that come with the package."""

from __future__ import annotations

from importlib.resources import files

from pagefmt.editions import Edition

XML_XSD = "xml.xsd"


def own_file(edition: Edition | None, name: str) -> bytes:
    """A file of an edition, or (None) one that all share."""
    folder = files("brokerconf").joinpath("xsd")
    return (folder.joinpath(edition.value) if edition else folder).joinpath(name).read_bytes()
