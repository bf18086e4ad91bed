"""Entry point: ``pagectl`` and ``python -m pagectl``."""

from __future__ import annotations

import gc
import os
import signal
import sys

from pagectl.terminal.standard_streams import open_standard_streams

# new objects before the garbage collector looks for cycles; imports create 50,000 that stay alive
COLLECTED_AFTER = 100_000

# commands that start processes of their own (Java, workers), which only a regular exit of the interpreter ends
LASTING = ("export", "replay advise", "replay sweep")


def main() -> None:
    """Answer ``--version`` without importing anything; else hand over to the commands."""
    open_standard_streams()
    os.environ["PYTHONSAFEPATH"] = "1"  # Python processes started from here import nothing of the working folder
    if sys.argv[1:] == ["--version"]:
        from pagectl import __version__
        from pagectl.running.exits import guarded

        raise SystemExit(guarded(lambda: print(f"pagectl {__version__}")))
    if sys.argv[1:2] == ["__names"]:
        from pagectl.opening.names import answer

        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os._exit(answer(sys.argv[2:]))
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # while modules are imported nothing has to be tidied up: Ctrl-C ends the program without a traceback
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(COLLECTED_AFTER, *gc.get_threshold()[1:])
    # numpy starts threads for linear algebra, which nothing here has: half of the time that its import takes
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # as fast as Arrow's usual allocator, and 20 to 100 MiB less at the peak; Arrow's wheels for Linux have it
    if sys.platform == "linux":
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
    lasting = " ".join(sys.argv[1:]).startswith(LASTING)
    if not lasting:
        sys.meta_path.insert(0, _WithoutPandas())
    from pagectl.app import run
    from pagectl.running.exits import tidy_up_on_signals
    from pagefmt.storage.interruptible_calls import is_any_unfinished

    tidy_up_on_signals()
    status = run(sys.argv[1:])
    if not lasting or is_any_unfinished():
        # what runs every minute on every host would need a tenth of its time to take itself apart
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    raise SystemExit(status)


class _WithoutPandas:
    """An import hook that hides pandas from Arrow.

    Arrow imports pandas, if it is installed, with the first array, for conversions that pagectl does not use.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise ``ImportError`` for pandas, and leave every other module to the other finders."""
        if name == "pandas":
            raise ImportError(name)


if __name__ == "__main__":
    main()
