"""Folders of the user who runs this: for caches, states and settings."""

from __future__ import annotations

import os
from pathlib import Path

from pagefmt.errors import PageFmtError


class NoHome(PageFmtError):
    """The user has no folder of his own."""


def user_folder(variable: str, usual: str) -> Path:
    """Return the folder that an environment variable names, else the usual one in the user's home. Raise ``NoHome``."""
    try:
        return Path(os.environ.get(variable) or Path.home() / usual)
    except RuntimeError:  # neither HOME nor an entry among the system's users
        raise NoHome(f"this user has no home folder: set HOME or {variable}") from None
