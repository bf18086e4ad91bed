"""From parsed XML to the document of a configuration.

One walk resolves includes, replaces placeholders in the tree and builds the nodes (docs/spec/config-behaviour.md,
steps 2 to 4).
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brokerconf.reading.document import Comment, ConfigNode, Document, FileKind, PlaceholderReference
from brokerconf.reading.inclusion import FALLBACK, INCLUDE, IncludeContext, MissingInclude
from brokerconf.reading.parsing import ReadingError, parse
from brokerconf.reading.sources import SourceFile
from brokerconf.reading.substitution import PlaceholderValues, ReplacedText, SubstitutionError, substitute
from brokerconf.reading.subsystems import DOMAIN, known_subsystems, subsystem_of, subsystem_settings
from pagefmt.editions import Edition
from pagefmt.findings import Position

if TYPE_CHECKING:
    from lxml.etree import _Element

# Reading them costs the square of their number.
MOST_ATTRIBUTES = 1_000
_XML = "{http://www.w3.org/XML/1998/namespace}"


class DocumentBuilder:
    """Builder of the nodes of a parsed file and its includes; the parser's tree is changed in step.

    ``server``: the file is an application server's, which resolves ``${…}`` itself and includes nothing.
    """

    def __init__(
        self,
        edition: Edition,
        values: PlaceholderValues,
        source: SourceFile,
        place: IncludeContext,
        *,
        includes: bool,
        server: bool,
    ) -> None:
        self.edition, self.values, self.source = edition, values, source
        self.place, self.includes, self.server = place, includes, server
        self.in_tree = server or edition >= Edition.ARTEMIS_2_10
        self.sources: list[SourceFile] = []
        self.comments: list[Comment] = []
        self.placeholders: list[PlaceholderReference] = []
        self.widest = 0
        self._names: dict[tuple[str, str | None], tuple[str, str, str]] = {}

    def document(self) -> Document:
        """Parse the file and build its document; raise ``ReadingError`` for what the broker refuses."""
        self.placeholders += [
            PlaceholderReference(placeholder, self.source) for placeholder in self.source.replaced.placeholders
        ]
        element = parse(self.source)
        if self.server:
            self._define(element)
        root = self._file(element, self.source, self.place)
        document = Document(
            self.source.path,
            _file_kind(root, self.edition),
            self.edition,
            root,
            self.sources,
            tree=element,
            widest=self.widest,
        )
        document.comments, document.placeholders = self.comments, self.placeholders
        if document.kind is FileKind.EAP6:
            _find_servers(document)
        else:
            document.cores = _cores(document)
        document.jms = root.descendant("jms") if document.kind is FileKind.ARTEMIS else None
        return document

    def _define(self, element: _Element) -> None:
        """Add the system properties that the file itself sets; those of the command line win."""
        own = {
            str(node.get("name")): str(node.get("value", ""))
            for node in element.iterfind("{*}system-properties/{*}property")
        }
        self.values = self.values._replace(properties={**own, **self.values.properties})

    def replaced(self, text: str) -> ReplacedText:
        """Return a text of the tree with its ``${…}`` replaced; raise ``SubstitutionError``."""
        if self.server:
            from brokerconf.reading.server_expressions import ServerExpressions

            return ServerExpressions(self.values.properties, self.values.environment).resolved(text)
        return substitute(text, self.values)

    def _file(self, element: _Element, source: SourceFile, place: IncludeContext) -> ConfigNode:
        self.sources.append(source)
        walk = _FileWalk(self, source, place)
        for comment in reversed(list(element.itersiblings(preceding=True))):
            walk.comment(comment)
        return walk.node(element)

    def names(self, element: _Element) -> tuple[str, str, str]:
        """Return an element's tag as written, its local name, and its namespace."""
        key = (element.tag, element.prefix)
        names = self._names.get(key)
        if names is None:
            namespace, _, name = element.tag.rpartition("}")
            names = (f"{element.prefix}:{name}" if element.prefix else name, name, namespace[1:])
            self._names[key] = names
        return names


