"""Small files of our own, written beside and renamed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def replace_text(path: Path, text: str, *, new_mode: int = 0o644) -> None:
    """A reader sees the old file or the new one, never half of one. A link is followed. Raises OSError.

    The name of the file beside ends in ``.tmp``: a textfile collector leaves it alone.
    """
    target = Path(os.path.realpath(path))
    handle, beside = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fchmod(out.fileno(), _mode(target, new_mode))
            os.fsync(out.fileno())
        os.replace(beside, target)  # noqa: PTH105 (a str, and the pair of mkstemp)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)  # noqa: PTH108
        raise


def _mode(target: Path, new: int) -> int:
    """As the file had it."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        return new
