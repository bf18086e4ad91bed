"""A folder searched for broker configurations: what was taken, what was passed over, and why."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

from brokerconf.instance.instance import InstanceError, find_instance
from brokerconf.instance.recognition import SUFFIXES, ConfigurationForm, name_once_rendered, recognised
from brokerconf.reading.decoding import read_at_most

from pagectl.running.exits import CallError, describe, report
from pagectl.terminal.streams import note
from pagefmt.findings import some

LARGEST = 16 << 20
_LOOKED_FOR = (
    "XML of brokers and of application servers with messaging, properties, JSON and YAML with broker keys, "
    "Kubernetes objects of brokers"
)


class FolderSearch(NamedTuple):
    """What lies below a folder, in a stable order; ``unreadable`` is neither taken nor passed over."""

    folder: Path
    taken: list[tuple[Path, ConfigurationForm]]
    passed_over: list[tuple[Path, str]]
    unreadable: list[OSError]

    def tell(self, *, whole: bool) -> None:
        """On standard error: the files that were taken; with ``whole`` all of them, and the others with the reason.

        Raises ``CallError`` where nothing was found.
        """
        if whole:
            for path, form in self.taken:
                note(f"{path}: linted, {form.value}")
            for path, reason in self.passed_over:
                note(f"{path}: skipped, {reason}")
        if not self.taken and not self.unreadable:
            raise CallError(f"{self.folder}: no broker configuration below it; looked for {_LOOKED_FOR}")
        if not whole:
            names = some((path for path, _ in self.taken), 10)
            note(f"{self.folder}: {len(self.taken)} linted: {names}; --show-files lists what was skipped")


def is_searched(path: Path) -> bool:
    """Return whether a path is a folder of configurations: one that is no instance, or a whole repository."""
    if not path.is_dir():
        return False
    if (path / ".git").exists():
        return True
    try:
        find_instance(path)
    except InstanceError:
        return True
    return False


def search(folder: Path) -> FolderSearch:
    """Return all broker configurations below a folder.

    Hidden folders, virtual environments and ``node_modules`` are left out, and so are links to folders and links that
    lead out of the folder.
    """
    result = FolderSearch(folder, [], [], [])
    seen: set[Path] = set()
    root = os.path.realpath(folder)
    for path in sorted(_candidates(result), key=lambda path: (path.is_symlink(), path)):
        real = Path(os.path.realpath(path))
        try:
            form = _form(path, real.is_relative_to(root), real in seen)
        except OSError as err:
            result.unreadable.append(err)
            continue
        if isinstance(form, str):
            result.passed_over.append((path, form))
        else:
            seen.add(real)
            result.taken.append((path, form))
    for paths in (result.taken, result.passed_over):
        paths.sort(key=lambda pair: pair[0])
    return result


def _form(path: Path, inside: bool, seen: bool) -> ConfigurationForm | str:
    """Return the form of a configuration, or the reason why the file is not linted."""
    if path.is_symlink() and not path.exists():
        return "a link to nothing"
    if not inside:
        return "a link that leads out of the folder"
    if seen:
        return "another name of a file that is linted"
    if not path.is_file():
        return "not a file"
    if path.stat().st_size > LARGEST:
        return f"larger than {LARGEST >> 20} MiB"
    return recognised(name_once_rendered(path.name), read_at_most(path, LARGEST)) or "not a broker configuration"


def _candidates(result: FolderSearch) -> Iterator[Path]:
    """Yield the files with the ending of a configuration, at any depth."""
    waiting = [result.folder]
    while waiting:
        above = waiting.pop()
        try:
            entries = list(os.scandir(above))
        except OSError as err:
            result.unreadable.append(err)
            continue
        for entry in entries:
            path = above / entry.name
            if not _is_folder(entry):
                if PurePath(name_once_rendered(path.name)).suffix.lower() in SUFFIXES:
                    yield path
            elif reason := _left_out(path):
                result.passed_over.append((path, reason))
            else:
                waiting.append(path)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _left_out(folder: Path) -> str:
    if folder.name.startswith("."):
        return "a hidden folder"
    if folder.name == "node_modules" or (folder / "pyvenv.cfg").exists():
        return "a folder of installed packages"
    return "a link to a folder" if folder.is_symlink() else ""


def named_files(names: Iterable[str], *, show_files: bool) -> tuple[list[str], bool]:
    """Return the files to lint, and whether a folder could not be searched as a whole, which is reported.

    A file or an instance is itself; a folder stands for the configurations below it.
    """
    files, failed = list[str](), False
    for name in names:
        if name == "-" or not is_searched(Path(name)):
            files.append(name)
            continue
        below = search(Path(name))
        errors: list[Exception] = list(below.unreadable)
        try:
            below.tell(whole=show_files)
        except CallError as err:
            errors.append(err)
        for error in errors:
            report(describe(error))
        failed = failed or bool(errors)
        files += [str(path) for path, _ in below.taken]
    return list(dict.fromkeys(files)), failed
