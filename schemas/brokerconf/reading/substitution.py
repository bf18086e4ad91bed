"""``${name:default}`` as the broker replaces it (docs/spec/config-behaviour.md, step 2).

The first ``${`` is paired with the first ``}`` after it; the name ends at the first ``:``; blanks around both are
removed; a system property wins, then (since 2.22) an environment variable, then the default, else an empty text.
Replacements are scanned again. An opening ``${`` without ``}`` ends the replacement.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from brokerconf.errors import BrokerConfError
from brokerconf.reading.sizes import trimmed
from pagefmt.editions import Edition

CONSIDER_ENVIRONMENT = "org.apache.activemq.artemis.utils.considerOsEnv"
_LIMIT = 2_000
_TOO_LONG = 64 << 20


class SubstitutionError(BrokerConfError):
    """Error for a placeholder without a name, or a replacement that never ends or grows without bounds."""


class Placeholder(NamedTuple):
    """Replaced ``${…}``, ``offset`` in the text before replacement.

    ``origin`` is ``property``, ``environment``, ``default`` or ``empty``.
    """

    name: str
    default: str | None
    value: str
    origin: str
    offset: int


class PlaceholderValues(NamedTuple):
    """Sources of values for one edition.

    ``first_brace``: a '}' before the first '${' is an error.
    """

    properties: Mapping[str, str]
    environment: Mapping[str, str]
    # up to 2.10 the first "}" of the whole text is taken: one that stands before, or none at all, ends the start
    first_brace: bool = False

    @classmethod
    def of(cls, edition: Edition, properties: Mapping[str, str], environment: Mapping[str, str]) -> PlaceholderValues:
        """Return the values for an edition: environment variables count since 2.22, unless a property disables them."""
        switched_off = properties.get(CONSIDER_ENVIRONMENT, "true").lower() != "true"
        silent = edition < Edition.ARTEMIS_2_28 or switched_off
        return cls(properties, {} if silent else environment, edition <= Edition.ARTEMIS_2_10)

    def look_up(self, inner: str, offset: int) -> Placeholder:
        """Return the replacement of ``${inner}``, an empty text if nothing defines it and no default is written.

        Raises ``SubstitutionError`` if ``inner`` names no property.
        """
        name, colon, after_colon = trimmed(inner).partition(":")
        name, default = trimmed(name), trimmed(after_colon) if colon else None
        if not name:
            raise SubstitutionError(f"${{{inner[:40]}}} does not name a property")
        if name in self.properties:
            return Placeholder(name, default, self.properties[name], "property", offset)
        if name in self.environment:
            value = self.environment[name]
            if value == reference(name):
                value = f"${{{inner}}}"
            else:
                _FILLED_IN[value] = reference(name)
            return Placeholder(name, default, value, "environment", offset)
        return Placeholder(name, default, default or "", "empty" if default is None else "default", offset)


# The values of the environment that were put in, with the placeholders to show instead. State of the process, because
# no message of the process may show one, whichever document it came from.
_FILLED_IN: Final[dict[str, str]] = {}
_SHORTEST_SHOWN = 6  # characters; replacing shorter values would make other words unreadable


def without_environment(text: str) -> str:
    """Return a message with the placeholders instead of the values of the environment that were put in."""
    for value in sorted(_FILLED_IN, key=len, reverse=True):
        if len(value) >= _SHORTEST_SHOWN:
            text = text.replace(value, _FILLED_IN[value])
    return text


def reference(name: str) -> str:
    """Return the placeholder that names a variable: ``${NAME}``."""
    return f"${{{name}}}"


def names_only(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which the value of each variable is its own placeholder.

    Substitution leaves it as it is. So a configuration that is read with this environment names variables but contains
    none of their values, which therefore no output can show.
    """
    return {name: reference(name) for name in environment}


# closed, and with a name; a colon separates the default
_EXPRESSION = re.compile(r"\$\{[^:}]*[^:}\s]")


def is_expression(text: str) -> bool:
    """Return whether ``${NAME…}`` is left in a value, which only the running broker knows."""
    expression = _EXPRESSION.search(text)
    return expression is not None and "}" in text[expression.end() :]


def of_every_jvm(folder: Path) -> dict[str, str]:
    """Return the system properties that a broker started in a folder by the current user has without defining them.

    Only those that a configuration has a use for. A Java machine says ``?`` of a user it does not know.
    """
    home, name = _user()
    return {
        "user.dir": str(folder),
        "user.home": home,
        "user.name": name,
        "java.io.tmpdir": "/tmp",
        "java.version": "17",
        "os.name": "Linux",
        "file.separator": "/",
        "path.separator": ":",
        "line.separator": "\n",
    }


