"""Every example of the README and of the pages below ``docs/`` runs, and prints what stands there.

A ``console`` block holds commands (``$ …``), each followed by its whole output (standard output and error together);
``[exit N]`` on a line of its own follows where the status is not 0, and ``[…]`` stands for what differs from machine to
machine. A ``python`` block is a program; a ``text`` block right behind it is what it prints. The blocks of a page run
one after the other in one folder, a copy of ``examples/`` with its archives unpacked. Blocks with other names (``sh``,
``yaml``, …) are not run here.

``python tests/support/doc_examples.py [PAGE…]`` writes today's output in.
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
DOCS = ROOT / "docs"
BLOCK = re.compile(
    r"^```console\n(?P<console>.*?)^```$|^```python\n(?P<python>.*?)^```$(?:\n\n^```text\n(?P<text>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
DIFFERS = r"[\d,]+(?= operations a second)|(?<=\dZ  )\d+(?:d|h|min|s)\b"


@dataclass(frozen=True, slots=True)
class Example:
    """The line that it stands in, what is typed (or a program), and all that it prints."""

    line: int
    command: str
    printed: str
    program: bool = False

    def run(self, where: Path) -> str:
        """Run the example in a folder and return its output, with a line for a status other than 0."""
        command = ["python", "-c", self.command] if self.program else ["sh", "-c", self.command]
        done = subprocess.run(
            command,
            cwd=where,
            env=environment(where),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        printed = done.stdout.decode("utf-8")
        if printed and not printed.endswith("\n"):
            printed += "\n"
        return printed + (f"[exit {done.returncode}]\n" if done.returncode else "")

    def agrees(self, printed: str) -> bool:
        """Return whether the output matches the page, where ``[…]`` matches anything within a line."""
        parts = (re.escape(part) for part in self.printed.split("[…]"))
        return re.fullmatch("[^\\n]*".join(parts), printed) is not None

    def with_output(self, printed: str) -> str:
        """Return the example's text on the page with this output."""
        if not self.program:
            return f"$ {self.command}\n{printed}"
        return f"```python\n{self.command}```" + (f"\n\n```text\n{printed}```" if printed else "")


def pages() -> list[Path]:
    """List the README and the pages of the site that contain examples."""
    found = [README, *sorted(DOCS.rglob("*.md"))]
    return [page for page in found if BLOCK.search(page.read_text("utf-8"))]


def examples(text: str) -> Iterator[Example]:
    """Yield the examples of a page in order."""
    for block in BLOCK.finditer(text):
        yield from _examples(block)


def _examples(block: re.Match[str]) -> Iterator[Example]:
    first = block.string.count("\n", 0, block.start()) + 2
    if block["console"] is None:
        yield Example(first, block["python"], block["text"] or "", program=True)
        return
    lines = block["console"].splitlines()
    starts = [n for n, line in enumerate(lines) if line.startswith("$ ")]
    assert starts and starts[0] == 0, f"line {first}: a console block begins with a command"
    for n, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        body = n + 1
        while lines[body - 1].endswith("\\"):
            body += 1
        command = "\n".join([lines[n][2:], *lines[n + 1 : body]])
        yield Example(first + n, command, "".join(line + "\n" for line in lines[body:end]))


def folder(where: Path) -> Path:
    """Set up a folder with everything in ``examples/``, archives unpacked, as ``make demo`` leaves it."""
    given = sorted((ROOT / "examples").iterdir())
    unpacked = {path.name.removesuffix(".tar.gz") for path in given if path.name.endswith(".tar.gz")}
    for path in given:
        if path.name not in unpacked:  # an example may change what it reads, and `make demo` leaves these there
            (where / path.name).symlink_to(path)
    subprocess.run(["sh", str(ROOT / "examples" / "unpack.sh"), str(where)], check=True)
    programs = where / ".bin"
    programs.mkdir()
    for name, words in {"pagectl": "-m pagectl", "python": ""}.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
        program.chmod(0o755)
    return where


def environment(where: Path) -> dict[str, str]:
    path = os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas"))
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "PAGECTL_", "ARTEMIS_"))}
    return {
        **keep,
        "PATH": f"{where / '.bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": path,
        "COLUMNS": "88",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }


def rewritten(text: str) -> str:
    """Replace every output in a page by the present one."""
    out, at = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        where = folder(Path(temporary))
        for block in BLOCK.finditer(text):
            shown = []
            for example in _examples(block):
                printed = example.run(where)
                today = re.sub(DIFFERS, "[…]", printed.replace(str(where), "[…]"))
                shown.append(example.with_output(example.printed if example.agrees(printed) else today))
            whole = "".join(shown)
            out += [text[at : block.start()], whole if block["console"] is None else f"```console\n{whole}```"]
            at = block.end()
    return "".join(out) + text[at:]


if __name__ == "__main__":
    for page in [Path(name) for name in sys.argv[1:]] or pages():
        page.write_text(rewritten(page.read_text("utf-8")), "utf-8")
