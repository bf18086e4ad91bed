"""XML parsing that opens nothing: no document type, no entities, no network, no huge trees."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from brokerconf.errors import BrokerConfError
from brokerconf.reading.decoding import without_declared_encoding
from brokerconf.reading.sources import SourceFile
from pagefmt.findings import Finding, Fix, Position, Severity

if TYPE_CHECKING:
    from lxml.etree import XMLSyntaxError, _Element

# What may stand before the document element, but for a document type.
_PROLOG = re.compile(r"\s*(?:<\?xml\b.*?\?>)?(?:\s+|<!--.*?-->|<\?.*?\?>)*", re.DOTALL)

DEPTH = 256
# A name space that is no URI: only this parser minds.
_NO_MATTER = {"WAR_NS_URI", "WAR_NS_URI_RELATIVE"}


class ReadingError(BrokerConfError):
    """Error for a file that cannot or must not be read; ``rule`` names its finding in a lint."""

    def __init__(
        self, rule: str, position: Position, message: str, help: str, why: str = "", fix: Fix | None = None
    ) -> None:
        self.rule, self.position, self.message, self.help, self.why = rule, position, message, help, why
        self.fix = fix
        super().__init__(f"{position}: {message}" + (f" ({help})" if help else ""))

    def finding(self) -> Finding:
        """Return this error as a finding of a lint."""
        why = self.why or "the broker does not start with this file"
        return Finding(self.position, Severity.ERROR, self.rule, self.message, help=self.help, why=why, fix=self.fix)


def parse(source: SourceFile) -> _Element:
    """Parse the replaced text and return its document element; raise ``ReadingError`` if it is malformed."""
    _refuse_document_type(source)
    raw = without_declared_encoding(source.text).encode("utf-8", "replace")
    try:
        return _strictly(raw, source)
    except _NoUri:
        # behind such a fault this parser does not see all others
        with suppress(_NoUri):
            _strictly(re.sub(_NAME_SPACE, lambda match: match[1] + re.sub(_NOT_IN_URI, b"x", match[2]), raw), source)
        return _leniently(raw)


class _NoUri(Exception):
    """Error for a namespace that is no URI, if that is the only fault."""


_NAME_SPACE = rb"""(\sxmlns(?::[^\s=]*)?\s*=\s*)("[^"]*"|'[^']*')"""
_NOT_IN_URI = rb"""(?a)[^\w\-.~:/?@!$&'()*+,;="]"""


def _strictly(raw: bytes, source: SourceFile) -> _Element:
    from lxml import etree

    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_pis=True
    )
    try:
        return etree.fromstring(raw, parser)
    except etree.XMLSyntaxError as err:
        if all(entry.type_name in _NO_MATTER for entry in cast(Any, parser).error_log):
            raise _NoUri from err
        if "xcessive depth" in str(err.msg):
            raise ReadingError(
                "too-deep", _error_position(source, err), f"elements are nested more than {DEPTH} deep", "flatten them"
            ) from err
        raise ReadingError(
            "not-well-formed", _error_position(source, err), _fault_in_own_words(err), "correct the markup"
        ) from err


def _leniently(raw: bytes) -> _Element:
    """Parse a file whose only fault is a malformed namespace URI, which other parsers accept."""
    from lxml import etree

    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, remove_pis=True, recover=True
    )
    return etree.fromstring(raw, parser)


def _refuse_document_type(source: SourceFile) -> None:
    prolog = _PROLOG.match(source.text)
    at = prolog.end() if prolog else 0
    if source.text.startswith("<!DOCTYPE", at):
        raise ReadingError(
            "document-type",
            source.of_parsed(at),
            "a document type declaration is refused: it can pull in other files",
            "remove <!DOCTYPE …> and replace its entities with their values; include parts with xi:include",
            "a broker follows it unless started with -Dartemis.disableXxe=true",
        )


def _error_position(source: SourceFile, err: SyntaxError) -> Position:
    line, column = err.lineno or 1, err.offset or 1
    return source.of_parsed_line(line, column)


def _fault_in_own_words(err: XMLSyntaxError) -> str:
    """Return the parser's error in the project's own words, because the parser's may quote a password from the file."""
    from lxml.etree import ErrorTypes

    fault = _FAULTS.get(cast(Any, ErrorTypes)._getName(cast(Any, err).code, ""), "the markup is malformed here")
    line = re.search(r"(?:mismatch: \S+|in tag \S+) line (\d+)", str(err.msg))
    return f"not well-formed XML: {fault}" + (f" of line {line[1]}" if line else "")


_FAULTS = {
    "ERR_DOCUMENT_EMPTY": "there is no element",
    "ERR_DOCUMENT_END": "there is something after the end of the document element",
    "ERR_INVALID_CHAR": "a character that XML does not allow",
    "ERR_INVALID_HEX_CHARREF": "a character reference without a valid number",
    "ERR_INVALID_DEC_CHARREF": "a character reference without a valid number",
    "ERR_INVALID_CHARREF": "a reference to a character that XML does not allow",
    "ERR_ENTITYREF_SEMICOL_MISSING": "'&' begins a reference, which lacks its ';': write &amp;",
    "ERR_UNDECLARED_ENTITY": "a reference to an entity that is not defined: write &amp; for '&'",
    "ERR_LT_IN_ATTRIBUTE": "'<' in the value of an attribute: its quotation mark is missing, or write &lt;",
    "ERR_ATTRIBUTE_NOT_STARTED": "the value of an attribute must be in quotation marks",
    "ERR_ATTRIBUTE_NOT_FINISHED": "the value of an attribute lacks its closing quotation mark",
    "ERR_ATTRIBUTE_WITHOUT_VALUE": "an attribute has no value",
    "ERR_ATTRIBUTE_REDEFINED": "an attribute occurs twice in one tag",
    "ERR_COMMENT_NOT_FINISHED": "a comment is not closed by '-->'",
    "ERR_HYPHEN_IN_COMMENT": "'--' inside a comment",
    "ERR_PI_NOT_FINISHED": "a processing instruction is not closed by '?>'",
    "ERR_RESERVED_XML_NAME": "the XML declaration is allowed only at the start of a file",
    "ERR_CDATA_NOT_FINISHED": "a CDATA section is not closed by ']]>'",
    "ERR_MISPLACED_CDATA_END": "']]>' outside a CDATA section",
    "ERR_SPACE_REQUIRED": "a space is missing",
    "ERR_NAME_REQUIRED": "a name is missing: write &lt; for '<' and &amp; for '&'",
    "ERR_GT_REQUIRED": "a tag lacks its '>'",
    "ERR_LT_REQUIRED": "a tag lacks its '<'",
    "ERR_EQUAL_REQUIRED": "a '=' is missing",
    "ERR_TAG_NAME_MISMATCH": "the end tag does not match the start tag",
    "ERR_TAG_NOT_FINISHED": "the file ends inside the element",
    "NS_ERR_UNDEFINED_NAMESPACE": "a prefix that is not declared",
}
