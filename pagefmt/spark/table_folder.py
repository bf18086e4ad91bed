"""The folder of a table: how a table appears in it atomically, which files belong to it, and which must survive.

A new table is written beside its final name and gets it by one rename. An existing table is changed in place: the files
of a run wait in ``_temporary/RUN``, which also keeps what they replace until ``_SUCCESS`` is back; until then, the next
run can undo the change. Below a URL every table is changed in place: a store has no folder that could be renamed.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeVar

from pagefmt.errors import PageFmtError
from pagefmt.spark.format_commit import ICEBERG_FILES, FormatCommit
from pagefmt.spark.table_formats import DELTA_LOG, carry_out_commit, finish, format_of, last_export
from pagefmt.storage.files import open_stream
from pagefmt.storage.remote_outputs import (
    ClaimedPath,
    StoredPath,
    at_once,
    claimed,
    remove_tree,
    still_claimed,
    whole_text,
)
from pagefmt.storage.writing import PARTIAL_SUFFIX, TargetRefused, locked_folder, refuse_links, sync_files, whole_folder
from pagefmt.table.partitions import SHORTENED
from pagefmt.table.table_content import LakeFormat

SUCCESS: Final = "_SUCCESS"  # exists if the table is complete
DAMAGED: Final = "_damaged.json"
TEMPORARY: Final = "_temporary"
EXPORTED: Final = "_exported"  # the log of ``pagefmt.spark.exported``
REPLACED: Final = "replaced"  # folder in a run's folder: what the run has replaced
CHANGING: Final = "changing"  # file beside it, from the first change of the table on
NUMBER: Final = "number"  # file beside them: the number of the export, if a commit decides
_LEFT: Final = "the next export completes or undoes what this one left there"
MADE: Final = "made"  # names of the files to remove if the commit fails
_Note = TypeVar("_Note", dict[str, str], list[dict[str, Any]])
_NUMBER: Final = re.compile(r"[0-9]{1,18}")


@contextmanager
def table_at(folder: Path) -> Iterator[Path]:
    """Yield the folder to write a table in: the existing one, locked, or an empty one that becomes the table.

    What a killed run left is undone first, what a failed run leaves afterwards. Raises ``TargetRefused``,
    ``LinkRefused`` if the folder or something in it is a link, and ``OSError``.
    """
    far = isinstance(folder, StoredPath)
    if far or folder.is_dir():
        if not far:
            refuse_links(folder)
        folder = folder.absolute()
        with claimed(folder, TEMPORARY) if isinstance(folder, StoredPath) else locked_folder(folder) as held:
            folder = held if isinstance(held, ClaimedPath) else folder
            undo(folder)
            try:
                yield folder
            except BaseException as err:
                _undo_failed(folder, err)
                raise
        return
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    os.umask(mask := os.umask(0))
    with whole_folder(folder) as (partial, _):
        partial.chmod(0o777 & ~mask)
        yield partial
        sync_files(partial)


def _undo_failed(folder: Path, err: BaseException) -> None:
    """Undo a run that ended with an error. The error names the table, and says so if undoing fails as well."""
    if isinstance(err, OSError):
        err.filename = err.filename or str(folder)
    try:
        if still_claimed(folder):
            undo(folder)
    except (OSError, PageFmtError):
        if isinstance(err, OSError):
            err.strerror = f"{err.strerror}; {_LEFT}"
        elif isinstance(err, PageFmtError):
            err.args = (f"{err}; {_LEFT}",)


class Replaced(Enum):
    """What of a table goes away when new files are ready: those of the partitions that get new ones, or all.

    ``LOG``: a commit says which files are in the table, and none of them goes away.
    """

    NOTHING = "nothing"
    PARTITIONS = "partitions"
    ALL = "all"
    LOG = "log"


def put(
    folder: Path,
    run: Path,
    parts: dict[str, str],
    damaged: str | None,
    replaced: Replaced,
    commit: FormatCommit | None = None,
) -> str | None:
    """Move the files of a run, and the list of damaged pages, into the table.

    ``parts`` maps paths in the run to paths in the table. Returns why leftovers of the run could not be removed, or
    None; the table is complete in both cases. Raises ``OSError``, ``PageFmtError``.
    """
    aside = folder / DAMAGED
    if not isinstance(folder, StoredPath):
        sync_files(run)
    _refuse_lost(folder)
    if commit is not None:
        whole_text(run / NUMBER, str(commit.number))
    if aside.exists():
        whole_text(run / DAMAGED, _text_of(aside))
    whole_text(run / CHANGING, "")
    for old in ([folder / SUCCESS], _old(folder, parts, replaced)):
        _move({path: run / REPLACED / path.relative_to(folder) for path in old if path.exists()})
    _move({run / name: folder / target for name, target in parts.items()})
    if damaged is None:
        aside.unlink(missing_ok=True)
    else:
        whole_text(aside, damaged)
    if commit is not None:
        _refuse_lost(folder)
        carry_out_commit(commit, run / MADE)
    whole = commit is not None
    try:
        if commit is not None:
            finish(folder)
        (folder / SUCCESS).touch()
        whole = True
        _remove(run)
    except (OSError, PageFmtError) as err:
        if not whole and not _is_whole(folder):
            raise
        return str(getattr(err, "strerror", None) or err)
    return None


def _is_whole(folder: Path) -> bool:
    """Return whether the table is complete; False if this cannot be read."""
    try:
        return (folder / SUCCESS).exists()
    except (OSError, PageFmtError):
        return False


def _refuse_lost(folder: Path) -> None:
    """Raise ``OSError`` if other processes may have taken this one for dead."""
    if not still_claimed(folder):
        raise OSError(errno.EBUSY, "another process may be writing it, after a pause; export again", str(folder))


def note_shortened(folder: Path, run: Path, shortened: dict[str, str]) -> None:
    """Add values that names of the table's folders do not contain in full to those of earlier runs."""
    aside = folder / SHORTENED
    if shortened:
        earlier = read_note(aside, {})
        if earlier:
            whole_text(run / SHORTENED, _text_of(aside))
        whole_text(aside, json.dumps(earlier | shortened, ensure_ascii=False, indent=2, sort_keys=True) + "\n")


