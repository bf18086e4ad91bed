"""Calling pagectl from tests: in this process, or as a program of its own."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pagectl.app import run

ROOT = Path(__file__).resolve().parents[2]
DECODE = ("messages", "decode", "--in", "pages")
"""Messages of page files with what the journal says of them."""
EXPORT = ("export", "--in", "pages")
"""Of messages in page files."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The exit status and output of a finished call."""

    status: int
    out: str
    err: str

    def lines(self) -> list[dict[str, Any]]:
        """Parse the output as JSON Lines."""
        return [json.loads(line) for line in self.out.split("\n") if line]


def call(*words: str | Path) -> Answer:
    """Run one call in this process."""
    content, err = io.BytesIO(), io.StringIO()
    out = io.TextIOWrapper(content, "utf-8", "surrogatepass", newline="")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run([str(word) for word in words])
    out.flush()
    return Answer(int(status), content.getvalue().decode("utf-8", "surrogatepass"), err.getvalue())


def pasted(shown: str) -> str:
    """Paste the indented commands of an answer that are joined by ``&&`` into a shell; return their output."""
    commands = re.findall(r"^ {5}(?:\[ |mv |echo ).*$", shown, re.MULTILINE)
    done = subprocess.run(["sh"], input="\n".join(commands), stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "cli", ROOT / "schemas")))
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {"PYTHONPATH": paths} | dict(extra or {})


@cache
def _forking(preload: str | None) -> subprocess.Popen[str]:
    """Start the process that forks one child per call; it ends with this process."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "support" / "forked_calls.py")],
        text=True,
        env=environment({"LD_PRELOAD": preload} if preload else None),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def forked(
    *words: str | Path,
    extra: Mapping[str, str] | None = None,
    seconds: float = 120,
    preload: str | None = None,
    **how: Any,
) -> Answer:
    """Run one call in a forked process, without starting an interpreter. ``how``: see ``forked_calls``."""
    asked = {"argv": [os.fspath(word) for word in words], "out": "pipe", "err": "pipe", "env": dict(extra or {}), **how}
    server = _forking(preload)
    assert server.stdin is not None and server.stdout is not None
    print(json.dumps(asked | {"seconds": int(seconds)}), file=server.stdin, flush=True)
    told = json.loads(server.stdout.readline())
    if told["status"] == -signal.SIGALRM:
        raise subprocess.TimeoutExpired(asked["argv"], seconds)
    return Answer(told["status"], told["out"].encode("latin-1").decode("utf-8", "replace"), told["err"])


def default_signals() -> None:
    """Restore the signal handling of a program started from a terminal, for ``preexec_fn``.

    Background jobs, cron and ``nohup`` ignore SIGINT or SIGHUP; a child inherits that, and Python then installs no
    handler for Ctrl-C.
    """
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError):  # the C library keeps a few for itself
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


_WITH_SIGNALS = """
import os, signal, sys
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_DFL)
    except OSError:
        pass
signal.pthread_sigmask(signal.SIG_SETMASK, ())
os.execv(sys.argv[1], sys.argv[1:])
"""
"""As ``default_signals``, in the process itself."""


def started(*words: str | Path, **popen: Any) -> subprocess.Popen[str]:
    """Start the program in its own session, with the signals of a program started from a terminal.

    No Python code runs in the child between fork and exec, because threads of libraries may hold locks then.
    """
    return subprocess.Popen(
        [sys.executable, "-ISc", _WITH_SIGNALS, sys.executable, "-m", "pagectl", *map(str, words)],
        env=environment(popen.pop("env", None)),
        text=True,
        start_new_session=True,
        stdout=popen.pop("stdout", subprocess.PIPE),
        stderr=popen.pop("stderr", subprocess.PIPE),
        **popen,
    )


def tree(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Return SHA-256, size and modification time of everything below a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.lstat().st_size if path.is_file() else 0,
            path.lstat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
    }
