"""Directories of brokers where no local path leads: packed, and behind an S3 server with faults."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

BUCKET = "brokers"
ACCESS = {
    "AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "hush-hush", "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_REGION": "us-east-1",
}  # fmt: skip
SIGNED = "AWS4-HMAC-SHA256 Credential=nobody/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=x"
"""The server checks no signature, but lets nobody replace an object without one."""
PACKED = ("tar", "tar.gz", "tar.zst", "tar.xz", "zip")
_TAR = {"tar": (), "tar.gz": ("-z",), "tar.zst": ("--zstd",), "tar.xz": ("-J",)}
Fault = Callable[["FaultyHandler"], bool]


def packed(data: Path, to: Path, form: str) -> Path:
    """Pack a data directory into an archive of type ``form``, below a folder ``broker``."""
    out = to / f"backup.{form}"
    if form == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(data.rglob("*")):
                archive.write(path, Path("broker", path.relative_to(data.parent)))
        return out
    words = ["tar", "-C", str(data.parent), *_TAR[form], "-cf", str(out), "--transform", "s,^,broker/,", data.name]
    subprocess.run(words, check=True)
    return out


class FaultyHandler(BaseHTTPRequestHandler):
    """Hands every request on, unless ``fault`` answers it."""

    protocol_version = "HTTP/1.1"
    target: tuple[str, int]
    fault: Fault
    seen: list[str]

    def forwarded(self) -> tuple[str, dict[str, str]]:
        """Return the request's path and headers as the proxied server expects them."""
        return self.path, dict(self.headers)

    def changed(self, content: bytes) -> bytes:
        """Return the content to send; subclasses correct what their server ignores in the request."""
        return content

    def _hand_on(self) -> None:
        self.seen.append(f"{self.command} {self.path}")
        self._given = self._body()
        if not type(self).fault(self):
            self._answer(1.0)

    def _asked(self) -> tuple[HTTPResponse, bytes]:
        there = HTTPConnection(*self.target)
        path, headers = type(self).forwarded(self)
        there.request(self.command, path, self._given, headers)
        answer = there.getresponse()
        return answer, answer.read()

    def lose_answer(self) -> bool:
        """Carry out the request, and close the connection without an answer."""
        self._asked()
        self.close_connection = True
        return True

    def answer_late(self, act: Callable[[], object]) -> bool:
        """Call ``act`` after the server has answered and before its answer is sent."""
        self._answer(1.0, act)
        return True

    def _answer(self, part: float, act: Callable[[], object] = lambda: None) -> None:
        """Send the server's answer, or only the fraction ``part`` of its content."""
        answer, content = self._asked()
        act()
        content = type(self).changed(self, content)
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        self.send_header("Content-Length", length or "0")
        self.end_headers()
        with suppress(ConnectionError):  # some read a file's beginning and hang up
            self.wfile.write(content[: int(len(content) * part)])

    def break_off(self) -> bool:
        """Close the connection in the middle of the server's own answer."""
        self._answer(0.5)
        self.close_connection = True
        return True

    def _body(self) -> bytes:
        """Read the request's body, also one in chunks."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        found = b""
        while count := int(self.rfile.readline(), 16):
            found += self.rfile.read(count)
            self.rfile.readline()
        self.rfile.readline()
        del self.headers["Transfer-Encoding"]
        return found

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _hand_on  # noqa: N815

    def refuse(self, status: int, word: str) -> bool:
        """Answer with a store's error: HTTP status and error code."""
        content = f"<?xml version='1.0'?><Error><Code>{word}</Code><Message>{word}</Message></Error>".encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else content)
        return True

    def hang_up(self) -> bool:
        """Close the connection in the middle of an answer."""
        if self.command == "GET":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.flush()
        self.close_connection = True
        return True

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class _QuietServer(ThreadingHTTPServer):
    """Says nothing of clients that hang up."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report all errors except lost connections."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class ProxiedServer:
    """A server behind a proxy. ``fault``: what the proxy does with a request."""

    def __init__(self, server: tuple[str, int]) -> None:
        self.server, self.seen = server, list[str]()
        members = {"target": server, "fault": staticmethod(lambda handler: False), "seen": self.seen}
        members["disable_nagle_algorithm"] = True  # else answers wait 40 ms for the other side
        self.handler: Any = type("Handler", (FaultyHandler,), members)
        self.proxy = _QuietServer(("127.0.0.1", 0), self.handler)
        self.proxy.daemon_threads = True
        self._serve()
        self.address = f"127.0.0.1:{self.proxy.server_address[1]}"

    def _serve(self) -> None:
        threading.Thread(target=self.proxy.serve_forever, daemon=True).start()

    def _set(self, fault: Fault) -> None:
        self.handler.fault = staticmethod(fault)

    @contextmanager
    def failing(self, fault: Fault) -> Iterator[None]:
        """Let ``fault`` answer the requests that it chooses, inside the block."""
        self._set(fault)
        try:
            yield
        finally:
            self._set(lambda handler: False)

    def close(self) -> None:
        """Shut the proxy down."""
        self.proxy.shutdown()
        self.proxy.server_close()


class ObjectServer(ProxiedServer):
    """An S3 server with one bucket."""

    def __init__(self, server: tuple[str, int]) -> None:
        super().__init__(server)
        self.query = f"endpoint_override={self.address}&scheme=http"

    def direct(self, url: str) -> str:
        """Return the URL of the same object on the server itself, without the proxy."""
        return f"{url.partition('?')[0]}?endpoint_override={self.server[0]}:{self.server[1]}&scheme=http"

    def delete(self, path: str) -> None:
        """Delete an object on the server, without the proxy."""
        self._request("DELETE", path, b"", 204)

    def _request(self, method: str, path: str, content: bytes, status: int) -> None:
        there = HTTPConnection(*self.server)
        there.request(method, path, content, {"Authorization": SIGNED})
        assert there.getresponse().status == status

    def put_object(self, key: str, content: bytes = b"") -> None:
        """Store an object under any key, also one that no file name allows."""
        self._request("PUT", f"/{BUCKET}/{quote(key)}", content, 200)

    def put(self, path: Path, name: str) -> str:
        """Upload a file or folder to the bucket and return its URL."""
        for each in [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file()):
            self.put_object(name if each == path else f"{name}/{each.relative_to(path)}", each.read_bytes())
        return f"s3://{BUCKET}/{name}?{self.query}"


@contextmanager
def object_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    """Yield an S3 server with an empty bucket, and set credentials for it in the environment."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    for name, value in ACCESS.items():
        monkeypatch.setenv(name, value)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    found = ObjectServer(server.get_host_and_port())
    try:
        found.put_object("")
        yield found
    finally:
        found.close()
        server.stop()
