"""The picture of the README: the first example of a page as a terminal shows it."""

from __future__ import annotations

import io
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
PAGE = DOCS / "jobs" / "disk-fills.md"
# No font from elsewhere: the reader's own monospaced one is used.
FORM = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A terminal in which pagectl tells which queue keeps which page</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace;
font-size: {char_height}px; line-height: {line_height}px; white-space: pre; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix" xml:space="preserve">
{matrix}
</g>
</g>
</svg>
"""


def picture() -> str:
    """SVG of the first console block of the page."""
    from rich.console import Console
    from rich.text import Text

    found = re.search(r"^```console\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found, "the page has no console block"
    lines = found.group(1).splitlines()
    console = Console(record=True, width=max(map(len, lines)) + 1, file=io.StringIO(), force_terminal=True)
    for number, line in enumerate(lines):
        text = Text(line)
        if line.startswith("$ "):
            text.stylize("bold green", 0, 1)
            text.stylize("bold", 2)
        elif number == 2:
            text.stylize("bold")
        console.print(text, soft_wrap=True)
    return console.export_svg(title="pagectl", code_format=FORM, unique_id="pagectl")
