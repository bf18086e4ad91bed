"""Configuration as the broker sees it: elements with their text after replacement and their positions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from brokerconf.reading.substitution import Placeholder
from pagefmt.editions import Edition
from pagefmt.findings import Position

if TYPE_CHECKING:
    from lxml.etree import _Element

    from brokerconf.reading.sources import SourceFile
    from brokerconf.reading.subsystems import Subsystem


class ConfigNode:
    """Element of a configuration. ``tag`` is as in the file, prefix included; ``name`` is its local part.

    ``attributes`` has the names as written; ``own_text`` is the text directly inside. ``ordinal`` counts the elements
    of ``source`` in document order. Built once while reading and not changed after.
    """

    __slots__ = (
        "attributes",
        "children",
        "known_path",
        "name",
        "namespace",
        "ordinal",
        "own_text",
        "parent",
        "source",
        "steps",
        "tag",
        "tags",
    )

    def __init__(
        self, names: tuple[str, str, str], attributes: dict[str, str], own_text: str, source: SourceFile, ordinal: int
    ) -> None:
        """Create an element; ``names`` are its tag, local name and namespace."""
        self.tag, self.name, self.namespace = names
        self.attributes = attributes
        self.own_text = own_text
        self.children: list[ConfigNode] = []
        self.parent: ConfigNode | None = None
        self.source = source
        self.ordinal = ordinal
        # of the children, by their identity: filled when a path is first asked for
        self.steps: dict[int, str] | None = None
        # of an element with others inside, once one of these has been asked for its own
        self.known_path: str | None = None
        # of all elements below: filled when they are first asked for by tag
        self.tags: dict[str, list[ConfigNode]] | None = None

    def __repr__(self) -> str:
        return f"<{self.tag} at {self.position}>"

    @property
    def text(self) -> str:
        """Return all text inside the element and its descendants, as the broker uses it."""
        return self.own_text + "".join(child.text for child in self.children) if self.children else self.own_text

    @property
    def raw_text(self) -> str:
        """Return the file's text between the tags before placeholder replacement, markup included."""
        return self.source.written(self.ordinal)

    @property
    def position(self) -> Position:
        """Return the position of the start tag."""
        return self.source.of_element(self.ordinal)

    @property
    def text_position(self) -> Position:
        """Return the position where the content begins."""
        return self.source.of_content(self.ordinal)

    def attribute_position(self, name: str) -> Position:
        """Return the position of an attribute's name."""
        return self.source.of_attribute(self.ordinal, name)

    def child(self, name: str) -> ConfigNode | None:
        """Return the first child of that local name, or None."""
        return next((child for child in self.children if child.name == name), None)

    def children_named(self, name: str) -> list[ConfigNode]:
        """Return the children of that local name."""
        return [child for child in self.children if child.name == name]

    def ancestors(self) -> Iterator[ConfigNode]:
        """Yield the elements that contain this one, the innermost first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def walk(self) -> Iterator[ConfigNode]:
        """Yield this element and all below it, in document order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def by_tag(self) -> dict[str, list[ConfigNode]]:
        """Return all descendants by tag, in document order; the result is built once."""
        if self.tags is None:
            self.tags = {}
            _sort_by_tag(self, self.tags)
        return self.tags

    def descendant(self, tag: str) -> ConfigNode | None:
        """Return the first descendant with exactly that tag, as the broker's reader looks elements up, or None."""
        if self.tags is not None:
            return next(iter(self.tags.get(tag, ())), None)
        for child in self.children:
            if child.tag == tag:
                return child
            below = child.descendant(tag) if child.children else None
            if below is not None:
                return below
        return None

    @property
    def path(self) -> str:
        """Return the path, as ``/configuration/core/address-settings/address-setting[2]/max-size-bytes``."""
        if self.parent is None:
            return f"/{self.name}"
        above = self.parent.known_path
        if above is None:
            above = self.parent.known_path = self.parent.path
        return f"{above}/{_step(self, self.parent)}"


def _sort_by_tag(node: ConfigNode, nodes_by_tag: dict[str, list[ConfigNode]]) -> None:
    for child in node.children:
        if child.tag in nodes_by_tag:
            nodes_by_tag[child.tag].append(child)
        else:
            nodes_by_tag[child.tag] = [child]
        if child.children:
            _sort_by_tag(child, nodes_by_tag)


# Among fewer children than this a name is looked for, among more they are counted once.
_MANY = 16


