"""``export --master k8s://…`` on a real API server that the test starts, with a played node: ``make test-stores``.

The node takes the place of scheduler, kubelet and container runtime (``kubernetes_cluster``), so images, volumes and
the network between pods are not tried. The rights are those of ``examples/spark/kubernetes.yaml``, and executors start
by the entry point of its image.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from golden_cases import GoldenCase
from kubernetes_cluster import EXAMPLES, IMAGE, NAMESPACE, Kubernetes, kubernetes
from program import EXPORT, started
from table_rows import assert_same

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

pytestmark = [pytest.mark.stores, pytest.mark.timeout(900)]
CASE = GoldenCase("2.56.0", "multicast-acks")
WAIT = 240


def example() -> list[Any]:
    return list(yaml.safe_load_all((EXAMPLES / "kubernetes.yaml").read_text()))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubernetes]:
    with kubernetes(tmp_path_factory.mktemp("kubernetes"), example()) as found:
        yield found


def exporting(cluster: Kubernetes, folder: Path, **settings: str) -> subprocess.Popen[str]:
    """Start an export to ``folder / "out"`` on the cluster; ``settings`` are Spark's, with ``__`` for dots."""
    temporary = folder / "temporary"
    temporary.mkdir()
    every = cluster.settings | {name.replace("__", "."): value for name, value in settings.items()}
    return started(
        *EXPORT,
        CASE.data(),
        "--to",
        f"file://{folder / 'out'}",
        "--master",
        cluster.master,
        "--body",
        "base64",
        *(word for name, value in every.items() for word in ("--conf", f"{name}={value}")),
        env={"TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(temporary)},
    )


def nothing_is_left(cluster: Kubernetes, folder: Path) -> None:
    """Assert that an export left no pods, no temporary files and no table without ``_SUCCESS``."""
    deadline = time.monotonic() + WAIT  # pods that are being deleted end first
    while cluster.left() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not cluster.left()
    assert not list((folder / "temporary").iterdir())
    assert (folder / "out" / "_SUCCESS").exists() or [each.name for each in folder.iterdir()] == ["temporary"]


def test_kubernetes_exports_what_this_machine_does(cluster: Kubernetes, tmp_path: Path) -> None:
    before = set(cluster.node.pods)
    running = exporting(cluster, tmp_path)
    _, complained = running.communicate(timeout=WAIT)
    assert (running.returncode, complained) == (0, "")
    assert_same(pq.read_table(tmp_path / "out").to_pylist(), CASE)
    (executor,) = set(cluster.node.pods) - before
    assert "Driver commanded a shutdown" in cluster.node.log(executor)
    nothing_is_left(cluster, tmp_path)


def test_the_job_of_the_example(cluster: Kubernetes, tmp_path: Path) -> None:
    # The pod is the driver; volumes are local folders, and there are fewer executors than in the example.
    brokers, tables = tmp_path / "brokers", tmp_path / "tables"
    shutil.copytree(CASE.data(), brokers / "orders" / "data")
    tables.mkdir()
    cluster.node.claims |= {"brokers": brokers, "tables": tables}
    spec = example()[-1]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    container["args"] += ["--conf=spark.executor.instances=1", "--conf=spark.executor.memory=512m", "--body=base64"]
    before = set(cluster.node.pods)
    name = "export-of-the-example"
    cluster.api.make({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline and "terminated" not in str(cluster.node.pods.get(name, {}).get("status")):
        time.sleep(0.2)
    assert cluster.node.pods[name]["status"]["phase"] == "Succeeded", cluster.node.log(name)
    assert_same(pq.read_table(tables / "messages").to_pylist(), CASE)
    (executor,) = (cluster.node.pods[each] for each in set(cluster.node.pods) - before - {name})
    (owner,) = executor["metadata"]["ownerReferences"]
    assert owner["name"] == name
    mounts = {
        each["mountPath"]: each.get("readOnly", False) for each in executor["spec"]["containers"][0]["volumeMounts"]
    }
    assert mounts[str(brokers)] and not mounts[str(tables)]
    assert not cluster.left()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"spark__kubernetes__container__image": "registry.example.com/other"},
            'ImagePullBackOff: Back-off pulling image "registry.example.com/other"',
        ),
        ({"spark__executor__memory": "8g"}, "Unschedulable: 0/1 nodes are available: 1 Insufficient memory."),
    ],
    ids=["image", "memory"],
)
def test_what_executors_wait_for_is_told(
    settings: dict[str, str], told: str, cluster: Kubernetes, tmp_path: Path
) -> None:
    running = exporting(cluster, tmp_path, **settings)
    assert running.stderr is not None
    line = running.stderr.readline()
    assert line.startswith(f"note: {cluster.master}: no executor yet, so nothing is read: pod pagectl-export-")
    assert line.endswith(f"-exec-1: {told}\n")
    assert cluster.left()
    running.send_signal(signal.SIGINT)
    _, complained = running.communicate(timeout=WAIT)
    assert (running.returncode, complained) == (130, "pagectl: interrupted\n")
    nothing_is_left(cluster, tmp_path)


