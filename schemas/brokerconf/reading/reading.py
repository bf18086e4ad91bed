"""Reads a configuration as the broker of an edition reads it (docs/spec/config-behaviour.md, steps 1 to 4).

Decoding, ``${name:default}`` in the raw text, parsing, XInclude, ``${…}`` in the tree, finding ``core``
(``building.py``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from brokerconf.reading.building import DocumentBuilder, bad_placeholder
from brokerconf.reading.decoding import as_the_broker, foreign_encoding
from brokerconf.reading.document import Document
from brokerconf.reading.inclusion import LARGEST, IncludeContext
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.repairs import without_mark
from brokerconf.reading.sources import SourceFile, plain_source
from brokerconf.reading.substitution import PlaceholderValues, ReplacedText, SubstitutionError, of_every_jvm, substitute
from brokerconf.reading.subsystems import DOMAIN, subsystem_in
from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Position

if TYPE_CHECKING:
    from brokerconf.reading.fragments import Fragment

DISABLE_XXE = "artemis.disableXxe"
# In so many characters a file says what it is.
_START = 4096
_CLASSIC = (
    "http://activemq.apache.org/schema/core", "http://www.springframework.org/schema/beans",
    "http://www.osgi.org/xmlns/blueprint/v1.0.0",
)  # fmt: skip
# an Artemis broker ignores the name space of <configuration>
_DOCUMENT_ELEMENT = re.compile(
    r"(?s)(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)*+(<)(?:([\w.-]+):)?(?!configuration\b)[\w.-]+([^<>]*)>"
)
WHOLE_FILES = ("broker.xml", "hornetq-configuration.xml")
"""What a broker starts with is never taken for a part of a configuration."""


def read(
    path: Path,
    *,
    edition: Edition | None = None,
    cwd: Path | None = None,
    properties: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    fragments: bool = False,
) -> Document:
    """The document as that edition sees it (None: HornetQ where its namespace says so, else the newest).

    ``cwd`` is the broker's working directory, against which includes are resolved (default: the file's folder).
    Raises ``ReadingError`` for what the broker would refuse here, and for what is never opened; ``OSError``.
    """
    raw = _bytes(path)
    return read_bytes(
        raw, str(path), folder=Path(os.path.realpath(cwd or path.parent)), edition=edition,
        properties=properties or {}, environment=environment or {}, fragments=fragments,
    )  # fmt: skip


def _bytes(path: Path) -> bytes:
    """A pipe is read as well: the operator named it; the size limit holds for all."""
    with path.open("rb") as stream:
        raw = stream.read(LARGEST + 1)
    if len(raw) > LARGEST:
        start = Position(str(path), 1, 1)
        raise ReadingError("too-large", start, f"larger than {LARGEST >> 20} MiB", "split the file with xi:include")
    return raw


def read_bytes(
    raw: bytes,
    shown: str,
    *,
    folder: Path,
    edition: Edition | None = None,
    properties: Mapping[str, str],
    environment: Mapping[str, str],
    place: Callable[[int], Position] | None = None,
    fragments: bool = False,
    held: Callable[[str], SourceFile | None] | None = None,
) -> Document:
    """The same for bytes at hand; ``shown`` names the file in findings, ``place`` says where in it these stand.

    ``fragments``: parts that stand alone are read as well, but for a file that brokers start with; ``held``: as that of
    ``IncludeContext``.
    """
    strange = foreign_encoding(raw)
    if strange:
        raise ReadingError(
            "encoding", place(0) if place else Position(shown, 1, 1), f"the broker cannot read this file: {strange}",
            "save it as UTF-8 without a byte order mark",
            "the broker decodes the file by the platform's encoding and does not look at the XML declaration",
            without_mark(shown, raw),
        )  # fmt: skip
    text, replaced_bytes = as_the_broker(raw)
    _refuse_classic(text, place or plain_source(shown, text).position)
    fragment = _fragment_in(text, edition) if fragments and Path(shown).name not in WHOLE_FILES else None
    edition = edition or edition_by_namespace(fragment.tags[0] if fragment and fragment.tags else text)
    server = fragment.of_application_server if fragment and fragment.tags else DOMAIN in text[:_START]
    defined = {**of_every_jvm(folder), **properties}
    if server:
        values, replaced = PlaceholderValues(defined, environment), ReplacedText(text)
    else:
        values = PlaceholderValues.of(edition, defined, environment)
        replaced = _replaced(text, place or plain_source(shown, text).position, values, edition)
    source = SourceFile(shown, text, fragment.whole(replaced) if fragment else replaced, place=place)
    builder = DocumentBuilder(
        edition, values, source, IncludeContext(folder, folder, (), held),
        includes=not server and _includes(edition, properties), server=server,
    )  # fmt: skip
    document = builder.document()
    document.badly_decoded = replaced_bytes
    if fragment:
        document.taken_for, document.complete = fragment.taken_for, fragment.complete
        document.is_part, document.added = fragment.inside_server, fragment.added
    return document


def _refuse_classic(text: str, place: Callable[[int], Position]) -> None:
    """Raise ``ReadingError`` for a configuration of ActiveMQ Classic, which its document element's name space tells."""
    found = _DOCUMENT_ELEMENT.match(text)
    if found is None:
        return
    name = f"xmlns:{re.escape(found[2])}" if found[2] else "xmlns"
    declared = re.search(rf"""\s{name}\s*=\s*["']([^"']*)["']""", found[3])
    if declared and declared[1] in _CLASSIC:
        raise ReadingError(
            "unknown-root", place(found.start(1)),
            "a configuration of ActiveMQ Classic (5.x, 6.x), which neither Artemis nor pagectl reads",
            "name the broker.xml of an Artemis broker; to move to one, write its broker.xml anew",
            "nothing in this file was checked",
        )  # fmt: skip


def _fragment_in(text: str, edition: Edition | None) -> Fragment | None:
    from brokerconf.reading.fragments import fragment_in

    return fragment_in(text, edition)


def edition_by_namespace(text: str) -> Edition:
    """What a file says of itself: HornetQ's name space, or a messaging subsystem of an application server; anything
    else is taken for the newest Artemis."""
    start = text[:_START]
    subsystem = subsystem_in(text) if DOMAIN in start else None
    if subsystem is not None:
        return subsystem.edition if subsystem.known else NEWEST
    return Edition.HORNETQ_2_4 if "urn:hornetq" in start or DOMAIN in start else NEWEST


def _replaced(text: str, place: Callable[[int], Position], values: PlaceholderValues, edition: Edition) -> ReplacedText:
    """Editions of 2.8.0 to 2.10.1 leave the raw text alone."""
    if edition is Edition.ARTEMIS_2_10:
        return ReplacedText(text)
    try:
        return substitute(text, values)
    except SubstitutionError as err:
        raise bad_placeholder(place(0), err) from err


def _includes(edition: Edition, properties: Mapping[str, str]) -> bool:
    """XInclude is on since 2.5.0, and off with the property that forbids document types (since 2.28.0)."""
    forbidden = properties.get(DISABLE_XXE)
    off = forbidden is not None and forbidden.lower() in ("", "true") and edition >= Edition.ARTEMIS_2_28
    return edition >= Edition.ARTEMIS_2_10 and not off
