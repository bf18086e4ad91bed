"""The project file: what holds for the configurations of a repository without being typed at each call.

``pagectl.toml``, or ``[tool.pagectl]`` of ``pyproject.toml``, in the folder of a configuration or above it, up to the
root of the repository. Keys::

    edition = "artemis-2.44"    heap = "4G"    fail-on = "warning"    ignore = ["rule"]    only = ["rule"]
    [severity]
    rule = "error"              # or "warning", "info", "off"
    [[per-path]]                # of all that fit, each adds its rules, and the last edition counts
    path = "legacy/**"          # files and folders, from the folder of the project file
    ignore = ["rule"]    edition = "artemis-1.5"
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from brokerconf.errors import BrokerConfError
from brokerconf.linting.catalogue import known_ids, meant
from brokerconf.linting.lint_report import RuleSelection
from brokerconf.reading.decoding import read_at_most
from brokerconf.reading.sizes import SizeError, parse_size
from pagefmt.editions import EDITION_NAMES, Edition
from pagefmt.findings import FailOn, Severity

NAME = "pagectl.toml"
_SHARED = "pyproject.toml"
_TABLE = "tool.pagectl"
_LARGEST = 1 << 20
_LONGEST_PATH = 1_000  # characters of a pattern
OFF = "off"


class ProjectError(BrokerConfError):
    """Error for a project file that cannot be understood; the message names file and line."""


class PathSettings(NamedTuple):
    """Settings for the files that a pattern matches."""

    path: str
    ignored: frozenset[str] = frozenset()
    edition: Edition | None = None

    def fits(self, file: str) -> bool:
        """Return whether the pattern matches the file, or a folder that contains it; folders are separated by ``/``."""
        return _expression(self.path).fullmatch(file) is not None


class ProjectFile(NamedTuple):
    """Content of a project file; ``heap`` is in bytes, a severity of None is off."""

    path: Path
    edition: Edition | None = None
    heap: int | None = None
    fail_on: FailOn | None = None
    ignored: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    severities: Mapping[str, Severity | None] | None = None
    per_path: tuple[PathSettings, ...] = ()

    def edition_of(self, file: Path) -> Edition | None:
        """Return the edition of a configuration: that of the last matching pattern, else the project's (or None)."""
        named = [settings.edition for settings in self._fitting(file) if settings.edition]
        return named[-1] if named else self.edition

    def selection(self, file: Path, requested: RuleSelection) -> RuleSelection:
        """Return the rules to check for a configuration; rules that the caller names override those of the project."""
        severities = {rule: severity for rule, severity in (self.severities or {}).items() if severity}
        off = {rule for rule, severity in (self.severities or {}).items() if severity is None}
        ignored = requested.ignored or self.ignored
        ignored |= frozenset(off).union(*(settings.ignored for settings in self._fitting(file)))
        return RuleSelection(requested.only or self.only, ignored - (requested.only - requested.ignored), severities)

    def _fitting(self, file: Path) -> list[PathSettings]:
        try:
            name = Path(os.path.realpath(file)).relative_to(os.path.realpath(self.path.parent)).as_posix()
        except ValueError:
            return []
        return [settings for settings in self.per_path if settings.fits(name)]


def project_of(folder: Path, distrusted: Callable[[Path], object] = lambda path: None) -> ProjectFile | None:
    """Return the project file that counts in a folder.

    A file of another user than this one, the owner of the folder and root is passed over, because anybody may put one
    into ``/tmp``; ``distrusted`` gets its path. Raises ``ProjectError`` and ``OSError``.
    """
    trusted = {0, os.geteuid(), folder.stat().st_uid} if folder.is_dir() else {0, os.geteuid()}
    for above in (folder.absolute(), *folder.absolute().parents):
        own, shared = above / NAME, above / _SHARED
        if own.is_file():
            if _owners(own) <= trusted:
                return _Reader(own, "").project()
            distrusted(own)
        if shared.is_file() and not _owners(shared) <= trusted:
            distrusted(shared)
        elif shared.is_file() and _TABLE in _text(shared):
            reader = _Reader(shared, _TABLE)
            if reader.table is not None:
                return reader.project()
        if (above / ".git").exists():
            break
    return None


