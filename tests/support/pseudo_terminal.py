"""A command on a pseudo terminal: what it draws, what is typed, and whether the terminal is put back."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

from program import default_signals

ROOT = Path(__file__).resolve().parents[2]


def take_the_terminal() -> None:
    """Make standard input the controlling terminal of the child process."""
    default_signals()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A command on a pseudo terminal."""

    def __init__(self, width: int, height: int, *words: str | Path) -> None:
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.before = termios.tcgetattr(self.theirs)
        env = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
        env |= {"PYTHONPATH": ":".join(map(str, (ROOT, ROOT / "cli", ROOT / "schemas"))), "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pagectl", *map(str, words)],
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=self.theirs,
            env=env,
            start_new_session=True,
            preexec_fn=take_the_terminal,
        )
        self.seen = ""

    def until(self, wanted: str, seconds: float = 60) -> str:
        """Read until that text was drawn."""
        end = time.monotonic() + seconds
        while wanted not in self.seen:
            left = end - time.monotonic()
            assert left > 0, f"{wanted!r} was not drawn: {self.seen[-2000:]!r}"
            if select.select([self.ours], [], [], min(left, 0.5))[0]:
                self.seen += os.read(self.ours, 65536).decode("utf-8", "replace")
        return self.seen

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        os.killpg(self.process.pid, signal.SIGWINCH)

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def end(self) -> int:
        """Wait for the program to end and return its status, asserting that it restored the terminal."""
        while self.process.poll() is None:
            if select.select([self.ours], [], [], 0.2)[0]:
                self.seen += os.read(self.ours, 65536).decode("utf-8", "replace")
        while select.select([self.ours], [], [], 0.2)[0]:
            self.seen += os.read(self.ours, 65536).decode("utf-8", "replace")
        assert termios.tcgetattr(self.theirs) == self.before, "the terminal was not put back"
        assert self.seen.count("\x1b[?1049h") == 1 <= self.seen.count("\x1b[?1049l"), "the old screen did not come back"
        assert self.seen.rindex("\x1b[?1049l") > self.seen.rindex("\x1b[?1049h")
        assert self.seen.rindex("\x1b[?25h") > self.seen.rindex("\x1b[?25l"), "the cursor stayed hidden"
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)
