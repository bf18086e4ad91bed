"""``${name:default}`` as the broker replaces it (spec/config-behaviour.md, step 2).

The first ``${`` is taken with the first ``}`` after it; the name ends at the first ``:``; blanks around both go; a
system property wins, then (since 2.22) an environment variable, then the default, else nothing at all. What was put
in is looked at again. An opening ``${`` without ``}`` stops the work.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from brokerconf.errors import BrokerConfError
from brokerconf.sizes import trimmed
from pagefmt.editions import Edition

CONSIDER_ENVIRONMENT = "org.apache.activemq.artemis.utils.considerOsEnv"
_LIMIT = 100_000
_TOO_LONG = 64 << 20


class SubstitutionError(BrokerConfError):
    """A placeholder without a name, a replacement that never ends or that grows without bounds."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One ``${…}``: ``origin`` is ``property``, ``environment``, ``default`` or ``empty``; ``offset`` in that text."""

    name: str
    default: str | None
    value: str
    origin: str
    offset: int


@dataclass(frozen=True, slots=True)
class Values:
    """Where the values come from, for one edition."""

    properties: Mapping[str, str]
    environment: Mapping[str, str]

    @classmethod
    def of(cls, edition: Edition, properties: Mapping[str, str], environment: Mapping[str, str]) -> Values:
        switched_off = properties.get(CONSIDER_ENVIRONMENT, "true").lower() != "true"
        silent = edition < Edition.ARTEMIS_2_28 or switched_off
        return cls(properties, {} if silent else environment)

    def look_up(self, inner: str, offset: int) -> Placeholder:
        name, colon, rest = trimmed(inner).partition(":")
        name, default = trimmed(name), trimmed(rest) if colon else None
        if not name:
            raise SubstitutionError(f"${{{inner[:40]}}} names no property")
        if name in self.properties:
            return Placeholder(name, default, self.properties[name], "property", offset)
        if name in self.environment:
            return Placeholder(name, default, self.environment[name], "environment", offset)
        return Placeholder(name, default, default or "", "empty" if default is None else "default", offset)


@dataclass(slots=True)
class Replaced:
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


def substitute(text: str, values: Values) -> Replaced:
    """The text with every placeholder replaced; raises ``SubstitutionError``."""
    if "${" not in text:
        return Replaced(text)
    return _Work(text, values).run()


class _Work:
    """Goes through the text once; ``pending`` is what was put in last and has to be looked at again."""

    def __init__(self, text: str, values: Values) -> None:
        self.text, self.values = text, values
        self.out: list[str] = []
        self.length = 0
        self.done = Replaced("")

    def run(self) -> Replaced:
        pending, rest, origin, rounds = "", 0, 0, 0
        while True:
            start = pending.find("${")
            if start < 0:
                self._put(pending, origin, verbatim=False)
                pending = ""
                start = self.text.find("${", rest)
                end = self.text.find("}", start + 2) if start >= 0 else -1
                if end < 0:
                    break
                self._put(self.text[rest:start], rest, verbatim=True)
                inner, tail, origin, rest = self.text[start + 2 : end], "", start, end + 1
                rounds = 0
            else:
                self._put(pending[:start], origin, verbatim=False)
                end = pending.find("}", start + 2)
                if end >= 0:
                    inner, tail = pending[start + 2 : end], pending[end + 1 :]
                else:
                    end = self.text.find("}", rest)
                    if end < 0:
                        self._put(pending[start:], origin, verbatim=False)
                        break
                    inner, tail, rest = pending[start + 2 :] + self.text[rest:end], "", end + 1
            rounds += 1
            found = self.values.look_up(inner, origin)
            self.done.placeholders.append(found)
            pending = found.value + tail
            if rounds > _LIMIT or len(pending) + self.length > _TOO_LONG or f"${{{inner}}}" in found.value:
                raise SubstitutionError(f"the replacement of ${{{found.name}}} never ends: its value names itself")
        self._put(self.text[rest:], rest, verbatim=True)
        self.done.text = "".join(self.out)
        return self.done

    def _put(self, piece: str, origin: int, *, verbatim: bool) -> None:
        if piece:
            self.done.pieces.append((self.length, origin, verbatim))
            self.out.append(piece)
            self.length += len(piece)