def read_note(path: Path, absent: _Note) -> _Note:
    """Read a JSON file of a table, of the type of ``absent``, which is returned if there is no such file."""
    if not path.exists():
        return absent
    try:
        note = json.loads(_text_of(path))
    except (ValueError, RecursionError):
        note = None
    if not isinstance(note, type(absent)):
        raise TargetRefused(f"{path}: damaged, or not written by pagectl; restore or remove it")
    return note


def _text_of(path: Path) -> str:
    """Read a small text file of a table; bytes that are no text are replaced."""
    if not isinstance(path, StoredPath):
        with open_stream(path) as file:
            return file.read().decode("utf-8", "replace")
    return path.read_bytes().decode("utf-8", "replace")


def _old(folder: Path, parts: dict[str, str], replaced: Replaced) -> list[Path]:
    """Return the paths that the new files replace."""
    if replaced is Replaced.NOTHING:
        return []
    if replaced is Replaced.LOG:
        return [folder / EXPORTED]
    if replaced is Replaced.ALL:
        keep = (SUCCESS, TEMPORARY, DAMAGED, SHORTENED)
        return [path for path in sorted(folder.iterdir()) if path.name not in keep and _of_a_table(path)]
    folders = sorted({(folder / target).parent for target in parts.values()})
    inside = (path for partition in folders if partition.is_dir() for path in sorted(partition.iterdir()))
    return [path for path in inside if path.is_file() and _of_a_table(path)]


def _move(paths: Mapping[Path, Path]) -> None:
    if any(isinstance(path, StoredPath) for path in paths):
        at_once(lambda pair: pair[0].rename(pair[1]), paths.items())
        return
    for path, to in paths.items():
        to.parent.mkdir(parents=True, exist_ok=True)
        path.rename(to)


def unfinished(folder: Path) -> list[Path]:
    """Return the folders of runs that did not finish."""
    return [*(folder / TEMPORARY).glob("[0-9a-f]" * 12)]