def _step(node: ConfigNode, parent: ConfigNode) -> str:
    if len(parent.children) < _MANY and [twin.name for twin in parent.children].count(node.name) == 1:
        return node.name
    if parent.steps is None:
        parent.steps = _steps(parent.children)
    return parent.steps[id(node)]


def _steps(children: list[ConfigNode]) -> dict[int, str]:
    counts = Counter(child.name for child in children)
    seen: Counter[str] = Counter()
    steps: dict[int, str] = {}
    for child in children:
        seen[child.name] += 1
        steps[id(child)] = f"{child.name}[{seen[child.name]}]" if counts[child.name] > 1 else child.name
    return steps


# What decides about settings that a custom resource leaves out.
OF_THE_IMAGE = "the broker.xml of the image"


class FileKind(Enum):
    """Kind of a file, by its document element."""

    ARTEMIS = "artemis"
    HORNETQ = "hornetq"
    EAP6 = "eap6"
    WILDFLY = "wildfly"

    @property
    def of_application_server(self) -> bool:
        """Return whether the file configures a broker inside JBoss EAP or WildFly."""
        return self in (FileKind.EAP6, FileKind.WILDFLY)


class Comment(NamedTuple):
    """Comment of the file, which may silence rules."""

    text: str
    source: SourceFile
    number: int

    @property
    def position(self) -> Position:
        """Return the position where the comment begins."""
        return self.source.of_comment(self.number)


class PlaceholderReference(NamedTuple):
    """``${…}`` and the file that contains it."""

    placeholder: Placeholder
    source: SourceFile

    @property
    def position(self) -> Position:
        """Return the position of the ``${``."""
        return self.source.position(self.placeholder.offset)


class MessagingSubsystem(NamedTuple):
    """Messaging subsystem in a file; ``profile`` is the name of the profile that contains it, or empty."""

    kind: Subsystem
    node: ConfigNode
    profile: str


@dataclass(slots=True)
class Document:
    """Configuration file as it was read.

    ``cores``: the elements that the broker takes its settings from: one ``core`` of Artemis, the document element of
    HornetQ, each messaging server of an application server; empty if the broker would find none. ``taken_for``: what a
    fragment was taken for; ``added``: paths of elements that were put around parts of it; ``complete``: whether nothing
    was left out of it. ``is_part``: whether other settings of the broker are elsewhere. ``laid_over``: whether the file
    overrides another one that is not available; ``under``: what decides then. ``widest``: the largest number of
    children of an element. ``secret``: returns whether a position must never be shown. ``defaults`` and ``always_set``:
    an application server's own values by setting name where the file has none, for the broker and for each match.
    """

    path: str
    kind: FileKind
    edition: Edition
    root: ConfigNode
    sources: list[SourceFile]
    cores: list[ConfigNode] = field(default_factory=list)
    jms: ConfigNode | None = None
    comments: list[Comment] = field(default_factory=list)
    placeholders: list[PlaceholderReference] = field(default_factory=list)
    # the same elements for the schema's verdict
    tree: _Element | None = None
    widest: int = 0
    badly_decoded: bool = False
    taken_for: str = ""
    is_part: bool = False
    complete: bool = True
    added: frozenset[str] = frozenset()
    laid_over: bool = False
    under: str = "the rest of the configuration"
    supposed: str = ""
    secret: Callable[[Position], bool] | None = None
    subsystems: list[MessagingSubsystem] = field(default_factory=list)
    defaults: dict[str, str] = field(default_factory=dict)
    always_set: dict[str, str] = field(default_factory=dict)

    @property
    def core(self) -> ConfigNode | None:
        """Return the first of ``cores``, or None if there is none."""
        return self.cores[0] if self.cores else None

    @property
    def partial(self) -> bool:
        """Return whether settings missing from the file are decided elsewhere, not by the broker's defaults."""
        return self.laid_over or self.is_part

    def suppose_defaults(self) -> None:
        """Treat settings that the file leaves out as defaults from now on; ``supposed`` states that assumption."""
        if self.partial:
            self.supposed = (
                f"{self.under} is not known: settings that this file leaves out are taken as the broker's defaults"
            )
        self.laid_over = self.is_part = False

    def hides(self, at: Position) -> bool:
        """Return whether the text at a position must never be shown."""
        return self.secret is not None and self.secret(at)

    @property
    def source(self) -> SourceFile:
        """Return the main file, without those it includes."""
        return self.sources[0]
