"""Where answers go: machine formats as they are, text made safe; colour and tables only for a terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TextIO

from pagectl.terminal.sanitise import UNSAFE, csv_cell, one_line

if TYPE_CHECKING:
    from rich.console import Console


def is_terminal(stream: TextIO) -> bool:
    """A terminal that takes escapes: a tty, and neither ``TERM=dumb`` nor ``NO_COLOR`` without ``FORCE_COLOR``."""
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def coloured(stream: TextIO) -> bool:
    """Whether a stream gets colours: a terminal, unless ``NO_COLOR`` forbids it."""
    return is_terminal(stream) and not (os.environ.get("NO_COLOR") and not os.environ.get("FORCE_COLOR"))


def console(stream: TextIO | None = None) -> Console:
    """A Rich console for text that was made safe before; it parses no markup and guesses no highlights."""
    from rich.console import Console

    out = stream or sys.stdout
    return Console(
        file=out, markup=False, highlight=False, emoji=False, soft_wrap=not out.isatty(), no_color=not coloured(out),
        force_terminal=is_terminal(out),
    )  # fmt: skip


COLUMNS = 80


def within_columns(lines: Iterable[str], hang: int | None = None) -> str:
    """The lines, those beyond 80 columns broken at blanks; what goes on stands ``hang`` columns in (None: two more than
    its line). Blocks of code stay as they are."""
    made, code = [], False
    for line in lines:
        code ^= line.startswith("```")
        made.append(line if code or len(line) <= COLUMNS else _broken(line, hang))
    return "\n".join(made)


@lru_cache(256)
def _broken(line: str, hang: int | None) -> str:
    import textwrap

    blanks = len(line) - len(line.lstrip())
    indent = (blanks + 2 if blanks else 0) if hang is None else hang
    return textwrap.fill(
        line, COLUMNS, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False,
        drop_whitespace=True,
    )  # fmt: skip


def json_text(value: object, *, indent: int | None = None) -> str:
    """JSON that is always valid UTF-8 and safe for a terminal: what ``visible`` would change is a ``\\u`` escape."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=None if indent else (",", ":"))
    return safe_json(text)


def safe_json(text: str) -> str:
    """JSON text with what ``visible`` would change as ``\\u`` escapes. The C0 controls are escapes already."""
    return text if text.isascii() and "\x7f" not in text else re.sub(UNSAFE, _json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    """Only inside strings does JSON have such characters; newlines of the layout are not among them."""
    import json

    return json.dumps(match.group())[1:-1] if match.group() != "\x7f" else "\\u007f"


def print_json(value: object) -> None:
    """One JSON document, indented."""
    sys.stdout.write(json_text(value, indent=2) + "\n")


def print_json_line(value: object) -> None:
    """One line of JSON Lines."""
    sys.stdout.write(json_text(value) + "\n")


def write_utf8(content: memoryview) -> None:
    """Text that is finished already, as bytes, behind what was written before."""
    raw = getattr(sys.stdout, "buffer", None)
    if raw is None:
        sys.stdout.write(str(content, "utf-8"))
        return
    sys.stdout.flush()
    raw.write(content)


class CsvTable:
    """Rows of a CSV file with a header (RFC 4180, newline ends). Numbers stay numbers; text cells are made safe."""

    def __init__(self, columns: Iterable[str], stream: TextIO | None = None) -> None:
        self.columns = tuple(columns)
        self._stream = stream or sys.stdout
        self._write(self.columns)

    def row(self, values: Mapping[str, Any]) -> None:
        """One row; columns that ``values`` lacks stay empty."""
        self._write(tuple(values.get(name) for name in self.columns))

    def _write(self, cells: tuple[Any, ...]) -> None:
        import csv
        import io

        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([_cell(cell) for cell in cells])
        self._stream.write(line.getvalue())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return csv_cell(value if isinstance(value, str) else json_text(value))


def screen_width() -> int | None:
    """Columns of the terminal that answers go to; None for a pipe or a file, which get whole lines."""
    import shutil

    return max(40, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def folded(line: str, hang: int = 4) -> str:
    """A line as wide as the screen at most: what goes on stands ``hang`` columns in. A word is never broken, so that
    a name or a path can be copied whole."""
    width = screen_width()
    if width is None or len(line) <= width:
        return line
    import textwrap

    blank = " " * min(hang, width // 2)
    return textwrap.fill(
        line, width, subsequent_indent=blank, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )


def say(text: str, hang: int = 4) -> None:
    """One line of an answer, made safe, within the screen's width."""
    print(folded(one_line(text), hang))


NARROWEST = 16
"""Columns below which the last cell of a row stands below the others."""


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]], *, right: Iterable[str] = ()) -> None:
    """A plain table: aligned columns, a header, no borders; the text is made safe here.

    ``right`` names the columns aligned to the right. Nothing is cut: a pipe gets every row on one line; on a screen
    that is too narrow the last cell goes on below.
    """
    names = list(columns)
    cells = [[one_line("" if cell is None else str(cell)) for cell in row] for row in rows]
    widths = [max(len(name), *(len(row[n]) for row in cells)) if cells else len(name) for n, name in enumerate(names)]
    to_right = [name in set(right) for name in names]
    start, screen = sum(widths[:-1]) + 2 * len(widths[:-1]), screen_width()

    def line(row: list[str]) -> str:
        parts = [cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, to_right, strict=True)]
        whole = "  ".join(parts).rstrip()
        if screen is None or len(whole) <= screen or to_right[-1]:
            return whole
        if screen - start < max(NARROWEST, *map(len, row[-1].split())):
            return "  ".join(parts[:-1]).rstrip() + "\n" + folded(f"    {row[-1]}")
        return folded(whole, start)

    head = line(names)
    bold = coloured(sys.stdout)
    sys.stdout.write((f"\x1b[1m{head}\x1b[0m" if bold else head) + "\n")
    for row in cells:
        sys.stdout.write(line(row) + "\n")