def test_stopped_while_spark_waits_for_its_first_executor(cluster: Kubernetes, tmp_path: Path) -> None:
    # There is no context yet that could be stopped.
    before = set(cluster.node.pods)
    running = exporting(cluster, tmp_path, spark__executor__memory="8g")
    deadline = time.monotonic() + WAIT
    while set(cluster.node.pods) <= before and time.monotonic() < deadline:
        time.sleep(0.1)
    running.send_signal(signal.SIGTERM)
    _, complained = running.communicate(timeout=WAIT)
    assert (running.returncode, complained) == (143, "pagectl: interrupted\n")
    assert set(cluster.node.pods) > before
    nothing_is_left(cluster, tmp_path)


ENDING = "its executors keep failing: see their logs (on Kubernetes "
REFUSALS = {
    "token": (
        {"spark__kubernetes__authenticate__oauthToken": "another"},
        "Unauthorized; the token of the kubeconfig (KUBECONFIG, spark.kubernetes.context), or "
        "spark.kubernetes.authenticate.oauthToken, is refused",
    ),
    "rights": (
        {"spark__kubernetes__namespace": "default"},
        f'configmaps is forbidden: User "system:serviceaccount:{NAMESPACE}:pagectl" cannot create resource '
        '"configmaps" in API group "" in the namespace "default"',
    ),
    "certificate": ({"spark__kubernetes__authenticate__caCertFile": "/nowhere"}, "/nowhere: no such file"),
    "java": ({"spark__executor__extraJavaOptions": "-javaagent:/nowhere.jar"}, ENDING),
    "driver": (
        {"spark__driver__host": "nowhere.invalid", "spark__driver__bindAddress": "127.0.0.1"}, ENDING,
    ),
    "python": (
        {"spark__pyspark__python": "/nowhere/python"},
        'Cannot run program "/nowhere/python": error=2, No such file or directory; spark.pyspark.python, else',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("settings", "told"), REFUSALS.values(), ids=REFUSALS)
def test_what_fails_is_told_in_one_line(
    settings: dict[str, str], told: str, cluster: Kubernetes, tmp_path: Path
) -> None:
    running = exporting(cluster, tmp_path, **settings)
    _, complained = running.communicate(timeout=WAIT)
    assert running.returncode == 2
    *before, line = complained.splitlines()
    assert line.startswith("pagectl: ") and told in line, complained
    assert all(each.startswith("spark: ") for each in before) and len(before) < 3, complained
    nothing_is_left(cluster, tmp_path)


def test_an_executor_that_is_killed_is_told_and_replaced(cluster: Kubernetes, tmp_path: Path) -> None:
    stuck = tmp_path / "stuck"
    stuck.write_text(f'#!/bin/sh\nif mkdir "$0.once"; then sleep 1000; fi\nexec {sys.executable} "$@"\n')
    stuck.chmod(0o755)
    folder = tmp_path / "export"
    folder.mkdir()
    running = exporting(cluster, folder, spark__pyspark__python=str(stuck))
    deadline = time.monotonic() + WAIT
    while not Path(f"{stuck}.once").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    (executor,) = (name for name, process in cluster.node.running.items() if process.poll() is None)
    cluster.node.running[executor].kill()
    _, complained = running.communicate(timeout=WAIT)
    assert running.returncode == 0
    (line,) = complained.splitlines()
    assert line.startswith("spark: Lost executor 1 on 127.0.0.1: ") and "exit code 137(SIGKILL" in line
    assert_same(pq.read_table(folder / "out").to_pylist(), CASE)
    nothing_is_left(cluster, folder)


def test_the_image_of_the_example_is_the_one_that_the_node_has() -> None:
    (container,) = example()[-1]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == IMAGE and f"--conf=spark.kubernetes.container.image={IMAGE}" in container["args"]
