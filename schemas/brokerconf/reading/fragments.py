"""Parts of a configuration on their own, as files that others include and examples of manuals have.

A part is put where it belongs before the text is parsed, so that positions in the file stay the same. Several elements
may be side by side; an ellipsis between elements is ignored.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from brokerconf.reading.inclusion import XINCLUDE
from brokerconf.reading.substitution import ReplacedText
from brokerconf.reading.subsystems import DOMAIN, Subsystem, known_subsystems
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
    r"(?:(?<=>)|^)\s*(?:\.(?:\s*+\.)++|…|\[\.\.\.\])\s*(?=<|$)|(?<=<configuration)\.\.\.(?=>)|(?<=<core)\.\.\.(?=>)"
)
_OWN_NAMESPACES = ("urn:activemq", "urn:hornetq", "urn:jboss:domain:messaging")
_LEFT_OUT_AT_THE_END = re.compile(r"(?:\.\.\.|…)\s*$")
_COMPARED = 20
_WHOLE = ("configuration", "subsystem", "domain")
_OWN_NAMESPACE = {"core": "urn:activemq:core", "jms": "urn:activemq:jms", "configuration": "urn:activemq"}


class Element(NamedTuple):
    """Top-level element: its tag as written, where it begins and ends, and where its end tag begins."""

    name: str
    tag: str
    start: int
    end: int
    closed: int


class Fragment(NamedTuple):
    """What a text was taken for, in words, and the tags of a whole file that belong around it.

    ``complete``: no ellipsis marks an omission. ``added`` are the paths of elements that belong around parts of it.
    """

    taken_for: str
    tags: tuple[str, ...]
    edition: Edition | None
    complete: bool
    added: frozenset[str] = frozenset()

    @property
    def of_application_server(self) -> bool:
        """Return whether the fragment is part of a messaging subsystem."""
        return bool(self.tags) and self.tags[0].startswith("subsystem")

    @property
    def inside_server(self) -> bool:
        """Return whether the fragment lies inside the broker's settings, the others of which are missing."""
        return bool(self.tags) and self.tags[-1].startswith(("core", "server", 'configuration xmlns="urn:hornetq"'))

    def whole(self, replaced: ReplacedText) -> ReplacedText:
        """Return the text completed to a whole file; offsets still map to the fragment."""
        missing = _end_tags(replaced.text)
        if missing:
            end = len(replaced.text)
            pieces = [*(replaced.pieces or [(0, 0, True)]), (end, replaced.before(end), False)]
            replaced = ReplacedText(replaced.text + missing, replaced.placeholders, pieces)
        elements = list(_top(replaced.text))
        around = [_around(element, replaced.text, self.edition) if self.tags else None for element in elements]
        tags = self.tags
        if tags and "<xi:" in replaced.text and "xmlns:xi" not in replaced.text:
            tags = (*tags[:-1], f'{tags[-1]} xmlns:xi="{XINCLUDE}"')
        return _Insertion(replaced).result(tags, elements, [element.chain if element else () for element in around])


def fragment_in(text: str, edition: Edition | None) -> Fragment | None:
    """Return the fragment that a text is; None for whole files, and for what is part of no configuration.

    If ``edition`` is None, every edition is tried.
    """
    first = next((surrounding[0] for surrounding in _TAG.finditer(text) if surrounding[0][1] not in "!?"), "")
    namespace = "" if first.startswith("<xi:") else _namespace(first)
    if not first or (namespace and not namespace.startswith(_OWN_NAMESPACES)):
        return None
    missing = _end_tags(text)
    complete = not missing and _ELLIPSIS.search(text) is None
    if _name(first) in _WHOLE:
        return None if complete else Fragment(f"<{_name(first)}>", (), edition, complete=False)
    text += missing
    elements = list(_top(text))
    around = [surrounding for element in elements if (surrounding := _around(element, text, edition))]
    if not elements or len(around) < len(elements) or len({element.tags for element in around}) > 1:
        return fragment_in(text, Edition.HORNETQ_2_4) if edition is None else None
    chains = {element.chain for element in around}
    added = (name for chain in chains for name in accumulate(chain, "{}/{}".format))
    names = list(dict.fromkeys(element.name for element in elements))
    deepest = max(chains, key=len)
    words = f"<{deepest[-1]}>" if len(deepest) > 1 else around[0].words
    above = "".join(f"/{tag.partition(' ')[0]}" for tag in around[0].tags)
    taken_for = f"{some(f'<{name}>' for name in names)} of {words}"
    return Fragment(taken_for, around[0].tags, edition, complete, frozenset(f"{above}/{name}" for name in added))


