"""XInclude with a loader of our own: only files below one folder, a few levels deep, no loops.

The broker resolves a relative ``href`` against its working directory, because its parser does not know the address of
the file; inside an included file it is relative to that file (docs/spec/config-behaviour.md, step 3).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from brokerconf.reading.decoding import as_xml_says, read_at_most
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.sources import SourceFile, plain_source
from pagefmt.findings import Position

XINCLUDE = "http://www.w3.org/2001/XInclude"
INCLUDE = f"{{{XINCLUDE}}}include"
FALLBACK = f"{{{XINCLUDE}}}fallback"
DEPTH = 8
LARGEST = 64 << 20


class MissingInclude(ReadingError):
    """Error for an included file that does not exist: the one case in which a fallback is used."""


class IncludeContext(NamedTuple):
    """Where includes are resolved: ``root`` confines them, ``base`` is the folder, ``open_files`` the chain.

    ``held`` returns the file of a name, for a configuration whose includes are in the same Kubernetes object instead of
    a folder.
    """

    root: Path
    base: Path
    open_files: tuple[Path, ...]
    held: Callable[[str], SourceFile | None] | None = None

    def loaded(self, href: str, at: Position, shown: Callable[[Path], str]) -> tuple[SourceFile, IncludeContext]:
        """Return an included file and the context for its own includes; raise ``ReadingError``.

        ``shown`` names a path in findings.
        """
        if self.held is None:
            target = self.target(href, at)
            return load(target, shown(target), at), self.inside(target)
        path = Path(self._included_path(href, at).name)
        source = self.held(path.name)
        if source is None:
            raise MissingInclude(
                "include-missing",
                at,
                f"cannot include {path.name}: no key has that name",
                "add the key to the object that holds this file",
            )
        self._check_chain(path, href, at)
        return source, self.inside(path)

    def target(self, href: str, at: Position) -> Path:
        """Return the path of an included file; raise ``ReadingError`` if it is missing, out of bounds, or circular."""
        path = Path(os.path.realpath(self._included_path(href, at)))
        if not path.is_relative_to(self.root):
            raise _refused(at, f"the include of '{href}' leads outside {self.root}", "move the file below that folder")
        self._check_chain(path, href, at)
        return path

    def _check_chain(self, path: Path, href: str, at: Position) -> None:
        if path in self.open_files:
            raise _refused(at, f"the include of '{href}' is circular", "remove one of the includes")
        if len(self.open_files) > DEPTH:
            raise _refused(at, f"includes are nested more than {DEPTH} deep", "include from the main file")

    def _included_path(self, href: str, at: Position) -> Path:
        # few files include any, and this pulls in a good part of the network library
        from urllib.parse import unquote, urlsplit

        try:
            parts = urlsplit(href)
        except ValueError:
            raise _refused(at, f"'{href}' is not the address of a file", "name a file below the folder") from None
        if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
            raise _refused(at, f"the include of '{href}' is remote: nothing is fetched", "include a local file")
        if parts.fragment or href.endswith("#"):
            raise _refused(at, f"the include of '{href}' names a part of a file", "include a whole file")
        name = unquote(parts.path)
        if not name or "\0" in name:
            raise _refused(at, "an include without a file name", "name the file in href")
        return self.base / name

    def inside(self, path: Path) -> IncludeContext:
        """Return the context for includes inside the included file ``path``."""
        return self._replace(base=path.parent, open_files=(*self.open_files, path))


def _refused(at: Position, message: str, help: str) -> ReadingError:
    return ReadingError("include-refused", at, message, help, "only files below the configuration's folder are read")


def load(path: Path, shown: str, at: Position) -> SourceFile:
    """Read an included file as an XML parser decodes it; raise ``ReadingError`` if it cannot be read."""
    text = _decoded(read_regular(path, at), shown, at)
    return plain_source(shown, text)


def _decoded(raw: bytes, shown: str, at: Position) -> str:
    try:
        return as_xml_says(raw)
    except UnicodeError as err:
        raise ReadingError("not-well-formed", at, f"{shown} is not in its encoding: {err}", "save it as UTF-8") from err


def read_regular(path: Path, at: Position) -> bytes:
    """Read a regular file; raise ``ReadingError`` if it is of another type, too large, or missing."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _refused(at, f"{path.name} is not a regular file", "include a file")
        if status.st_size > LARGEST:
            raise _refused(at, f"{path.name} is larger than {LARGEST >> 20} MiB", "split it")
        return read_at_most(path, LARGEST)
    except OSError as err:
        reason = f"cannot include {path.name}: {err.strerror}"
        raise MissingInclude(
            "include-missing", at, reason, "name it relative to the folder that the broker is started in (--cwd)"
        ) from err
