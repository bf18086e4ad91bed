"""Selector text to tokens, by the lexical rules of Artemis 2.13 and later.

The longest match wins; keywords are taken in any case, names are ASCII. ``hyphenated_props:`` before the text allows
``-`` inside names and takes away double-quoted names. A line comment runs from ``--`` to the end of its line, and is
no comment without that end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from pagefmt.errors import PageFmtError

KEYWORDS: Final = frozenset(
    ("NOT", "AND", "OR", "BETWEEN", "LIKE", "ESCAPE", "IN", "IS", "TRUE", "FALSE", "NULL", "XPATH", "XQUERY")
)


class SelectorError(PageFmtError):
    """A selector that a broker would refuse. ``column`` counts characters from 1; ``pointer`` draws the place."""

    def __init__(self, text: str, column: int, detail: str) -> None:
        super().__init__(f"selector, column {column}: {detail}: {_excerpt(text, column)}")
        self.text = text
        self.column = column
        self.detail = detail

    def pointer(self) -> str:
        """Return the text and, on a second line, a caret below the column."""
        return f"{self.text}\n{' ' * (self.column - 1)}^"


def _excerpt(text: str, column: int) -> str:
    """Return the text around the column, which is marked by ``»``."""
    at = column - 1
    before = text[max(0, at - 30) : at]
    after = text[at : at + 30]
    return f"{'…' if at > 30 else ''}{before}»{after}{'…' if len(text) > at + 30 else ''}"


class TokenKind(Enum):
    """The kind of a token of a selector."""

    KEYWORD = auto()
    NAME = auto()
    STRING = auto()
    DECIMAL = auto()
    HEX = auto()
    OCTAL = auto()
    FLOAT = auto()
    SIGN = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A token and the column, counted from 1, where it begins."""

    kind: TokenKind
    text: str  # keywords in upper case, strings and quoted names without quotes, everything else as written
    column: int

    def shown(self) -> str:
        """Return the token as messages name it."""
        if self.kind is TokenKind.END:
            return "the end"
        return f"'{self.text}'"


_PIECES: Final = (
    ("skip", r"[ \t\n\r\f]+"),
    ("FLOAT", r"[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"),
    ("HEX", r"0[xX][0-9a-fA-F]+"),
    ("DECIMAL", r"[1-9][0-9]*[lL]?"),
    ("OCTAL", r"0[0-7]*"),
    ("STRING", r"'(?:''|[^'])*'"),
    ("SIGN", r"<>|>=|<=|[=<>()+\-*/%,]"),
)
_COMMENT: Final = re.compile(r"--[^\n\r]*[\n\r]|/\*[\s\S]*?\*/")
_STRICT_NAMES: Final = (("NAME", r"[a-zA-Z_$][a-zA-Z0-9_$]*"), ("QUOTED", r'"(?:""|[^"])*"'))
_HYPHENATED_NAMES: Final = (("NAME", r"[a-zA-Z_$][a-zA-Z0-9_$\-]*"),)


def _compiled(names: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{rule})" for name, rule in (*_PIECES, *names)))


_STRICT: Final = _compiled(_STRICT_NAMES)
_HYPHENATED: Final = _compiled(_HYPHENATED_NAMES)


def tokens(text: str, start: int, *, hyphenated: bool) -> Iterator[Token]:
    """Yield the tokens of ``text`` from index ``start`` on, ended by one of kind END. Raise ``SelectorError``."""
    rules = _HYPHENATED if hyphenated else _STRICT
    at = start
    # comments without an end are no comments; the last ends tell without a search from each place
    last_line_end = max(text.rfind("\n"), text.rfind("\r"))
    last_comment_end = text.rfind("*/")
    while at < len(text):
        if (text.startswith("--", at) and at < last_line_end) or (
            text.startswith("/*", at) and at + 2 <= last_comment_end
        ):
            end = _COMMENT.match(text, at)
            assert end
            at = end.end()
            continue
        match = rules.match(text, at)
        if match is None:
            raise SelectorError(text, at + 1, _stray(text[at]))
        if match.lastgroup != "skip":
            yield _token(str(match.lastgroup), match.group(), at + 1)
        at = match.end()
    yield Token(TokenKind.END, "", len(text) + 1)


def _token(group: str, text: str, column: int) -> Token:
    if group == "NAME":
        upper = text.upper()
        return Token(TokenKind.KEYWORD, upper, column) if upper in KEYWORDS else Token(TokenKind.NAME, text, column)
    if group == "QUOTED":
        return Token(TokenKind.NAME, text[1:-1].replace('""', '"'), column)
    if group == "STRING":
        return Token(TokenKind.STRING, text[1:-1].replace("''", "'"), column)
    return Token(TokenKind[group], text, column)


def _stray(char: str) -> str:
    if char in "'\"":
        return (
            f"the quote {char} is never closed" if char == "'" else "a double quote that is not closed or not allowed"
        )
    if char == "!":
        return "'!' is not part of the grammar (not equal is '<>')"
    return f"the character {char!r} is not part of the grammar"
