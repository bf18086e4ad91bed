"""The folder of a table: which files belong to it, and which must survive when it is replaced."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

SUCCESS: Final = "_SUCCESS"
"""There when the table is whole."""
DAMAGED: Final = "_damaged.json"
TEMPORARY: Final = "_temporary"


def foreign(folder: Path) -> list[str]:
    """Names of files that are no part of a table; replacing the folder would lose them."""
    return sorted(path.name for path in folder.iterdir() if not _of_a_table(path))


def clear(folder: Path) -> None:
    """Deletes the table, but not the temporary files of a run."""
    for path in folder.iterdir():
        if path.name == TEMPORARY or not _of_a_table(path):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _of_a_table(path: Path) -> bool:
    plain = path.name.removeprefix(".").removesuffix(".crc")
    if path.is_dir():
        return plain == TEMPORARY or "=" in plain
    return plain in (SUCCESS, DAMAGED) or (plain.startswith("part-") and ".parquet" in plain)
