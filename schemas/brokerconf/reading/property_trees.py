"""``broker.properties`` as JSON and YAML: nested keys joined by dots, as the broker reads them.

JSON is parsed strictly, YAML only with the words of JSON: ``yes``, ``0x10`` and ``~`` are text there
(docs/spec/properties.md 3).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.property_entries import NOT_READ, Entry, PropertiesError
from brokerconf.reading.sources import SourceFile, plain_source
from brokerconf.reading.yaml_nodes import YamlNode
from brokerconf.reading.yaml_tree import DEEPEST, read_yaml
from pagefmt.editions import Edition
from pagefmt.findings import Position

SURROUND = "key.surround"
_SURROUND_BEAN = "brokerPropertiesKeySurround"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
_SHORT = 20  # digits; Python converts longer texts of decimal digits to an int only up to a limit


class _Text(NamedTuple):
    """Value: its text as the broker's properties have it, and its offset."""

    text: str
    at: int


class _Tree(NamedTuple):
    """Members of an object: key, offset, and value."""

    members: list[tuple[str, int, _Tree | _Text | None]]


_Member = tuple[int, _Tree | _Text | None, "_Member | None"]


def json_entries(raw: bytes, name: str, edition: Edition) -> Iterator[Entry]:
    """Return the entries of a JSON properties file; raise ``PropertiesError`` if it cannot be read."""
    text = raw.decode("utf-8", "replace")
    source = plain_source(name, text, markup=False)
    try:
        # numbers are read below; here their digits, of which Python converts only so many, do not matter
        document = json.loads(text, parse_constant=_no_number, parse_int=str, parse_float=str)
    except json.JSONDecodeError as err:
        raise PropertiesError(source.position(err.pos), f"not JSON: {err.msg}", "correct the JSON") from err
    except ValueError as err:
        raise PropertiesError(source.position(0), f"not JSON: {err}", "correct the JSON") from err
    except RecursionError as err:
        message = f"nested more than {DEEPEST} deep"
        raise PropertiesError(source.position(0), message, "flatten it", NOT_READ) from err
    if not isinstance(document, dict):
        raise PropertiesError(source.position(0), "not a JSON object", "put the properties into { }")
    tree = _JsonTree(source, edition).value()
    assert isinstance(tree, _Tree)
    return _entries(tree, source)


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a value")


class _JsonTree:
    """Builder of the tree of a text that is known to be JSON."""

    def __init__(self, source: SourceFile, edition: Edition) -> None:
        self._source, self._edition = source, edition
        self._tokens = _TOKEN.finditer(source.original)

    def value(self, depth: int = 0) -> _Tree | _Text:
        token = next(self._tokens)
        text, at = token.group(), token.start()
        match text[0]:
            case "{":
                if depth > DEEPEST:
                    raise PropertiesError(
                        self._source.position(at), f"nested more than {DEEPEST} deep", "flatten it", NOT_READ
                    )
                return self._object(depth)
            case "[":
                if self._edition < Edition.ARTEMIS_2_56:
                    raise PropertiesError(
                        self._source.position(at), "an array, which brokers read since 2.56", "write a,b"
                    )
                return self._array(at)
            case '"':
                return _Text(json.loads(text), at)
            case "n":
                raise PropertiesError(
                    self._source.position(at), "null, which the broker does not accept", "leave it out"
                )
        if text in ("true", "false"):
            return _Text(text, at)
        try:
            number = Decimal(text)
        except ArithmeticError as err:
            position = self._source.position(at)
            raise PropertiesError(position, "an exponent that is too large", "write another number", NOT_READ) from err
        return _Text(str(number).removeprefix("-" * (not number)), at)

    def _object(self, depth: int) -> _Tree:
        members: list[tuple[str, int, _Tree | _Text | None]] = []
        while (token := next(self._tokens)).group() != "}":
            if token.group() != ",":
                next(self._tokens)
                members.append((json.loads(token.group()), token.start(), self.value(depth + 1)))
        return _Tree(members)

    def _array(self, at: int) -> _Text:
        """Return the elements joined by commas: strings without their quotes, everything else as JSON."""
        parts = []
        depth, start = 0, at + 1
        for token in self._tokens:
            text = token.group()
            if depth == 0 and text in ",]":
                parts.append(self._source.original[start : token.start()].strip())
                start = token.end()
                if text == "]":
                    break
            depth += (text in "[{") - (text in "]}")
        shown = [json.loads(part) if part[:1] == '"' else part for part in parts if part]
        return _Text(",".join(shown), at)


