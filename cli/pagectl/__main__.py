"""Entry point: ``pagectl`` and ``python -m pagectl``."""

from __future__ import annotations

import sys


def main() -> None:
    """Answer ``--version`` without importing anything; else hand over to the commands."""
    if sys.argv[1:] == ["--version"]:
        from pagectl import __version__

        print(f"pagectl {__version__}")
        return
    from pagectl.app import run

    raise SystemExit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