def note(message: str) -> None:
    """A remark for the person at the terminal, on standard error."""
    sys.stderr.write(f"note: {one_line(message)}\n")


def warning(message: str) -> None:
    """A warning, on standard error."""
    sys.stderr.write(f"warning: {one_line(message)}\n")


class JsonItems:
    """What a command lists, written as it comes: lists of one JSON document, or with ``lines`` an object a line."""

    def __init__(self, *keys: str, lines: bool) -> None:
        self._keys, self._lines, self._open, self._any = list(keys), lines, "", False

    def add(self, key: str, item: object) -> None:
        """One item of the list ``key``; those of a key come together, in the order of the keys."""
        self.add_parts(key, (json_text(item),))

    def add_parts(self, key: str, parts: Iterable[str]) -> None:
        """An item too large to be one value, as the parts of its text."""
        if not self._lines:
            self._begin(key)
            sys.stdout.write("," * self._any + "\n")
            self._any = True
        sys.stdout.writelines(parts)
        if self._lines:
            sys.stdout.write("\n")

    def end(self) -> None:
        """Lists that nothing was added to are empty ones of the document."""
        if not self._lines:
            self._begin(None)
            sys.stdout.write("\n]}\n")

    def _begin(self, key: str | None) -> None:
        while self._open != key and self._keys:
            sys.stdout.write("\n]," if self._open else "{")
            self._open, self._any = self._keys.pop(0), False
            sys.stdout.write(f"{json_text(self._open)}:[")


def print_json_list(key: str, items: Iterable[object], *, lines: bool = False) -> None:
    """One JSON document ``{key: [items]}`` written as the items come, one a line; or the items alone."""
    print_json_parts(key, ((json_text(item),) for item in items), lines=lines)


def print_json_parts(key: str, items: Iterable[Iterable[str]], *, lines: bool = False) -> None:
    """As ``print_json_list``, of items too large to be one value: each as the parts of its text."""
    listed = JsonItems(key, lines=lines)
    for parts in items:
        listed.add_parts(key, parts)
    listed.end()


def wrapped(text: str, indent: int) -> str:
    """One paragraph, made safe, indented, broken between words at the terminal's width (a pipe: 100 columns)."""
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
    blank = " " * indent
    return textwrap.fill(
        one_line(text), max(40, width), initial_indent=blank, subsequent_indent=blank, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
