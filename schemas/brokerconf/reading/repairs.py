"""Sure repairs of a configuration: what the broker would treat the same, or what can have been meant in one way alone.

Each gives None where the text is not as plain as it has to be: placeholders, comments and markup in it are left alone.
"""

from __future__ import annotations

import codecs

from brokerconf.reading.document import ConfigNode
from pagefmt.findings import Fix, Position


def without_element(node: ConfigNode) -> Fix | None:
    """The element goes, and its line with it where it stands alone."""
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
    """The byte order marks of UTF-8 at the beginning of a file go."""
    marks = (len(raw) - len(raw.lstrip(codecs.BOM_UTF8))) // len(codecs.BOM_UTF8)
    return Fix(Position(name, 1, 1), "\ufeff" * marks, "") if marks else None


def with_text(node: ConfigNode, text: str) -> Fix | None:
    """The element holds another text, without blanks around it, which a schema may refuse."""
    source, written = node.source, node.raw_text
    if not source.markup or not written.strip() or any(mark in written for mark in "<&$"):
        return None
    begin = source.tags.starts[node.ordinal] + len(source.start_tag(node.ordinal))
    return Fix(source.of_parsed(begin), written, text)


def with_attribute(node: ConfigNode, name: str, text: str) -> Fix | None:
    """The attribute has another value."""
    written = node.attributes.get(name, "")
    if not written or any(mark in written + text for mark in "<&$\"'"):
        return None
    return Fix(node.attribute_position(name), f'{name}="{written}"', f'{name}="{text}"')
