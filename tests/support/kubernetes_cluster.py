"""A Kubernetes of one node: a real API server with its etcd, and a played node.

The node is scheduler and kubelet in one: it gives each pod a status as those would, and what a container runs is a
process of this machine. There is no container runtime: the process sees this machine's files and has its network, and
of images there is a name, and the entry point of the one in ``examples/spark``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError

import pytest
from program import environment
from stand_ins import WAIT, free_port, service

from pagefmt.spark.java_home import java_home

ASSETS: Final = "KUBEBUILDER_ASSETS"
EXAMPLES: Final = Path(__file__).parents[2] / "examples" / "spark"
NAMESPACE: Final = "exports"
IMAGE: Final = "registry.example.com/pagectl-spark:latest"
"""The one image that the node can pull."""
ADMIN: Final = "token-of-the-admin"
USER: Final = "token-of-the-user"
_NODE, _IP = "node-1", "127.0.0.1"
_MEMORY: Final = 4 << 30
_UNITS: Final = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "": 1}


class Api:
    """The API server, asked with one token."""

    def __init__(self, url: str, certificate: Path, token: str) -> None:
        self.url, self.certificate, self.token = url, certificate, token
        context = ssl.create_default_context(cafile=certificate)
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )

    def open(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the open response, which the caller closes.

        Raises:
            HTTPError: The server answers with an error status.
        """
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        asked = urllib.request.Request(
            self.url + path,
            None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": kind},
        )
        return self._opener.open(asked)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        with self.open(method, path, body) as answer:
            return json.load(answer)

    def make(self, given: Any) -> Any:
        """Create an object in the namespace."""
        group = "api" if "/" not in given["apiVersion"] else "apis"
        kind = f"{given['kind'].lower()}s"
        return self.ask("POST", f"/{group}/{given['apiVersion']}/namespaces/{NAMESPACE}/{kind}", given)


def in_namespace(kind: str) -> str:
    return f"/api/v1/namespaces/{NAMESPACE}/{kind}"


