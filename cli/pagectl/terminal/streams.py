"""Where answers go: machine formats as they are, text made safe; colour and tables only for a terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from pagectl.terminal.sanitise import UNSAFE, csv_cell, one_line, without_secrets

if TYPE_CHECKING:
    from rich.console import Console


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that accepts escapes.

    ``FORCE_COLOR`` makes any stream one, and ``TERM=dumb`` none.
    """
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def coloured(stream: TextIO) -> bool:
    """Return whether a stream gets colours: a terminal, unless ``NO_COLOR`` forbids it."""
    return is_terminal(stream) and not (os.environ.get("NO_COLOR") and not os.environ.get("FORCE_COLOR"))


def console(stream: TextIO | None = None) -> Console:
    """Return a Rich console for text that is already safe; it parses no markup and highlights nothing."""
    from rich.console import Console

    out = stream or sys.stdout
    return Console(
        file=out,
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=not out.isatty(),
        no_color=not coloured(out),
        force_terminal=is_terminal(out),
    )


COLUMNS = 80
# columns that prose gets at least
NARROWEST = 16
WIDEST = 120  # columns: a longer value does not widen its column for all other rows


def within_columns(lines: Iterable[str], hang: int | None = None) -> str:
    """Return the lines, with those longer than 80 columns broken at blanks. Blocks of code stay as they are.

    Continuation lines are indented by ``hang`` columns, None for two more than their line.
    """
    folded_lines, code = [], False
    for line in lines:
        code ^= line.startswith("```")
        folded_lines.append(line if code or len(line) <= COLUMNS else _broken(line, hang))
    return "\n".join(folded_lines)


@lru_cache(256)
def _broken(line: str, hang: int | None) -> str:
    import textwrap

    blanks = len(line) - len(line.lstrip())
    indent = (blanks + 2 if blanks else 0) if hang is None else hang
    return textwrap.fill(
        line,
        COLUMNS,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )


def json_text(value: object, *, indent: int | None = None) -> str:
    r"""Return JSON that is valid UTF-8 and safe for a terminal: what ``visible`` would change is a ``\u`` escape."""
    import json

    separators = None if indent else (",", ":")
    return safe_json(json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, default=_plain))


def _plain(report: object) -> object:
    """Return a report as dictionaries: ``msgspec.json`` refuses lone surrogates, which messages may contain."""
    import msgspec

    return msgspec.to_builtins(report)


