"""LIKE: ``%`` any run of characters, ``_`` one. Matched piece by piece, so that no pattern can blow up.

Pieces between ``%`` signs are found leftmost first, which is sound because nothing that comes later can need an
earlier piece further right. Cost: length of the text times the length of the longest piece, at worst.
"""

from __future__ import annotations

from dataclasses import dataclass

ANY = ""  # a character of a piece that matches every character

Piece = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LikePattern:
    """A pattern cut at its ``%`` signs; one piece only: the text must be exactly that."""

    pieces: tuple[Piece, ...]

    def matches(self, text: str) -> bool:
        """Return whether the whole text fits the pattern."""
        first, *pieces = self.pieces
        if not pieces:
            return len(text) == len(first) and _fits(first, text, 0)
        last = pieces.pop()
        end = len(text) - len(last)
        if len(first) > end or not _fits(first, text, 0) or not _fits(last, text, end):
            return False
        # The first and last piece are anchored at the ends. Between them the leftmost match of each piece in turn is
        # enough, because it leaves the most room for the following ones.
        at = len(first)
        for piece in pieces:
            at = _find(piece, text, at, end)
            if at < 0:
                return False
        return True


def _fits(piece: Piece, text: str, at: int) -> bool:
    return all(want == ANY or text[at + n] == want for n, want in enumerate(piece))


def _find(piece: Piece, text: str, start: int, end: int) -> int:
    """Return the end of the leftmost occurrence of the piece in ``text[start:end]``, or -1."""
    if ANY not in piece:
        index = text.find("".join(piece), start, end)
        return index + len(piece) if index >= 0 else -1
    for at in range(start, end - len(piece) + 1):
        if _fits(piece, text, at):
            return at + len(piece)
    return -1


def like(pattern: str, escape: str | None) -> LikePattern:
    """Return the pattern. ``escape`` is a character or None; it counts only before ``%``, ``_`` and itself.

    A doubled escape character above U+00FF becomes a blank and hex digits in the broker, which writes it as a regular
    expression escape of two digits, and here as well. Raises ``ValueError`` for a doubled one below U+0010.
    """
    pieces: list[list[str]] = [[]]
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == escape and at < len(pattern) and pattern[at] in ("%", "_", escape):
            pieces[-1] += _escaped(pattern[at])
            at += 1
        elif char == "%":
            pieces.append([])
        else:
            pieces[-1].append(ANY if char == "_" else char)
    return LikePattern(tuple(tuple(piece) for piece in pieces))


def _escaped(char: str) -> list[str]:
    digits = f"{ord(char):x}"
    if len(digits) < 2:
        raise ValueError("a control character cannot be escaped by itself")
    return [chr(int(digits[:2], 16)), *digits[2:]]
