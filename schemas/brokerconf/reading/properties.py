"""``broker.properties``: entries with positions, read as ``java.util.Properties`` does (docs/spec/settings.md 1)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brokerconf.reading.parsing import ReadingError
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
SUFFIXES = (".properties", *_TREES)
"""The ends of names of files of properties."""
EMPTY_XML = '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"></core></configuration>'
"""A broker.xml that says nothing, for properties over one that is not known."""
_ESCAPE = re.compile(r"(?s)\\(u[0-9a-fA-F]{4}|.)")
_BAD_ESCAPE = re.compile(r"\\(?:[^u]|u[0-9a-fA-F]{4})|(\\u)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY = re.compile(r"(?s)((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*")
_DROPPED = "the broker starts without this file; only its status attribute shows the error"
NOT_READ = "a limit of this check: it is not known what the broker does with the file"


class PropertiesError(ReadingError):
    """A file of properties that cannot be read; with a line where the broker leaves it out as a whole."""

    def __init__(self, position: Position, message: str, help: str = "", why: str = _DROPPED) -> None:
        super().__init__("properties-unreadable", position, message, help, why)


class Entry(NamedTuple):
    """A key of ``broker.properties`` or of the system properties, without the latter's prefix.

    ``at_value`` is where the value begins; ``earlier`` the entry that this one replaces, in whose place it is applied,
    without what that one replaced itself;
    ``steps`` are offsets in the key and where the name there stands, of a key that is not written in one piece, or what
    says so of an offset; ``substituted``: a ``${…}`` was replaced in the key or value.
    """

    key: str
    value: str
    position: Position
    at_value: Position | None = None
    earlier: Entry | None = None
    steps: tuple[tuple[int, Position], ...] | Callable[[int], Position] = ()
    substituted: bool = False

    def whole(self) -> Entry:
        """The same without the places of names in its key, for another process."""
        return self._replace(steps=(), earlier=self.earlier and self.earlier.whole())

    def at_step(self, offset: int) -> Position:
        """Where the name that begins at an offset of the key stands."""
        if callable(self.steps):
            return self.steps(offset)
        if not self.steps:
            return self.position._replace(column=self.position.column + offset) if self.at_value else self.position
        return max(step for step in self.steps if step[0] <= offset)[1]


def property_files(given: str) -> tuple[Path, ...]:
    """The files that ``artemis run --properties`` would read: several with commas; of a folder its files by name.

    Raises ``PropertiesError`` for what does not exist. Source: docs/spec/settings.md 1.
    """
    found: list[Path] = []
    for name in filter(None, map(str.strip, given.split(","))):
        path = Path(name)
        if path.is_dir():
            found += sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
        elif path.exists():
            found.append(path)
        else:
            raise PropertiesError(Position(str(path)), "no such file or folder of properties")
    return tuple(found)


class PropertyFile(NamedTuple):
    """A file: its entries and its text; ``fault`` is why the broker leaves out the whole of it."""

    entries: tuple[Entry, ...]
    source: SourceFile
    fault: PropertiesError | None = None


def read_properties(path: Path, edition: Edition = NEWEST) -> PropertyFile:
    """A file as that edition reads it; raises ``PropertiesError`` for one that is not there."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(_LARGEST + 1)
    except OSError as err:
        raise PropertiesError(Position(str(path)), err.strerror or "cannot be read") from err
    return property_file(raw, str(path), edition)


def property_file(raw: bytes, name: str, edition: Edition = NEWEST, suffix: str = "") -> PropertyFile:
    """The same of bytes at hand; the end of the name, or ``suffix``, says how it is written."""
    source = source_of(raw, name, suffix)
    try:
        return PropertyFile(tuple(entries_in(raw, name, edition, suffix)), source)
    except PropertiesError as err:
        return PropertyFile((), source, err)


def source_of(raw: bytes, name: str, suffix: str = "") -> SourceFile:
    """The text of a file of properties, for the lines that are shown."""
    if (suffix or name).endswith(_TREES):
        from brokerconf.reading.yaml_tree import YamlSource

        return YamlSource(name, raw.decode("utf-8-sig", "replace"))
    return plain_source(name, raw.decode("latin-1"), markup=False)


def entries_in(raw: bytes, name: str, edition: Edition = NEWEST, suffix: str = "") -> Iterator[Entry]:
    """The entries of a file; raises ``PropertiesError`` where the broker leaves out the whole of it."""
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
    """The entries with ``${…}`` in keys and values replaced; one that cannot be is left as it stands."""
    found: dict[str, Entry] = {}
    for entry in entries:
        if "${" in entry.value or "${" in entry.key:
            try:
                key, value = (substitute(text, values).text for text in (entry.key, entry.value))
                entry = entry._replace(key=key, value=value, substituted=True)
            except SubstitutionError:
                pass
        found[entry.key] = entry
    return tuple(found.values())


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


def parse_properties(text: str, name: str) -> Iterator[Entry]:
    """Comments and blank lines left out, lines that end in a backslash joined, escapes resolved, the last of a key in
    the place of the first; raises ``PropertiesError`` where an escape is none."""
    found: dict[str, Entry] = {}
    for start, places in _logical_lines(text):
        bad = next((one for one in _BAD_ESCAPE.finditer(start) if one[1]), None)
        if bad:
            raise PropertiesError(_at(name, places, bad.start()), "\\u without four hexadecimal digits", "write \\\\u")
        split = _KEY.match(start)
        assert split
        key, at = _plain(split[1]), _at(name, places, 0)
        value = _plain(start[split.end() :])
        steps = _steps(name, places, split[1]) if len(places) > 1 or key != split[1] else ()
        earlier = found[key]._replace(earlier=None) if key in found else None
        found[key] = Entry(key, value, at, _at(name, places, split.end()), earlier, steps)
    yield from found.values()


def _logical_lines(text: str) -> Iterator[tuple[str, list[tuple[int, int, int]]]]:
    """Each line with those that it goes on in; and from which offset on it stands in which line and column."""
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
    """Where the names of a key with escapes, or on several lines, stand."""
    ends = [0, *(found.end() for found in re.finditer(r"(?s)\\.|(\.)", written) if found[1])]
    found, plain = [], 0
    for before, end in zip([0, *ends], ends, strict=False):
        plain += len(_plain(written[before:end]))
        found.append((plain, _at(name, places, end)))
    return tuple(found)


def _plain(text: str) -> str:
    if "\\" not in text:
        return text
    found = _ESCAPE.sub(_letter, text)
    # two escapes may make one character; one of them alone makes none
    return found if found.isascii() else found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _letter(found: re.Match[str]) -> str:
    what = found[1]
    return chr(int(what[1:], 16)) if len(what) == 5 else _LETTERS.get(what, what)
