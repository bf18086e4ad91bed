"""Spelling of a match: wildcards, literal markers, and their effect."""

from __future__ import annotations

from typing import NamedTuple

from brokerconf.settings.matching import MatchError, Wildcards, compile_match
from pagefmt.editions import Edition

# A word that no address has, for an address that fits a match and as few others as possible.
_FRESH = "\u00b7"


class MatchSpelling(NamedTuple):
    """Interpretation of matches under the wildcards of one configuration."""

    wildcards: Wildcards
    edition: Edition

    def is_literal(self, text: str) -> bool:
        """Return whether the match is enclosed in literal markers."""
        marks = self.wildcards.literal_markers
        return bool(marks) and len(text) > 1 and text[0] == marks[0] and text[-1] == marks[1]

    def unmarked(self, text: str) -> str | None:
        """Return a literal match without its markers, or None for any other."""
        return text[1:-1] if self.is_literal(text) else None

    def is_wildcard(self, text: str) -> bool:
        """Return whether the match has a wildcard and is not literal."""
        return self.wildcards.is_wild(text) and not self.is_literal(text)

    def catches_all(self, text: str) -> bool:
        """Return whether the match is the any-words wildcard alone."""
        return text == self.wildcards.any_words

    def spelt_with_delimiter(self, text: str) -> str | None:
        """Return ``a.#`` for ``a#``, or None for anything else."""
        wild = self.wildcards
        bare = text.removesuffix(wild.any_words)
        odd = bare != text and bare and not bare.endswith(wild.delimiter) and not self.is_literal(text)
        return f"{bare}{wild.delimiter}{wild.any_words}" if odd else None

    def fits(self, text: str, address: str) -> bool:
        """Return whether an address fits a match; False for a match that the broker refuses."""
        try:
            return compile_match(text, self.wildcards, self.edition).fits(address)
        except MatchError:
            return False

    def representative(self, text: str) -> str:
        """Return an address that fits a match: ``a.*.#`` becomes ``a.·.·.·``.

        The last wildcard becomes two words, so that ``a.*.*`` does not fit the address.
        """
        if not self.is_wildcard(text):
            return self.unmarked(text) or text
        wild = self.wildcards
        end = f"{_FRESH}{wild.delimiter}{_FRESH}"
        bare = text.removesuffix(wild.any_words)
        if bare != text and bare and not bare.endswith(wild.delimiter):
            bare += wild.delimiter
        return bare.replace(wild.single_word, _FRESH) + (end if bare != text else "")

    def begins_with(self, text: str, start: str) -> bool:
        """Return whether every address that fits begins with ``start``, judged by the part before any wildcard."""
        if not start or not text.startswith(start):
            return False
        wild = self.wildcards
        plain = text.split(wild.any_words)[0].split(wild.single_word)[0] if self.is_wildcard(text) else text
        return plain.startswith(start)
