"""The tokens of a selector for the parser, and errors that name the column."""

from __future__ import annotations

from pagefmt.selector.lexer import SelectorError, Token, TokenKind


class TokenStream:
    """The tokens of one selector and the position of the parser."""

    __slots__ = ("_at", "_text", "_tokens")

    def __init__(self, text: str, found: list[Token]) -> None:
        self._text = text
        self._tokens = found
        self._at = 0

    def next(self, ahead: int = 0) -> Token:
        """The coming token, or one behind it; at the end always the one of kind END."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def take(self) -> Token:
        """The next token, which is passed."""
        token = self.next()
        self._at += 1
        return token

    def comes(self, *texts: str, ahead: int = 0) -> bool:
        """Whether the coming token is one of these signs or keywords."""
        token = self.next(ahead)
        return token.kind in (TokenKind.SIGN, TokenKind.KEYWORD) and token.text in texts

    def accept(self, text: str) -> bool:
        """Take the sign or keyword if it comes."""
        found = self.comes(text)
        if found:
            self._at += 1
        return found

    def expect(self, text: str) -> None:
        """Pass the sign or keyword. Raises ``SelectorError`` where something else stands there."""
        if not self.accept(text):
            raise self.error(f"'{text}' expected, found {self.next().shown()}")

    def string(self) -> Token:
        """Pass a quoted string. Raises ``SelectorError`` where something else stands there."""
        if self.next().kind is not TokenKind.STRING:
            raise self.error(f"a quoted string expected, found {self.next().shown()}")
        return self.take()

    def error(self, detail: str, at: Token | None = None) -> SelectorError:
        """The error for a token, by default the next one."""
        return SelectorError(self._text, (at or self.next()).column, detail)
