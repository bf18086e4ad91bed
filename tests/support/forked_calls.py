"""Many calls of the program as processes of their own, without starting an interpreter for each.

Reads a JSON list of calls from standard input, ``{"argv": […], "out": "full" | "closed" | "gone" | "pipe", "encoding":
NAME, "env": {…}}``, forks for each, and prints a JSON list of ``{"status", "out", "err"}``. ``closed``: a pipe that
nobody reads any more; ``gone``: no standard output at all; ``full``: a device that takes nothing.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from typing import Any

# what most commands need anyway is imported once
import brokerconf.linting.lint
import numpy
import pagectl.__main__
import pagectl.app
import pyarrow


def answer(call: dict[str, Any]) -> dict[str, Any]:
    """One call in a child; ``out`` is what it wrote, as latin-1 text so that any bytes pass."""
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
    """Never returns."""
    status = 99
    try:
        os.environ.update(call.get("env", {}))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(err, 2)
        _set_output(call["out"], out)
        encoding = call.get("encoding", "utf-8")
        sys.stdout = None if call["out"] == "gone" else io.TextIOWrapper(io.FileIO(1, "w"), encoding=encoding)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w"), encoding=encoding, line_buffering=True)
        sys.argv = ["pagectl", *call["argv"]]
        pagectl.__main__.main()
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                status = 98
        os._exit(status)


def _set_output(kind: str, out: int) -> None:
    match kind:
        case "full":
            os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
        case "closed":
            reading, writing = os.pipe()
            os.close(reading)
            os.dup2(writing, 1)
        case "gone":
            os.close(1)
        case _:
            os.dup2(out, 1)


if __name__ == "__main__":
    assert brokerconf.linting.lint and numpy and pyarrow
    print(json.dumps([answer(call) for call in json.load(sys.stdin)]))
