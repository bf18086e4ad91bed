"""A Spark master with workers of its own on this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from pagefmt.spark.java_home import java_home

WAIT = 240


class SparkCluster(NamedTuple):
    """Where the master listens, and the services; each leads a session of what it starts."""

    url: str
    processes: list[int]


@contextmanager
def spark_cluster(folder: Path, *, workers: int = 1, cores: int = 2, memory: str = "1g") -> Iterator[SparkCluster]:
    """Start a Spark master and workers with ``memory`` each; stop them and their children at the end in any case."""
    with ExitStack() as stack:
        log = folder / "master.log"
        master = stack.enter_context(_service("master.Master", log))
        url = _logged(log, r"Starting Spark master at (spark://\S+)", master)
        found = SparkCluster(url, [master.pid])
        for number in range(workers):
            log = folder / f"worker-{number}.log"
            given = ("--cores", str(cores), "--memory", memory, "--work-dir", str(folder / f"work-{number}"), url)
            worker = stack.enter_context(_service("worker.Worker", log, *given))
            _logged(log, r"(Successfully registered) with master", worker)
            found.processes.append(worker.pid)
        yield found


@contextmanager
def _service(name: str, log: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield one of Spark's own services, running on 127.0.0.1."""
    import pyspark

    home = Path(pyspark.__file__).parent
    env = {
        **os.environ,
        "JAVA_HOME": str(java_home()),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    env.pop("PYTHONPATH", None)
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1"]
    with log.open("wb") as out:
        running = subprocess.Popen(
            [*command, "--port", "0", "--webui-port", "0", *words],
            env=env,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        yield running
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def _logged(log: Path, pattern: str, running: subprocess.Popen[bytes]) -> str:
    """Wait for a match in the log of a service and return its first group."""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline and running.poll() is None:
        found = re.search(pattern, log.read_text("utf-8", "replace"))
        if found:
            return found.group(1)
        time.sleep(0.1)
    raise AssertionError(f"{pattern} never came:\n{log.read_text('utf-8', 'replace')[-3000:]}")