def _owners(path: Path) -> set[int]:
    """Return the users who control a file's content: the owner of the file, and of a link to it."""
    return {path.lstat().st_uid, path.stat().st_uid}


def _text(path: Path) -> str:
    raw = read_at_most(path, _LARGEST)
    if len(raw) > _LARGEST:
        raise ProjectError(f"{path}: larger than {_LARGEST >> 20} MiB; name the settings in {NAME} beside it")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as err:
        raise ProjectError(f"{path}: not UTF-8 from byte {err.start} on; save it as UTF-8") from err


class _Reader:
    """Reader of one file; its errors name the line of a key, which the TOML parser does not report."""

    def __init__(self, path: Path, base: str) -> None:
        self.path, self.base = path, base
        self.text = _text(path)
        import tomllib

        try:
            self.table: object = tomllib.loads(self.text)
        except RecursionError as err:
            raise ProjectError(f"{path}:{self._last_line()}: not TOML: nested too deeply") from err
        except tomllib.TOMLDecodeError as err:
            at = re.search(r"line (\d+)", str(err))
            problem = re.sub(r" \(at .*\)", "", str(err).partition(":")[0])
            raise ProjectError(f"{path}:{at[1] if at else self._last_line()}: not TOML: {problem}") from err
        except ValueError as err:
            digits = re.search(f"[0-9_]{{{sys.get_int_max_str_digits()}}}", self.text)
            line = self.text.count("\n", 0, digits.start() if digits else 0) + 1
            raise ProjectError(f"{path}:{line}: a number of too many digits; no setting needs one") from err
        for step in base.split(".") if base else ():
            self.table = self.table.get(step) if isinstance(self.table, dict) else None

    def _last_line(self) -> int:
        return self.text.count("\n", 0, len(self.text.rstrip())) + 1

    def project(self) -> ProjectFile:
        values: dict[str, Any] = {}
        for key, value in self._table(self.table, self.base).items():
            if key not in _KEYS:
                raise self.error(self.base, key, f"no key '{key}' is known; {meant(key, _KEYS)}")
            name, read = _KEYS[key]
            values[name] = read(self, value, self.base)
        return ProjectFile(self.path, **values)

    def ignored(self, value: object, table: str, number: int = 0) -> frozenset[str]:
        return self._rules(value, "ignore", table, number)

    def only(self, value: object, table: str) -> frozenset[str]:
        return self._rules(value, "only", table)

    def per_path(self, value: object, base: str) -> tuple[PathSettings, ...]:
        if not isinstance(value, list) or not value:
            raise self.error(base, "per-path", "write it as [[per-path]] with path and ignore or edition")
        return tuple(self._path_settings(item, number) for number, item in enumerate(value))

    def _path_settings(self, value: object, number: int) -> PathSettings:
        table = self._below("per-path")
        entries = self._table(value, table, number)
        for key in entries:
            if key not in ("path", "ignore", "edition"):
                advice = meant(key, ("path", "ignore", "edition"))
                raise self.error(table, key, f"no key '{key}' is known here; {advice}", number)
        path = entries.get("path")
        if not isinstance(path, str) or not path:
            raise self.error(table, "path", 'path is needed, such as path = "legacy/**"', number)
        if len(path) > _LONGEST_PATH:
            raise self.error(table, "path", f"path: a pattern of more than {_LONGEST_PATH} characters", number)
        ignored = self.ignored(entries["ignore"], table, number) if "ignore" in entries else frozenset()
        edition = self.edition(entries["edition"], table, number) if "edition" in entries else None
        return PathSettings(path, ignored, edition)

    def severities(self, value: object, base: str) -> dict[str, Severity | None]:
        table = self._below("severity")
        severities: dict[str, Severity | None] = {}
        for rule, severity in self._table(value, table).items():
            self._known_rule(rule, table, rule, 0)
            names = [OFF, *(choice.value for choice in Severity)]
            if severity not in names:
                raise self.error(table, rule, f"severity of {rule}: one of {', '.join(names)} is needed")
            severities[rule] = None if severity == OFF else Severity(severity)
        return severities

    def edition(self, value: object, table: str, number: int = 0) -> Edition:
        name = value if isinstance(value, str) else ""
        try:
            return Edition(name)
        except ValueError:
            advice = meant(name, EDITION_NAMES)
            raise self.error(table, "edition", f"edition: no edition of that name is known; {advice}", number) from None

    def heap(self, value: object, base: str) -> int:
        try:
            size = parse_size(value).value if isinstance(value, str) else 0
        except SizeError:
            size = 0
        if size <= 0:
            raise self.error(base, "heap", 'heap: a size above 0 is needed, such as "512M" or "4G"')
        return size

    def fail_on(self, value: object, base: str) -> FailOn:
        choices = {choice.value: choice for choice in FailOn}
        if not isinstance(value, str) or value not in choices:
            raise self.error(base, "fail-on", f"fail-on: one of {', '.join(choices)} is needed")
        return choices[value]

    def _rules(self, value: object, key: str, table: str, number: int = 0) -> frozenset[str]:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise self.error(table, key, f'{key}: a list of rules is needed, such as ["drop-policy"]', number)
        for name in value:
            self._known_rule(name, table, key, number)
        return frozenset(value)

    def _known_rule(self, name: str, table: str, key: str, number: int) -> None:
        if name not in known_ids():
            raise self.error(table, key, f"'{name}' is not a rule; {meant(name, known_ids())}", number)

    def _table(self, value: object, table: str, number: int = 0) -> Mapping[str, object]:
        if not isinstance(value, dict):
            raise self.error(*_parted(table), f"{table.rpartition('.')[2]}: a table is needed", number)
        return value

    def _below(self, name: str) -> str:
        return f"{self.base}.{name}" if self.base else name

    def error(self, table: str, key: str, message: str, number: int = 0) -> ProjectError:
        return ProjectError(f"{self.path}:{self._line(table, key, number)}: {message}")

    def _line(self, table: str, key: str, number: int) -> int:
        """Return the line of a key in the ``number``-th table of that name, else that of the table, else the first."""
        whole = f"{table}.{key}" if table else key
        written = rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]"
        inside, seen, best = "", -1, 1
        for at, line in enumerate(self.text.splitlines(), 1):
            header = re.match(r"\s*\[++([^\[\]]++)\]++\s*(?:#|$)", line)
            if header:
                inside = re.sub(r"[\"'\s]", "", header[1])
                if inside == whole:
                    return at
                seen += inside == table
                best = at if inside == table and seen == number else best
            elif inside == table and seen in (number, -1) and re.match(written, line):
                return at
        return best


