"""``disk watch`` on a terminal of its own: what it draws, and how it ends."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pagectl.app import run
from program import default_signals

ROOT = Path(__file__).resolve().parents[2]


def take_the_terminal() -> None:
    """In the child: its standard input becomes its controlling terminal."""
    default_signals()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A command on a pseudo terminal."""

    def __init__(self, path: Path, width: int, height: int, *words: str) -> None:
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.before = termios.tcgetattr(self.theirs)
        env = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
        env |= {"PYTHONPATH": ":".join(map(str, (ROOT, ROOT / "cli", ROOT / "schemas"))), "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pagectl", "disk", "watch", str(path), "--interval", "0.2", *words],
            stdin=self.theirs, stdout=self.theirs, stderr=self.theirs, env=env, start_new_session=True,
            preexec_fn=take_the_terminal,
        )  # fmt: skip
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

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def end(self) -> int:
        """The status, when it is over; also looks whether the terminal is as it was."""
        while self.process.poll() is None:
            if select.select([self.ours], [], [], 0.2)[0]:
                self.seen += os.read(self.ours, 65536).decode("utf-8", "replace")
        while select.select([self.ours], [], [], 0.2)[0]:
            self.seen += os.read(self.ours, 65536).decode("utf-8", "replace")
        assert termios.tcgetattr(self.theirs) == self.before, "the terminal was not put back"
        assert self.seen.count("\x1b[?1049h") == self.seen.count("\x1b[?1049l") == 1, "the old screen did not come back"
        assert self.seen.rindex("\x1b[?25h") > self.seen.rindex("\x1b[?25l"), "the cursor stayed hidden"
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for n in range(40):
        store = tmp_path / "data" / "paging" / f"s{n}"
        store.mkdir(parents=True)
        (store / "address.txt").write_text(f"orders.{n}.{'x' * 90}\x1b]0;evil\x07\n")
        (store / "000000001.page").write_bytes(bytes(1000 * n))
    return tmp_path / "data"


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    made: list[Terminal] = []
    yield made
    for one in made:
        one.close()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_it_draws_within_its_width_and_ends_with_q(data: Path, terminals: list[Terminal], width: int) -> None:
    terminals.append(Terminal(data, width, 24))
    shown = terminals[0]
    shown.until("orders.39")
    shown.type("q")
    assert shown.end() == 0
    frames = shown.seen.replace("\x1b[H", "\n")
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", frames).replace("\r", "").split("\n")
    assert max(map(len, lines)) <= width
    assert "max-disk-usage 90%" in shown.seen
    assert "\x1b]0;" not in shown.seen


def test_ctrl_c_ends_it(data: Path, terminals: list[Terminal]) -> None:
    terminals.append(Terminal(data, 80, 24))
    terminals[0].until("usable")
    terminals[0].type("\x03")
    assert terminals[0].end() == 130
    assert "Traceback" not in terminals[0].seen


def test_it_ends_when_the_directory_disappears(data: Path, terminals: list[Terminal]) -> None:
    terminals.append(Terminal(data, 80, 24))
    terminals[0].until("usable")
    data.rename(data.with_name("gone"))
    assert terminals[0].end() == 2
    assert "no such directory" in terminals[0].seen


def test_it_needs_a_terminal(data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["disk", "watch", str(data)]) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert "terminal" in told.err