class _Around(NamedTuple):
    """Tags that are put around all elements, and what these then are; ``chain``: the elements around one of them."""

    words: str
    tags: tuple[str, ...]
    chain: tuple[str, ...] = ()


_CORE = _Around("<core>", ('configuration xmlns="urn:activemq"', 'core xmlns="urn:activemq:core"'))
_CONFIGURATION = _Around("<configuration>", ('configuration xmlns="urn:activemq"',))
_HORNETQ = _Around("HornetQ's <configuration>", ('configuration xmlns="urn:hornetq"',))


def _around(element: Element, text: str, edition: Edition | None) -> _Around | None:
    """Return the elements that belong around an element of a text; None if it is no part of a configuration."""
    name = element.name
    if name in _OWN_NAMESPACE:
        return _CONFIGURATION
    namespace = _namespace(element.tag)
    servers = [
        (kind, tag)
        for product, tag in _SERVERS
        if (kind := _version(product, edition)) and (not namespace or namespace.startswith(f"{DOMAIN}{product}:"))
    ]
    for kind, tag in servers:
        if name == tag.partition(" ")[0]:
            return _Around(f"{kind.product}:{kind.version}", (_subsystem(kind),))
    of_core = _HORNETQ if edition is Edition.HORNETQ_2_4 else _CORE
    if element.tag.startswith("<xi:"):
        return of_core
    attributes = _attributes(element.tag)
    inside = text[element.start + len(element.tag) : element.closed]
    below = {child.name for child in _top(inside)}
    candidates = [(_of_server(kind, tag), ("subsystem.csv", kind.product, _server_type(tag))) for kind, tag in servers]
    if not namespace.startswith(DOMAIN) and (name != "address-setting" or "name" not in attributes):
        document = "hq-core" if edition is Edition.HORNETQ_2_4 else "core"
        candidates.insert(0, (of_core, ("schema.csv", document, "configurationType")))
    for around, tables in candidates:
        surroundings = _surroundings(*tables)
        elsewhere = surroundings.keys() if around is of_core else ()
        for where in surroundings.get(name, ()):
            if where.fits(attributes, below, inside, elsewhere):
                return around._replace(chain=where.chain)
    return None


# messaging servers of an application server: the subsystem, and the tag of one
_SERVERS = (("messaging-activemq", 'server name="default"'), ("messaging", "hornetq-server"))


def _of_server(kind: Subsystem, tag: str) -> _Around:
    return _Around(f"<{tag.partition(' ')[0]}> of {kind.product}:{kind.version}", (_subsystem(kind), tag))


def _server_type(tag: str) -> str:
    return f"subsystem.{tag.partition(' ')[0]}"


def _subsystem(kind: Subsystem) -> str:
    return f'subsystem xmlns="{kind.namespace}"'


@cache
def _version(product: str, edition: Edition | None) -> Subsystem | None:
    """Return the newest version of a subsystem, or the newest that contains that edition."""
    fitting = [subsystem for subsystem in known_subsystems(product) if edition in (None, subsystem.edition)]
    return fitting[-1] if fitting else None


