"""Bytes that the broker does not read as the letters they were meant to be."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.findings import Position, Severity
from brokerconf.rules.facts import Facts
from brokerconf.rules.rule import Example, Hit, Rule


def check(facts: Facts) -> Iterator[Hit]:
    if facts.document.badly_decoded:
        source = facts.document.source
        at = source.original.find("\ufffd")
        where = source.position(at) if at >= 0 else Position(source.path, 1, 1)
        yield Hit(where, "bytes that are not UTF-8: the broker puts U+FFFD in their place")


RULE = Rule(
    id="undecodable-text",
    severity=Severity.WARNING,
    title="a file that is not UTF-8",
    why="the broker does not look at the encoding that the XML declaration names: names with such letters change",
    help="save the file as UTF-8",
    check=check,
    failing=Example(
        whole='<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><name>k\ue0fcln</name></core>'
        "</configuration>"
    ),
    passing=Example(core="<name>köln</name>"),
    source="spec/config-behaviour.md, step 1",
)
