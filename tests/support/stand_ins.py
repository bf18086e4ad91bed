"""Servers that stand in for stores of others, where their programs are installed; each behind a proxy with faults.

``make test-stores`` says what to install.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from far_inputs import BUCKET, SIGNED, ProxiedServer
from stored_tables import stored

from pagefmt.spark.java_home import java_home

WAIT = 60
_ACCOUNT = "devstoreaccount1"
AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The one that Azurite publishes, for everyone."""
_NOWHERE = {"NO_PROXY": "127.0.0.1", "CLOUDSDK_CONFIG": "/nonexistent", "AZURE_CONFIG_DIR": "/nonexistent"}


class StandIn(ProxiedServer):
    """A store with one bucket. ``authority``: of its URLs; ``query``: what stands behind their ``?``."""

    scheme, authority, query, gone = "", "", "", "no such bucket"

    def url(self, name: str, authority: str = "") -> str:
        return f"{self.scheme}://{authority or self.authority}/{name}?{self.query}"

    def put(self, path: Path, name: str) -> str:
        """Upload a file or folder to the bucket and return its URL."""
        url = self.url(name)
        for each in [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file()):
            to = stored(url)
            (to if each == path else to / each.relative_to(path)).put(each)
        return url

    def is_read(self, handler: Any) -> bool:
        """Return whether a request reads a page."""
        path = unquote(handler.path)
        return handler.command == "GET" and ".page" in path and "list" not in path

    def make_bucket(self) -> None:
        raise NotImplementedError

    def delete(self, handler: Any, url: str) -> None:
        """Delete the page that a request reads."""
        name = unquote(handler.path.partition("?")[0]).rpartition("/")[2]
        (page,) = stored(url).rglob(name)
        page.unlink()

    def refuse_credentials(self, handler: Any) -> bool:
        return bool(handler.refuse(403, "AccessDenied"))


# What Google's store takes by the XML API, in the words of Amazon's, whose answers are the same.
_IN_AMAZONS_WORDS = {"x-goog-copy-source": "x-amz-copy-source", "x-goog-if-generation-match": "If-None-Match"}


def _as_amazon(handler: Any) -> tuple[str, dict[str, str]]:
    path, question, query = handler.path.partition("?")
    headers = {_IN_AMAZONS_WORDS.get(name.lower(), name): value for name, value in handler.headers.items()}
    headers.pop("authorization", None)
    if "If-None-Match" in headers:
        assert headers["If-None-Match"] == "0", "a generation that does not exist"
        headers["If-None-Match"] = "*"
    return path.replace("%2F", "/") + question + query, headers | {"Authorization": SIGNED}


class GoogleStandIn(StandIn):
    """moto's S3 server: the XML API of Google's store, which obstore uses, differs from Amazon's in headers alone."""

    scheme, authority = "gs", f"anonymous@{BUCKET}"

    def __init__(self, server: tuple[str, int]) -> None:
        super().__init__(server)
        self.handler.forwarded = _as_amazon
        self.query = f"endpoint_override={self.address}&scheme=http"

    def make_bucket(self) -> None:
        there = HTTPConnection(*self.server)
        there.request("PUT", f"/{BUCKET}")
        assert there.getresponse().status == 200


def _from_there_on(handler: Any, content: bytes) -> bytes:
    """Cut a listing's entries before ``startFrom``, as Azure does and Azurite does not."""
    start = dict(parse_qsl(handler.path.partition("?")[2])).get("startFrom", "").encode()
    return (
        re.sub(rb"<Blob>.*?</Blob>", lambda each: each[0] * (_named(each[0]) >= start), content) if start else content
    )


def _named(blob: bytes) -> bytes:
    return blob.partition(b"<Name>")[2].partition(b"</Name>")[0]


class AzureStandIn(StandIn):
    """Azurite, which has no hierarchical namespace."""

    scheme, authority, gone = "abfs", f"{BUCKET}@{_ACCOUNT}.dfs.core.windows.net", "no such container"

    def __init__(self, server: tuple[str, int]) -> None:
        super().__init__(server)
        self.handler.changed = _from_there_on
        self.query = f"enable_tls=false&blob_storage_authority={self.address}"

    def make_bucket(self) -> None:
        """Create the container with pyarrow, because obstore cannot."""
        from pyarrow.fs import AzureFileSystem

        where = f"{self.server[0]}:{self.server[1]}"
        AzureFileSystem(
            account_name=_ACCOUNT,
            account_key=AZURITE_KEY,
            blob_storage_authority=where,
            dfs_storage_authority=where,
            blob_storage_scheme="http",
            dfs_storage_scheme="http",
        ).create_dir(BUCKET)