def _user() -> tuple[str, str]:
    """Return home directory and name of the user, as a Java machine takes them: not from the environment."""
    import os
    import pwd

    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:
        return "?", "?"
    return entry.pw_dir, entry.pw_name


@dataclass(slots=True)
class ReplacedText:
    """Text after replacement, with a map from its offsets to those of the text before."""

    text: str
    placeholders: list[Placeholder] = field(default_factory=list)
    # (offset after, offset before, taken over as it was)
    pieces: list[tuple[int, int, bool]] = field(default_factory=list)

    def before(self, offset: int) -> int:
        """Return the offset before replacement; for replaced text, the offset of its ``${``."""
        if not self.pieces:
            return offset
        # the last piece that begins at or before the offset: the tuple sorts after every piece with that offset
        at = bisect_right(self.pieces, (offset, 1 << 62, True)) - 1
        after, origin, verbatim = self.pieces[max(at, 0)]
        return origin + (offset - after) if verbatim else origin


def substitute(text: str, values: PlaceholderValues) -> ReplacedText:
    """Return the text with every placeholder replaced; raise ``SubstitutionError`` for one that the broker refuses."""
    if "${" not in text:
        return ReplacedText(text)
    return _Replacement(text, values).run()


class _Replacement:
    """Replacement in one pass over a text; ``pending`` is the last replacement, which has to be scanned again."""

    def __init__(self, text: str, values: PlaceholderValues) -> None:
        self.text, self.values = text, values
        self.out: list[str] = []
        self.length = self.text_offset = self.origin = self.rounds = 0
        self.pending = ""
        self.brace_passed = False
        self.done = ReplacedText("")

    def run(self) -> ReplacedText:
        while (inner := self._next()) is not None:
            self._replace(inner)
        self._put(self.pending, self.origin, verbatim=False)
        self._put(self.text[self.text_offset :], self.text_offset, verbatim=True)
        self.done.text = "".join(self.out)
        return self.done

    def _next(self) -> str | None:
        """Output everything before the next placeholder and return its content, or None if no placeholder is left."""
        start = self.pending.find("${")
        return self._from_text() if start < 0 else self._from_pending(start)

    def _from_text(self) -> str | None:
        self._put(self.pending, self.origin, verbatim=False)
        self.pending = ""
        start = self.text.find("${", self.text_offset)
        if start < 0:
            return None
        end = self._checked(self.text.find("}", start + 2))
        if end < 0:
            return None
        self._put(self.text[self.text_offset : start], self.text_offset, verbatim=True)
        self.origin, self.text_offset, self.rounds = start, end + 1, 0
        return self.text[start + 2 : end]

    def _from_pending(self, start: int) -> str | None:
        """Return the content of a placeholder that begins in a replacement value and may end in the text after it."""
        self._put(self.pending[:start], self.origin, verbatim=False)
        self.pending = self.pending[start:]
        end = self.pending.find("}", 2)
        if end >= 0:
            inner, self.pending = self.pending[2:end], self.pending[end + 1 :]
            return inner
        end = self._checked(self.text.find("}", self.text_offset))
        if end < 0:
            return None
        inner = self.pending[2:] + self.text[self.text_offset : end]
        self.pending, self.text_offset = "", end + 1
        return inner

    def _checked(self, end: int) -> int:
        if end < 0 and self.values.first_brace:
            raise SubstitutionError("'${' without '}'")
        return end

    def _replace(self, inner: str) -> None:
        if self.brace_passed and self.values.first_brace:
            raise SubstitutionError("a '}' comes before the first '${'")
        placeholder = self.values.look_up(inner, self.origin)
        self.done.placeholders.append(placeholder)
        if placeholder.origin == "environment" and placeholder.value == f"${{{inner}}}":
            # named, not replaced: it is not looked at again
            self._put(placeholder.value, self.origin, verbatim=False)
            return
        self.pending = placeholder.value + self.pending
        self.rounds += 1
        if self.rounds > _LIMIT or len(self.pending) + self.length > _TOO_LONG or f"${{{inner}}}" in placeholder.value:
            raise SubstitutionError(f"the replacement of ${{{placeholder.name}}} never ends: its value names itself")

    def _put(self, piece: str, origin: int, *, verbatim: bool) -> None:
        if piece:
            self.done.pieces.append((self.length, origin, verbatim))
            self.out.append(piece)
            self.length += len(piece)
            self.brace_passed = self.brace_passed or "}" in piece