class _Surroundings(NamedTuple):
    """Place of an element: the elements around it below ``core``; attributes it may and must have, and its children."""

    chain: tuple[str, ...]
    attributes: Collection[str]
    needed: frozenset[str]
    elements: Collection[str]

    def fits(self, attributes: set[str], below: set[str], inside: str, elsewhere: Collection[str] = ()) -> bool:
        """Return whether most attributes and children of an element are allowed at this place, misspelt ones included.

        Children named in ``elsewhere`` count as allowed.
        """
        text_alone = not below and inside.strip(" \t\r\n.…") != ""
        strange = _strange(attributes, self.attributes)
        return (
            not (text_alone and self.elements)
            and (not strange or (self.needed <= attributes and 2 * strange <= len(attributes)))
            and 2 * _strange(below - set(elsewhere), self.elements) <= len(below)
        )


def _strange(names: set[str], known_names: Collection[str]) -> int:
    """Return the number of names that neither are known nor resemble a known one."""
    from difflib import get_close_matches

    strange = [name for name in names if name not in known_names]
    # to compare names takes time, and more of them say no more
    return len(strange) - sum(1 for name in sorted(strange)[:_COMPARED] if get_close_matches(name, known_names, 1))


@cache
def _surroundings(table: str, document: str, top: str) -> dict[str, list[_Surroundings]]:
    """Return the places where each element below a type may occur.

    Nearest to the type first; of equally near ones, those inside a list of that name (``divert`` in ``diverts``) first.
    """
    types: dict[str, dict[str, str]] = {}
    for of, owner, kind, name, its_type, *_ in read_table(table):
        if of == document and kind == "element":
            types.setdefault(owner, {})[name] = its_type.removeprefix("@") if its_type[:1] == "@" else ""
    places_by_name: dict[str, list[_Surroundings]] = {}
    waiting: list[tuple[tuple[str, ...], str]] = [((), top)]
    reached = {top}
    for chain, owner in waiting:
        for name, its_type in types.get(owner, {}).items():
            members = (_members(table, document).get((its_type, kind), {}) for kind in ("attribute", "element"))
            attributes, elements = members
            needed = frozenset(attribute for attribute, use in attributes.items() if use == "required")
            places_by_name.setdefault(name, []).append(_Surroundings(chain, attributes.keys(), needed, elements.keys()))
            if its_type and its_type not in reached:
                reached.add(its_type)
                waiting.append(((*chain, name), its_type))
    for name, places in places_by_name.items():
        places.sort(key=lambda place: (len(place.chain), place.chain[-1:] not in ((f"{name}s",), (f"{name}es",))))
    return places_by_name


@cache
def _members(table: str, document: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return attributes and elements of each type, and whether they are required."""
    members: dict[tuple[str, str], dict[str, str]] = {}
    for of, owner, kind, name, *columns in read_table(table):
        if of == document:
            members.setdefault((owner, kind), {})[name] = columns[4]
    return members


def _attributes(tag: str) -> set[str]:
    names = re.findall(r"""\s([\w.:-]+)\s*=\s*(?:"[^"]*"|'[^']*')""", tag)
    return {name for name in names if name != "xmlns" and ":" not in name}


def _namespace(tag: str) -> str:
    """Return the namespace that the tag itself declares for its element, or an empty string if it declares none."""
    prefix = re.match(r"<([\w.-]+):", tag)
    attribute = f"xmlns:{re.escape(prefix[1])}" if prefix else "xmlns"
    declaration = re.search(rf"""\s{attribute}\s*=\s*["']([^"']*)""", tag)
    return declaration[1] if declaration else ""


def _name(tag: str) -> str:
    match = _NAME.match(tag)
    return match[1].rstrip(".") if match else ""


def _top(text: str) -> Iterator[Element]:
    """Yield the top-level elements of a text; malformed markup is left for the parser to report."""
    depth = start = 0
    opened = ""
    for match in _TAG.finditer(text):
        tag = match.group()
        if tag[1] in "!?":
            continue
        closes = tag[1] == "/"
        if not depth and not closes:
            start, opened = match.start(), tag
        depth += -1 if closes else tag[-2] != "/"
        if depth <= 0 and opened:
            yield Element(_name(opened), opened, start, match.end(), match.start() if closes else match.end())
            depth, opened = 0, ""


