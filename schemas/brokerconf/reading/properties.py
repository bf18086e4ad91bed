"""``broker.properties``: keys, values and their places, as ``java.util.Properties`` reads it (spec/settings.md 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from brokerconf.errors import BrokerConfError
from brokerconf.reading.findings import Position

_LARGEST = 4 << 20
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY = re.compile(r"((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)


class PropertiesError(BrokerConfError):
    """A file of properties that cannot be read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of ``broker.properties`` or of the system properties, without the latter's prefix."""

    key: str
    value: str
    position: Position


def read_properties(path: Path) -> tuple[Entry, ...]:
    """All entries in the order of the file; nothing where there is no such file; raises ``PropertiesError``."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(_LARGEST + 1)
    except FileNotFoundError:
        return ()
    except OSError as err:
        raise PropertiesError(f"{path}: {err.strerror}") from err
    if len(raw) > _LARGEST:
        raise PropertiesError(f"{path}: larger than {_LARGEST >> 20} MiB")
    return tuple(parse_properties(raw.decode("utf-8", "replace"), str(path)))


def parse_properties(text: str, name: str) -> Iterator[Entry]:
    """Comments and blank lines left out, lines that end in a backslash joined, escapes resolved."""
    lines = iter(enumerate(re.split(r"\r\n|\r|\n", text), 1))
    for number, line in lines:
        start = line.lstrip(" \t\f")
        if not start or start[0] in "#!":
            continue
        while _continues(start):
            _, following = next(lines, (0, ""))
            start = start[:-1] + following.lstrip(" \t\f")
        found = _KEY.fullmatch(start)
        assert found
        at = Position(name, number, len(line) - len(line.lstrip(" \t\f")) + 1)
        yield Entry(_plain(found.group(1)), _plain(found.group(2)), at)


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _plain(text: str) -> str:
    def letter(found: re.Match[str]) -> str:
        what = found.group(1)
        return chr(int(what[1:], 16)) if len(what) == 5 else _LETTERS.get(what, what)

    return _ESCAPE.sub(letter, text)
