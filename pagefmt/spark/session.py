"""The Spark that an export or a sweep runs in.

Jobs that need no SQL run on a context alone: a session takes 5 s of processor time more before it has done anything.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import pagefmt
from pagefmt.errors import PageFmtError, installation
from pagefmt.spark.executors import Tell, awaited, on_kubernetes
from pagefmt.spark.java_home import java_home, kept_file
from pagefmt.spark.java_side import java_process, start_java

if TYPE_CHECKING:
    from pyspark import SparkContext

_Answer = TypeVar("_Answer")
# the client compiler and the serial collector: a short job's start takes half the processor time
LOCAL_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_LAST_MOMENT: Final = 1.0  # seconds that a process has to end
_ARROW_ALLOCATOR: Final = "ARROW_DEFAULT_MEMORY_POOL"
_SAFE_PATH: Final = "PYTHONSAFEPATH"  # keeps the folder in which Spark starts Python workers off their module path
_MASTERS: Final = ("local", "spark://", "yarn", "k8s://")
_YARN_FOLDERS: Final = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
_IMAGES: Final = ("spark.kubernetes.container.image", "spark.kubernetes.executor.container.image")
_OF_PANDAS: Final = "PySpark does not yet fully support pandas"
_OF_STOPPING: Final = "Unable to cleanly shutdown Spark JVM process"
_ERROR_LINE: Final = re.compile(r"[\w.]*(?:Error|Exception|NotReadable|Refused): (?!An error occurred|Traceback)")
# settings whose values are never shown; Spark's own rule does not cover Azure's
_SECRET: Final = (
    r"(?i)secret|password|token|access[._]?key|account[._]?key|storage[._]?key|\bsas\b|[._]sas[._]|credential"
)
_NUMBER: Final = re.compile(r"^\[Errno \d+\] ")
_THROWN: Final = re.compile(r"(?:Caused by)?: ?[\w.$]+(?:Exception|Error)\b")
_JAVA_NAMES: Final = re.compile(
    r"^(?:[\w$]+\.)+[\w$]+(?:Exception|Error): (?:(?:[\w$]+\.)+[\w$]+(?:Exception|Error): )*"
)
_OF_KUBERNETES: Final = re.compile(r"^Failure executing: .*? Message: (.*?)\.? Received status: .*")
_THEY_END: Final = (
    "its executors keep failing: see their logs (on Kubernetes spark.kubernetes.executor.deleteOnTermination=false "
    "keeps their pods)"
)
# text in a cause → what to do
_HINTS: Final = {
    "Cannot run program": "spark.pyspark.python, else PYSPARK_PYTHON, names a Python that the cluster's machines have",
    "Unauthorized": "the token of the kubeconfig (KUBECONFIG, spark.kubernetes.context), or "
    "spark.kubernetes.authenticate.oauthToken, is refused",
    **dict.fromkeys(
        ("Python worker", "pyspark.daemon", "Broken pipe"),
        "was a process killed, is memory short, or is what PYSPARK_PYTHON names no Python?",
    ),
    "PKIX path": "the server's certificate is not trusted (of Kubernetes: spark.kubernetes.authenticate.caCertFile)",
    **dict.fromkeys(("stopped while waiting for backend", "SparkContext was shut down"), _THEY_END),
}
NOT_INSTALLED: Final = "{} is not installed; do: {}"
QUIET_LOGGING: Final = """status = error
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
logger.context.name = org.apache.spark.SparkContext
logger.context.level = off
logger.ending.name = org.apache.spark.util.Utils
logger.ending.level = off
logger.executor.name = org.apache.spark.executor.Executor
logger.executor.level = off
logger.tasks.name = org.apache.spark.scheduler.TaskSetManager
logger.tasks.level = off
logger.broadcast.name = org.apache.spark.broadcast.TorrentBroadcast
logger.broadcast.level = off
logger.listeners.name = org.apache.spark.TaskContextImpl
logger.listeners.level = off
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = spark: %replace{%m}{\\\\s+}{ }%n
appender.console.layout.alwaysWriteExceptions = false
"""


class NoSpark(PageFmtError):
    """PySpark is not installed, or its virtual machine does not start."""


class JavaEnded(NoSpark):
    """Raised if Spark's virtual machine ended by itself."""


