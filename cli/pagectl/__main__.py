"""Entry point: ``pagectl`` and ``python -m pagectl``."""

from __future__ import annotations

import os
import sys
from typing import Any


def main() -> None:
    """Answer ``--version`` without importing anything; else hand over to the commands."""
    sys.stdout, sys.stderr = _usable(sys.stdout), _usable(sys.stderr)
    if sys.argv[1:] == ["--version"]:
        from pagectl import __version__

        print(f"pagectl {__version__}")
        return
    # numpy starts threads for linear algebra, which nothing here has: half of the time that its import takes
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from pagectl.app import PLUGINS, run

    status = run(sys.argv[1:])
    if tuple(sys.argv[1:3]) in PLUGINS:
        # called every minute on every host: taking itself apart would be a tenth of its time
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    raise SystemExit(status)


def _usable(stream: Any) -> Any:
    """Files and pipes get UTF-8 whatever the locale is; what a terminal's encoding lacks becomes an escape.

    A stream that was closed before we were called takes everything and keeps nothing.
    """
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 (open until the end)
    stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    return stream


if __name__ == "__main__":
    main()
