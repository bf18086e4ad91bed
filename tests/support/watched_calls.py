"""Every call that a test makes of the program is watched.

JSON answers keep to their schema, exit statuses to the table of ``pagectl.running.statuses``, and a call that cannot be
carried out says why in a line that begins with the program's name.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from pagectl.app import MOVED, PLUGINS, TREE
from pagectl.running.statuses import STATUSES

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas" / "json"
INTERRUPTED = 130
FIRST_LINES = 20
EVERY = 25
"""Of long outputs in lines the first ones are looked at, and then one in so many: validation is slow."""

Run = Callable[[list[str]], int]


class Tee:
    """Writes to a stream and remembers what was written."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        count = self.stream.write(text)
        self.parts.append(text)
        return int(count or 0)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    @property
    def text(self) -> str:
        return "".join(self.parts)


def watched(run: Run) -> Run:
    """Wrap ``pagectl.app.run`` so that every call is checked."""

    def watching(argv: list[str]) -> int:
        out, err = Tee(sys.stdout), Tee(sys.stderr)
        sys.stdout, sys.stderr = out, err  # type: ignore[assignment]
        try:
            status = run(argv)
        finally:
            # a closed pipe replaces standard output
            sys.stdout = out.stream if sys.stdout is out else sys.stdout  # type: ignore[comparison-overlap]
            sys.stderr = err.stream if sys.stderr is err else sys.stderr  # type: ignore[comparison-overlap]
        check_call(argv, int(status), out.text, err.text)
        return status

    return watching


def check_call(argv: list[str], status: int, out: str, err: str) -> None:
    path = command_of(argv)
    if tuple(argv[:2]) in MOVED:
        assert status in (2, 3)
        return
    allowed = set(STATUSES.get(path, {0: "", 2: ""})) | {INTERRUPTED}
    assert status in allowed, f"{argv}: status {status}, and the table has {sorted(allowed)}"
    if "--help" in argv or path not in STATUSES:
        return
    schema = schema_of(path, argv)
    if schema is not None and out and (schema.endswith(".line") or status < 2 or path in PLUGINS):
        validate(schema, out)
    failed = status == (3 if path in PLUGINS else 2)
    if failed and path not in PLUGINS:
        last = [line for line in err.splitlines() if line and not line.startswith(("note: ", "warning: "))]
        assert last and any(line.startswith("pagectl") for line in last), f"{argv}: no word of the program: {err!r}"


def command_of(argv: list[str]) -> tuple[str, ...]:
    """Return the command's path, incomplete if the call does not name a whole command."""
    words = [word for word in argv if word != "--debug"][:2]
    if not words or words[0] not in TREE:
        return ()
    return (words[0],) if isinstance(TREE[words[0]][1], str) else tuple(words)


def schema_of(path: tuple[str, ...], argv: list[str]) -> str | None:
    """Return the name of the schema of a call's output, or None if the output is no JSON."""
    if path == ("pages", "seal"):
        return "pages-seal.line"
    if (
        path[0] in ("pages", "messages")
        and path[1] in ("decode", "find")
        and any(word.startswith("--columns") for word in argv)
    ):
        return "pages-decode.columns.line" if "jsonl" in argv else None
    if any(word.startswith("--columns") for word in argv):
        return None  # the rows are tested with all their keys
    asked = re.findall(r"--format[= ](\S+)", " ".join(argv))
    name = "-".join(path) + (".counts" if any(word.startswith("--count-by") for word in argv) else "")
    match asked[-1:]:
        case ["json"]:
            return name
        case ["jsonl"]:
            return f"{name}.line"
        case _:
            return None


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text("utf-8")))


def validate(name: str, text: str) -> None:
    """Validate a document, or a sample of lines if the schema describes lines."""
    if not name.endswith(".line"):
        documents = [text]
    else:
        lines = text.splitlines() if text.endswith("\n") else text.splitlines()[:-1]
        documents = lines[:FIRST_LINES] + lines[FIRST_LINES::EVERY]
    for document in documents:
        error = next(validator(name).iter_errors(json.loads(document)), None)
        assert error is None, f"{name}: {error.json_path}: {error.message[:400]} in {document[:2000]}"
