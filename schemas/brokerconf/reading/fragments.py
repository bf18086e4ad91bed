"""Parts of a configuration that stand alone, as files that others include and examples of manuals do.

A part is put where it belongs, in the text, before that is parsed: places in the file stay what they are. Several
elements may stand side by side; an ellipsis between elements stands for nothing.
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
    """An element at the top: its tag as written, where it begins and ends, and where its end tag stands."""

    name: str
    tag: str
    start: int
    end: int
    closed: int


class Fragment(NamedTuple):
    """What a text was taken for, in words, and the tags of a whole file that belong around it.

    ``complete``: no ellipsis stands for something that was left out. ``added`` are the paths of elements that belong
    around some of it.
    """

    taken_for: str
    tags: tuple[str, ...]
    edition: Edition | None
    complete: bool
    added: frozenset[str] = frozenset()

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
        missing = _end_tags(replaced.text)
        if missing:
            end = len(replaced.text)
            pieces = [*(replaced.pieces or [(0, 0, True)]), (end, replaced.before(end), False)]
            replaced = ReplacedText(replaced.text + missing, replaced.placeholders, pieces)
        elements = list(_top(replaced.text))
        around = [_around(each, replaced.text, self.edition) if self.tags else None for each in elements]
        tags = self.tags
        if tags and "<xi:" in replaced.text and "xmlns:xi" not in replaced.text:
            tags = (*tags[:-1], f'{tags[-1]} xmlns:xi="{XINCLUDE}"')
        return _Insertion(replaced).made(tags, elements, [each.chain if each else () for each in around])


def fragment_in(text: str, edition: Edition | None) -> Fragment | None:
    """The fragment that a text is; None for whole files, and for what is no part of any. ``edition`` None: any."""
    first = next((found[0] for found in _TAG.finditer(text) if found[0][1] not in "!?"), "")
    namespace = "" if first.startswith("<xi:") else _namespace(first)
    if not first or (namespace and not namespace.startswith(_OWN_NAMESPACES)):
        return None
    missing = _end_tags(text)
    complete = not missing and _ELLIPSIS.search(text) is None
    if _name(first) in _WHOLE:
        return None if complete else Fragment(f"<{_name(first)}>", (), edition, complete=False)
    text += missing
    elements = list(_top(text))
    around = [found for each in elements if (found := _around(each, text, edition))]
    if not elements or len(around) < len(elements) or len({each.tags for each in around}) > 1:
        return fragment_in(text, Edition.HORNETQ_2_4) if edition is None else None
    chains = {each.chain for each in around}
    added = (name for chain in chains for name in accumulate(chain, "{}/{}".format))
    names = list(dict.fromkeys(each.name for each in elements))
    deepest = max(chains, key=len)
    words = f"<{deepest[-1]}>" if len(deepest) > 1 else around[0].words
    above = "".join(f"/{tag.partition(' ')[0]}" for tag in around[0].tags)
    taken_for = f"{some(f'<{name}>' for name in names)} of {words}"
    return Fragment(taken_for, around[0].tags, edition, complete, frozenset(f"{above}/{name}" for name in added))


class _Around(NamedTuple):
    """Tags that are put around all elements, and what they make of them; ``chain``: what stands around one in these."""

    words: str
    tags: tuple[str, ...]
    chain: tuple[str, ...] = ()


_CORE = _Around("<core>", ('configuration xmlns="urn:activemq"', 'core xmlns="urn:activemq:core"'))
_CONFIGURATION = _Around("<configuration>", ('configuration xmlns="urn:activemq"',))
_HORNETQ = _Around("HornetQ's <configuration>", ('configuration xmlns="urn:hornetq"',))


def _around(element: Element, text: str, edition: Edition | None) -> _Around | None:
    """What belongs around an element of a text; None for what is no part of a configuration."""
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
    below = {each.name for each in _top(inside)}
    candidates = [(_of_server(kind, tag), ("subsystem.csv", kind.product, _server_type(tag))) for kind, tag in servers]
    if not namespace.startswith(DOMAIN) and (name != "address-setting" or "name" not in attributes):
        document = "hq-core" if edition is Edition.HORNETQ_2_4 else "core"
        candidates.insert(0, (of_core, ("schema.csv", document, "configurationType")))
    for around, tables in candidates:
        known = _surroundings(*tables)
        elsewhere = known.keys() if around is of_core else ()
        for where in known.get(name, ()):
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
    """The newest version of a subsystem, or the newest with that edition inside."""
    fitting = [each for each in known_subsystems(product) if edition in (None, each.edition)]
    return fitting[-1] if fitting else None


class _Surroundings(NamedTuple):
    """Where an element may stand: the elements around it below ``core``; what it may and must have, and hold."""

    chain: tuple[str, ...]
    attributes: Collection[str]
    needed: frozenset[str]
    elements: Collection[str]

    def fits(self, attributes: set[str], below: set[str], inside: str, elsewhere: Collection[str] = ()) -> bool:
        """Whether most of what an element has is what it may have there, misspelt or not, or stands elsewhere."""
        text_alone = not below and inside.strip(" \t\r\n.…") != ""
        strange = _strange(attributes, self.attributes)
        return (
            not (text_alone and self.elements)
            and (not strange or (self.needed <= attributes and 2 * strange <= len(attributes)))
            and 2 * _strange(below - set(elsewhere), self.elements) <= len(below)
        )


def _strange(names: set[str], known: Collection[str]) -> int:
    """How many are none of those known, nor like one."""
    from difflib import get_close_matches

    strange = [name for name in names if name not in known]
    # to compare names takes time, and more of them say no more
    return len(strange) - sum(1 for name in sorted(strange)[:_COMPARED] if get_close_matches(name, known, 1))


@cache
def _surroundings(table: str, document: str, top: str) -> dict[str, list[_Surroundings]]:
    """Where the elements below a type may stand, nearest to it first, and in a list of their name before others."""
    types: dict[str, dict[str, str]] = {}
    for of, owner, kind, name, its_type, *_ in read_table(table):
        if of == document and kind == "element":
            types.setdefault(owner, {})[name] = its_type.removeprefix("@") if its_type[:1] == "@" else ""
    found: dict[str, list[_Surroundings]] = {}
    waiting: list[tuple[tuple[str, ...], str]] = [((), top)]
    reached = {top}
    for chain, owner in waiting:
        for name, its_type in types.get(owner, {}).items():
            members = (_members(table, document).get((its_type, kind), {}) for kind in ("attribute", "element"))
            attributes, elements = members
            needed = frozenset(each for each, use in attributes.items() if use == "required")
            found.setdefault(name, []).append(_Surroundings(chain, attributes.keys(), needed, elements.keys()))
            if its_type and its_type not in reached:
                reached.add(its_type)
                waiting.append(((*chain, name), its_type))
    for name, places in found.items():
        places.sort(key=lambda one: (len(one.chain), one.chain[-1:] not in ((f"{name}s",), (f"{name}es",))))
    return found


@cache
def _members(table: str, document: str) -> dict[tuple[str, str], dict[str, str]]:
    """Attributes and elements of each type, and whether they are required."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for of, owner, kind, name, *rest in read_table(table):
        if of == document:
            found.setdefault((owner, kind), {})[name] = rest[4]
    return found


