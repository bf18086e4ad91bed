"""Every call of the program in these tests is watched (see ``watched_calls``); and Spark, which several files share."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pagectl.app
import pytest
from hypothesis import HealthCheck, settings
from long_tests import mark
from watched_calls import watched

settings.register_profile("chance", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Without chance a test is green everywhere, or nowhere. Default runs draw a quarter of the examples, long runs all.
settings.register_profile("all", settings.get_profile("chance"), derandomize=True)
settings.register_profile("same", settings.get_profile("all"), max_examples=25)
settings.load_profile("same")
pagectl.app.run = watched(pagectl.app.run)
# A program builds one command from its signature; thousands of calls in one process would build the same ones again.
pagectl.app.load = cache(pagectl.app.load)


_MEMORY: Final = Path("/dev/shm")
_ROOM: Final = 8 << 30


def pytest_configure(config: pytest.Config) -> None:
    """Place temporary folders in memory if there is room, and stop ignoring SIGINT.

    Tested code flushes each change to the disk, which took half of the time of a run. ``PYTEST_DEBUG_TEMPROOT`` and
    ``--basetemp`` take precedence.

    A script's background jobs ignore SIGINT, and so do the programs that they start; tests that send it would fail.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases that the default run leaves out (see ``long_tests``)."""
    mark(items)


@pytest.fixture(scope="session")
def spark_context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield the Spark context that all tests of the session share."""
    pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")
    from program import environment

    from pagefmt.spark.session import start

    os.environ["PYTHONPATH"] = environment()["PYTHONPATH"]
    context = start("tests", "local[2]", {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))})
    yield context
    context.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for each test that was skipped because an extra is not installed."""
    for report in terminalreporter.stats.get("skipped", ()):
        place, _, why = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, "")
        if "the extra" in why:
            terminalreporter.write_line(f"left out: {place}: {why.removeprefix('Skipped: ')}")
