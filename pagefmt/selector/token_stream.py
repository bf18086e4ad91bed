"""The tokens of a selector for the parser, and errors that name the column."""

from __future__ import annotations

from pagefmt.selector.lexer import SelectorError, Token, TokenKind


class TokenStream:
    """The tokens of one selector and the position of the parser."""

    __slots__ = ("_at", "_text", "_tokens")

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._at = 0

    def next(self, ahead: int = 0) -> Token:
        """Return the next token, or one further ``ahead``, without taking it; at the end the one of kind END."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def take(self) -> Token:
        """Return the next token and step over it."""
        token = self.next()
        self._at += 1
        return token

    def comes(self, *texts: str, ahead: int = 0) -> bool:
        """Return whether the next token is one of these signs or keywords."""
        token = self.next(ahead)
        return token.kind in (TokenKind.SIGN, TokenKind.KEYWORD) and token.text in texts

    def accept(self, text: str) -> bool:
        """Take the sign or keyword if it comes."""
        comes = self.comes(text)
        if comes:
            self._at += 1
        return comes

    def expect(self, text: str) -> None:
        """Step over the sign or keyword. Raise ``SelectorError`` if the next token is another."""
        if not self.accept(text):
            raise self.error(f"'{text}' expected, found {self.next().shown()}")

    def string(self) -> Token:
        """Step over a quoted string and return it. Raise ``SelectorError`` if the next token is another."""
        if self.next().kind is not TokenKind.STRING:
            raise self.error(f"a quoted string expected, found {self.next().shown()}")
        return self.take()

    def error(self, detail: str, at: Token | None = None) -> SelectorError:
        """Return the error for a token, by default the next one."""
        return SelectorError(self._text, (at or self.next()).column, detail)
