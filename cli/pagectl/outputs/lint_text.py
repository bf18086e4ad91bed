"""The findings for a person: place, severity, sentence, the line with a caret, why, and what to do."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from brokerconf.linting.lint_report import FileReport

from pagectl.outputs.lint_report import WIDTH, Lines
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import coloured, folded, is_terminal, note, within_columns
from pagefmt.findings import Finding, Severity, some
from pagefmt.quantities import count_text

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}


def print_findings(reports: Sequence[FileReport]) -> None:
    """Print the findings, and note which editions were assumed."""
    sys.stdout.writelines(lint_text(reports, colour=coloured(sys.stdout), width=_quoted_width()))
    _note_editions(reports)


def _note_editions(reports: Sequence[FileReport]) -> None:
    """Note which editions were assumed, and why; files for which that is the same share a line."""
    files: dict[tuple[str, str], list[str]] = {}
    for report in reports:
        if report.assumed:
            files.setdefault((report.edition, report.assumed), []).append(report.file)
    for (edition, why), names in files.items():
        note(f"{some(names)}: checked as {edition} ({why})")


def _quoted_width() -> int:
    """Return the width at which a quoted line and its caret each fit on one line of the terminal."""
    if not is_terminal(sys.stdout):
        return WIDTH
    return min(WIDTH, shutil.get_terminal_size().columns - _MARGIN)


_MARGIN = 9  # columns of "  12 | " and of the marks of a line that was cut


def lint_text(files: Sequence[FileReport], *, colour: bool, width: int = WIDTH) -> Iterator[str]:
    """Yield a block of lines for each finding, with terminal colours if ``colour``.

    ``width`` is the number of columns of a quoted line.
    """
    for report in files:
        lines = Lines(report.sources, width)
        explained: set[str] = set()
        for finding in report.findings:
            yield _block(finding, lines, colour=colour, why=finding.why not in explained)
            explained.add(finding.why)


def _paint(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"


def _block(finding: Finding, lines: Lines, *, colour: bool, why: bool) -> str:
    """Return the lines of a finding. ``why`` adds its reason, which is printed once for all findings that have it."""
    tint = _COLOURS[finding.severity]
    place = one_line(str(finding.place))
    severity = finding.severity.said
    plain = f"{place}: {severity}: "
    line = folded(f"{plain}{one_line(finding.message)} [{finding.rule}]")
    if colour:
        line = line.replace(plain, f"{_paint(f'{place}: ', '1')}{_paint(severity, '1;' + tint)}: ", 1)
    out = [line]
    quoted = lines.quoted(finding)
    margin = " " * max(len(str(finding.place.line)), 4)
    if quoted is not None:
        out.append(f"{finding.place.line:>{len(margin)}} | {quoted.line}")
        caret = "^" + "~" * (quoted.length - 1)
        out.append(f"{margin} | {' ' * quoted.caret}{_paint(caret, tint) if colour else caret}")
    for label, text in (("why", finding.why if why else ""), ("help", finding.help)):
        if text:
            out.append(within_columns([f"{margin} = {label}: {one_line(text)}"], len(margin) + 3))
    return "\n".join(out) + "\n"


def summary_line(files: Sequence[FileReport]) -> str:
    """Return the counts, such as ``2 errors, 1 warning, 0 remarks in 1 file``."""
    counts = Counter(finding.severity for report in files for finding in report.findings)
    parts = ", ".join(count_text(counts[severity], severity.said) for severity in Severity)
    return f"{parts} in {count_text(len(files), 'file')}"
