"""Many calls of the program as processes of their own, without starting an interpreter for each.

Reads calls from standard input, one JSON object a line, ``{"argv": […], "out": KIND, "err": KIND, "encoding": NAME,
"env": {…}, "cwd": FOLDER, "seconds": N}``, forks for each, and prints ``{"status", "out", "err"}``.
Kinds: ``pipe`` (the default), ``closed``: a pipe that nobody reads any more; ``gone``: no such descriptor; ``full``: a
device that takes nothing. A call that takes longer than its seconds is ended by SIGALRM.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import pkgutil
import signal
import sys
import tempfile
from typing import Any

import brokerconf
import pagectl.__main__

import pageengine
import pagefmt

PACKAGES = (pagectl, pageengine, brokerconf, pagefmt)


def import_everything() -> None:
    """Import all modules once for all calls, except those that need Spark, or Proton if it is missing."""
    for package in PACKAGES:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "spark" in module.name or module.name.endswith("__main__"):
                continue
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as err:
                if err.name not in ("cproton", "proton"):
                    raise


def answer(call: dict[str, Any]) -> dict[str, Any]:
    """Run one call in a forked child, and return its status and output.

    ``out`` is decoded as latin-1, so that any bytes pass through JSON.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _carry_out(call, out.fileno(), err.fileno())
        _, status = os.waitpid(child, 0)
        out.seek(0)
        err.seek(0)
        said = out.read().decode("latin-1"), err.read().decode("utf-8", "replace")
    return {"status": os.waitstatus_to_exitcode(status), "out": said[0], "err": said[1]}


def _carry_out(call: dict[str, Any], out: int, err: int) -> None:
    """Run the call in the child, and exit with its status."""
    status = 99
    try:
        signal.alarm(call.get("seconds", 0))
        os.environ.update(call.get("env", {}))
        os.chdir(call.get("cwd", "."))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        encoding = call.get("encoding", "utf-8")
        sys.stderr = _stream(call["err"], 2, err, encoding)
        sys.stdout = _stream(call["out"], 1, out, encoding)
        sys.argv = ["pagectl", *call["argv"]]
        pagectl.__main__.main()
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, AttributeError):
                status = 98
        os._exit(status)


def _stream(kind: str, descriptor: int, file: int, encoding: str) -> io.TextIOWrapper | None:
    match kind:
        case "full":
            os.dup2(os.open("/dev/full", os.O_WRONLY), descriptor)
        case "closed":
            reading, writing = os.pipe()
            os.close(reading)
            os.dup2(writing, descriptor)
        case "gone":
            os.close(descriptor)
            return None
        case _:
            os.dup2(file, descriptor)
    return io.TextIOWrapper(
        io.FileIO(descriptor, "w", closefd=False), encoding=encoding, line_buffering=descriptor == 2
    )


if __name__ == "__main__":
    import_everything()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
