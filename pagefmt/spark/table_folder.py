"""The folder of a table: how a table appears in it whole, which files belong to it, and which must survive.

A new table is written beside its name and gets it by one rename. A table that is there is changed in place: the files
of a run wait in ``_temporary/RUN``, where what they replace is kept until ``_SUCCESS`` is back; until then the next run
can undo it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pagefmt.bytes.writing import locked_folder, refuse_links, sync_files, whole_folder, write_text

SUCCESS: Final = "_SUCCESS"
"""There when the table is whole."""
DAMAGED: Final = "_damaged.json"
TEMPORARY: Final = "_temporary"
REPLACED: Final = "replaced"
"""Below the folder of a run: what was there, from the first change of the table on."""


@contextmanager
def table_at(folder: Path) -> Iterator[Path]:
    """Where to write a table of this name: an empty folder that becomes it, or the folder itself where there is one.

    What a killed run left is undone before, what a failed one leaves behind. Raises ``TargetRefused``, ``LinkRefused``
    (the folder, or anything in it, is a link) and ``OSError``.
    """
    if folder.is_dir():
        refuse_links(folder)
        folder = folder.absolute()
        with locked_folder(folder):
            undo(folder)
            try:
                yield folder
            except BaseException:
                undo(folder)
                raise
        return
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    os.umask(mask := os.umask(0))
    with whole_folder(folder) as (partial, _):
        partial.chmod(0o777 & ~mask)
        yield partial
        sync_files(partial)


def put(folder: Path, run: Path, parts: dict[str, str], damaged: str | None, *, replace: bool) -> None:
    """Moves the files of a run (name there: name in the table) and the list of damaged pages into the table."""
    aside = folder / DAMAGED
    sync_files(run)
    if aside.exists():
        write_text(run / DAMAGED, aside.read_text("utf-8"))
    (run / REPLACED).mkdir()
    for path in sorted(folder.iterdir(), key=lambda path: path.name != SUCCESS):
        if path.name == SUCCESS or (replace and path.name not in (TEMPORARY, DAMAGED) and _of_a_table(path)):
            path.rename(run / REPLACED / path.name)
    for name, target in parts.items():
        (run / name).rename(folder / target)
    if damaged is None:
        aside.unlink(missing_ok=True)
    else:
        write_text(aside, damaged)
    (folder / SUCCESS).touch()
    _remove(run)


def undo(folder: Path) -> None:
    """What a run left that did not come to its end goes away; a table that it had begun to change is as it was."""
    for run in (folder / TEMPORARY).glob("[0-9a-f]" * 12):
        if (run / REPLACED).exists() and not (folder / SUCCESS).exists():
            for part in folder.glob(f"part-*-{run.name}.parquet"):
                part.unlink()
            if (run / DAMAGED).exists():
                write_text(folder / DAMAGED, (run / DAMAGED).read_text("utf-8"))
            else:
                (folder / DAMAGED).unlink(missing_ok=True)
            for path in sorted((run / REPLACED).iterdir(), key=lambda path: path.name == SUCCESS):
                path.rename(folder / path.name)
        _remove(run)


def _remove(run: Path) -> None:
    shutil.rmtree(run)
    with suppress(OSError):  # Spark has something there, too
        run.parent.rmdir()


def foreign(folder: Path) -> list[str]:
    """Names of files that are no part of a table; replacing the folder would lose them."""
    return sorted(path.name for path in folder.iterdir() if not _of_a_table(path))


def _of_a_table(path: Path) -> bool:
    plain = path.name.removeprefix(".").removesuffix(".crc")
    if path.is_dir():
        return plain == TEMPORARY or "=" in plain
    return plain in (SUCCESS, DAMAGED) or (plain.startswith("part-") and ".parquet" in plain)
