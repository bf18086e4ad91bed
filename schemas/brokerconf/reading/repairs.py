"""Sure repairs of a configuration: equivalent for the broker, or the only thing that can have been meant.

Each function returns None if the text is not plain enough: placeholders, comments and markup in it are left alone.
"""

from __future__ import annotations

import codecs

from brokerconf.reading.document import ConfigNode
from pagefmt.findings import Fix, Position


def without_element(node: ConfigNode) -> Fix | None:
    """Return the fix that removes an element, with its line if nothing else is on it; None if that is not certain."""
    source, text = node.source, node.source.original
    if not source.markup or node.children or node.attributes:
        return None
    start, closing = source.range_of(node.ordinal)
    stop = text.find(">", closing) + 1
    inside = text[start:stop]
    if not stop or "$" in inside or inside.count("<") > 2:
        return None
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", stop)
    alone = last >= 0 and not text[first:start].strip() and not text[stop:last].strip()
    if alone and not source.lies_inside:
        start, stop = first, last + 1
    return Fix(source.position(start), text[start:stop], "")


def without_mark(name: str, raw: bytes) -> Fix | None:
    """Return the fix that removes UTF-8 byte order marks at the beginning of a file; None if there are none."""
    marks = (len(raw) - len(raw.lstrip(codecs.BOM_UTF8))) // len(codecs.BOM_UTF8)
    return Fix(Position(name, 1, 1), "\ufeff" * marks, "") if marks else None


def with_text(node: ConfigNode, text: str) -> Fix | None:
    """Return the fix that replaces an element's text and the blanks around it, which a schema may refuse.

    Returns None if the element is empty or its text contains markup, references or placeholders.
    """
    source, written = node.source, node.raw_text
    if not source.markup or not written.strip() or any(mark in written for mark in "<&$"):
        return None
    begin = source.tags.starts[node.ordinal] + len(source.start_tag(node.ordinal))
    return Fix(source.of_parsed(begin), written, text)


def with_attribute(node: ConfigNode, name: str, text: str) -> Fix | None:
    """Return the fix that replaces an attribute's value; None if quotes, markup or placeholders make it uncertain."""
    written = node.attributes.get(name, "")
    if not written or any(mark in written + text for mark in "<&$\"'"):
        return None
    return Fix(node.attribute_position(name), f'{name}="{written}"', f'{name}="{text}"')