class PlayedNode:
    """Runs the namespace's pods. ``pods``: each that was seen, as it was last; ``running``: processes by pod.

    ``claims``: the folders that volume claims name.
    """

    def __init__(self, api: Api, folder: Path) -> None:
        self.api, self.folder = api, folder
        self.claims: dict[str, Path] = {}
        self.pods: dict[str, Any] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self._events = api.open("GET", f"{in_namespace('pods')}?watch=1")
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()

    def close(self) -> None:
        """Wait until the watch has ended with the API server, then end all running pods."""
        self._watcher.join()
        for running in self.running.values():
            _end(running)

    def log(self, pod: str) -> str:
        return (self.folder / pod / "log").read_text("utf-8", "replace")

    def _watch(self) -> None:
        with suppress(OSError, ValueError):  # the server has gone
            for line in self._events:
                event = json.loads(line)
                if event["type"] in ("ADDED", "MODIFIED"):
                    with suppress(HTTPError):  # of a pod that was deleted meanwhile
                        self._see(event["object"])

    def _see(self, pod: Any) -> None:
        name = pod["metadata"]["name"]
        self.pods[name] = pod
        if "deletionTimestamp" in pod["metadata"]:
            if name in self.running:
                _end(self.running[name])
            self.api.ask("DELETE", f"{in_namespace('pods')}/{name}", {"gracePeriodSeconds": 0})
        elif "nodeName" not in pod["spec"]:
            self._schedule(pod)
        elif name not in self.running and "containerStatuses" not in pod["status"]:
            self._start(pod)

    def _schedule(self, pod: Any) -> None:
        name = pod["metadata"]["name"]
        wanted = [each["resources"].get("requests", {}).get("memory", "0") for each in pod["spec"]["containers"]]
        if sum(map(_bytes, wanted)) <= _MEMORY:
            target = {"apiVersion": "v1", "kind": "Node", "name": _NODE}
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
            self.api.ask("POST", f"{in_namespace('pods')}/{name}/binding", body)
        elif "conditions" not in pod["status"]:
            why = {"reason": "Unschedulable", "message": "0/1 nodes are available: 1 Insufficient memory."}
            self._report(pod, {"conditions": [{"type": "PodScheduled", "status": "False", **why}]})

    def _start(self, pod: Any) -> None:
        name = pod["metadata"]["name"]
        image = pod["spec"]["containers"][0]["image"]
        if image != IMAGE:
            why = {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{image}"'}
            self._report(pod, _container(pod, {"waiting": why}))
            return
        home = self.folder / name
        home.mkdir()
        process = _Process(pod, home, self)
        with (home / "log").open("wb") as log:
            self.running[name] = subprocess.Popen(
                process.command,
                env=process.env,
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        ready = {"conditions": [{"type": "Ready", "status": "True"}], **_container(pod, {"running": {}})}
        self._report(pod, {"phase": "Running", "podIP": _IP, **ready})
        threading.Thread(target=self._wait, args=(pod, self.running[name])).start()

    def _wait(self, pod: Any, running: subprocess.Popen[bytes]) -> None:
        status = running.wait()
        _end(running)  # workers of its own
        code = 128 - status if status < 0 else status
        how = {"exitCode": code, "reason": "Error" if code else "Completed"}
        ended = {"phase": "Failed" if code else "Succeeded", **_container(pod, {"terminated": how})}
        with suppress(OSError):  # of a pod that was deleted, or no server any more
            self._report(pod, ended)

    def _report(self, pod: Any, status: Any) -> None:
        self.api.ask("PATCH", f"{in_namespace('pods')}/{pod['metadata']['name']}/status", {"status": status})

    def image(self) -> dict[str, str]:
        """Return the environment variables of the image and of a cluster.

        The last two replace files that a cluster mounts.
        """
        import pyspark

        host, _, port = self.api.url.removeprefix("https://").partition(":")
        return {
            "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "JAVA_HOME": str(java_home()),
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "KUBERNETES_SERVICE_HOST": host,
            "KUBERNETES_SERVICE_PORT": port,
            "KUBERNETES_CERTS_CA_FILE": str(self.api.certificate),
            "KUBERNETES_AUTH_SERVICEACCOUNT_TOKEN": str(self.folder / "token"),
        }


def _end(running: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def _bytes(quantity: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(\D*)", quantity).groups()  # type: ignore[union-attr]
    return int(number) * _UNITS[unit]


def _container(pod: Any, state: Any) -> Any:
    (container,) = pod["spec"]["containers"]
    facts = {"name": container["name"], "image": container["image"], "imageID": "", "restartCount": 0}
    return {"containerStatuses": [{**facts, "ready": "running" in state, "state": state}]}


class _Process:
    """What a container's process is started with: nothing of this one, the image's, and the pod's."""

    def __init__(self, pod: Any, home: Path, node: PlayedNode) -> None:
        (container,) = pod["spec"]["containers"]
        self.env = node.image() | _variables(pod, container)
        command = container.get("command") or ["sh", str(EXAMPLES / "executor.sh")]
        self.command = [
            re.sub(r"\$\((\w+)\)", lambda each: self.env[each[1]], word) for word in (*command, *container["args"])
        ]
        volumes = {each["name"]: each for each in pod["spec"]["volumes"]}
        for mount in container["volumeMounts"]:
            self._mount(mount["mountPath"], _folder(volumes[mount["name"]], home, node))

    def _mount(self, path: str, folder: Path) -> None:
        """Replace a mount path in command and environment by the folder, because nothing is mounted."""
        there = re.compile(rf"(?<!\w){re.escape(path)}(?!\w)")
        self.command = [there.sub(str(folder), word) for word in self.command]
        self.env = {name: there.sub(str(folder), value) for name, value in self.env.items()}


def _variables(pod: Any, container: Any) -> dict[str, str]:
    facts = pod["metadata"]
    fields = {"status.podIP": _IP, "metadata.name": facts["name"], "metadata.namespace": facts["namespace"]}
    return {
        each["name"]: each.get("value", "")
        if "valueFrom" not in each
        else fields[each["valueFrom"]["fieldRef"]["fieldPath"]]
        for each in container["env"]
    }


def _folder(volume: Any, home: Path, node: PlayedNode) -> Path:
    """Return the local folder of a volume."""
    if "persistentVolumeClaim" in volume:
        return node.claims[volume["persistentVolumeClaim"]["claimName"]]
    folder = home / str(volume["name"])
    folder.mkdir()
    if "configMap" in volume:
        held = node.api.ask("GET", f"{in_namespace('configmaps')}/{volume['configMap']['name']}")
        for name, text in held["data"].items():
            (folder / name).write_text(text)
    return folder


class Kubernetes:
    """A running one. ``settings``: of a Spark outside of the cluster, as the user that ``kubernetes`` describes."""

    def __init__(self, api: Api, node: PlayedNode) -> None:
        self.api, self.node = api, node
        self.master = f"k8s://{api.url}"
        self.settings = {
            "spark.kubernetes.namespace": NAMESPACE,
            "spark.kubernetes.container.image": IMAGE,
            "spark.kubernetes.authenticate.caCertFile": str(api.certificate),
            "spark.kubernetes.authenticate.oauthToken": USER,
            "spark.driver.host": _IP,
            "spark.executor.instances": "1",
            "spark.executor.memory": "512m",
        }

    def left(self) -> dict[str, list[str]]:
        """Return the names of objects that Spark created in the namespace and did not delete, by kind."""
        found = {}
        for kind in ("pods", "configmaps", "services", "persistentvolumeclaims"):
            items = self.api.ask("GET", f"{in_namespace(kind)}?labelSelector=spark-app-selector")["items"]
            found |= {kind: [each["metadata"]["name"] for each in items]} if items else {}
        return found


@contextmanager
def kubernetes(folder: Path, granted: Sequence[Any]) -> Iterator[Kubernetes]:
    """Yield a cluster with the objects ``granted`` in its namespace.

    The user of ``Kubernetes.settings``, and every pod, has only the rights of the service account ``pagectl``. The test
    is skipped if the API server, etcd or openssl is not installed.
    """
    assets = os.environ.get(ASSETS)
    if not assets:
        pytest.skip(f"{ASSETS} names no folder with kube-apiserver and etcd (CONTRIBUTING.md says how to get them)")
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    etcd, port = free_port(), free_port()
    with service(_etcd(Path(assets), folder, etcd), folder / "etcd.log", etcd):
        log = folder / "kube-apiserver.log"
        with service(_server(Path(assets), folder, etcd, port), log, port):
            api = Api(f"https://{_IP}:{port}", folder / "certificate.pem", ADMIN)
            _until_ready(api, log)
            api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
            for each in (_account("default"), *granted):
                api.make(each)
            node = PlayedNode(api, folder)
            yield Kubernetes(api, node)
        node.close()


def _account(name: str) -> Any:
    """Describe a service account, which the missing controller manager would create in each namespace."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}


def _etcd(assets: Path, folder: Path, port: int) -> list[str]:
    clients, peers = (f"http://{_IP}:{each}" for each in (port, free_port()))
    return [
        str(assets / "etcd"),
        "--data-dir",
        str(folder / "etcd"),
        "--unsafe-no-fsync",
        "--log-level",
        "error",
        "--listen-client-urls",
        clients,
        "--advertise-client-urls",
        clients,
        "--listen-peer-urls",
        peers,
        "--initial-advertise-peer-urls",
        peers,
        "--initial-cluster",
        f"default={peers}",
    ]


def _server(assets: Path, folder: Path, etcd: int, port: int) -> list[str]:
    """Return the API server's command, after writing its key, certificate and tokens."""
    key, certificate, tokens = folder / "key.pem", folder / "certificate.pem", folder / "tokens.csv"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            key,
            "-out",
            certificate,
            "-days",
            "1",
            "-subj",
            f"/CN={_IP}",
            "-addext",
            f"subjectAltName=IP:{_IP}",
        ],
        check=True,
        capture_output=True,
    )
    tokens.write_text(f"{ADMIN},admin,1,system:masters\n{USER},system:serviceaccount:{NAMESPACE}:pagectl,2\n")
    (folder / "token").write_text(USER)
    (folder / "bin").mkdir()
    program = folder / "bin" / "pagectl"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{environment()["PYTHONPATH"]}" exec "{sys.executable}" -m pagectl "$@"\n'
    )
    program.chmod(0o755)
    return [
        str(assets / "kube-apiserver"),
        "--etcd-servers",
        f"http://{_IP}:{etcd}",
        "--bind-address",
        _IP,
        "--secure-port",
        str(port),
        "--advertise-address",
        _IP,
        "--endpoint-reconciler-type",
        "none",
        "--tls-cert-file",
        str(certificate),
        "--tls-private-key-file",
        str(key),
        "--token-auth-file",
        str(tokens),
        "--authorization-mode",
        "RBAC",
        "--service-account-issuer",
        "https://kubernetes.default.svc",
        "--service-account-key-file",
        str(certificate),
        "--service-account-signing-key-file",
        str(key),
        "--service-cluster-ip-range",
        "10.0.0.0/24",
    ]


def _until_ready(api: Api, log: Path) -> None:
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        with suppress(OSError):
            api.open("GET", "/readyz").close()
            return
        time.sleep(0.2)
    raise AssertionError(f"it does not get ready:\n{log.read_text('utf-8', 'replace')[-2000:]}")