@contextmanager
def running(name: str, master: str, conf: Mapping[str, str], tell: Tell) -> Iterator[SparkContext]:
    """Yield a Spark context, which is stopped at the end. Raise ``NoSpark`` or ``NoJava``.

    ``conf`` takes precedence over everything set here. ``tell`` is called with the reason while a cluster has no
    executor.

    On a cluster, every executor gets a copy of this package in the running version; it finds numpy, pyarrow, msgspec
    and crc32c, and for URLs obstore, in its own Python (``spark.pyspark.python``, else PYSPARK_PYTHON, else the path of
    the running one).
    """
    with warnings.catch_warnings():
        # pyspark imports pandas, which nothing here uses, and warns of every one from 3 on; programs of others hear it
        warnings.filterwarnings("ignore", _OF_PANDAS, FutureWarning)
        # who needed Java tells that it ended, or a signal has ended both
        warnings.filterwarnings("ignore", _OF_STOPPING, RuntimeWarning)
        context = start(name, master, conf)
        try:
            with nullcontext() if is_local(master) else _on_cluster(context, master, tell):
                yield context
        finally:
            with suppress(JavaEnded):  # who needed it was told
                answered(context.stop)


@contextmanager
def _on_cluster(context: SparkContext, master: str, tell: Tell) -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="pagectl-") as folder:
        _send(context, _packed(Path(folder, "pagefmt.zip")), master)
        with awaited(context, master, tell):
            yield


def check_installed() -> None:
    """Raise ``NoSpark`` if PySpark is not installed."""
    if find_spec("pyspark") is None:
        raise NoSpark(NOT_INSTALLED.format("Spark", installation("spark")))


def _send(context: SparkContext, package: Path, master: str) -> None:
    try:
        answered(lambda: context.addPyFile(str(package)))
    except Exception as err:  # of a master that never answered: the context has stopped by itself
        raise NoSpark(f"{master}: {cause(err)}; does the master run, and is it reachable from here?") from err


def start(name: str, master: str, conf: Mapping[str, str]) -> SparkContext:
    """Start a context, without the package for executors. The caller stops it. Raise ``NoSpark`` or ``NoJava``."""
    try:
        import pyspark
        from pyspark import SparkConf, SparkContext
    except ImportError:
        raise NoSpark(NOT_INSTALLED.format("Spark", installation("spark"))) from None
    if not master.startswith(_MASTERS):
        raise NoSpark(f"{master!r} is no master of Spark: local[N], spark://HOST:PORT, yarn or k8s://HOST")
    Path.cwd()  # Java does not start in a folder that was deleted
    if master.startswith("yarn") and not any(os.environ.get(name) for name in _YARN_FOLDERS):
        raise NoSpark(f"{master}: set {_YARN_FOLDERS[0]} to the folder with core-site.xml and yarn-site.xml")
    home = java_home()
    os.environ["JAVA_HOME"] = str(home)
    os.environ.setdefault("SPARK_HOME", str(_spark_home(Path(pyspark.__file__).parent)))
    os.environ[_SAFE_PATH] = "1"
    os.environ["PYSPARK_PYTHON"] = conf.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON", sys.executable)
    # one-time choices of the virtual machine must be known before it starts
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{'--driver-memory 1g ' if is_local(master) else ''}pyspark-shell"
    settings = SparkConf().setAppName(name).setMaster(master)
    settings.setAll([*_settings(master).items(), *conf.items()])
    try:
        # what Java is started with stands in the list of processes; a context takes the others as well
        public_settings = SparkConf(loadDefaults=False).setAll(
            [(name, value) for name, value in settings.getAll() if not re.search(_SECRET, name)]
        )
        with _signals_afterwards():
            start_java(public_settings)
    except Exception as err:
        raise NoSpark(f"Spark does not start with JAVA_HOME={home}: {cause(err)}") from err
    # what stands in spark-defaults.conf is known by now; without an image Spark waits for executors for ever
    if on_kubernetes(master) and not any(
        candidate.contains(name) for candidate in (settings, SparkConf()) for name in _IMAGES
    ):
        raise NoSpark(f"{master}: name the image of the executors: --conf {_IMAGES[0]}=REGISTRY/NAME:TAG")
    try:
        context = answered(lambda: SparkContext.getOrCreate(settings))
    except Exception as err:
        raise NoSpark(f"{master}: {cause(err)}") from err
    # where Java ends, this thread of PySpark's prints a traceback; who needs Java tells it
    vars(context._accumulatorServer)["handle_error"] = lambda *_: None
    return context


def _spark_home(package: Path) -> Path:
    """Return the folder of the Spark that belongs to a PySpark package.

    PySpark's own search begins with the folder above the working folder, and runs the ``bin/spark-submit`` there.
    """
    homes = (package / "spark-distribution", package, package.parents[1])
    return next((home for home in homes if (home / "bin" / "spark-submit").is_file()), package)


