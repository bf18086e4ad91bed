"""The folder of a table: how a table appears in it whole, which files belong to it, and which must survive.

A new table is written beside its name and gets it by one rename. A table that is there is changed in place: the files
of a run wait in ``_temporary/RUN``, where what they replace is kept until ``_SUCCESS`` is back; until then the next run
can undo it. Below a URL every table is changed in place: a store has no folder that could be renamed.
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

from pagefmt.bytes.files import open_regular
from pagefmt.bytes.stored_paths import StoredPath, at_once, claimed, remove_tree, still_claimed, whole_text
from pagefmt.bytes.writing import (
    PARTIAL_SUFFIX,
    TargetRefused,
    locked_folder,
    refuse_links,
    sync_files,
    whole_folder,
)
from pagefmt.columns.partitions import SHORTENED
from pagefmt.columns.table_content import LakeFormat
from pagefmt.errors import PageFmtError
from pagefmt.spark.table_formats import DELTA_LOG, ICEBERG_FILES, FormatCommit, finish, format_of, last_export

SUCCESS: Final = "_SUCCESS"
"""There when the table is whole."""
DAMAGED: Final = "_damaged.json"
TEMPORARY: Final = "_temporary"
EXPORTED: Final = "_exported"
"""The log of ``pagefmt.spark.exported``."""
REPLACED: Final = "replaced"
"""Below the folder of a run: what was there, from the first change of the table on."""
NUMBER: Final = "number"
"""There as well: that of the export, where a commit decides."""
_LEFT: Final = "the next export completes or undoes what this one left there"
MADE: Final = "made"
"""And the files that are of no use without it."""
_Note = TypeVar("_Note", dict[str, str], list[dict[str, Any]])
_NUMBER: Final = re.compile(r"[0-9]{1,18}")


@contextmanager
def table_at(folder: Path) -> Iterator[Path]:
    """Where to write a table of this name: an empty folder that becomes it, or the folder itself where there is one.

    What a killed run left is undone before, what a failed one leaves behind. Raises ``TargetRefused``, ``LinkRefused``
    (the folder, or anything in it, is a link) and ``OSError``.
    """
    far = isinstance(folder, StoredPath)
    if far or folder.is_dir():
        if not far:
            refuse_links(folder)
        folder = folder.absolute()
        with claimed(folder / TEMPORARY) if isinstance(folder, StoredPath) else locked_folder(folder):
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
    """Of a run that ends with an error, which names the table from now on, and says so where undoing fails as well."""
    if isinstance(err, OSError):
        err.filename = err.filename or str(folder)
    try:
        if still_claimed(folder / TEMPORARY):
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
    folder: Path, run: Path, parts: dict[str, str], damaged: str | None, replaced: Replaced,
    commit: FormatCommit | None = None,
) -> str | None:  # fmt: skip
    """Moves the files of a run (path there: path in the table) and the list of damaged pages into the table.

    From then on the table has them; gives the reason where what is left of the run cannot be removed any more.
    """
    aside = folder / DAMAGED
    if not isinstance(folder, StoredPath):
        sync_files(run)
    _refuse_lost(folder)
    if commit is not None:
        whole_text(run / NUMBER, str(commit.number))
    if aside.exists():
        whole_text(run / DAMAGED, _text_of(aside))
    (run / REPLACED).mkdir()
    for old in ([folder / SUCCESS], _old(folder, parts, replaced)):
        _move({path: run / REPLACED / path.relative_to(folder) for path in old if path.exists()})
    _move({run / name: folder / target for name, target in parts.items()})
    if damaged is None:
        aside.unlink(missing_ok=True)
    else:
        whole_text(aside, damaged)
    if commit is not None:
        _refuse_lost(folder)
        commit.carry_out(run / MADE)
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
    """As far as anybody can tell."""
    try:
        return (folder / SUCCESS).exists()
    except (OSError, PageFmtError):
        return False


def _refuse_lost(folder: Path) -> None:
    """Raises ``OSError`` where others may have taken this process for dead."""
    if not still_claimed(folder / TEMPORARY):
        raise OSError(errno.EBUSY, "another process may be writing it, after a pause; export again", str(folder))


def note_shortened(folder: Path, run: Path, found: dict[str, str]) -> None:
    """Values that folders of the table do not name in full, beside those of earlier runs."""
    aside = folder / SHORTENED
    if found:
        known = read_note(aside, {})
        if known:
            whole_text(run / SHORTENED, _text_of(aside))
        whole_text(aside, json.dumps(known | found, ensure_ascii=False, indent=2, sort_keys=True) + "\n")


def read_note(path: Path, absent: _Note) -> _Note:
    """Read a JSON file of a table, of the type of ``absent``, which is returned if there is no such file."""
    if not path.exists():
        return absent
    try:
        found = json.loads(_text_of(path))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, type(absent)):
        raise TargetRefused(f"{path}: damaged, or not written by pagectl; restore or remove it")
    return found


def _text_of(path: Path) -> str:
    """Read a small text file of a table; bytes that are no text are replaced."""
    if not isinstance(path, StoredPath):
        with os.fdopen(open_regular(path), "rb") as file:
            return file.read().decode("utf-8", "replace")
    return path.read_bytes().decode("utf-8", "replace")


def _old(folder: Path, parts: dict[str, str], replaced: Replaced) -> list[Path]:
    """What new files stand in for."""
    if replaced is Replaced.NOTHING:
        return []
    if replaced is Replaced.LOG:
        return [folder / EXPORTED]
    if replaced is Replaced.ALL:
        keep = (SUCCESS, TEMPORARY, DAMAGED, SHORTENED)
        return [path for path in sorted(folder.iterdir()) if path.name not in keep and _of_a_table(path)]
    folders = sorted({(folder / target).parent for target in parts.values()})
    inside = (path for each in folders if each.is_dir() for path in sorted(each.iterdir()))
    return [path for path in inside if path.is_file() and _of_a_table(path)]


def _move(paths: Mapping[Path, Path]) -> None:
    if any(isinstance(path, StoredPath) for path in paths):
        at_once(lambda each: each[0].rename(each[1]), paths.items())
        return
    for path, to in paths.items():
        to.parent.mkdir(parents=True, exist_ok=True)
        path.rename(to)


def unfinished(folder: Path) -> list[Path]:
    """What runs left that did not come to their end: the folder of each, and files in the table."""
    return [*(folder / TEMPORARY).glob("[0-9a-f]" * 12)]


def undo(folder: Path) -> None:
    """What a run left that did not come to its end goes away; a table that it had begun to change is as it was."""
    for run in unfinished(folder):
        if (run / SHORTENED).exists() and not (folder / SHORTENED).exists():
            whole_text(folder / SHORTENED, _text_of(run / SHORTENED))
        if (run / REPLACED).exists() and not (folder / SUCCESS).exists() and _committed(folder, run):
            finish(folder)
            (folder / SUCCESS).touch()
        elif (run / REPLACED).exists() and not (folder / SUCCESS).exists():
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
            _put_back(run / REPLACED, folder)
        _remove(run)


def _committed(folder: Path, run: Path) -> bool:
    """Whether the commit of a run is in the table, which therefore has its files."""
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
    """Paths in a folder that are no part of a table; replacing the folder would lose them."""
    iceberg = (ICEBERG_FILES,) if format_of(folder) is LakeFormat.ICEBERG else ()
    own = (TEMPORARY, EXPORTED, DELTA_LOG, *iceberg)
    paths = ((path, path.relative_to(folder).parts) for path in folder.rglob("*"))
    others = (
        parts for path, parts in paths
        if parts[0] not in own and not (all("=" in each for each in parts[:-1]) and _of_a_table(path))
    )  # fmt: skip
    return sorted("/".join(parts) for parts in others)


def _of_a_table(path: Path) -> bool:
    plain = path.name.removeprefix(".").removesuffix(".crc").removesuffix(PARTIAL_SUFFIX)
    if path.is_dir():
        iceberg = plain == ICEBERG_FILES and format_of(path.parent) is LakeFormat.ICEBERG
        return plain in (TEMPORARY, EXPORTED, DELTA_LOG) or "=" in plain or iceberg
    return plain in (SUCCESS, DAMAGED, SHORTENED) or (plain.startswith("part-") and plain.endswith(".parquet"))