def undo(folder: Path) -> None:
    """Remove what unfinished runs left. A table that a run had begun to change becomes as it was before."""
    for run in unfinished(folder):
        if (run / SHORTENED).exists() and not (folder / SHORTENED).exists():
            whole_text(folder / SHORTENED, _text_of(run / SHORTENED))
        # what a run replaced is never thrown away, even if its mark is missing
        began = (run / CHANGING).exists() or (run / REPLACED).exists()
        changed = began and not (folder / SUCCESS).exists()
        if changed and _committed(folder, run):
            finish(folder)
            (folder / SUCCESS).touch()
        elif changed:
            for unused in _metadata_of(run, folder):
                unused.unlink()
            for part in [*folder.rglob(f"part-*-{run.name}.*")]:
                part.unlink()
            partitions = sorted(folder.rglob("*=*"), reverse=True)
            for made_for in [*partitions, folder / EXPORTED, folder / ICEBERG_FILES]:
                with suppress(OSError):  # there is something in it, or it is not there
                    made_for.rmdir()
            if (run / DAMAGED).exists():
                whole_text(folder / DAMAGED, _text_of(run / DAMAGED))
            else:
                (folder / DAMAGED).unlink(missing_ok=True)
            if (run / REPLACED).is_dir():
                _put_back(run / REPLACED, folder)
        _remove(run)


def _committed(folder: Path, run: Path) -> bool:
    """Return whether the commit of a run is in the table, which therefore has its files."""
    number = run / NUMBER
    if not number.exists():
        return False
    text = _text_of(number)
    if not _NUMBER.fullmatch(text):
        raise TargetRefused(f"{number}: not the number of an export, so pagectl did not write it; remove {run}")
    return last_export(folder) >= int(text)


def _metadata_of(run: Path, folder: Path) -> list[Path]:
    """List the Iceberg metadata that an unfinished run made, which is of no use without its commit.

    The names come from a listing of the table; what the run noted only selects from them, because others may have
    written the note.
    """
    names = _text_of(run / MADE).splitlines() if (run / MADE).exists() else ()
    noted = {name for name in names if name.endswith((".avro", ".metadata.json.new"))}
    there = folder / ICEBERG_FILES
    return [path for path in there.iterdir() if f"{ICEBERG_FILES}/{path.name}" in noted] if noted else []


def _put_back(replaced: Path, folder: Path) -> None:
    """Move replaced files of a table back to their places; ``_remove`` removes any others with the run."""
    for path in sorted(replaced.iterdir(), key=lambda path: path.name == SUCCESS):
        if path.is_dir() and (folder / path.name).is_dir():
            _put_back(path, folder / path.name)
        else:
            path.rename(folder / path.name)


def _remove(run: Path) -> None:
    remove_tree(run)
    with suppress(OSError):  # Spark has something there, too
        run.parent.rmdir()


def foreign(folder: Path) -> list[str]:
    """Return the paths in a folder that are no part of a table; replacing the folder would lose them."""
    iceberg = (ICEBERG_FILES,) if format_of(folder) is LakeFormat.ICEBERG else ()
    own = (TEMPORARY, EXPORTED, DELTA_LOG, *iceberg)
    paths = ((path, path.relative_to(folder).parts) for path in folder.rglob("*"))
    others = (
        parts
        for path, parts in paths
        if parts[0] not in own and not (all("=" in part for part in parts[:-1]) and _of_a_table(path))
    )
    return sorted("/".join(parts) for parts in others)


def _of_a_table(path: Path) -> bool:
    plain = path.name.removeprefix(".").removesuffix(".crc").removesuffix(PARTIAL_SUFFIX)
    if path.is_dir():
        iceberg = plain == ICEBERG_FILES and format_of(path.parent) is LakeFormat.ICEBERG
        return plain in (TEMPORARY, EXPORTED, DELTA_LOG) or "=" in plain or iceberg
    return plain in (SUCCESS, DAMAGED, SHORTENED) or (plain.startswith("part-") and plain.endswith(".parquet"))
