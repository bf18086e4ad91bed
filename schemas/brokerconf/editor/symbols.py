"""Outline of a broker.xml: everything that has a name or a match."""

from __future__ import annotations

from dataclasses import dataclass, field

from brokerconf.editor.scanning import Tag, attributes, tags

_NAMES = ("match", "name", "type")


@dataclass(slots=True)
class OutlineEntry:
    """Named element, from its start tag to its end tag, and those inside it."""

    name: str
    element: str
    start: int
    name_stop: int
    stop: int
    inside: list[OutlineEntry] = field(default_factory=list)


def outline(text: str) -> list[OutlineEntry]:
    """Return the elements with a name attribute, each nested in the closest such element around it."""
    top = OutlineEntry("", "", 0, 0, len(text))
    around: list[tuple[Tag, OutlineEntry]] = []
    for tag in tags(text):
        above = around[-1][1] if around else top
        if tag.closes:
            at = next((n for n in range(len(around) - 1, -1, -1) if around[n][0].name == tag.name), -1)
            if at >= 0:
                for begun, entry in around[at:]:
                    entry.stop = tag.stop if entry.start == begun.start else entry.stop
                del around[at:]
            continue
        named = (
            {attribute.name: attribute.value for attribute in attributes(text, tag)}
            if "=" in text[tag.start : tag.stop]
            else {}
        )
        name = next((named[key] for key in _NAMES if named.get(key)), "")
        entry = OutlineEntry(name, tag.local, tag.start, tag.stop, tag.stop) if name else above
        if name:
            above.inside.append(entry)
        if tag.end != "/>" and len(around) < _DEEPEST:
            around.append((tag, entry))
    return top.inside


_DEEPEST = 300