class _FileWalk:
    """Walk over the elements of one file, which counts them in document order."""

    def __init__(self, builder: DocumentBuilder, source: SourceFile, place: IncludeContext) -> None:
        self.builder, self.source, self.place = builder, source, place
        self.ordinals: Iterator[int] = itertools.count()
        self.comments: Iterator[int] = itertools.count()
        self.replaces = builder.in_tree and "${" in source.text
        # an element with nothing but an empty CDATA section is empty to the broker, and takes its default
        self.empty_sections = "<![CDATA[]]>" in source.text

    def comment(self, element: _Element) -> None:
        number = next(self.comments)
        self.builder.comments.append(Comment(element.text or "", self.source, number))

    def node(self, element: _Element) -> ConfigNode:
        names = self.builder.names(element)
        ordinal = next(self.ordinals)
        if len(element.attrib) > MOST_ATTRIBUTES:
            at = self.source.of_element(ordinal)
            raise ReadingError("too-large", at, f"more than {MOST_ATTRIBUTES} attributes", "remove them")
        if self.replaces and (not self.builder.server or subsystem_of(names[2])):
            self._replace_placeholders(element, ordinal)
        if self.empty_sections and element.text == "" and not len(element):
            element.text = None
        items: Any = element.items()
        attributes = _attributes(element, items) if items else {}
        node = ConfigNode(names, attributes, element.text or "", self.source, ordinal)
        if len(element):
            node.own_text += "".join(self._children(element, node))
        return node

    def _children(self, element: _Element, node: ConfigNode) -> list[str]:
        """Read all children into ``node`` and return the texts between them."""
        texts: list[str] = []
        adopt = node.children.append
        children = list(element)
        if len(children) > self.builder.widest:
            self.builder.widest = len(children)
        for child in children:
            tag, tail = child.tag, child.tail
            if not isinstance(tag, str):
                self.comment(child)
            elif tag == INCLUDE and self.builder.includes:
                texts.append(self._include(child, node))
            elif tag == FALLBACK and self.builder.includes:
                at = self.source.of_element(next(self.ordinals))
                raise ReadingError("include-refused", at, "a fallback outside an include", "remove it")
            else:
                below = self.node(child)
                below.parent = node
                adopt(below)
            if tail:
                texts.append(tail)
        return texts

    def _replace_placeholders(self, element: _Element, ordinal: int) -> None:
        """Replace the ``${…}`` in an element's attributes, its text, and the texts after its children.

        ``ordinal``: number of the element in the file, for the positions of placeholders and errors. Raise
        ``ReadingError`` for a placeholder that the broker could not replace.
        """
        if element.text and "${" in element.text:
            element.text = self._substituted(element.text, ordinal)
        for child in element:
            if child.tail and "${" in child.tail:
                child.tail = self._substituted(child.tail, ordinal)
        for name, value in list(element.attrib.items()):
            if "${" in str(value):
                element.set(name, self._substituted(str(value), ordinal))

    def _substituted(self, text: str, ordinal: int) -> str:
        try:
            done = self.builder.replaced(text)
        except SubstitutionError as err:
            raise bad_placeholder(self.source.of_element(ordinal), err) from err
        offset = self.source.replaced.before(self.source.tags.starts[ordinal])
        for placeholder in done.placeholders:
            at = self.source.original.find(f"${{{placeholder.name}" if self.builder.server else "${", offset)
            moved = placeholder._replace(offset=max(at, offset))
            self.builder.placeholders.append(PlaceholderReference(moved, self.source))
        return done.text

    def _include(self, element: _Element, node: ConfigNode) -> str:
        """Replace an include element by what it includes; return the text that this adds before the element's tail."""
        ordinal = next(self.ordinals)
        at = self.source.of_element(ordinal)
        if element.get("xpointer") is not None:
            raise ReadingError("include-refused", at, "xpointer is not followed", "include a whole file")
        if len(element.findall(FALLBACK)) > 1:
            raise ReadingError("include-refused", at, "an include with two fallbacks", "leave one of them")
        if element.get("parse", "xml") not in ("xml", "text"):
            raise ReadingError("include-refused", at, "parse is neither xml nor text", 'write parse="xml"')
        try:
            text = ""
            if element.get("parse", "xml") == "text":
                text = self._include_text(element, at)
            else:
                self._include_xml(element, node, at)
            skipped = sum(1 for below in element.iter() if isinstance(below.tag, str)) - 1
            for _ in range(skipped):
                next(self.ordinals)
            for _ in range(sum(1 for below in element.iter() if not isinstance(below.tag, str))):
                next(self.comments)
            return text
        except MissingInclude:
            fallback = element.find(FALLBACK)
            if fallback is None:
                raise
            next(self.ordinals)
            return self._fall_back(element, fallback, node)

    def _include_xml(self, element: _Element, node: ConfigNode, at: Position) -> None:
        href = element.get("href", "")
        source, place = self.place.loaded(href, at, self._shown)
        included = parse(source)
        child = self.builder._file(included, source, place)
        child.parent = node
        node.children.append(child)
        # an included element carries its address, which some editions' schemas do not allow
        included.set(f"{_XML}base", href)
        child.attributes.setdefault("xml:base", href)
        included.tail = element.tail
        parent = element.getparent()
        assert parent is not None
        parent.replace(element, included)

    def _include_text(self, element: _Element, at: Position) -> str:
        text = self.place.loaded(element.get("href", ""), at, self._shown)[0].original
        _put_in_place(element, [], text)
        return text

    def _fall_back(self, element: _Element, fallback: _Element, node: ConfigNode) -> str:
        text = fallback.text or ""
        inside = "".join(self._children(fallback, node))
        for moved in fallback.iterchildren("*"):
            # as with included elements, this parser notes the address they stand at
            moved.set(f"{_XML}base", "")
        _put_in_place(element, list(fallback), text)
        return text + inside

    def _shown(self, target: Path) -> str:
        """Return an included file's name for display: relative if the main file's is."""
        main = Path(self.builder.source.path)
        try:
            inside = target.relative_to(self.place.root)
        except ValueError:
            return str(target)
        same = Path(os.path.realpath(main.parent)) == self.place.root
        return str(main.parent / inside) if same else str(target)


