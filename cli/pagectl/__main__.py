"""Entry point: ``pagectl`` and ``python -m pagectl``."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Answer ``--version`` without importing anything; else hand over to the commands."""
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


if __name__ == "__main__":
    main()
