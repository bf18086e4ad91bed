"""The findings for a person: place, severity, sentence, the line with a caret, why, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from brokerconf.linting.lint import FileReport

from pagectl.outputs.lint_report import WIDTH, Lines
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import folded, within_columns
from pagefmt.findings import Finding, Severity
from pagefmt.quantities import count_text

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}


def lint_text(files: Sequence[FileReport], *, colour: bool, width: int = WIDTH) -> Iterator[str]:
    """Blocks of lines, one a finding; with ``colour`` escapes of a terminal; ``width``: columns of a quoted line."""
    for report in files:
        lines = Lines(report.sources, width)
        told: set[str] = set()
        for finding in report.findings:
            yield _block(finding, lines, colour=colour, why=finding.why not in told)
            told.add(finding.why)


def _paint(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"


def _block(finding: Finding, lines: Lines, *, colour: bool, why: bool) -> str:
    """The reason is given at the first finding that has it; a hundred lines of one kind repeat nothing."""
    tint = _COLOURS[finding.severity]
    place = one_line(str(finding.place))
    said = finding.severity.said
    plain = f"{place}: {said}: "
    line = folded(f"{plain}{one_line(finding.message)} [{finding.rule}]")
    if colour:
        line = line.replace(plain, f"{_paint(f'{place}: ', '1')}{_paint(said, '1;' + tint)}: ", 1)
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
    """As ``2 errors, 1 warning, 0 remarks in 1 file``."""
    counts = Counter(finding.severity for report in files for finding in report.findings)
    parts = ", ".join(count_text(counts[severity], severity.said) for severity in Severity)
    return f"{parts} in {count_text(len(files), 'file')}"
