"""Every ``console`` block of the README runs, in ``examples/``, and prints what stands there.

A block holds commands (``$ …``) each followed by its whole output (standard output and error together); ``[exit N]``
on a line of its own follows where the status is not 0, and ``[…]`` stands for what differs from machine to machine.
``python tests/support/readme_examples.py`` writes today's output in.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """One command of the README: the line it stands in, what is typed, and all that it prints."""

    line: int
    command: str
    printed: str


def examples(text: str) -> Iterator[list[Example]]:
    """The blocks in order; the commands of one block run in one folder, one after the other."""
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        yield list(_commands(block.group(1), first))


def _commands(block: str, first: int) -> Iterator[Example]:
    lines = block.splitlines()
    starts = [n for n, line in enumerate(lines) if line.startswith("$ ")]
    assert starts and starts[0] == 0, f"README.md:{first}: a console block begins with a command"
    for n, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        command = lines[n][2:]
        body = n + 1
        while command.endswith("\\"):
            command = command[:-1] + lines[body].strip()
            body += 1
        yield Example(first + n, command, "".join(line + "\n" for line in lines[body:end]))


def folder(where: Path) -> Path:
    """A copy of ``examples/`` with its archives unpacked, as a reader would have it after ``make demo``."""
    for path in (ROOT / "examples").iterdir():
        (where / path.name).symlink_to(path)
    subprocess.run(["sh", str(ROOT / "examples" / "unpack.sh"), str(where)], check=True)
    tool = where / ".bin" / "pagectl"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m pagectl "$@"\n')
    tool.chmod(0o755)
    return where


def environment(where: Path) -> dict[str, str]:
    path = os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas"))
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "PAGECTL_", "ARTEMIS_"))}
    return {
        **keep, "PATH": f"{where / '.bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": path, "COLUMNS": "100",
        "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC",
    }  # fmt: skip


def run(command: str, where: Path) -> str:
    done = subprocess.run(
        ["sh", "-c", command], cwd=where, env=environment(where), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False,
    )  # fmt: skip
    printed = done.stdout.decode("utf-8")
    if printed and not printed.endswith("\n"):
        printed += "\n"
    return printed + (f"[exit {done.returncode}]\n" if done.returncode else "")


def agrees(printed: str, expected: str) -> bool:
    """``[…]`` in the README stands for anything within a line."""
    parts = (re.escape(part) for part in expected.split("[…]"))
    return re.fullmatch("[^\\n]*".join(parts), printed) is not None


def rewritten(text: str) -> str:
    """The README with every output replaced by today's."""
    out, at = [], 0
    for block in BLOCK.finditer(text):
        out.append(text[at : block.start(1)])
        with tempfile.TemporaryDirectory() as temporary:
            where = folder(Path(temporary))
            for example in _commands(block.group(1), 0):
                printed = run(example.command, where)
                kept = example.printed if agrees(printed, example.printed) else printed
                out.append(f"$ {example.command}\n{kept}")
        at = block.end(1)
    return "".join(out) + text[at:]


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text("utf-8")), "utf-8")
