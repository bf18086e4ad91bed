"""``${name:default}`` as the broker replaces it (docs/spec/config-behaviour.md, step 2).

The first ``${`` is taken with the first ``}`` after it; the name ends at the first ``:``; blanks around both go; a
system property wins, then (since 2.22) an environment variable, then the default, else nothing at all. What was put
in is looked at again. An opening ``${`` without ``}`` stops the work.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from brokerconf.errors import BrokerConfError
from brokerconf.reading.sizes import trimmed
from pagefmt.editions import Edition

CONSIDER_ENVIRONMENT = "org.apache.activemq.artemis.utils.considerOsEnv"
_LIMIT = 2_000
_TOO_LONG = 64 << 20


class SubstitutionError(BrokerConfError):
    """A placeholder without a name, a replacement that never ends or that grows without bounds."""


class Placeholder(NamedTuple):
    """One ``${…}``: ``origin`` is ``property``, ``environment``, ``default`` or ``empty``; ``offset`` in that text."""

    name: str
    default: str | None
    value: str
    origin: str
    offset: int


class PlaceholderValues(NamedTuple):
    """Where the values come from, for one edition."""

    properties: Mapping[str, str]
    environment: Mapping[str, str]
    # up to 2.10 the first "}" of the whole text is taken: one that stands before, or none at all, ends the start
    first_brace: bool = False

    @classmethod
    def of(cls, edition: Edition, properties: Mapping[str, str], environment: Mapping[str, str]) -> PlaceholderValues:
        """The values for an edition: environment variables count since 2.22 unless switched off."""
        switched_off = properties.get(CONSIDER_ENVIRONMENT, "true").lower() != "true"
        silent = edition < Edition.ARTEMIS_2_28 or switched_off
        return cls(properties, {} if silent else environment, edition <= Edition.ARTEMIS_2_10)

    def look_up(self, inner: str, offset: int) -> Placeholder:
        """The replacement of ``${inner}``; raises ``SubstitutionError`` where it has no name."""
        name, colon, rest = trimmed(inner).partition(":")
        name, default = trimmed(name), trimmed(rest) if colon else None
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


# the values of the environment that were put in, with the placeholders to show instead
_FILLED_IN: dict[str, str] = {}
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
    """Return an environment in which each variable has its own placeholder as value.

    Substitution leaves such a placeholder as written. What is read with it names variables and contains no value of
    them, so no output can show one.
    """
    return {name: reference(name) for name in environment}


# closed, and with a name; a colon separates the default
_EXPRESSION = re.compile(r"\$\{[^:}]*[^:}\s]")


def is_expression(text: str) -> bool:
    """Return whether ``${NAME…}`` is left in a value, which only the running broker knows."""
    found = _EXPRESSION.search(text)
    return found is not None and "}" in text[found.end() :]


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
    """The text after replacement, and the way back from an offset in it to one in the text before."""

    text: str
    placeholders: list[Placeholder] = field(default_factory=list)
    # (offset after, offset before, taken over as it was)
    pieces: list[tuple[int, int, bool]] = field(default_factory=list)

    def before(self, offset: int) -> int:
        """The offset in the text before replacement: that of the ``${`` for what was put in."""
        if not self.pieces:
            return offset
        at = bisect_right(self.pieces, (offset, 1 << 62, True)) - 1
        after, origin, verbatim = self.pieces[max(at, 0)]
        return origin + (offset - after) if verbatim else origin


def substitute(text: str, values: PlaceholderValues) -> ReplacedText:
    """The text with every placeholder replaced; raises ``SubstitutionError``."""
    if "${" not in text:
        return ReplacedText(text)
    return _Replacement(text, values).run()


class _Replacement:
    """Goes through the text once; ``pending`` is what was put in last and has to be looked at again."""

    def __init__(self, text: str, values: PlaceholderValues) -> None:
        self.text, self.values = text, values
        self.out: list[str] = []
        self.length = self.rest = self.origin = self.rounds = 0
        self.pending = ""
        self.brace_passed = False
        self.done = ReplacedText("")

    def run(self) -> ReplacedText:
        while (inner := self._next()) is not None:
            self._replace(inner)
        self._put(self.pending, self.origin, verbatim=False)
        self._put(self.text[self.rest :], self.rest, verbatim=True)
        self.done.text = "".join(self.out)
        return self.done

    def _next(self) -> str | None:
        """What stands in the next placeholder; all before it is put out."""
        start = self.pending.find("${")
        return self._from_text() if start < 0 else self._from_pending(start)

    def _from_text(self) -> str | None:
        self._put(self.pending, self.origin, verbatim=False)
        self.pending = ""
        start = self.text.find("${", self.rest)
        if start < 0:
            return None
        end = self._checked(self.text.find("}", start + 2))
        if end < 0:
            return None
        self._put(self.text[self.rest : start], self.rest, verbatim=True)
        self.origin, self.rest, self.rounds = start, end + 1, 0
        return self.text[start + 2 : end]

    def _from_pending(self, start: int) -> str | None:
        """A value that was put in begins another placeholder, which may end in the text after it."""
        self._put(self.pending[:start], self.origin, verbatim=False)
        self.pending = self.pending[start:]
        end = self.pending.find("}", 2)
        if end >= 0:
            inner, self.pending = self.pending[2:end], self.pending[end + 1 :]
            return inner
        end = self._checked(self.text.find("}", self.rest))
        if end < 0:
            return None
        inner = self.pending[2:] + self.text[self.rest : end]
        self.pending, self.rest = "", end + 1
        return inner

    def _checked(self, end: int) -> int:
        if end < 0 and self.values.first_brace:
            raise SubstitutionError("'${' without '}'")
        return end

    def _replace(self, inner: str) -> None:
        if self.brace_passed and self.values.first_brace:
            raise SubstitutionError("a '}' comes before the first '${'")
        found = self.values.look_up(inner, self.origin)
        self.done.placeholders.append(found)
        if found.origin == "environment" and found.value == f"${{{inner}}}":
            # named, not replaced: it is not looked at again
            self._put(found.value, self.origin, verbatim=False)
            return
        self.pending = found.value + self.pending
        self.rounds += 1
        if self.rounds > _LIMIT or len(self.pending) + self.length > _TOO_LONG or f"${{{inner}}}" in found.value:
            raise SubstitutionError(f"the replacement of ${{{found.name}}} never ends: its value names itself")

    def _put(self, piece: str, origin: int, *, verbatim: bool) -> None:
        if piece:
            self.done.pieces.append((self.length, origin, verbatim))
            self.out.append(piece)
            self.length += len(piece)
            self.brace_passed = self.brace_passed or "}" in piece
