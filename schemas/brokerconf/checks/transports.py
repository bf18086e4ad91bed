"""The addresses of acceptors and connectors, as the reader takes them: a ``java.net.URI`` of one of two schemes."""

from __future__ import annotations

import re

from brokerconf.reading.document import ConfigNode
from brokerconf.reading.sizes import trimmed
from pagefmt.editions import Edition

_SCHEMES = ("tcp", "vm")
_TO_ANOTHER_BROKER = ("tcp",)
_ILLEGAL = re.compile(r"[\x00-\x20\x7f\"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})")
_NAMED = re.compile(r"[?&]name=([^&#]*)")
# Markup inside the text: the reader takes the first piece of text alone.
_MARKUP = re.compile(r"<!--|<\?|(?<=.)<!\[CDATA\[|(?<=.)\]\]>")


def fault(node: ConfigNode, edition: Edition) -> str:
    """Why the address of the element is none, as half a sentence; empty where it is taken."""
    text, more = _first_text(node)
    if not trimmed(text):
        return "a comment or instruction comes before the address and is read as the address" if more else "no address"
    return _address_fault(text, node.attributes.get("name"), edition)


def connection_fault(uri: str, name: str | None, edition: Edition) -> str:
    """The same for the address of an AMQP connection of that name: no broker is in the same process."""
    return _address_fault(uri, name, edition, _TO_ANOTHER_BROKER)


def _address_fault(text: str, name: str | None, edition: Edition, schemes: tuple[str, ...] = _SCHEMES) -> str:
    if edition > Edition.ARTEMIS_2_4:
        text = re.sub(r"\s", "", text)
    if text.startswith("("):
        first, _, query = text[1:].partition(")")
        text = first.split(",")[0] + query
    return _uri_fault(text.replace(";", "&"), schemes) or _name_fault(text.replace(";", "&"), name, edition)


def _first_text(node: ConfigNode) -> tuple[str, bool]:
    text, *more = _MARKUP.split(node.source.content(node.ordinal), maxsplit=1)
    if not more:
        return node.own_text, False
    # pulls in half of the network library: only where markup stands inside an address
    from xml.sax.saxutils import unescape

    return unescape(text), True


def _uri_fault(text: str, schemes: tuple[str, ...]) -> str:
    scheme, colon, rest = text.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        return "not an address with a scheme"
    if scheme not in schemes:
        are = "are" if len(schemes) > 1 else "is"
        return f"scheme '{scheme[:40]}' is unknown: only {' and '.join(schemes)} {are} (in lower case)"
    if not rest or rest == "//":
        return "an address without a host"
    bad = _ILLEGAL.search(rest) or _path_bracket(rest)
    if bad:
        return f"a character that is not allowed in an address: {bad.group()!r}"
    return _host_fault(re.split(r"[/?#]", rest.removeprefix("//"), maxsplit=1)[0] if rest.startswith("//") else "")


def _host_fault(authority: str) -> str:
    """Brackets hold an IPv6 address, and nothing else is in them."""
    if "[" not in authority and "]" not in authority:
        return ""
    import ipaddress

    found = re.fullmatch(r"(?:[^@\[\]]*@)?\[([^\[\]]*)\](?::\d*)?", authority)
    try:
        ipaddress.IPv6Address(found.group(1) if found else "")
    except ValueError:
        return f"'{authority.rpartition('@')[2][:60]}' is not a host: brackets are for an IPv6 address"
    return ""


def _path_bracket(rest: str) -> re.Match[str] | None:
    """Brackets stand around an IPv6 address, and may be in a query; not in a path."""
    path = re.split(r"[?#]", rest.removeprefix("//"), maxsplit=1)[0].partition("/")[2]
    return re.search(r"[\[\]]", path)


def _name_fault(text: str, name: str | None, edition: Edition) -> str:
    given = _NAMED.search(text)
    if edition >= Edition.ARTEMIS_2_44 and given and text.startswith("tcp:") and name not in (None, given.group(1)):
        return "the name in the query differs from that of the element"
    return ""
