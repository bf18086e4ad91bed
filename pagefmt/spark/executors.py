"""What keeps the executors of a cluster from coming: Spark waits for ever, and says nothing.

Every cluster is asked for their number; of Kubernetes the pods are asked for as well, through Spark's own connection.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pagefmt.spark.java_side import scala_context

if TYPE_CHECKING:
    from pyspark import SparkContext

Tell = Callable[[str], None]  # called with a sentence for the waiting user
PATIENCE: Final = 20.0  # seconds without an executor before the user is told
_LOOK: Final = 0.5  # Spark deletes a pod that failed within seconds
_SELECTOR: Final = "spark-app-selector"


@contextmanager
def awaited(context: SparkContext, master: str, tell: Tell) -> Iterator[None]:
    """Call ``tell`` from a thread if there is no executor for long, and again when the reason changes."""
    with beside(partial(_watch, context, master, tell)):
        yield


@contextmanager
def beside(watch: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run ``watch`` in a thread inside the context; its event is set at the end."""
    done = threading.Event()
    watcher = threading.Thread(target=watch, args=(done,), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join(timeout=5)


def _watch(context: SparkContext, master: str, tell: Tell, done: threading.Event) -> None:
    since, reported, why = time.monotonic(), None, None
    while not done.wait(_LOOK):
        try:
            if _executors(context):
                since, why = time.monotonic(), None
                continue
            why = _hindrance(context, master) or why
        except Exception:
            continue
        if time.monotonic() - since > PATIENCE and (reported is None or why not in (None, reported)):
            reported = why or _usual(context, master)
            tell(f"{master}: no executor yet, so nothing is read: {reported}")


def on_kubernetes(master: str) -> bool:
    """Return whether executors are pods."""
    return master.startswith("k8s:")


def _executors(context: SparkContext) -> int:
    """Return the number of running executors. Spark's own list also contains this process."""
    return len(scala_context(context).statusTracker().getExecutorInfos()) - 1


def _usual(context: SparkContext, master: str) -> str:
    if not on_kubernetes(master):
        return "does the cluster have a free core, and the memory that an executor asks for (spark.executor.memory)?"
    return f"see: kubectl -n {_namespace(context)} get pods -l {_SELECTOR}={context.applicationId}"


def _namespace(context: SparkContext) -> str:
    return str(context.getConf().get("spark.kubernetes.namespace", "default"))


def _hindrance(context: SparkContext, master: str) -> str | None:
    if not on_kubernetes(master):
        return None
    client = scala_context(context).schedulerBackend().kubernetesClient()
    pods = client.pods().inNamespace(_namespace(context)).withLabel(_SELECTOR, context.applicationId).list()
    return pods_trouble(json.loads(client.getKubernetesSerialization().asJson(pods))["items"])


def pods_trouble(pods: Sequence[Mapping[str, Any]]) -> str | None:
    """Return what Kubernetes says of the first executor pod (an object of its API) that has a problem, or None."""
    for pod in pods:
        status = pod["status"]
        states = [item["state"] for item in status.get("containerStatuses", ())]
        waiting = [item["waiting"] for item in states if item.get("waiting")]
        ended = [item["terminated"] for item in states if item.get("terminated")]
        refused = [item for item in status.get("conditions", ()) if item.get("status") == "False" and "reason" in item]
        for item in (*ended, *waiting, *refused):
            code = f"exit code {item['exitCode']}" if "exitCode" in item else None
            words = (item.get("reason"), code, item.get("message"))
            return f"pod {pod['metadata']['name']}: {': '.join(word for word in words if word)}"
    return None
