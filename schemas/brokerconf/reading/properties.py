"""``broker.properties``: entries with positions, read as ``java.util.Properties`` does (docs/spec/settings.md 1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brokerconf.errors import BrokerConfError
from brokerconf.reading.sizes import trimmed
from pagefmt.editions import Edition
from pagefmt.findings import Position

if TYPE_CHECKING:
    from brokerconf.reading.document import ConfigNode

PREFIX = "brokerconfig."
_LARGEST = 4 << 20
_SUFFIXES = (".properties", ".json", ".yaml")
_ESCAPE = r"(?s)\\(u[0-9a-fA-F]{4}|.)"
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY = r"(?s)((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)"


class PropertiesError(BrokerConfError):
    """A file of properties that cannot be read."""


class Entry(NamedTuple):
    """A key of ``broker.properties`` or of the system properties, without the latter's prefix.

    ``at_value`` is where the value begins.
    """

    key: str
    value: str
    position: Position
    at_value: Position | None = None


def property_files(given: str) -> tuple[Path, ...]:
    """The files that ``artemis run --properties`` would read: several with commas; of a folder its files by name.

    Raises ``PropertiesError`` for what does not exist. Source: docs/spec/settings.md 1.
    """
    found: list[Path] = []
    for name in filter(None, map(str.strip, given.split(","))):
        path = Path(name)
        if path.is_dir():
            found += sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
        elif path.exists():
            found.append(path)
        else:
            raise PropertiesError(f"{path}: no such file or folder of properties")
    return tuple(found)


def read_properties(path: Path) -> tuple[Entry, ...]:
    """All entries of a ``.properties`` or ``.json`` file, in its order; raises ``PropertiesError``."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(_LARGEST + 1)
    except OSError as err:
        raise PropertiesError(f"{path}: {err.strerror}") from err
    if len(raw) > _LARGEST:
        raise PropertiesError(f"{path}: larger than {_LARGEST >> 20} MiB")
    if path.suffix == ".yaml":
        raise PropertiesError(f"{path}: YAML is not read here; write it as .properties or .json")
    if path.suffix == ".json":
        return tuple(_parse_json(raw, str(path)))
    return tuple(parse_properties(raw.decode("latin-1"), str(path)))


def in_force(
    core: ConfigNode | None, edition: Edition, files: Iterable[Entry], system: Mapping[str, str]
) -> tuple[Entry, ...]:
    """What a broker of that edition applies over the file, in its order.

    First the entries of ``broker.properties`` (since 2.18), then those ``system`` properties that begin with the
    configuration's prefix (HornetQ has neither). Source: docs/spec/settings.md 1.
    """
    entries = tuple(files) if edition >= Edition.ARTEMIS_2_28 else ()
    if edition is Edition.HORNETQ_2_4 or not system:
        return entries
    node = core.descendant("system-property-prefix") if core else None
    prefix = trimmed(node.text) if node is not None and trimmed(node.text) else PREFIX
    named = {name.removeprefix(prefix): value for name, value in system.items() if name.startswith(prefix)}
    return (*entries, *(Entry(key, value, Position(f"-D{prefix}{key}", 0, 0)) for key, value in named.items()))


def _parse_json(raw: bytes, name: str) -> Iterator[Entry]:
    import json

    try:
        document = json.loads(raw.decode("utf-8"))
    except ValueError as err:
        raise PropertiesError(f"{name}: not JSON: {err}") from err
    if not isinstance(document, dict):
        raise PropertiesError(f"{name}: not a JSON object of properties")
    yield from _flattened(document, "", name)


def _flattened(found: dict[str, object], above: str, name: str) -> Iterator[Entry]:
    """Nested keys joined by dots; a key that has dots itself is put in quotes."""
    for own, value in found.items():
        key = above + (f'"{own}"' if "." in own else own)
        match value:
            case dict():
                yield from _flattened(value, f"{key}.", name)
            case bool():
                yield Entry(key, str(value).lower(), Position(name, 0, 0))
            case str() | int() | float():
                yield Entry(key, str(value), Position(name, 0, 0))
            case _:
                raise PropertiesError(f"{name}: {key}: null and arrays are not read")


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
        found = re.fullmatch(_KEY, start)
        assert found
        at = Position(name, number, len(line) - len(line.lstrip(" \t\f")) + 1)
        at_value = at._replace(column=at.column + found.start(2))
        yield Entry(_plain(found.group(1)), _plain(found.group(2)), at, at_value)


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _plain(text: str) -> str:
    def letter(found: re.Match[str]) -> str:
        what = found.group(1)
        return chr(int(what[1:], 16)) if len(what) == 5 else _LETTERS.get(what, what)

    return re.sub(_ESCAPE, letter, text)
