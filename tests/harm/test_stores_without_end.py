"""Stores that answer without an end, or not at all: a signal ends the program, and a listing has a limit."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from program import environment, started

from pagefmt.storage.interruptible_calls import CallLimits, NoEnd, interruptibly

SETTINGS = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_REGION": "us-east-1"}
HEAD = (
    '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><IsTruncated>true</IsTruncated>'
    "<NextContinuationToken>t</NextContinuationToken>"
)
ENTRY = (
    "<Contents><Key>x/data/paging/s/{:09d}.page</Key><Size>0</Size>"
    "<LastModified>2020-01-01T00:00:00.000Z</LastModified></Contents>"
)


class Endless(BaseHTTPRequestHandler):
    """Each page of a listing says that there is another."""

    protocol_version = "HTTP/1.1"
    numbers = itertools.count()

    def do_GET(self) -> None:
        keys = "".join(ENTRY.format(next(self.numbers)) for _ in range(1000))
        content = f"{HEAD}{keys}</ListBucketResult>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_HEAD(self) -> None:
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Same(Endless):
    """Without progress: the same page again and again."""

    numbers = itertools.repeat(1)  # type: ignore[assignment]


class Mute(Endless):
    """A server that accepts requests and does not answer for a minute."""

    def do_GET(self) -> None:
        time.sleep(60)


@contextmanager
def store(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("handler", "words"), [(Endless, ["pages", "ls"]), (Mute, ["pages", "ls"])])
def test_a_signal_ends_a_listing(
    handler: type[BaseHTTPRequestHandler], words: list[str], number: int, tmp_path: Path
) -> None:
    ends_by_signal(handler, words, number, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("handler", "words"), [(Same, ["messages", "ls"]), (Endless, ["export", "--to", "out"])])
def test_a_signal_ends_longer_commands(
    handler: type[BaseHTTPRequestHandler], words: list[str], number: int, tmp_path: Path
) -> None:
    ends_by_signal(handler, words, number, tmp_path)


def ends_by_signal(handler: type[BaseHTTPRequestHandler], words: list[str], number: int, tmp_path: Path) -> None:
    with store(handler) as url:
        env = SETTINGS | {"AWS_ENDPOINT_URL": url}
        process = started(*words, "s3://b/x/data", env=env, cwd=tmp_path)
        time.sleep(4)
        assert process.poll() is None
        process.send_signal(number)
        _, said = process.communicate(timeout=8)
    assert process.returncode == 128 + number
    assert said.splitlines()[-1:] == ["pagectl: interrupted"], said


@pytest.mark.parametrize("limits", [CallLimits(1.0, 1 << 40), CallLimits(60.0, 1 << 22)])
@pytest.mark.parametrize("handler", [Endless, Same])
def test_a_listing_without_end_has_a_limit(limits: CallLimits, handler: type[BaseHTTPRequestHandler]) -> None:
    # The call runs in a process of its own, because the abandoned request continues.
    script = (
        "import sys\nfrom pagefmt.storage.stores import base\n"
        "from pagefmt.storage.interruptible_calls import CallLimits\n"
        f"base.LIMITS = {limits!r}\nimport os\nfrom pagectl.app import run\n"
        "status = run(sys.argv[1:])\nsys.stderr.flush()\nos._exit(status)\n"
    )
    with store(handler) as url:
        answer = subprocess.run(
            [sys.executable, "-c", script, "pages", "ls", "s3://b/x/data"],
            env=environment(SETTINGS | {"AWS_ENDPOINT_URL": url}),
            capture_output=True,
            text=True,
            timeout=30,
        )
    assert answer.returncode == 2
    (line,) = answer.stderr.splitlines()
    assert line.startswith("pagectl: s3://b: an answer with no end after ")


def test_a_call_gives_what_it_returns_or_raises() -> None:
    assert interruptibly(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        interruptibly(lambda: 1 // 0)
    with pytest.raises(NoEnd, match=r"no end after 0\.1 s"):
        interruptibly(lambda: time.sleep(2), CallLimits(0.1, 1 << 40))
