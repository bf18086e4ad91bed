"""A replay for a person at a terminal: what each address did, plots over time, a sentence for each finding."""

from __future__ import annotations

import sys
import textwrap

from pagectl.outputs.area_plot import area, band
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import coloured, print_table, screen_width
from pageengine.replay.findings import folded
from pageengine.replay.ranking import summed, worst_first
from pageengine.replay.recording import Recording
from pageengine.replay.records import AddressRecord
from pageengine.replay.series import in_columns
from pagefmt.quantities import count_text, duration_text, size_text

# addresses that get a plot at most, the worst ones
PLOTTED = 4
# rows of the table; further addresses are summed in one row
ROWS = 24
ALWAYS = ("address", "sent", "paged", "peak memory", "peak disk", "page mode")


def print_replay(recording: Recording) -> None:
    """Print the whole report, at least 80 columns wide."""
    width = min(screen_width(), 200)
    span = duration_text(recording.end - (recording.start or 0)) if recording.timed else "no times"
    print(f"{one_line(recording.name)}: {count_text(recording.operations, 'operation')}, {span}")
    if recording.addresses:
        print()
        print_addresses(recording)
    for record in _plotted(recording):
        print()
        for line in plot(record, recording, width):
            print(line)
    findings = folded(recording)
    if findings:
        print("\nFindings")
        for finding in findings:
            print(_indented(one_line(finding.message), width))
    if recording.unknown:
        print("\nNot in the trace")
        for what in recording.unknown:
            print(_indented(one_line(what), width))


def _indented(sentence: str, width: int) -> str:
    """Return a sentence folded between words and indented."""
    return textwrap.fill(sentence, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def print_addresses(recording: Recording) -> None:
    """Print a table of addresses, the worst first, without columns that are zero everywhere."""
    records = worst_first(recording)
    if len(records) > ROWS + 1:
        records[ROWS:] = [summed(records[ROWS:], f"{len(records) - ROWS} others", recording.end)]
    rows = [_row(record, recording) for record in records]
    names = [name for name in rows[0] if name in ALWAYS or any(row[name] not in ("0", "-") for row in rows)]
    print_table(names, [[row[name] for name in names] for row in rows], right=[n for n in names if n != "address"])


def _row(record: AddressRecord, recording: Recording) -> dict[str, str]:
    sends = record.sends
    sent = sum(count for name, count in sends.items() if not name.startswith("released"))
    return {
        "address": record.name,
        "sent": str(sent),
        "paged": str(sends["paged"] + sends["released paged"]),
        "dropped": str(sends["dropped"] + sends["released dropped"]),
        "refused": str(sends["failed"] + sends["released failed"]),
        "blocked": str(sends["blocked"]),
        "unrouted": str(sends["unrouted"]),
        "waited": duration_text(record.blocked_ns) if record.blocked_ns else "-",
        "peak memory": size_text(record.memory.value),
        "peak disk": size_text(record.disk.value),
        "page mode": duration_text(record.paging.until(recording.end)) if record.paging.times else "-",
    }


def _plotted(recording: Recording) -> list[AddressRecord]:
    worth = [record for record in worst_first(recording) if record.memory.value or record.disk.value]
    return worth[:PLOTTED]


def plot(record: AddressRecord, recording: Recording, width: int) -> list[str]:
    """Memory and disk of one address over the replay, page mode and blocked producers as bands below."""
    uni = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    margin = 11
    columns = max(20, width - margin - 1)
    bold, plain = ("\x1b[1m", "\x1b[0m") if coloured(sys.stdout) else ("", "")
    lines = [f"{bold}{one_line(record.name)}{plain}"]
    start, end = recording.bounds

    def values(name: str, *, sums: bool = False) -> list[int]:
        points = record.series.points(name, timed=recording.timed)
        return in_columns(points, start, end, columns, sums=sums)

    for name, peak in (("memory", record.memory.value), ("disk", record.disk.value)):
        if peak:
            rows = area(values(name), 3, unicode=uni)
            labels = (size_text(peak), name, "0")
            lines += [f"{label:>{margin - 1}} {row}" for label, row in zip(labels, rows, strict=True)]
    if record.paging.times:
        lines.append(f"{'page mode':>{margin - 1}} {band(values('paging'), unicode=uni)}")
    for name, label in (("blocked", "blocked"), ("dropped", "dropped"), ("failed", "refused")):
        if record.sends[name]:
            lines.append(f"{label:>{margin - 1}} {band(values(name, sums=name != 'blocked'), unicode=uni)}")
    return [line.rstrip() for line in [*lines, " " * margin + _axis(recording, columns)]]


def _axis(recording: Recording, columns: int) -> str:
    """Start, middle and end of the axis."""
    start, end = recording.bounds
    if recording.timed:
        marks = [duration_text(x - start) for x in (start, (start + end) // 2, end)]
    else:
        marks = [f"operation {x}" for x in (start, (start + end) // 2, end)]
    left, middle, right = marks
    gap = max(1, columns // 2 - len(left) - len(middle) // 2)
    line = left + " " * gap + middle
    return line + right.rjust(max(len(right) + 1, columns - len(line)))
