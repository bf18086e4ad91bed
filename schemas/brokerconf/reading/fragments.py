"""Parts of a configuration that stand alone, as files that others include and examples of manuals do.

A part is put where it belongs, in the text, before that is parsed: places in the file stay what they are. Several
elements may stand side by side; an ellipsis between elements stands for nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from brokerconf.reading.substitution import ReplacedText
from brokerconf.reading.subsystems import Subsystem, known_subsystems
from brokerconf.reading.tables import read_table
from pagefmt.editions import Edition
from pagefmt.findings import some

# What is not closed ends at the next "<", or takes the rest: each character is looked at once.
_TAG = re.compile(
    r"""(?s)<!--(?:.*?-->|.*)|<!\[CDATA\[(?:.*?\]\]>|.*)|<\?(?:.*?\?>|.*)|<(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+>"""
)
_NAME = re.compile(r"</?(?:[\w.-]+:)?([\w.-]+)")
# between elements, and in the tag of one whose name spaces are left out
_ELLIPSIS = re.compile(
    r"(?:(?<=>)|^)\s*(?:\.\.\.|…|\[\.\.\.\])\s*(?=<|$)|(?<=<configuration)\.\.\.(?=>)|(?<=<core)\.\.\.(?=>)"
)
_FOREIGN = re.compile(r"""\sxmlns\s*=\s*["'](?!urn:activemq|urn:hornetq|urn:jboss:domain:messaging)""")
_WHOLE = ("configuration", "subsystem", "domain")
_OWN_NAMESPACE = {"core": "urn:activemq:core", "jms": "urn:activemq:jms", "configuration": "urn:activemq"}


class Element(NamedTuple):
    """An element at the top: its tag as written, and where it begins and ends."""

    name: str
    tag: str
    start: int
    end: int


class Fragment(NamedTuple):
    """What a text was taken for, in words, and the tags of a whole file that belong around it.

    ``complete``: no ellipsis stands for something that was left out.
    """

    taken_for: str
    tags: tuple[str, ...]
    edition: Edition | None
    complete: bool

    @property
    def of_application_server(self) -> bool:
        """Whether it is a part of a messaging subsystem."""
        return bool(self.tags) and self.tags[0].startswith("subsystem")

    @property
    def inside_server(self) -> bool:
        """Whether the rest of the broker's own settings is not there."""
        return bool(self.tags) and self.tags[-1].startswith(("core", "server", 'configuration xmlns="urn:hornetq"'))

    def whole(self, replaced: ReplacedText) -> ReplacedText:
        """The text as a whole file; offsets in the file stay known."""
        elements = list(_top(replaced.text))
        return _Insertion(replaced).made(self.tags, elements, [_container(each, self.edition) for each in elements])


def fragment_in(text: str, edition: Edition | None) -> Fragment | None:
    """The fragment that a text is; None for whole files, and for what is no part of any. ``edition`` None: any."""
    first = next((found[0] for found in _TAG.finditer(text) if found[0][1] not in "!?"), "")
    if not first or _FOREIGN.search(first):
        return None
    if _name(first) in _WHOLE:
        return Fragment("<configuration>", (), edition, complete=False) if "..." in first else None
    complete = _ELLIPSIS.search(text) is None
    elements = list(_top(text))
    around = {_around(each, edition) for each in elements}
    found = around.pop() if len(around) == 1 else None
    if found is None:
        return fragment_in(text, Edition.HORNETQ_2_4) if edition is None else None
    names = list(dict.fromkeys(each.name for each in elements))
    return Fragment(f"{some(f'<{name}>' for name in names)} of {found.words}", found.tags, edition, complete)


class _Around(NamedTuple):
    """Tags that are put around all elements, and what they make of them."""

    words: str
    tags: tuple[str, ...]


_CORE = _Around("<core>", ('configuration xmlns="urn:activemq"', 'core xmlns="urn:activemq:core"'))
_CONFIGURATION = _Around("<configuration>", ('configuration xmlns="urn:activemq"',))
_HORNETQ = _Around("HornetQ's <configuration>", ('configuration xmlns="urn:hornetq"',))


def _around(element: Element, edition: Edition | None) -> _Around | None:
    """What belongs around an element; None for what is no part of a configuration."""
    name = element.name
    if name in _OWN_NAMESPACE:
        return _CONFIGURATION
    old, new = _version("messaging", edition), _version("messaging-activemq", edition)
    for kind, server in ((old, "hornetq-server"), (new, "server")):
        if kind is not None and name == server:
            return _Around(f"{kind.product}:{kind.version}", (_subsystem(kind),))
    as_attributes = name == "address-setting" and "name" in _attributes(element.tag)
    if name in _places(edition) and not as_attributes:
        return _HORNETQ if edition is Edition.HORNETQ_2_4 else _CORE
    if new is not None and name in _server_places() and _server_places()[name] <= _attributes(element.tag):
        return _Around(f"<server> of {new.product}:{new.version}", (_subsystem(new), 'server name="default"'))
    return None


def _container(element: Element, edition: Edition | None) -> str:
    """The element of ``core`` that one stands in; empty for those directly in it, and everywhere else."""
    return _places(edition).get(element.name, "") if _around(element, edition) in (_CORE, _HORNETQ) else ""


def _subsystem(kind: Subsystem) -> str:
    return f'subsystem xmlns="{kind.namespace}"'


def _version(product: str, edition: Edition | None) -> Subsystem | None:
    """The newest version of a subsystem, or the newest with that edition inside."""
    fitting = [each for each in known_subsystems(product) if edition in (None, each.edition)]
    return fitting[-1] if fitting else None


@cache
def _places(edition: Edition | None) -> dict[str, str]:
    """Elements that may stand alone, and the element of ``core`` around them, where there is but one such."""
    document = "hq-core" if edition is Edition.HORNETQ_2_4 else "core"
    rows = [row for row in read_table("schema.csv") if row[0] == document and row[2] == "element"]
    direct = {row[3] for row in rows if row[1] == "configurationType"}
    owners: dict[str, set[str]] = {}
    for row in rows:
        owner = row[1].rpartition(".")[2]
        if owner in direct:
            owners.setdefault(row[3], set()).add(owner)
    plural = {name: owner for name, found in owners.items() for owner in found if owner in (f"{name}s", f"{name}es")}
    alone = {name: min(found) for name, found in owners.items() if len(found) == 1}
    return {**alone, **plural, **dict.fromkeys(direct, "")}


@cache
def _server_places() -> dict[str, frozenset[str]]:
    """Elements of a ``messaging-activemq`` server, and the attributes that they must have."""
    rows = [row for row in read_table("subsystem.csv") if row[0] == "messaging-activemq"]
    needed = {(row[1], row[3]) for row in rows if row[8] == "required"}
    names = [row[3] for row in rows if row[1:3] == ["subsystem.server", "element"]]
    return {name: frozenset(one for owner, one in needed if owner == f"subsystem.server.{name}") for name in names}


def _attributes(tag: str) -> set[str]:
    return set(re.findall(r"\s([\w.:-]+)\s*=", tag))


def _name(tag: str) -> str:
    found = _NAME.match(tag)
    return found[1].rstrip(".") if found else ""


def _top(text: str) -> Iterator[Element]:
    """The elements that stand in no other; what is malformed is for the parser to say."""
    depth = start = 0
    opened = ""
    for found in _TAG.finditer(text):
        tag = found.group()
        if tag[1] in "!?":
            continue
        closes = tag[1] == "/"
        if not depth and not closes:
            start, opened = found.start(), tag
        depth += -1 if closes else tag[-2] != "/"
        if depth <= 0 and opened:
            yield Element(_name(opened), opened, start, found.end())
            depth, opened = 0, ""


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


class _Insertion:
    """A text with pieces put in between, each of which stands where the text goes on."""

    def __init__(self, replaced: ReplacedText) -> None:
        self.replaced = replaced
        self.pieces: list[tuple[int, int, bool]] = []
        self.out: list[str] = []
        self.source = ""
        self.verbatim = {after: kept for after, _, kept in replaced.pieces}
        self.cuts: list[int] = []
        self.spaces: dict[int, str] = {}
        self.length = 0

    def made(self, around: tuple[str, ...], elements: list[Element], containers: list[str]) -> ReplacedText:
        """The text with tags around all of it, and around those that have one container: these stand together."""
        text = re.sub(r"<\?xml\s.*?\?>", lambda found: _blank(found[0]), self.replaced.text, count=1)
        names = re.finditer(r"<(core|jms|configuration)\b(?![^>]*\sxmlns)", text)
        self.spaces = {found.end(): f' xmlns="{_OWN_NAMESPACE[found[1]]}"' for found in names}
        self.cuts = sorted({*self.verbatim, *self.spaces})
        self.source = _ELLIPSIS.sub(lambda found: _blank(found[0]), text)
        together: dict[tuple[str, int], list[tuple[int, Element]]] = {}
        at = 0
        for element, container in zip(elements, containers, strict=True):
            together.setdefault((container, 0 if container else element.start), []).append((at, element))
            at = element.end
        self.insert("".join(f"<{tag}>" for tag in around), 0)
        for (name, _), parts in together.items():
            self.insert(f"<{name}>" if name else "", parts[0][1].start)
            for before, element in parts:
                self.take(before, element.end)
            self.insert(f"</{name}>" if name else "", parts[-1][1].end)
        self.take(at, len(text))
        self.insert("".join(f"</{tag.partition(' ')[0]}>" for tag in reversed(around)), len(text))
        return ReplacedText("".join(self.out), self.replaced.placeholders, self.pieces)

    def insert(self, piece: str, at: int) -> None:
        """Something that is not in the file."""
        if piece:
            self._put(piece, self.replaced.before(at), verbatim=False)

    def take(self, start: int, end: int) -> None:
        """A part of the text, with all that was replaced in it and with the name spaces that it lacks."""
        inside = self.cuts[bisect_right(self.cuts, start) : bisect_left(self.cuts, end)]
        for first, last in pairwise((start, *inside, end) if end > start else ()):
            self.insert(self.spaces.get(first, ""), first)
            self._put(self.source[first:last], self.replaced.before(first), verbatim=self.verbatim.get(first, True))

    def _put(self, piece: str, origin: int, *, verbatim: bool) -> None:
        self.pieces.append((self.length, origin, verbatim))
        self.out.append(piece)
        self.length += len(piece)
