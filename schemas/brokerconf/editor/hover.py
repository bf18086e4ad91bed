"""Descriptions of the element, attribute or setting at a place of a broker.xml."""

from __future__ import annotations

from typing import NamedTuple

from brokerconf.editor.descriptions import ElementDescription, attribute_lines, element_lines
from brokerconf.editor.scanning import Checkpoints, CursorPlace, cursor_at
from brokerconf.schema.components import element_at
from pagefmt.editions import Edition


class HoverText(NamedTuple):
    """Lines that describe the word between two offsets."""

    start: int
    stop: int
    lines: tuple[str, ...]


def xml_hover(text: str, offset: int, edition: Edition, checkpoints: Checkpoints | None = None) -> HoverText | None:
    """Describe the tag, attribute or value at an offset; return None if nothing is known about it."""
    cursor = cursor_at(text, offset, checkpoints)
    path = cursor.path
    if cursor.place in (CursorPlace.ELEMENT, CursorPlace.ATTRIBUTE, CursorPlace.ATTRIBUTE_VALUE) and cursor.tag:
        path = [*path, cursor.tag.local]
    element = element_at(edition, path)
    if element is None or cursor.start == cursor.stop or cursor.place is CursorPlace.NOTHING:
        return None
    described = ElementDescription(element, edition)
    if cursor.place in (CursorPlace.ATTRIBUTE, CursorPlace.ATTRIBUTE_VALUE):
        has_attribute = cursor.attribute in element.attributes
        lines = attribute_lines(described, cursor.attribute) if has_attribute else None
    else:
        lines = element_lines(described) if cursor.place is not CursorPlace.TEXT or element.value else None
    return None if lines is None else HoverText(cursor.start, cursor.stop, tuple(lines))
