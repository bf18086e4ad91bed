"""The only names of PySpark used here that are not public: Java's side of Spark, which has no other door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

    from pyspark import SparkConf, SparkContext


def start_java(conf: SparkConf) -> None:
    """Start the Java process of this program, unless it runs already."""
    from pyspark import SparkContext

    SparkContext._ensure_initialized(conf=conf)


def java_process() -> subprocess.Popen[bytes] | None:
    """Return the Java process of this program, or None before it was started."""
    from pyspark import SparkContext

    return getattr(SparkContext._gateway, "proc", None)


def scala_context(context: SparkContext) -> Any:
    """Return the context of Spark itself, of which Python's is a view."""
    return context._jsc.sc()


def default_file_system(context: SparkContext) -> str:
    """Return the URL that a path without a scheme is below."""
    return str(context._jsc.hadoopConfiguration().get("fs.defaultFS"))
