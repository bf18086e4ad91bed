"""Reading of a configuration as the broker of an edition does (docs/spec/config-behaviour.md, steps 1 to 4).

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
from brokerconf.reading.decoding import as_the_broker, foreign_encoding, read_at_most
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
    "http://activemq.apache.org/schema/core",
    "http://www.springframework.org/schema/beans",
    "http://www.osgi.org/xmlns/blueprint/v1.0.0",
)
# an Artemis broker ignores the name space of <configuration>
_DOCUMENT_ELEMENT = re.compile(
    r"(?s)(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)*+(<)(?:([\w.-]+):)?(?!configuration\b)[\w.-]+([^<>]*)>"
)
# Files that a broker starts with, which are never taken for a part of a configuration.
WHOLE_FILES = ("broker.xml", "hornetq-configuration.xml")


def read(
    path: Path,
    *,
    edition: Edition | None = None,
    cwd: Path | None = None,
    properties: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    fragments: bool = False,
) -> Document:
    """Read the document as that edition does (None: HornetQ if its namespace says so, else the newest).

    ``cwd`` is the broker's working directory, against which includes are resolved (default: the file's folder).
    Raises ``ReadingError`` for what the broker would refuse, and for what is never opened; ``OSError``.
    """
    raw = _bytes(path)
    return read_bytes(
        raw,
        str(path),
        folder=Path(os.path.realpath(cwd or path.parent)),
        edition=edition,
        properties=properties or {},
        environment=environment or {},
        fragments=fragments,
    )


def _bytes(path: Path) -> bytes:
    """Read a file or a pipe within the size limit; raise ``ReadingError`` if it is larger."""
    raw = read_at_most(path, LARGEST)
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
    """Read a document from bytes; ``shown`` names the file in findings.

    ``place`` maps an offset to a position if the text is embedded in another file. With ``fragments``, parts without
    their surroundings are read as well, except from a file that brokers start with. ``held`` is that of
    ``IncludeContext``.
    """
    strange = foreign_encoding(raw)
    if strange:
        raise ReadingError(
            "encoding",
            place(0) if place else Position(shown, 1, 1),
            f"the broker cannot read this file: {strange}",
            "save it as UTF-8 without a byte order mark",
            "the broker decodes the file by the platform's encoding and does not look at the XML declaration",
            without_mark(shown, raw),
        )
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
        edition,
        values,
        source,
        IncludeContext(folder, folder, (), held),
        includes=not server and _includes(edition, properties),
        server=server,
    )
    document = builder.document()
    document.badly_decoded = replaced_bytes
    if fragment:
        document.taken_for, document.complete = fragment.taken_for, fragment.complete
        document.is_part, document.added = fragment.inside_server, fragment.added
    return document


def _refuse_classic(text: str, place: Callable[[int], Position]) -> None:
    """Raise ``ReadingError`` if the document element's namespace is that of ActiveMQ Classic."""
    match = _DOCUMENT_ELEMENT.match(text)
    if match is None:
        return
    name = f"xmlns:{re.escape(match[2])}" if match[2] else "xmlns"
    declared = re.search(rf"""\s{name}\s*=\s*["']([^"']*)["']""", match[3])
    if declared and declared[1] in _CLASSIC:
        raise ReadingError(
            "unknown-root",
            place(match.start(1)),
            "a configuration of ActiveMQ Classic (5.x, 6.x), which neither Artemis nor pagectl reads",
            "name the broker.xml of an Artemis broker; to move to one, write its broker.xml anew",
            "nothing in this file was checked",
        )


def _fragment_in(text: str, edition: Edition | None) -> Fragment | None:
    from brokerconf.reading.fragments import fragment_in

    return fragment_in(text, edition)


def edition_by_namespace(text: str) -> Edition:
    """Return the edition that a text's namespace names, or the newest Artemis if none does.

    HornetQ's namespace and messaging subsystems of application servers name one.
    """
    start = text[:_START]
    subsystem = subsystem_in(text) if DOMAIN in start else None
    if subsystem is not None:
        return subsystem.edition if subsystem.known else NEWEST
    return Edition.HORNETQ_2_4 if "urn:hornetq" in start or DOMAIN in start else NEWEST


def _replaced(text: str, place: Callable[[int], Position], values: PlaceholderValues, edition: Edition) -> ReplacedText:
    """Return the text with placeholders replaced; editions of 2.8.0 to 2.10.1 do not replace any in the raw text."""
    if edition is Edition.ARTEMIS_2_10:
        return ReplacedText(text)
    try:
        return substitute(text, values)
    except SubstitutionError as err:
        raise bad_placeholder(place(0), err) from err


def _includes(edition: Edition, properties: Mapping[str, str]) -> bool:
    """Return whether XInclude is on.

    It is since 2.5.0, unless the property that forbids document types is set (since 2.28.0).
    """
    forbidden = properties.get(DISABLE_XXE)
    off = forbidden is not None and forbidden.lower() in ("", "true") and edition >= Edition.ARTEMIS_2_28
    return edition >= Edition.ARTEMIS_2_10 and not off
