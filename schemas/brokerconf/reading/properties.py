"""``broker.properties``: entries with positions, read as ``java.util.Properties`` does (docs/spec/settings.md 1)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brokerconf.reading.decoding import read_at_most
from brokerconf.reading.property_entries import NOT_READ, Entry, PropertiesError
from brokerconf.reading.sizes import trimmed
from brokerconf.reading.sources import SourceFile, plain_source
from brokerconf.reading.substitution import PlaceholderValues, SubstitutionError, substitute
from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Position

if TYPE_CHECKING:
    from brokerconf.reading.document import ConfigNode

PREFIX = "brokerconfig."
_LARGEST = 4 << 20
_TREES = (".json", ".yaml")
# Suffixes of properties files.
SUFFIXES = (".properties", *_TREES)
# An empty broker.xml, for properties over one that is unknown.
EMPTY_XML = '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"></core></configuration>'
_ESCAPE = r"(?s)\\(u[0-9a-fA-F]{4}|.)"
_BAD_ESCAPE = r"(?s)\\(?:[^u]|u[0-9a-fA-F]{4})|(\\u)"
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY = r"(?s)((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*"


def property_files(names: str) -> tuple[Path, ...]:
    """Return the files that ``artemis run --properties`` would read.

    ``names`` is separated by commas; of a folder its files are read in the order of their names. Raises
    ``PropertiesError`` for what does not exist. Source: docs/spec/settings.md 1.
    """
    files: list[Path] = []
    for name in filter(None, map(str.strip, names.split(","))):
        path = Path(name)
        if path.is_dir():
            files += sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
        elif path.exists():
            files.append(path)
        else:
            raise PropertiesError(Position(str(path)), "no such file or folder of properties")
    return tuple(files)


class PropertyFile(NamedTuple):
    """Properties file: its entries and its text; ``fault`` is why the broker ignores the whole file."""

    entries: tuple[Entry, ...]
    source: SourceFile
    fault: PropertiesError | None = None


def read_properties(path: Path, edition: Edition = NEWEST) -> PropertyFile:
    """Read a properties file as that edition does; raise ``PropertiesError`` if it cannot be opened."""
    try:
        raw = read_at_most(path, _LARGEST)
    except OSError as err:
        raise PropertiesError(Position(str(path)), err.strerror or "cannot be read") from err
    return property_file(raw, str(path), edition)


def property_file(raw: bytes, name: str, edition: Edition = NEWEST, suffix: str = "") -> PropertyFile:
    """Read a properties file from bytes; ``suffix``, or else the end of ``name``, decides about its format."""
    source = source_of(raw, name, suffix)
    try:
        return PropertyFile(tuple(entries_in(raw, name, edition, suffix)), source)
    except PropertiesError as err:
        return PropertyFile((), source, err)


def source_of(raw: bytes, name: str, suffix: str = "") -> SourceFile:
    """Return the source of a properties file, from which lines are shown in findings."""
    if (suffix or name).endswith(_TREES):
        from brokerconf.reading.yaml_tree import YamlSource

        return YamlSource(name, raw.decode("utf-8-sig", "replace"))
    return plain_source(name, raw.decode("latin-1"), markup=False)


def entries_in(raw: bytes, name: str, edition: Edition = NEWEST, suffix: str = "") -> Iterator[Entry]:
    """Return the entries of a file; raise ``PropertiesError`` if the broker ignores the whole file."""
    suffix = suffix or name
    if len(raw) > _LARGEST:
        raise PropertiesError(Position(name, 1, 1), f"larger than {_LARGEST >> 20} MiB", "split it", NOT_READ)
    if suffix.endswith(".json"):
        from brokerconf.reading.property_trees import json_entries

        return json_entries(raw, name, edition)
    if suffix.endswith(".yaml") and edition >= Edition.ARTEMIS_2_56:
        from brokerconf.reading.property_trees import yaml_entries

        return yaml_entries(raw, name)
    # up to 2.50 YAML as well
    return parse_properties(raw.decode("latin-1"), name)


def resolved(entries: Iterable[Entry], values: PlaceholderValues) -> tuple[Entry, ...]:
    """Return the entries with ``${…}`` in keys and values replaced; one that cannot be replaced stays as written."""
    by_key: dict[str, Entry] = {}
    for entry in entries:
        if "${" in entry.value or "${" in entry.key:
            try:
                key, value = (substitute(text, values).text for text in (entry.key, entry.value))
                entry = entry._replace(key=key, value=value, substituted=True)
            except SubstitutionError:
                pass
        by_key[entry.key] = entry
    return tuple(by_key.values())


def in_force(
    core: ConfigNode | None, edition: Edition, files: Iterable[Entry], system: Mapping[str, str]
) -> tuple[Entry, ...]:
    """Return the properties that a broker of that edition applies over broker.xml, in its order.

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