class HadoopStandIn:
    """HDFS of one node, without a proxy: its users speak no HTTP."""

    scheme, query = "hdfs", "replication=1"
    put = StandIn.put

    def __init__(self, authority: str) -> None:
        self.authority = authority

    def url(self, name: str) -> str:
        return f"hdfs://{self.authority}/{name}?{self.query}"


STORES = {"gs": GoogleStandIn, "abfs": AzureStandIn}
HADOOP_SOURCE = Path(__file__).parents[1] / "oracle_java" / "MiniHadoop.java"
_CLIENT = ("hadoop-client-api", "hadoop-client-runtime", "commons-logging", "slf4j-api")


@contextmanager
def hadoop(folder: Path, *words: str) -> Iterator[str]:
    """Start a Hadoop cluster and yield the URL of its HDFS, or skip the test if the jars are missing.

    The cluster's configuration is in ``folder / "conf"``.
    """
    jars = os.environ.get("PAGECTL_HADOOP")
    if not jars:
        pytest.skip("PAGECTL_HADOOP names no folder with Hadoop's jars (CONTRIBUTING.md says how to get them)")
    conf = folder / "conf"
    conf.mkdir()
    subprocess.run(["javac", "-d", folder, "-cp", f"{jars}/*", HADOOP_SOURCE], check=True)
    java = [
        "java",
        "-Xmx768m",
        "-cp",
        f"{folder}:{jars}/*",
        HADOOP_SOURCE.stem,
        str(conf),
        str(folder / "data"),
        *words,
    ]
    running = subprocess.Popen(
        java, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert running.stdin and running.stdout
    try:
        line = running.stdout.readline().decode()
        assert line.startswith("ready hdfs://"), line
        yield line.split()[1]
    finally:
        running.stdin.close()
        running.kill()
        running.wait()


def hadoop_environment() -> dict[str, str]:
    """Return the variables that a process needs for HDFS, or skip the test if the native library is missing."""
    library, jars = os.environ.get("ARROW_LIBHDFS_DIR"), os.environ.get("PAGECTL_HADOOP")
    if not library:
        pytest.skip("ARROW_LIBHDFS_DIR names no folder with libhdfs.so, which is in Hadoop's own distribution")
    found = sorted(str(each) for name in _CLIENT for each in Path(jars or "").glob(f"{name}-*.jar"))
    return {"ARROW_LIBHDFS_DIR": library, "CLASSPATH": os.pathsep.join(found), "JAVA_HOME": str(java_home())}


@contextmanager
def hdfs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HadoopStandIn]:
    """Start an HDFS that checks permissions, with a folder ``closed`` to others, and set the environment for it."""
    for variable, value in hadoop_environment().items():
        monkeypatch.setenv(variable, value)
    with hadoop(folder, "hdfs") as url:
        yield HadoopStandIn(url.removeprefix("hdfs://").rstrip("/"))


def _command(name: str, port: int) -> list[str]:
    """Return the command that starts a store's server, or skip the test if it is not installed."""
    if name == "gs":
        return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    return [
        program("PAGECTL_AZURITE", "azurite-blob"),
        "--blobHost",
        "127.0.0.1",
        "--blobPort",
        str(port),
        "--disableTelemetry",
        "--skipApiVersionCheck",
        "--inMemoryPersistence",
    ]


def program(variable: str, name: str) -> str:
    """Return the path of a program, or skip the test if it is not installed."""
    found = os.environ.get(variable) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is neither on PATH nor named by {variable} (CONTRIBUTING.md says how to install it)")
    return found


def free_port() -> int:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        port: int = some.getsockname()[1]
    return port


@contextmanager
def stand_in(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """Yield a store of this scheme with an empty bucket behind a proxy, and set credentials in the environment."""
    for variable, value in _NOWHERE.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("AZURE_STORAGE_KEY", AZURITE_KEY)
    port = free_port()
    found = STORES[name](("127.0.0.1", port))
    try:
        with service(_command(name, port), folder / f"{name}.log", port):
            found.make_bucket()
            yield found
    finally:
        found.close()


@contextmanager
def service(command: list[str], log: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, wait until it listens, and kill its whole session at the end."""
    with log.open("wb") as out:
        running = subprocess.Popen(
            command, cwd=log.parent, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
    try:
        _until_it_answers(running, port, log)
        yield running
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def _until_it_answers(running: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline and running.poll() is None:
        with suppress(OSError):
            there = HTTPConnection("127.0.0.1", port, timeout=2)
            there.request("GET", "/")
            there.getresponse().read()
            return
        time.sleep(0.1)
    raise AssertionError(f"it does not listen:\n{log.read_text('utf-8', 'replace')[-2000:]}")
