"""A configuration as the broker sees it: elements with their text after replacement, each knowing where it stands."""

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

    from brokerconf.reading.application_server import MessagingSubsystem
    from brokerconf.reading.sources import SourceFile


class ConfigNode:
    """An element. ``tag`` is written as in the file, prefix included; ``name`` is its local part.

    ``attributes`` has the names as written; ``own_text`` is the text directly inside. ``ordinal`` counts the elements
    of ``source`` in document order. Built once while reading and not changed after.
    """

    __slots__ = (
        "attributes", "children", "known_path", "name", "namespace", "ordinal", "own_text", "parent", "source", "steps",
        "tag", "tags",
    )  # fmt: skip

    def __init__(
        self, names: tuple[str, str, str], attributes: dict[str, str], own_text: str, source: SourceFile, ordinal: int
    ) -> None:
        """``names``: tag, local name, name space."""
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
        """All text inside, as the broker takes it."""
        return self.own_text + "".join(child.text for child in self.children) if self.children else self.own_text

    @property
    def raw_text(self) -> str:
        """What stands between the tags in the file, before replacement; markup included."""
        return self.source.written(self.ordinal)

    @property
    def position(self) -> Position:
        """Where the start tag stands."""
        return self.source.of_element(self.ordinal)

    @property
    def text_position(self) -> Position:
        """Where the content begins."""
        return self.source.of_content(self.ordinal)

    def attribute_position(self, name: str) -> Position:
        """Where an attribute's name stands."""
        return self.source.of_attribute(self.ordinal, name)

    def child(self, name: str) -> ConfigNode | None:
        """The first child of that local name."""
        return next((child for child in self.children if child.name == name), None)

    def children_named(self, name: str) -> list[ConfigNode]:
        """The children of that local name."""
        return [child for child in self.children if child.name == name]

    def ancestors(self) -> Iterator[ConfigNode]:
        """The elements around this one, the innermost first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def walk(self) -> Iterator[ConfigNode]:
        """This element and all below it, in document order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def by_tag(self) -> dict[str, list[ConfigNode]]:
        """All elements below by their tags, in document order; gone through once."""
        if self.tags is None:
            self.tags = {}
            _sort_by_tag(self, self.tags)
        return self.tags

    def descendant(self, tag: str) -> ConfigNode | None:
        """The first element below with literally that tag, at any depth: how the broker's reader looks things up."""
        if self.tags is not None:
            return next(iter(self.tags.get(tag, ())), None)
        for child in self.children:
            if child.tag == tag:
                return child
            found = child.descendant(tag) if child.children else None
            if found is not None:
                return found
        return None

    @property
    def path(self) -> str:
        """As ``/configuration/core/address-settings/address-setting[2]/max-size-bytes``."""
        if self.parent is None:
            return f"/{self.name}"
        above = self.parent.known_path
        if above is None:
            above = self.parent.known_path = self.parent.path
        return f"{above}/{_step(self, self.parent)}"


def _sort_by_tag(node: ConfigNode, found: dict[str, list[ConfigNode]]) -> None:
    for child in node.children:
        if child.tag in found:
            found[child.tag].append(child)
        else:
            found[child.tag] = [child]
        if child.children:
            _sort_by_tag(child, found)


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


OF_THE_IMAGE = "the broker.xml of the image"
"""What decides if a custom resource does not."""


class FileKind(Enum):
    """What a file is, by its document element."""

    ARTEMIS = "artemis"
    HORNETQ = "hornetq"
    EAP6 = "eap6"
    WILDFLY = "wildfly"

    @property
    def of_application_server(self) -> bool:
        """Whether a broker inside of JBoss EAP or WildFly is configured by it."""
        return self in (FileKind.EAP6, FileKind.WILDFLY)


class Comment(NamedTuple):
    """A comment of the file, for rules that are silenced by one."""

    text: str
    source: SourceFile
    number: int

    @property
    def position(self) -> Position:
        """Where the comment begins."""
        return self.source.of_comment(self.number)


class FoundPlaceholder(NamedTuple):
    """A ``${…}`` and the file it stands in."""

    placeholder: Placeholder
    source: SourceFile

    @property
    def position(self) -> Position:
        """Where the ``${`` stands."""
        return self.source.position(self.placeholder.offset)


@dataclass(slots=True)
class Document:
    """A file as it was read. ``cores`` holds what the broker takes its settings from: one ``core`` of Artemis, the
    document element of HornetQ, each messaging server of an application server; empty when the broker would find none.

    ``taken_for``: of a fragment, what it was taken for; ``is_part``: settings of the broker stand elsewhere;
    ``complete``: nothing was left out of it; ``added``: paths of elements that were put around some of it;
    ``laid_over``: what it says is laid over a file that is not at hand; ``under``: what decides then. ``widest``: the
    most children that an element has. ``secret``: whether a place is one of which nothing is ever shown.
    ``defaults`` and ``always_set`` are texts by the name of a setting: what an application server takes where the file
    gives nothing, for the broker and for each match.
    """

    path: str
    kind: FileKind
    edition: Edition
    root: ConfigNode
    sources: list[SourceFile]
    cores: list[ConfigNode] = field(default_factory=list)
    jms: ConfigNode | None = None
    comments: list[Comment] = field(default_factory=list)
    placeholders: list[FoundPlaceholder] = field(default_factory=list)
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
        """The first of ``cores``; None when there is none."""
        return self.cores[0] if self.cores else None

    @property
    def partial(self) -> bool:
        """Whether what it leaves out is decided elsewhere, and is not known to be the default."""
        return self.laid_over or self.is_part

    def suppose_defaults(self) -> None:
        """What it leaves out counts as the default from now on; ``supposed`` says so."""
        if self.partial:
            self.supposed = (
                f"{self.under} is not known: settings that this file leaves out are taken as the broker's defaults"
            )
        self.laid_over = self.is_part = False

    def hides(self, at: Position) -> bool:
        """Whether nothing of what stands at a place is ever shown."""
        return self.secret is not None and self.secret(at)

    @property
    def source(self) -> SourceFile:
        """The main file."""
        return self.sources[0]