def _put_in_place(element: _Element, instead: list[_Element], text: str) -> None:
    """Replace an element of the tree by text and other elements; its tail stays."""
    parent = element.getparent()
    assert parent is not None
    at = parent.index(element)
    tail = element.tail or ""
    before = parent[at - 1] if at else None
    parent.remove(element)
    if before is None:
        parent.text = (parent.text or "") + text
    else:
        before.tail = (before.tail or "") + text
    for n, moved in enumerate(instead):
        parent.insert(at + n, moved)
    last = instead[-1] if instead else before
    if last is None:
        parent.text = (parent.text or "") + tail
    else:
        last.tail = (last.tail or "") + tail


def _attributes(element: _Element, items: list[tuple[str, str]]) -> dict[str, str]:
    return {_attribute_name(element, name) if name[0] == "{" else name: value for name, value in items}


def _attribute_name(element: _Element, name: str) -> str:
    namespace, _, local = name[1:].partition("}")
    if name.startswith(_XML):
        return f"xml:{local}"
    prefix = next((p for p, uri in element.nsmap.items() if uri == namespace and p), None)
    return f"{prefix}:{local}" if prefix else local


def bad_placeholder(at: Position, err: SubstitutionError) -> ReadingError:
    """Return the error for a placeholder that the broker could not replace."""
    return ReadingError("placeholder", at, str(err), "write ${name:default}, with a plain value for the property")


def _file_kind(root: ConfigNode, edition: Edition) -> FileKind:
    if root.namespace.startswith(DOMAIN):
        return FileKind.EAP6
    return FileKind.HORNETQ if edition is Edition.HORNETQ_2_4 else FileKind.ARTEMIS


def _cores(document: Document) -> list[ConfigNode]:
    if document.kind is FileKind.HORNETQ:
        return [document.root]
    core = document.root.descendant("core")
    return [core] if core else []


def _find_servers(document: Document) -> None:
    """Set the document's messaging servers and the application server's own defaults; raise for an unknown version."""
    from brokerconf.reading.application_server import messaging_subsystems, subsystem_cores

    document.subsystems = messaging_subsystems(document.root)
    for kind, node, _ in document.subsystems:
        if not kind.known:
            message = f"{kind.product}:{kind.version} is not a known version: nothing in it was checked"
            versions = [subsystem.version for subsystem in known_subsystems(kind.product)]
            raise ReadingError(
                "unknown-subsystem",
                node.position,
                message,
                f"known are {versions[0]} to {versions[-1]}",
                "the contents of an unknown version could only be guessed",
            )
    document.cores = [core for subsystem in document.subsystems for core in subsystem_cores(subsystem)]
    for kind, _, _ in document.subsystems[:1]:
        document.kind = FileKind.EAP6 if kind.product == "messaging" else FileKind.WILDFLY
        rows = [row for row in subsystem_settings(kind) if row.default]
        document.defaults = {row.setting: row.default for row in rows if row.scope == "broker"}
        document.always_set = {row.setting: row.default for row in rows if row.scope == "address"}