def _parted(table: str) -> tuple[str, str]:
    above, _, name = table.rpartition(".")
    return above, name


# By key: the field of the project file, and how it is read.
_KEYS: dict[str, tuple[str, Callable[[_Reader, object, str], object]]] = {
    "edition": ("edition", _Reader.edition),
    "heap": ("heap", _Reader.heap),
    "fail-on": ("fail_on", _Reader.fail_on),
    "ignore": ("ignored", _Reader.ignored),
    "only": ("only", _Reader.only),
    "severity": ("severities", _Reader.severities),
    "per-path": ("per_path", _Reader.per_path),
}


# By wildcard: how the text that follows it is found, as near as possible.
_NEAREST = {"": "{}", "**": "(?>.*?{})", "**/": "(?>(?:.*?/)??{})"}


@cache
def _expression(glob: str) -> re.Pattern[str]:
    """Compile a glob: ``*`` and ``?`` stay inside a name, ``**`` spans folders; what fits a folder fits all below it.

    The time of a match is bounded by a product of the lengths of pattern and path: each wildcard takes as little as it
    can, and an atomic group keeps that. No match is lost, because the nearest end leaves the most to what follows.
    """
    first, *others = re.split(r"((?<![^/])\*\*/|\*\*)", glob.strip("/"))
    texts = [[re.escape(piece).replace(r"\?", "[^/]") for piece in text.split("*")] for text in (first, *others[1::2])]
    texts[-1][-1] += r"(?:/.*)?\Z"
    return re.compile(
        "(?s)"
        + "".join(
            _NEAREST[wildcard].format(start + "".join(f"(?>[^/]*?{piece})" for piece in pieces))
            for wildcard, (start, *pieces) in zip(("", *others[::2]), texts, strict=True)
        )
    )