def parse_properties(text: str, name: str) -> Iterator[Entry]:
    """Yield the entries of a Java properties text.

    Skips comments and blank lines, joins continued lines and resolves escapes. The last value of a repeated key counts,
    at the first one's place in the order. Raises ``PropertiesError`` for a malformed escape.
    """
    entries: dict[str, Entry] = {}
    for start, places in _logical_lines(text):
        bad = next((match for match in re.finditer(_BAD_ESCAPE, start) if match[1]), None)
        if bad:
            raise PropertiesError(_at(name, places, bad.start()), "\\u without four hexadecimal digits", "write \\\\u")
        split = re.match(_KEY, start)
        assert split
        key, at = _plain(split[1]), _at(name, places, 0)
        value = _plain(start[split.end() :])
        steps = _steps(name, places, split[1]) if len(places) > 1 or key != split[1] else ()
        earlier = entries[key]._replace(earlier=None) if key in entries else None
        entries[key] = Entry(key, value, at, _at(name, places, split.end()), earlier, steps)
    yield from entries.values()


def _logical_lines(text: str) -> Iterator[tuple[str, list[tuple[int, int, int]]]]:
    """Yield each logical line and, for each of its physical lines, (offset from which it counts, line, column)."""
    lines = iter(enumerate(re.split(r"\r\n|\r|\n", text), 1))
    for number, line in lines:
        start = line.lstrip(" \t\f")
        if not start or start[0] in "#!":
            continue
        places = [(0, number, len(line) - len(start) + 1)]
        parts, length = [start], len(start)
        while _goes_on(parts[-1]):
            number, line = next(lines, (number + 1, ""))
            following = line.lstrip(" \t\f")
            places.append((length - 1, number, len(line) - len(following) + 1))
            parts[-1] = parts[-1][:-1]
            parts.append(following)
            length += len(following) - 1
        yield "".join(parts), places


def _goes_on(line: str) -> bool:
    """Return whether the backslash at the end of a line, if any, is not escaped itself."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _at(name: str, places: list[tuple[int, int, int]], offset: int) -> Position:
    start, line, column = places[bisect_right(places, offset, key=itemgetter(0)) - 1]
    return Position(name, line, column + offset - start)


def _steps(name: str, places: list[tuple[int, int, int]], written: str) -> tuple[tuple[int, Position], ...]:
    """Return the positions of the names in a key that has escapes or continues on several lines."""
    ends = [0, *(dot.end() for dot in re.finditer(r"(?s)\\.|(\.)", written) if dot[1])]
    positions, plain = [], 0
    for before, end in zip([0, *ends], ends, strict=False):
        plain += len(_plain(written[before:end]))
        positions.append((plain, _at(name, places, end)))
    return tuple(positions)


def _plain(text: str) -> str:
    if "\\" not in text:
        return text
    text = re.sub(_ESCAPE, _letter, text)
    # two escapes may make one character; one of them alone makes none
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _letter(match: re.Match[str]) -> str:
    what = match[1]
    return chr(int(what[1:], 16)) if len(what) == 5 else _LETTERS.get(what, what)
