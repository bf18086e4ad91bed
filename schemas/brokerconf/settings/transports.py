"""Acceptors and connectors: the address of an element as properties, and back (docs/spec/properties.md 5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from urllib.parse import unquote, unquote_plus

from brokerconf.reading.document import ConfigNode
from brokerconf.reading.tables import read_table
from brokerconf.schema.schema_facts import editions_between
from pagefmt.editions import Edition

_IMPL = "org.apache.activemq.artemis.core.remoting.impl"
_ADDRESS = re.compile(r"(tcp|vm)://(\[[^\]]*\]|[^:/?#@\[\]]+)(?::(\d+))?(?:\?([^#]*))?")
_HOST = re.compile(r"[\w.-]+|\[[\w:.]+\]", re.ASCII)
# what a query keeps as it is; a name has no "=" in it
_PLAIN = re.compile(r"[\w.,:/*@$!()'~?=-]+", re.ASCII)


@cache
def _own_keys(element: str, edition: Edition) -> frozenset[str]:
    """The parameters of the transport itself; all others are of the protocols."""
    rows = read_table("transports.csv")
    known = max(edition, Edition.ARTEMIS_2_28)
    return frozenset(key for of, key, since in rows if of == element and known in editions_between(since, ""))


def _factory(scheme: str, element: str) -> str:
    name = "netty.Netty" if scheme == "tcp" else "invm.InVM"
    return f"{_IMPL}.{name}{element.capitalize()}Factory"


def transport_properties(node: ConfigNode, edition: Edition) -> list[tuple[tuple[str, ...], str]]:
    """The keys below the bean with their values; none where the address cannot be said by them."""
    # of several pieces of text with markup between them the reader takes one
    plain = set(node.attributes) == {"name"} and "<" not in node.source.content(node.ordinal)
    found = _ADDRESS.fullmatch(re.sub(r"\s", "", node.text))
    if not plain or not found or not _HOST.fullmatch(found[2]):
        return []
    scheme, host, port, query = found[1], found[2], found[3], found[4] or ""
    factory = (("factoryClassName",), _factory(scheme, node.name))
    if scheme == "vm":
        return [factory, (("params", "serverId"), host)] if host.isdigit() and not query else []
    # decoded as a whole and once more, piece by piece; a key without a value says nothing
    pieces = [piece.partition("=") for piece in re.split("[&;]", unquote(query)) if "=" in piece]
    own = {"scheme": scheme} if node.name == "acceptor" else {}
    said = {**own, "host": host, "port": port or "-1", **{unquote_plus(key): unquote_plus(v) for key, _, v in pieces}}
    if "name" in said or not all(map(str.strip, said.values())):
        return []
    keys = _own_keys(node.name, edition)
    return [factory, *((("params" if key in keys else "extraParams", key), value) for key, value in said.items())]


def transport_uri(element: str, said: Mapping[tuple[str, ...], str], edition: Edition) -> str:
    """The address that the keys below a bean make; empty where none does."""
    scheme = next((one for one in ("tcp", "vm") if said.get(("factoryClassName",)) == _factory(one, element)), "")
    left = {path: value for path, value in said.items() if len(path) == 2}
    if scheme == "vm":
        server = left.pop(("params", "serverId"), "")
        return f"vm://{server}" if server.isdigit() and not left else ""
    host, port = left.pop(("params", "host"), ""), left.pop(("params", "port"), "")
    keys = _own_keys(element, edition)
    if not scheme or not _HOST.fullmatch(host) or not re.fullmatch(r"\d+|-1", port, re.ASCII):
        return ""
    if element == "acceptor" and left.pop(("params", "scheme"), "tcp") != "tcp":
        return ""
    for (kind, key), value in left.items():
        as_written = _PLAIN.fullmatch(key + value) and "=" not in key
        if not as_written or (kind == "params") != (key in keys) or key in ("host", "port", "name"):
            return ""
    query = ";".join(f"{key}={value}" for (_, key), value in left.items())
    return f"tcp://{host}{'' if port == '-1' else ':' + port}" + (f"?{query}" if query else "")
