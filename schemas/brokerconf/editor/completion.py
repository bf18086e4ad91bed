"""Completion in a broker.xml: elements, attributes and words that an edition's schema allows at a place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from brokerconf.editor.descriptions import ElementDescription, attribute_lines, element_lines, kind_of, occurrence
from brokerconf.editor.scanning import Checkpoints, CursorPlace, MarkupContext, cursor_at, siblings_after
from brokerconf.schema.components import CONFIGURATION, ElementComponent, ValueComponent, element_at, roots
from pagefmt.editions import Edition

_DOCUMENT = 'configuration xmlns="urn:activemq">\n  <core xmlns="urn:activemq:core">$0</core>\n</configuration>'


class ProposalType(Enum):
    """Type of what a completion inserts."""

    ELEMENT = "element"
    ATTRIBUTE = "attribute"
    VALUE = "value"
    PROPERTY = "property"


class Proposal(NamedTuple):
    """Completion proposal: ``text`` replaces the characters from ``start`` to ``stop``.

    ``snippet`` is the same text with ``$1`` and ``$0`` where the caret goes. ``detail`` is a few words, ``about`` the
    lines of a description.
    """

    label: str
    type: ProposalType
    start: int
    stop: int
    text: str
    snippet: str
    detail: str = ""
    about: tuple[str, ...] = ()


def xml_proposals(
    text: str, offset: int, edition: Edition, checkpoints: Checkpoints | None = None
) -> Iterator[Proposal]:
    """Yield what may be written at an offset, in the schema's order."""
    cursor = cursor_at(text, offset, checkpoints)
    match cursor.place:
        case CursorPlace.ELEMENT:
            yield from _elements(text, cursor, edition, "")
        case CursorPlace.END if cursor.around:
            name = cursor.around[-1].tag.name
            close = "" if text[cursor.stop : cursor.stop + 1] == ">" else ">"
            yield Proposal(name, ProposalType.ELEMENT, cursor.start, cursor.stop, name + close, name + close)
        case CursorPlace.ATTRIBUTE:
            yield from _attributes(text, cursor, edition)
        case CursorPlace.ATTRIBUTE_VALUE:
            element = _element(cursor, edition)
            attribute = element.attributes.get(cursor.attribute) if element else None
            yield from _values(cursor, attribute.value if attribute else None)
        case CursorPlace.TEXT:
            element = element_at(edition, cursor.path)
            if element is not None and element.value is not None:
                yield from _values(cursor, element.value)
            else:
                yield from _elements(text, cursor, edition, "<")


def _elements(text: str, cursor: MarkupContext, edition: Edition, opening: str) -> Iterator[Proposal]:
    if opening and text[cursor.start : cursor.stop].strip():
        return
    if not cursor.path and edition is not Edition.HORNETQ_2_4:
        whole = f"{opening}{_DOCUMENT}"
        yield Proposal(
            CONFIGURATION,
            ProposalType.ELEMENT,
            cursor.start,
            cursor.stop,
            whole.replace("$0", ""),
            whole,
            "the document element",
        )
    for element in _allowed(text, cursor, edition):
        described = ElementDescription(element, edition)
        name = element.name
        corrected = re.match(r"\s*(?:/?>|[^\s<>/=]+\s*=)", text[cursor.stop : cursor.stop + 200]) is not None
        # a name that is corrected keeps the tag that stands around it
        snippet = opening + name if corrected and not opening else opening + _written(element, edition)
        plain = re.sub(r"\$\d", "", snippet)
        least, most = element.occurs
        kind = f", {kind_of(element.value)}" if element.value else ""
        yield Proposal(
            name,
            ProposalType.ELEMENT,
            cursor.start,
            cursor.stop,
            plain,
            snippet,
            f"{occurrence(least, most)}{kind}",
            tuple(element_lines(described)),
        )


def _allowed(text: str, cursor: MarkupContext, edition: Edition) -> Iterable[ElementComponent]:
    path = cursor.path
    before = cursor.around[-1].children if cursor.around else ()
    if path in ([], [CONFIGURATION]) and CONFIGURATION not in roots(edition):
        return [element for name, element in roots(edition).items() if path and name not in before]
    parent = element_at(edition, path) if path else None
    if parent is None:
        return [element for name, element in roots(edition).items() if not path]
    allowed = parent.following(before)
    if parent.order == "all":
        behind = Counter(siblings_after(text, cursor.stop))
        allowed = [name for name in allowed if parent.children[name].has_room(behind[name])]
    return [parent.children[name] for name in allowed]


def _written(element: ElementComponent, edition: Edition) -> str:
    """Return the element's tags as completed, with a place for each required attribute."""
    needed = [name for name, attribute in element.attributes.items() if attribute.required]
    tag = element.name + "".join(f' {name}="${n}"' for n, name in enumerate(needed, 1))
    if len(element.path) == 1:
        space = "urn:hornetq" if edition is Edition.HORNETQ_2_4 else f"urn:activemq:{element.name}"
        tag += f' xmlns="{space}"'
    if element.value is None and not element.children:
        return f"{tag}/>"
    return f"{tag}>$0</{element.name}>"


def _element(cursor: MarkupContext, edition: Edition) -> ElementComponent | None:
    """Return the element whose tag contains the cursor, or None if there is no such element."""
    return element_at(edition, [*cursor.path, cursor.tag.local]) if cursor.tag else None


def _attributes(text: str, cursor: MarkupContext, edition: Edition) -> Iterator[Proposal]:
    element = _element(cursor, edition)
    if element is None or cursor.tag is None:
        return
    tag = text[cursor.tag.start : cursor.start] + text[cursor.stop : cursor.tag.stop]
    valued = text[cursor.stop : cursor.stop + 1] == "="
    for name, attribute in element.attributes.items():
        if re.search(rf"\s{re.escape(name)}\s*=", tag) is None:
            snippet = name if valued else f'{name}="$1"'
            yield Proposal(
                name,
                ProposalType.ATTRIBUTE,
                cursor.start,
                cursor.stop,
                snippet.replace("$1", ""),
                snippet,
                f"{'required' if attribute.required else 'optional'}, {kind_of(attribute.value)}",
                tuple(attribute_lines(ElementDescription(element, edition), name)),
            )


def _values(cursor: MarkupContext, value: ValueComponent | None) -> Iterator[Proposal]:
    words = () if value is None else value.words or (("true", "false") if value.type == "boolean" else ())
    for word in words:
        detail = "default" if value and word == value.default else ""
        yield Proposal(word, ProposalType.VALUE, cursor.start, cursor.stop, word, word, detail)