def answered(call: Callable[[], _Answer]) -> _Answer:
    """Return what a call of Spark returns, or raise what it raises; ``JavaEnded`` if Java is gone.

    Signals end the wait. A signal that interrupts the main thread's own connection to Java would break it, and PySpark
    would log tracebacks, as does its handler of Ctrl-C, which it sets if the main thread creates a context. So another
    thread makes the call.
    """
    answer: Future[_Answer] = Future()

    def ask() -> None:
        try:
            answer.set_result(call())
        except BaseException as err:
            answer.set_exception(err)

    threading.Thread(target=ask, daemon=True).start()
    try:
        return answer.result()
    except Exception as err:
        if _java_has_ended(err):
            raise JavaEnded("Spark's Java ended before its work did; is memory short, or was it killed?") from err
        raise


def _java_has_ended(err: Exception) -> bool:
    """Return whether Java is gone; its connections break a moment before."""
    java = java_process()
    if java is None or hasattr(err, "java_exception"):  # Java itself has told of it
        return False
    with suppress(subprocess.TimeoutExpired):
        java.wait(_LAST_MOMENT)
    return java.returncode is not None


@contextmanager
def _signals_afterwards() -> Iterator[None]:
    """Delay signals that end the program until the block ends.

    If PySpark is stopped while it starts Java, it leaves Java running.
    """
    came: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {handled: handler for handled in numbers if callable(handler := signal.getsignal(handled))}
    for handled in before:
        signal.signal(handled, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for handled, handler in before.items():
            signal.signal(handled, handler)
        for number in came:  # also where the same signal has ended Java, so that it did not start
            signal.raise_signal(number)


def is_local(master: str) -> bool:
    """Return whether tasks run in this process's Java."""
    return master.startswith("local")


def cause(err: Exception) -> str:
    """Return the last line of a task's own traceback out of Spark's long message; else the last line of Java's."""
    lines = str(err).splitlines()
    named = [line for line in lines if _ERROR_LINE.match(line)]
    if named:
        return _NUMBER.sub("", _ERROR_LINE.sub("", named[-1]))[:300]
    thrown = [line.strip().removeprefix("Caused by").lstrip(": ") for line in lines if _THROWN.match(line.strip())]
    messages = [_plain(line) for line in thrown] or [_NUMBER.sub("", " ".join(str(err).split()))]
    while len(messages) > 1 and messages[-2].endswith(messages[-1]):
        messages.pop()  # it says less: Cannot run program "x": error=2, No such file, caused by: error=2, No such file
    hint = _hint(messages[-1])
    return f"{messages[-1][:300].rstrip('.')}{hint}" if hint else messages[-1][:300]


def _plain(thrown: str) -> str:
    """Return an exception's message without class names, and without the full answer of Kubernetes."""
    message = _OF_KUBERNETES.sub(r"\1", _JAVA_NAMES.sub("", thrown))
    return f"{message}: no such file" if thrown.startswith("java.nio.file.NoSuchFileException") else message


def _hint(message: str) -> str:
    for part, hint in _HINTS.items():
        if part in message:
            return f"; {hint}"
    if "FileSystem not found" not in message and "No FileSystem for scheme" not in message:
        return ""
    import pyspark

    jars = sorted(Path(pyspark.__file__).parent.glob("jars/hadoop-client-api-*.jar"))
    version = jars[0].stem.removeprefix("hadoop-client-api-") if jars else "VERSION"
    return (
        "; Spark needs the library of that storage, for s3a: "
        f"set spark.jars.packages=org.apache.hadoop:hadoop-aws:{version}"
    )


def _settings(master: str) -> dict[str, str]:
    """Return the default settings of a Spark context. With a local master, Java listens on loopback only."""
    local = is_local(master)
    java_options = f"-Dlog4j2.configurationFile={_logging_file()} {LOCAL_JAVA if local else ''}".rstrip()
    settings = {
        "spark.redaction.regex": _SECRET,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": java_options,
        f"spark.executorEnv.{_SAFE_PATH}": "1",
        "spark.executorEnv.PYTHONWARNINGS": f"ignore:{_OF_PANDAS}:FutureWarning",
    }
    if _ARROW_ALLOCATOR in os.environ:
        settings[f"spark.executorEnv.{_ARROW_ALLOCATOR}"] = os.environ[_ARROW_ALLOCATOR]
    if on_kubernetes(master):  # else executors are told spark.driver.bindAddress, whatever spark.driver.host says
        settings["spark.kubernetes.executor.useDriverPodIP"] = "false"
    if local:
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    return settings


def _packed(archive: Path) -> Path:
    """Write the package as an archive for import; executors prefer it to an installed version."""
    root = Path(pagefmt.__file__).parent
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(root.rglob("*.py")):
            packed.write(path, path.relative_to(root.parent))
    return archive


def _logging_file() -> Path:
    """Return the configuration of Spark's log: errors only, on standard error."""
    return kept_file("spark-log4j2.properties", QUIET_LOGGING)