def _attributes(tag: str) -> set[str]:
    names = re.findall(r"""\s([\w.:-]+)\s*=\s*(?:"[^"]*"|'[^']*')""", tag)
    return {name for name in names if name != "xmlns" and ":" not in name}


def _namespace(tag: str) -> str:
    """Return the namespace that the tag itself declares for its element, or an empty string if it declares none."""
    prefix = re.match(r"<([\w.-]+):", tag)
    attribute = f"xmlns:{re.escape(prefix[1])}" if prefix else "xmlns"
    found = re.search(rf"""\s{attribute}\s*=\s*["']([^"']*)""", tag)
    return found[1] if found else ""


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
            yield Element(_name(opened), opened, start, found.end(), found.start() if closes else found.end())
            depth, opened = 0, ""


def _end_tags(text: str) -> str:
    """The end tags of what is open at an ellipsis that ends the text."""
    if not _LEFT_OUT_AT_THE_END.search(text[-100:]):
        return ""
    opened: list[str] = []
    for found in _TAG.finditer(text):
        tag = found.group()
        if tag[1] == "/" and opened:
            opened.pop()
        elif tag[1] not in "!?/" and tag[-2] != "/":
            opened.append(re.split(r"[\s>]", tag[1:], maxsplit=1)[0])
    return "".join(f"</{name}>" for name in reversed(opened))


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

    def made(self, around: tuple[str, ...], elements: list[Element], chains: list[tuple[str, ...]]) -> ReplacedText:
        """The text with tags around all of it, and around those that have the same above them: these stand together."""
        text = re.sub(r"<\?xml\s.*?\?>", lambda found: _blank(found[0]), self.replaced.text, count=1)
        names = re.finditer(r"<(core|jms|configuration)(?![\w-])(?![^>]*\sxmlns)", text)
        top = {element.start for element in elements}
        # one of HornetQ stands inside of another
        mine = [found for found in names if found[1] != "configuration" or found.start() in top]
        self.spaces = {found.end(): f' xmlns="{_OWN_NAMESPACE[found[1]]}"' for found in mine}
        self.cuts = sorted({*self.verbatim, *self.spaces})
        self.source = _ELLIPSIS.sub(lambda found: _blank(found[0]), text)
        together: dict[tuple[tuple[str, ...], int], list[tuple[int, Element]]] = {}
        at = 0
        for element, chain in zip(elements, chains, strict=True):
            together.setdefault((chain, 0 if chain else element.start), []).append((at, element))
            at = element.end
        self.insert("".join(f"<{tag}>" for tag in around), 0)
        for (chain, _), parts in together.items():
            self.insert("".join(f"<{name}>" for name in chain), parts[0][1].start)
            for before, element in parts:
                self.take(before, element.end)
            self.insert("".join(f"</{name}>" for name in reversed(chain)), parts[-1][1].end)
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
