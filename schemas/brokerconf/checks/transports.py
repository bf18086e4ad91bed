"""Addresses of acceptors and connectors as the reader parses them: a ``java.net.URI`` of one of two schemes."""

from __future__ import annotations

import re

from brokerconf.reading.document import ConfigNode
from brokerconf.reading.sizes import trimmed
from pagefmt.editions import Edition

_SCHEMES = ("tcp", "vm")
_TO_ANOTHER_BROKER = ("tcp",)
_ILLEGAL = r"[\x00-\x20\x7f\"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})"
_NAMED = r"[?&]name=([^&#]*)"
# Markup inside the text: the reader takes the first piece of text alone.
_MARKUP = r"<!--|<\?|(?<=.)<!\[CDATA\[|(?<=.)\]\]>"


def fault(node: ConfigNode, edition: Edition) -> str:
    """Return why the address of the element is refused, as half a sentence; empty if it is accepted."""
    text, more = _first_text(node)
    if not trimmed(text):
        return "a comment or instruction comes before the address and is read as the address" if more else "no address"
    return _address_fault(text, node.attributes.get("name"), edition)


def connection_fault(uri: str, name: str | None, edition: Edition) -> str:
    """Return why the address of an AMQP connection is refused, or an empty string; it must lead to another process."""
    return _address_fault(uri, name, edition, _TO_ANOTHER_BROKER)


def _address_fault(text: str, name: str | None, edition: Edition, schemes: tuple[str, ...] = _SCHEMES) -> str:
    if edition > Edition.ARTEMIS_2_4:
        text = re.sub(r"\s", "", text)
    if text.startswith("("):
        first, _, query = text[1:].partition(")")
        text = first.split(",")[0] + query
    return _uri_fault(text.replace(";", "&"), schemes) or _name_fault(text.replace(";", "&"), name, edition)


def _first_text(node: ConfigNode) -> tuple[str, bool]:
    text, *more = re.split(_MARKUP, node.source.content(node.ordinal), maxsplit=1)
    if not more:
        return node.own_text, False
    # pulls in half of the network library: only where markup stands inside an address
    from xml.sax.saxutils import unescape

    return unescape(text), True


def _uri_fault(text: str, schemes: tuple[str, ...]) -> str:
    scheme, colon, after_scheme = text.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        return "not an address with a scheme"
    if scheme not in schemes:
        are = "are" if len(schemes) > 1 else "is"
        return f"scheme '{scheme[:40]}' is unknown: only {' and '.join(schemes)} {are} (in lower case)"
    if not after_scheme or after_scheme == "//":
        return "an address without a host"
    bad = re.search(_ILLEGAL, after_scheme) or _path_bracket(after_scheme)
    if bad:
        return f"a character that is not allowed in an address: {bad.group()!r}"
    return _host_fault(
        re.split(r"[/?#]", after_scheme.removeprefix("//"), maxsplit=1)[0] if after_scheme.startswith("//") else ""
    )


def _host_fault(authority: str) -> str:
    """Return what is wrong with brackets in a host, which may only enclose an IPv6 address, or an empty string."""
    if "[" not in authority and "]" not in authority:
        return ""
    import ipaddress

    bracketed = re.fullmatch(r"(?:[^@\[\]]*@)?\[([^\[\]]*)\](?::\d*)?", authority)
    try:
        ipaddress.IPv6Address(bracketed.group(1) if bracketed else "")
    except ValueError:
        return f"'{authority.rpartition('@')[2][:60]}' is not a host: brackets are for an IPv6 address"
    return ""


def _path_bracket(after_scheme: str) -> re.Match[str] | None:
    """Return the first bracket in the path of an address, where none is allowed, or None."""
    path = re.split(r"[?#]", after_scheme.removeprefix("//"), maxsplit=1)[0].partition("/")[2]
    return re.search(r"[\[\]]", path)


def _name_fault(text: str, name: str | None, edition: Edition) -> str:
    own_name = re.search(_NAMED, text)
    if (
        edition >= Edition.ARTEMIS_2_44
        and own_name
        and text.startswith("tcp:")
        and name not in (None, own_name.group(1))
    ):
        return "the name in the query differs from that of the element"
    return ""