def _end_tags(text: str) -> str:
    """Return the end tags of elements still open at an ellipsis that ends the text; empty without such an ellipsis."""
    if not _LEFT_OUT_AT_THE_END.search(text[-100:]):
        return ""
    opened: list[str] = []
    for match in _TAG.finditer(text):
        tag = match.group()
        if tag[1] == "/" and opened:
            opened.pop()
        elif tag[1] not in "!?/" and tag[-2] != "/":
            opened.append(re.split(r"[\s>]", tag[1:], maxsplit=1)[0])
    return "".join(f"</{name}>" for name in reversed(opened))


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


class _Insertion:
    """Text with inserted pieces, each of which has the position of the text after it."""

    def __init__(self, replaced: ReplacedText) -> None:
        self.replaced = replaced
        self.pieces: list[tuple[int, int, bool]] = []
        self.out: list[str] = []
        self.source = ""
        self.verbatim = {after: kept for after, _, kept in replaced.pieces}
        self.cuts: list[int] = []
        self.spaces: dict[int, str] = {}
        self.length = 0

    def result(self, around: tuple[str, ...], elements: list[Element], chains: list[tuple[str, ...]]) -> ReplacedText:
        """Return the text with tags around all of it, and around elements that share the same ancestors.

        Elements with the same chain of ancestors are moved together.
        """
        text = re.sub(r"<\?xml\s.*?\?>", lambda match: _blank(match[0]), self.replaced.text, count=1)
        names = re.finditer(r"<(core|jms|configuration)(?![\w-])(?![^>]*\sxmlns)", text)
        top = {element.start for element in elements}
        # one of HornetQ stands inside of another
        mine = [match for match in names if match[1] != "configuration" or match.start() in top]
        self.spaces = {match.end(): f' xmlns="{_OWN_NAMESPACE[match[1]]}"' for match in mine}
        self.cuts = sorted({*self.verbatim, *self.spaces})
        self.source = _ELLIPSIS.sub(lambda match: _blank(match[0]), text)
        parts_by_chain: dict[tuple[tuple[str, ...], int], list[tuple[int, Element]]] = {}
        at = 0
        for element, chain in zip(elements, chains, strict=True):
            parts_by_chain.setdefault((chain, 0 if chain else element.start), []).append((at, element))
            at = element.end
        self.insert("".join(f"<{tag}>" for tag in around), 0)
        for (chain, _), parts in parts_by_chain.items():
            self.insert("".join(f"<{name}>" for name in chain), parts[0][1].start)
            for before, element in parts:
                self.take(before, element.end)
            self.insert("".join(f"</{name}>" for name in reversed(chain)), parts[-1][1].end)
        self.take(at, len(text))
        self.insert("".join(f"</{tag.partition(' ')[0]}>" for tag in reversed(around)), len(text))
        return ReplacedText("".join(self.out), self.replaced.placeholders, self.pieces)

    def insert(self, piece: str, at: int) -> None:
        """Insert a piece that is not in the file."""
        if piece:
            self._put(piece, self.replaced.before(at), verbatim=False)

    def take(self, start: int, end: int) -> None:
        """Copy a part of the text with its replacements, adding the namespaces that its elements lack."""
        inside = self.cuts[bisect_right(self.cuts, start) : bisect_left(self.cuts, end)]
        for first, last in pairwise((start, *inside, end) if end > start else ()):
            self.insert(self.spaces.get(first, ""), first)
            self._put(self.source[first:last], self.replaced.before(first), verbatim=self.verbatim.get(first, True))

    def _put(self, piece: str, origin: int, *, verbatim: bool) -> None:
        self.pieces.append((self.length, origin, verbatim))
        self.out.append(piece)
        self.length += len(piece)
