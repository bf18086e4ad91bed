"""Schema of the operator's own broker: from a file, or from the jars of an installation (``lib/*.jar``).

Nothing is fetched: imports are resolved beside the schema, in the same jars, or with our own ``xml.xsd``.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from brokerconf.errors import BrokerConfError
from brokerconf.instance.installed import InstalledRelease, named_by
from brokerconf.reading.decoding import read_at_most
from brokerconf.schema.validation import Schemas
from brokerconf.schema.xsd_files import XML_XSD, own_file
from pagefmt.editions import NEWEST, Edition

if TYPE_CHECKING:
    from lxml.etree import XMLSchema, _Element

_LARGEST = 16 << 20
_SERVER, _CORE, _JMS = "artemis-server.xsd", "artemis-configuration.xsd", "artemis-jms.xsd"
_HORNETQ = "hornetq-configuration.xsd"
_XSD = "{http://www.w3.org/2001/XMLSchema}"


class SchemaError(BrokerConfError):
    """Error for an unusable schema, or an installation without one."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Schema files of an installation by name, and the broker that its jars name."""

    texts: dict[str, bytes]
    broker: InstalledRelease


def from_file(path: Path, edition: Edition) -> Schemas:
    """Return the schema of one file for the whole document; raise ``SchemaError`` if it is unusable.

    Parts are checked by it if it declares their element.
    """
    try:
        texts = {near.name: _read(near) for near in sorted(path.parent.glob("*.xsd"))}
        texts[path.name] = _read(path)
    except OSError as err:
        raise SchemaError(f"{path}: {err.strerror}") from err
    schema = _compile(texts, path.name, str(path))
    parts = _parts(texts, str(path))
    core = parts.get("core", schema)
    return Schemas(path.name, edition, schema, lambda: core, lambda: parts.get("jms"))


def from_home(home: Path) -> Schemas:
    """Return the schemas inside the broker installed in a folder; raise ``SchemaError`` without any."""
    installed = installation(home)
    shown = f"{home.name or home} ({installed.broker.release or 'release unknown'})"
    if _HORNETQ in installed.texts and _CORE not in installed.texts:
        schema = _compile(installed.texts, _HORNETQ, shown)
        return Schemas(shown, Edition.HORNETQ_2_4, schema, lambda: schema, lambda: None)
    parts = _parts(installed.texts, shown)
    if "core" not in parts:
        raise SchemaError(f"{home}: no {_CORE} in the jars of lib; name the folder of an installed broker")
    document = _compile(installed.texts | {_SERVER: _whole(installed.texts)}, _SERVER, shown)
    return Schemas(shown, installed.broker.edition, document, lambda: parts["core"], lambda: parts.get("jms"))


def installation(home: Path) -> Installation:
    """Return the schemas and the release in the jars of an installation; raise ``SchemaError`` without any."""
    jars = sorted((home / "lib").glob("*.jar")) or sorted(home.glob("*.jar"))
    texts: dict[str, bytes] = {}
    release = InstalledRelease(False, "")
    for jar in jars:
        if not re.match(r"(artemis|hornetq)-", jar.name):
            continue
        named = named_by(jar.name)
        inside = _schemas_in(jar)
        if named and inside:
            release = named
        texts |= inside
    if not texts:
        raise SchemaError(f"{home}: no broker's jars with a schema in lib; name the folder of an installed broker")
    return Installation(texts, release)


def _schemas_in(jar: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(jar) as archive:
            wanted = [info for info in archive.infolist() if re.fullmatch(r"schema/[\w.-]+\.xsd", info.filename)]
            small = [info for info in wanted if info.file_size <= _LARGEST]
            return {info.filename.removeprefix("schema/"): archive.read(info) for info in small}
    except (OSError, zipfile.BadZipFile) as err:
        raise SchemaError(f"{jar}: not a readable jar: {err}") from err


def _read(path: Path) -> bytes:
    raw = read_at_most(path, _LARGEST)
    if len(raw) > _LARGEST:
        raise SchemaError(f"{path}: larger than {_LARGEST >> 20} MiB")
    return raw


def _parts(texts: dict[str, bytes], shown: str) -> dict[str, XMLSchema]:
    names = {"core": _CORE, "jms": _JMS}
    return {part: _compile(texts, name, shown) for part, name in names.items() if name in texts}


def _whole(texts: dict[str, bytes]) -> bytes:
    """Return the schema of the document with the other two imported, which releases before 2.5 left to their users."""
    root = _parse(texts[_SERVER], _SERVER) if _SERVER in texts else None
    if root is None or any(element.tag == f"{_XSD}import" for element in root):
        return texts.get(_SERVER, own_file(NEWEST, "server.xsd"))
    from lxml import etree

    for name in (_JMS, _CORE):
        if name in texts:
            target = _parse(texts[name], name).get("targetNamespace", "")
            root.insert(0, etree.Element(f"{_XSD}import", namespace=target, schemaLocation=name))
    return etree.tostring(root)


def _parse(text: bytes, shown: str) -> _Element:
    from lxml import etree

    try:
        return etree.fromstring(text, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except etree.XMLSyntaxError as err:
        raise SchemaError(f"{shown}: not well-formed: {err.msg}") from err


def _compile(texts: dict[str, bytes], name: str, shown: str) -> XMLSchema:
    """Compile a schema, its imports taken from ``texts``; any other import is empty. Raise ``SchemaError``."""
    from lxml import etree

    class FromTexts(etree.Resolver):
        def resolve(self, system_url: Any, public_id: Any, context: Any = None) -> Any:
            wanted = (system_url or "").rpartition("/")[2]
            text = texts.get(wanted) or (own_file(None, XML_XSD) if wanted == XML_XSD else b"")
            return cast(Any, self).resolve_string(text, context)

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    parser.resolvers.add(FromTexts())
    try:
        tree = etree.fromstring(texts[name], parser, base_url=f"memory:/{name}")
        return etree.XMLSchema(tree)
    except (etree.XMLSyntaxError, etree.XMLSchemaParseError) as err:
        problem = " ".join(str(err).split())[:200]
        raise SchemaError(f"{shown}: {name} is not a usable schema: {problem}") from err
