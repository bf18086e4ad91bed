"""A document that follows an edit of its text, where a single value changes: nothing else has to be read again.

A large file takes most of its time to be read. Whatever is more than the text of one element or one attribute, or may
mean something to a parser, is left to it.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from brokerconf.editor.scanning import Tag, attributes
from brokerconf.reading.document import ConfigNode, Document, FileKind
from brokerconf.schema.schema_places import SchemaPlaces
from brokerconf.schema.validation import element_of

# neither markup nor a part of a reference or placeholder, nor what a parser refuses or reads as something else
_PLAIN = re.compile(r"[^<>&$\"'\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]*")


class PatchedDocument:
    """A document and the text that it was read from."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.same_verdict = False
        self._nodes: list[ConfigNode] | None = None

    def follow(self, new: str, first: int, last: int) -> bool:
        """Takes over an edit: the text is now ``new``, which differs from the last one between two offsets of that.

        False, and nothing is changed, where it may be more than another value of one element or attribute.
        ``same_verdict`` is whether the schema's verdict stays, too.
        """
        document = self.document
        source, old = document.source, document.source.original
        if new == old:
            self.same_verdict = True
            return True
        removed, added = old[first:last], new[first : last + len(new) - len(old)]
        plain = _PLAIN.fullmatch(removed) and _PLAIN.fullmatch(added)
        if not plain or len(document.sources) != 1 or document.kind is FileKind.EAP6 or source.text is not old:
            return False
        ordinal = bisect_right(source.tags.starts, first) - 1
        if ordinal < 0 or document.tree is None or document.badly_decoded:
            return False
        start, stop = source.tags.starts[ordinal], source.tags.starts[ordinal] + len(source.start_tag(ordinal))
        node = self._node(ordinal)
        if first >= stop:
            end = old.find("<", stop)
            value = old[stop:first] + added + old[last:end]
            if end < last or node.children or "&" in value or "]]" in value or not value or end == stop:
                return False
            element_of(document, node).text = value
            node.own_text = value
            self._judge(node)
        elif not self._attribute(node, Tag(node.tag, start, stop, False, ">"), (first, last, added)):
            return False
        source.follow(new, first, last)
        return True

    def _judge(self, node: ConfigNode, attribute: str = "") -> None:
        """Any text is as good as another where the schema asks for text."""
        fact = SchemaPlaces(self.document).fact(node, attribute)
        self.same_verdict = fact is not None and fact.type == "string" and not fact.enum

    def _node(self, ordinal: int) -> ConfigNode:
        if self._nodes is None:
            self._nodes = list(self.document.root.walk())
        return self._nodes[ordinal]

    def _attribute(self, node: ConfigNode, tag: Tag, edit: tuple[int, int, str]) -> bool:
        first, last, added = edit
        text = self.document.source.original
        for one in attributes(text, tag):
            if one.value_start <= first and last <= one.value_stop and one.value_start >= 0:
                value = text[one.value_start : first] + added + text[last : one.value_stop]
                if one.name.startswith("xml") or ":" in one.name or re.search(r"[&\n\t]", value):
                    return False
                element_of(self.document, node).set(one.name, value)
                node.attributes[one.name] = value
                self._judge(node, one.name)
                return True
        return False
