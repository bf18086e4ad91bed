"""Acceptors and connectors: conversion of an element's address to properties, and back (docs/spec/properties.md 5)."""

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
    """Return the parameters of the transport itself; all others belong to protocols."""
    rows = read_table("transports.csv")
    documented = max(edition, Edition.ARTEMIS_2_28)
    return frozenset(key for of, key, since in rows if of == element and documented in editions_between(since, ""))


def _factory(scheme: str, element: str) -> str:
    name = "netty.Netty" if scheme == "tcp" else "invm.InVM"
    return f"{_IMPL}.{name}{element.capitalize()}Factory"


def transport_properties(node: ConfigNode, edition: Edition) -> list[tuple[tuple[str, ...], str]]:
    """Return the keys below the transport's bean with their values; empty if keys cannot express its address."""
    # of several pieces of text with markup between them the reader takes one
    plain = set(node.attributes) == {"name"} and "<" not in node.source.content(node.ordinal)
    address = _ADDRESS.fullmatch(re.sub(r"\s", "", node.text))
    if not plain or not address or not _HOST.fullmatch(address[2]):
        return []
    scheme, host, port, query = address[1], address[2], address[3], address[4] or ""
    factory = (("factoryClassName",), _factory(scheme, node.name))
    if scheme == "vm":
        return [factory, (("params", "serverId"), host)] if host.isdigit() and not query else []
    # decoded as a whole and once more, piece by piece; a key without a value says nothing
    pieces = [piece.partition("=") for piece in re.split("[&;]", unquote(query)) if "=" in piece]
    own = {"scheme": scheme} if node.name == "acceptor" else {}
    parameters = {
        **own,
        "host": host,
        "port": port or "-1",
        **{unquote_plus(key): unquote_plus(v) for key, _, v in pieces},
    }
    if "name" in parameters or not all(map(str.strip, parameters.values())):
        return []
    keys = _own_keys(node.name, edition)
    return [factory, *((("params" if key in keys else "extraParams", key), value) for key, value in parameters.items())]


def transport_uri(element: str, parameters: Mapping[tuple[str, ...], str], edition: Edition) -> str:
    """Return the address that the keys below a transport's bean form; empty if they form none."""
    scheme = next(
        (
            candidate
            for candidate in ("tcp", "vm")
            if parameters.get(("factoryClassName",)) == _factory(candidate, element)
        ),
        "",
    )
    left = {path: value for path, value in parameters.items() if len(path) == 2}
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
