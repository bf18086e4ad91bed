"""A document that follows an edit of a single value without being read again.

Reading takes most of the time for a large file. An edit that is more than the text of one element or attribute, or may
mean something to a parser, is left to a new reading.
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
    """Document that follows edits of the text that it was read from."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.same_verdict = False
        self._nodes: list[ConfigNode] | None = None

    def follow(self, new: str, first: int, last: int) -> bool:
        """Update the document for ``new``, which differs from the last text between two offsets of the latter.

        Returns False, without changes, if the edit may be more than another value of one element or attribute.
        ``same_verdict`` is afterwards whether the schema's verdict stays, too.
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
        """Keep ``same_verdict`` only if the schema asks for plain text, for which any text is valid."""
        fact = SchemaPlaces(self.document).fact(node, attribute)
        self.same_verdict = fact is not None and fact.type == "string" and not fact.enum

    def _node(self, ordinal: int) -> ConfigNode:
        if self._nodes is None:
            self._nodes = list(self.document.root.walk())
        return self._nodes[ordinal]

    def _attribute(self, node: ConfigNode, tag: Tag, edit: tuple[int, int, str]) -> bool:
        first, last, added = edit
        text = self.document.source.original
        for attribute in attributes(text, tag):
            if attribute.value_start <= first and last <= attribute.value_stop and attribute.value_start >= 0:
                value = text[attribute.value_start : first] + added + text[last : attribute.value_stop]
                if attribute.name.startswith("xml") or ":" in attribute.name or re.search(r"[&\n\t]", value):
                    return False
                element_of(self.document, node).set(attribute.name, value)
                node.attributes[attribute.name] = value
                self._judge(node, attribute.name)
                return True
        return False
