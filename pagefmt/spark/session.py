"""The Spark session that an export or a sweep runs in."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pagefmt.errors import PageFmtError
from pagefmt.spark.java_home import java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# the client compiler and the serial collector: a short job's start takes half the processor time
LOCAL_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
QUIET_LOGGING: Final = """status = error
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = spark: %m%n
"""


class NoSpark(PageFmtError):
    """PySpark is not installed, or its virtual machine does not start."""


def start(name: str, master: str, conf: Mapping[str, str]) -> SparkSession:
    """A session; ``conf`` goes before everything set here. Raises ``NoSpark`` or ``NoJava`` with what to do."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise NoSpark("Spark is not installed; do: pip install 'pagectl[spark]'") from None
    home = java_home()
    os.environ["JAVA_HOME"] = str(home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    local = master.startswith("local")
    java_options = f"-Dlog4j2.configurationFile={_logging_file()} {LOCAL_JAVA if local else ''}".rstrip()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": java_options,
    }
    if not local:
        del settings["spark.driver.bindAddress"], settings["spark.driver.host"]
    # one-time choices of the virtual machine must be known before it starts
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 1g pyspark-shell" if local else "pyspark-shell"
    builder = SparkSession.builder.appName(name).master(master)
    for key, value in {**settings, **conf}.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as err:
        raise NoSpark(f"Spark does not start with JAVA_HOME={home}: {' '.join(str(err).split())[:300]}") from err


def _logging_file() -> Path:
    """Spark's log: errors only, on standard error."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pagectl"
    cache.mkdir(parents=True, exist_ok=True)
    file = cache / "spark-log4j2.properties"
    if not file.exists() or file.read_text() != QUIET_LOGGING:
        beside = file.with_name(f"{file.name}.{os.getpid()}")
        beside.write_text(QUIET_LOGGING)
        beside.replace(file)
    return file
