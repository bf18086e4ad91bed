"""``export`` through a Spark master and a worker that the test starts itself, from the wheel: ``make test-cluster``.

The executors are given no path to the project: what they need of it travels with the job.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from golden_cases import GoldenCase
from program import environment, started
from table_rows import assert_same, texts

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

from pagefmt.spark.java_home import java_home

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]
CASES = [GoldenCase("2.56.0", "multicast-acks"), GoldenCase("artemis-1.5.6", "torn")]
WAIT = 240


@contextmanager
def daemon(name: str, log: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """One of Spark's own services on 127.0.0.1; it and what it started are gone at the end, whatever happens."""
    import pyspark

    home = Path(pyspark.__file__).parent
    env = {
        **environment(), "JAVA_HOME": str(java_home()), "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }  # fmt: skip
    del env["PYTHONPATH"]
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1"]
    with log.open("wb") as out:
        running = subprocess.Popen(
            [*command, "--port", "0", "--webui-port", "0", *words], env=env, stdout=out, stderr=out,
            start_new_session=True,
        )  # fmt: skip
    try:
        yield running
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def said(log: Path, pattern: str, running: subprocess.Popen[bytes]) -> str:
    """The first match in what a service has logged; waits for it."""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline and running.poll() is None:
        found = re.search(pattern, log.read_text("utf-8", "replace"))
        if found:
            return found.group(1)
        time.sleep(0.1)
    pytest.fail(f"{pattern} never came:\n{log.read_text('utf-8', 'replace')[-3000:]}")


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("cluster")
    logs = folder / "master.log", folder / "worker.log"
    with daemon("master.Master", logs[0]) as first:
        url = said(logs[0], r"Starting Spark master at (spark://\S+)", first)
        work = ("--cores", "2", "--memory", "1g", "--work-dir", str(folder / "work"), url)
        with daemon("worker.Worker", logs[1], *work) as second:
            said(logs[1], r"(Successfully registered) with master", second)
            yield url


def export(case: GoldenCase, out: str, master: str, *words: str) -> int:
    running = started("export", case.data(), "--to", out, "--master", master, "--body", "base64", *words)
    _, complained = running.communicate(timeout=400)
    assert running.returncode in (0, 1), complained
    return running.returncode


def rows(out: Path) -> list[Any]:
    assert (out / "_SUCCESS").exists()
    return pq.read_table(out).to_pylist()


ON_CLUSTER = ("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.executor.memory=512m")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_cluster_exports_what_this_machine_does(case: GoldenCase, master: str, tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    status = export(case, f"file://{there}", master, *ON_CLUSTER)
    assert export(case, str(here), "local[1]") == status
    assert texts(rows(there)) == texts(rows(here))
    assert_same(rows(there), case)
    aside = [(out / "_damaged.json").read_text() if status else "" for out in (there, here)]
    assert aside[0] == aside[1]


def test_a_cluster_writes_through_spark_as_well(master: str, tmp_path: Path) -> None:
    """A table split by a column, and a path that is the cluster's own."""
    out = tmp_path / "out"
    assert export(CASES[0], str(out), master, *ON_CLUSTER, "--partition-by", "priority") == 0
    assert {path.name for path in out.iterdir() if path.is_dir()} == {"priority=4"}
    assert_same([{**row, "priority": 4} for row in rows(out)], CASES[0])


def test_executors_run_the_package_that_travelled(master: str) -> None:
    from pagefmt.spark.session import running

    def where(_: int) -> str:
        import pagefmt

        return str(pagefmt.__file__)

    settings = {"spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m"}
    with running("where", master, settings) as context:
        (found,) = context.parallelize([0], 1).map(where).collect()
    assert found.endswith("pagefmt.zip/pagefmt/__init__.py")