def safe_json(text: str) -> str:
    r"""Return JSON text with what ``visible`` would change as ``\u`` escapes. The C0 controls are escapes already."""
    return text if text.isascii() and "\x7f" not in text else re.sub(UNSAFE, _json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    """Return the JSON escape of a control character, which JSON has inside strings only."""
    import json

    return json.dumps(match.group())[1:-1] if match.group() != "\x7f" else "\\u007f"


def print_json(value: object) -> None:
    """Print an indented JSON document."""
    sys.stdout.write(json_text(value, indent=2) + "\n")


def print_json_line(value: object) -> None:
    """Print a line of JSON Lines."""
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
        self._stream.write(_csv_line(self.columns))

    def row(self, values: Mapping[str, Any]) -> None:
        """Write a row; columns that ``values`` lacks stay empty."""
        self._stream.write(self.text(values))

    def text(self, values: Mapping[str, Any]) -> str:
        """Return the text of a row, for the caller to write."""
        return _csv_line(values.get(name) for name in self.columns)


def csv_text(text: str) -> str:
    """Return a text as the cell of a CSV file, made safe and quoted."""
    return _csv_line((text,))[:-1]


def _csv_line(cells: Iterable[Any]) -> str:
    import csv
    import io

    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([_cell(cell) for cell in cells])
    return line.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return csv_cell(value if isinstance(value, str) else json_text(value))


def screen_width() -> int:
    """Return the columns of the terminal, or 80 for a pipe or a file; the variable ``COLUMNS`` sets it."""
    import shutil

    return max(40, shutil.get_terminal_size((COLUMNS, 24)).columns)


def line_width() -> int:
    """Return the columns of a line. Without a terminal lines are never broken, so that a row stays a line."""
    return screen_width() if sys.stdout.isatty() else sys.maxsize


def cell_width(text: str) -> int:
    """Return the columns that a text takes on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def folded(line: str, hang: int = 4) -> str:
    """Return a line that is as wide as the terminal at most: what goes on stands ``hang`` columns in.

    A word is never broken, so that a name or a path can be copied whole.
    """
    width = line_width()
    if cell_width(line) <= width:
        return line
    import textwrap

    blank = " " * min(hang, width - NARROWEST)
    return textwrap.fill(
        line, width, subsequent_indent=blank, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )


def say(text: str, hang: int = 4) -> None:
    """Print a sentence of an answer, made safe, folded at the screen's width."""
    print(folded(one_line(text), hang))


def print_table(
    columns: Iterable[str], rows: Iterable[Iterable[object]], *, right: Iterable[str] = (), prose: bool = False
) -> None:
    """Print a table with aligned columns and a header, without borders; the text is made safe.

    ``right`` names the columns that are aligned to the right. Nothing is cut: columns for which a terminal line has no
    room go to lines of their own below, and so does a value that is much longer than the others. ``prose`` allows the
    last column to continue in the next line at a blank; a name must not, so that it can be copied.
    """
    names = list(columns)
    cells = [[one_line("" if cell is None else str(cell)) for cell in row] for row in rows]
    to_right = {n for n, name in enumerate(names) if name in set(right)}
    places = _places(names, cells, to_right, prose=prose)
    head = _row(names, places, to_right, prose=False)
    bold = coloured(sys.stdout)
    sys.stdout.write((f"\x1b[1m{head}\x1b[0m" if bold else head) + "\n")
    for row in cells:
        sys.stdout.write(_row(row, places, to_right, prose=prose) + "\n")


# indentation in columns of a row's continuation lines
BELOW = 4


class _Column(NamedTuple):
    """Where a column of a table begins; ``below``: in a line of its own."""

    below: bool
    start: int
    width: int


def _places(names: list[str], cells: list[list[str]], to_right: set[int], *, prose: bool) -> list[_Column]:
    """Return the position of each column. A value of more than half a screen does not widen its column."""
    screen, end = line_width(), -2
    placed: list[_Column] = []
    for n, column in enumerate(zip(names, *cells, strict=True)):
        sizes = [*map(cell_width, column)]
        width = max(size for size in sizes if n in to_right or size <= max(min(screen // 2, WIDEST), sizes[0]))
        if n + 1 == len(names) and n not in to_right:
            width = max(sizes[0], min(width, NARROWEST) if prose else 0)
        below = n > 0 and end + 2 + width > screen
        placed.append(_Column(below, BELOW if below else end + 2, width))
        end = placed[-1].start + width
    return placed


def _row(row: list[str], columns: list[_Column], to_right: set[int], *, prose: bool) -> str:
    screen, lines, line = line_width(), list[str](), ""
    for n, (cell, column) in enumerate(zip(row, columns, strict=True)):
        size, folds = cell_width(cell), prose and n + 1 == len(row)
        needed = max(map(cell_width, cell.split()), default=0) if folds else size
        start = BELOW if line.strip() and column.start + needed > screen else column.start
        if n and screen < sys.maxsize and (column.below or start < column.start or cell_width(line) + 2 > start):
            lines.append(line.rstrip())
            line = ""
        line += " " * max(start - cell_width(line), 2 if line else 0) + (
            cell.rjust(column.width + len(cell) - size) if n in to_right else cell
        )
        if folds:
            line = folded(line, start)
    return "\n".join(text for text in [*lines, line.rstrip()] if text)


def note(message: str) -> None:
    """Write a remark for the user to standard error."""
    sys.stderr.write(f"note: {one_line(without_secrets(message))}\n")


def warning(message: str) -> None:
    """Write a warning to standard error."""
    sys.stderr.write(f"warning: {one_line(without_secrets(message))}\n")


class JsonItems:
    """What a command lists, written as it comes: lists of one JSON document, or with ``lines`` an object a line."""

    def __init__(self, *keys: str, lines: bool) -> None:
        self._keys, self._lines, self._open, self._any = list(keys), lines, "", False

    def add(self, key: str, item: object) -> None:
        """Write an item of the list ``key``. Items of a key must follow one another, in the order of the keys."""
        self.add_parts(key, (json_text(item),))

    def add_parts(self, key: str, parts: Iterable[str]) -> None:
        """Write an item that is too large for a single string, as the parts of its text."""
        if not self._lines:
            self._begin(key)
            sys.stdout.write("," * self._any + "\n")
            self._any = True
        sys.stdout.writelines(parts)
        if self._lines:
            sys.stdout.write("\n")

    def end(self) -> None:
        """Write the end of the document, with empty lists for keys without items."""
        if not self._lines:
            self._begin(None)
            sys.stdout.write("\n]}\n")

    def _begin(self, key: str | None) -> None:
        while self._open != key and self._keys:
            sys.stdout.write("\n]," if self._open else "{")
            self._open, self._any = self._keys.pop(0), False
            sys.stdout.write(f"{json_text(self._open)}:[")


def print_json_list(key: str, items: Iterable[object], *, lines: bool = False) -> None:
    """Print ``{key: [items]}`` as the items arrive, one per line; with ``lines`` the items alone."""
    print_json_parts(key, ((json_text(item),) for item in items), lines=lines)


def print_json_parts(key: str, items: Iterable[Iterable[str]], *, lines: bool = False) -> None:
    """Print items as ``print_json_list`` does, each given as the parts of its text."""
    listed = JsonItems(key, lines=lines)
    for parts in items:
        listed.add_parts(key, parts)
    listed.end()


def wrapped(text: str, indent: int) -> str:
    """Return a paragraph, made safe, indented, and broken between words at the screen's width."""
    import textwrap

    blank = " " * indent
    return textwrap.fill(
        one_line(text),
        screen_width(),
        initial_indent=blank,
        subsequent_indent=blank,
        break_long_words=False,
        break_on_hyphens=False,
    )