def yaml_entries(raw: bytes, name: str) -> Iterator[Entry]:
    """Return the entries of a YAML properties file, which brokers read from 2.56 on; raise ``PropertiesError``."""
    try:
        documents = read_yaml(raw, name, merging=False)
    except ReadingError as err:
        raise PropertiesError(err.position, err.message, err.help) from err
    source = documents.source
    for finding in documents.findings:
        raise PropertiesError(finding.place, finding.message, finding.help)
    if not documents.roots:
        return iter(())
    if len(documents.roots) > 1:
        raise PropertiesError(source.position(documents.roots[1].start), "a second document", "keep one document")
    tree = _yaml_tree(documents.roots[0], source)
    if not isinstance(tree, _Tree):
        raise PropertiesError(source.position(0), "not a mapping of keys to values", "write key: value")
    return _entries(tree, source)


def _yaml_tree(node: YamlNode, source: SourceFile) -> _Tree | _Text | None:
    if node.type == "object":
        for key, _ in node.entries:
            if not key.style and not isinstance(_plain(key.text), str):
                position = source.position(key.start)
                raise PropertiesError(position, f"the key {key.text} is not text to the broker", "put it in quotes")
        return _Tree([(key.text, key.start, _yaml_tree(value, source)) for key, value in node.entries])
    if node.type == "array":
        return _Text(",".join(_listed(item) for item in node.items), node.start)
    value = node.text if node.style else _plain(node.text)
    return None if value is None else _Text(_java(value), node.start)


def _listed(node: YamlNode) -> str:
    """Return a list element as Java prints it."""
    if node.type == "object":
        return "{" + ", ".join(f"{key.text}={_listed(value)}" for key, value in node.entries) + "}"
    if node.type == "array":
        return "[" + ", ".join(map(_listed, node.items)) + "]"
    return _java(node.text if node.style else _plain(node.text))


def _plain(text: str) -> str | int | float | Decimal | bool | None:
    """Return the value of an unquoted YAML scalar, recognising JSON's words and numbers."""
    if text in ("", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if _WHOLE.fullmatch(text):
        return int(text) if len(text) < _SHORT else Decimal(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    return {".inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan")}.get(text, text)


def _java(value: str | float | Decimal | bool | None) -> str:
    """Return the text that Java's string conversion yields for a value."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case float():
            return _java_double(value)
        case _:
            return str(value)


def _java_double(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return f"{Decimal(repr(value)):f}" if "e" in repr(value) else repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    first, fraction = str(digits[0]), "".join(map(str, digits[1:])) or "0"
    return f"{'-' * sign}{first}.{fraction}E{exponent + len(digits) - 1}"


def _entries(tree: _Tree, source: SourceFile) -> Iterator[Entry]:
    """Return the tree's entries with keys joined by dots.

    A key that contains dots itself is enclosed in the surrounding marks that the file defines, by default quotes.
    """
    texts = {key: value.text for key, _, value in tree.members if isinstance(value, _Text)}
    surround = texts.get(SURROUND, texts.get(_SURROUND_BEAN, '"'))
    entries: dict[str, Entry] = {}
    _flatten(tree, "", (), surround, source.position, entries)
    return iter(entries.values())


def _flatten(
    tree: _Tree,
    above: str,
    steps: tuple[tuple[int, Position], ...],
    surround: str,
    position: Callable[[int], Position],
    entries: dict[str, Entry],
) -> None:
    # of a key that stands twice the last counts, in the place of the first
    members: dict[str, _Member] = {}
    for own, at, value in tree.members:
        members[own] = at, value, members.get(own)
    for own, (at, value, twin) in members.items():
        bare = "." not in own or own.startswith("key.") or (own.startswith(surround) and own.endswith(surround))
        key = above + (own if bare else f"{surround}{own}{surround}")
        own_steps = (*steps, (len(above), position(at)))
        if isinstance(value, _Tree):
            _flatten(value, f"{key}.", own_steps, surround, position, entries)
        elif value is not None:
            earlier = entries[key]._replace(earlier=None) if key in entries else None
            if twin and isinstance(twin[1], _Text):
                earlier = Entry(key, twin[1].text, position(twin[0]))
            entries[key] = Entry(key, value.text, position(at), position(value.at), earlier, own_steps)
