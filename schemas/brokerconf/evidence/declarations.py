"""Declarations of a configuration besides settings: addresses, queues, acceptors, connectors, passwords."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.secrets import is_in_clear, is_password_in_clear, is_secret
from brokerconf.reading.sizes import trimmed


class DeclaredQueue(NamedTuple):
    """Queue declared below an address."""

    name: str
    multicast: bool
    node: ConfigNode


class DeclaredAddress(NamedTuple):
    """Declared address and its queues."""

    name: str
    node: ConfigNode
    queues: tuple[DeclaredQueue, ...]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Acceptor or connector; ``parameters`` are those of its URL."""

    name: str
    node: ConfigNode
    parameters: Mapping[str, str] = field(default_factory=dict)

    def accepts(self, protocol: str) -> bool:
        """Return whether an acceptor accepts a protocol; one that names no protocols accepts all."""
        named = self.parameters.get("protocols", self.parameters.get("protocol", ""))
        protocols = [trimmed(name).upper() for name in named.split(",") if name.strip()]
        return not protocols or protocol in protocols


class PasswordInClear(NamedTuple):
    """Password in clear text: its element, and its attribute unless it is the element's text."""

    name: str
    node: ConfigNode
    attribute: str = ""


def addresses_of(block: ConfigNode | None) -> tuple[DeclaredAddress, ...]:
    """Return the addresses declared in an ``addresses`` element."""
    nodes = block.children_named("address") if block else []
    return tuple(DeclaredAddress(node.attributes.get("name", ""), node, tuple(_queues(node))) for node in nodes)


def _queues(node: ConfigNode) -> Iterator[DeclaredQueue]:
    for routing in node.children:
        for queue in routing.children_named("queue"):
            yield DeclaredQueue(queue.attributes.get("name", ""), routing.name == "multicast", queue)


def endpoints_of(block: ConfigNode | None, tag: str) -> tuple[Endpoint, ...]:
    """Return the acceptors or connectors (``tag``) in their element."""
    nodes = block.children_named(tag) if block else []
    return tuple(Endpoint(node.attributes.get("name", ""), node, _parameters(node)) for node in nodes)


def _parameters(node: ConfigNode) -> dict[str, str]:
    """Return the parameters in the URL and in HornetQ's ``param`` elements, which take precedence."""
    query = trimmed(node.own_text).partition("?")[2]
    pairs = (pair.partition("=") for pair in query.replace("&", ";").split(";"))
    parameters = {trimmed(key): value for key, _, value in pairs if key.strip()}
    for param in node.children_named("param"):
        parameters[param.attributes.get("key", "")] = param.attributes.get("value", "")
    return parameters


def jms_destinations_of(document: Document, core: ConfigNode | None) -> dict[str, str]:
    """Return the names of the declared JMS queues and topics, with the address prefix of each."""
    prefixes: dict[str, str] = {}
    own = core.child("jms-destinations") if core and document.kind.of_application_server else document.jms
    for node in own.children if own else ():
        kind = node.name.removeprefix("jms-")
        if kind in ("queue", "topic") and node.attributes.get("name"):
            prefixes[node.attributes["name"]] = f"jms.{kind}."
    return prefixes


def secrets_of(core: ConfigNode | None) -> tuple[PasswordInClear, ...]:
    """Return the passwords in clear text: neither masked, nor taken from a property. Address settings have none."""
    passwords: list[PasswordInClear] = []
    stack = [core] if core else []
    while stack:
        node = stack.pop()
        if node.name == "address-settings":
            continue
        passwords += _secrets_in(node)
        stack.extend(reversed(node.children))
    return tuple(passwords)


def _secrets_in(node: ConfigNode) -> Iterator[PasswordInClear]:
    if is_secret(node.name) and not node.children and is_in_clear(node.own_text) and "${" not in node.raw_text:
        yield PasswordInClear(node.name, node)
    named = node.attributes.get("key", node.attributes.get("name", ""))
    for name, value in node.attributes.items():
        if (
            (is_secret(name) or (name == "value" and is_secret(named)))
            and is_in_clear(value)
            and not _filled_in(node, name)
        ):
            yield PasswordInClear(named if name == "value" else name, node, name)
    parameters = _parameters(node) if "?" in node.own_text else {}
    secret = [name for name, value in parameters.items() if is_secret(name) and is_in_clear(value)]
    for name in secret:
        if f"{name}=${{" not in node.raw_text:
            yield PasswordInClear(name, node)
    plain = not secret and not is_secret(node.name) and "${" not in node.raw_text
    if plain and is_password_in_clear("", node.own_text):
        yield PasswordInClear(node.name, node)


def _filled_in(node: ConfigNode, attribute: str) -> bool:
    """Return whether the attribute's value comes from a placeholder."""
    at = node.attribute_position(attribute)
    start, end = node.source.line(at.line) or (0, 0)
    filled_in = re.compile(r"[^=]*=\s*[\"']\s*\$\{")
    return filled_in.match(node.source.original, start + at.column - 1, end) is not None
