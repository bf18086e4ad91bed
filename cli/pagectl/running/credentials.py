"""User and password, out of a file or the environment and never off the command line."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from brokerconf.reading.decoding import read_at_most

from pagectl.running.exits import CallError
from pagectl.terminal.streams import note

LARGEST_FILE: Final = 4096
USER, PASSWORD = "ARTEMIS_USER", "ARTEMIS_PASSWORD"


def credentials(file: Path | None) -> bytes | None:
    """USER:PASSWORD, the one line of the file; without one two variables of the environment count. None: nobody.

    Raises ``CallError``, ``OSError``.
    """
    if file is not None:
        raw = read_at_most(file, LARGEST_FILE).strip(b"\r\n")
        mode = file.stat().st_mode
        if b":" not in raw or b"\n" in raw:
            raise CallError(f"--credentials {file}: must contain one line, USER:PASSWORD")
        if stat.S_ISREG(mode) and mode & (stat.S_IRGRP | stat.S_IROTH):
            note(f"--credentials {file}: other users may read it; chmod 600 it")
        return raw
    return os.fsencode(f"{os.environ[USER]}:{os.environ.get(PASSWORD, '')}") if USER in os.environ else None
