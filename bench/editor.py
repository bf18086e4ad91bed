"""CPU time of the language server for one keystroke: the change until its diagnostics are there, and a completion.

    python bench/editor.py [--keys 20]

Two documents: 5,000 settings (1,000 address settings with five each) and 5,000 address settings (25,000 settings,
1.4 MB). The nanoseconds that the system counts for all threads of the server's process; the mean of the keys, which
go to places all over the document. ``value``: a digit goes into a number and out again; ``tag``: an element is begun
and taken back, so that the document is not well-formed in between.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from config_lint import large

ROOT = Path(__file__).resolve().parent.parent
URI = "untitled:broker.xml"


class Server:
    """A language server and what is said with it."""

    def __init__(self) -> None:
        paths = os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas"))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pagectl", "config", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths},
        )
        self.number = 0
        self.request("initialize", capabilities={}, processId=None, rootUri=None)

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.startswith(b"Content-Length: "):
                length = int(line[16:])
        found: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return found

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        while (found := self.next()).get("id") != self.number:
            pass
        return found

    def diagnostics(self) -> list[Any]:
        while (found := self.next()).get("method") != "textDocument/publishDiagnostics":
            pass
        return list(found["params"]["diagnostics"])

    def change(self, version: int, line: int, start: int, end: int, text: str) -> list[Any]:
        area = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
        self.send(
            method="textDocument/didChange",
            params={
                "textDocument": {"uri": URI, "version": version},
                "contentChanges": [{"range": area, "text": text}],
            },
        )
        return self.diagnostics()

    def seconds(self) -> float:
        """Return the CPU seconds of all threads of the server so far."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def places(text: str, keys: int) -> list[tuple[int, int]]:
    """Return positions after the first digit of sizes, spread over the text."""
    lines = [n for n, line in enumerate(text.split("\n")) if line.startswith("<max-size-bytes>")]
    return [(lines[n * (len(lines) - 1) // keys], len("<max-size-bytes>") + 1) for n in range(keys)]


def measure(count: int, keys: int) -> None:
    text = large(count)
    server = Server()
    began = server.seconds()
    item = {"uri": URI, "languageId": "xml", "version": 1, "text": text}
    server.send(method="textDocument/didOpen", params={"textDocument": item})
    found = len(server.diagnostics())
    opened = server.seconds() - began
    print(f"{count} address settings ({len(text)} bytes), {found} diagnostics; opened in {opened * 1000:.0f} ms")
    version = 1
    kinds: dict[str, list[float]] = {"value": [], "tag": [], "completion": []}
    for line, column in places(text, keys):
        for kind, typed in (("value", "7"), ("tag", "<")):
            for start, end, new in ((column, column, typed), (column, column + 1, "")):
                version += 1
                before = server.seconds()
                server.change(version, line, start, end, new)
                kinds[kind].append(server.seconds() - before)
                if new == "<":
                    before = server.seconds()
                    place = {"line": line, "character": column + 1}
                    server.request("textDocument/completion", textDocument={"uri": URI}, position=place)
                    kinds["completion"].append(server.seconds() - before)
        time.sleep(0.01)
    for kind, times in kinds.items():
        print(f"  {kind:10} mean {sum(times) / len(times) * 1000:6.1f} ms CPU, most {max(times) * 1000:6.1f}")
    server.process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=20)
    keys = parser.parse_args().keys
    for count in (1000, 5000):
        measure(count, keys)


if __name__ == "__main__":
    main()
