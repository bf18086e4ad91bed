"""A replay as one HTML file: inline SVG and CSS, no script, nothing fetched, all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pagectl.outputs.svg_chart import Chart, safe
from pageengine.replay.findings import RULES
from pageengine.replay.recording import Recording
from pageengine.replay.records import AddressRecord
from pageengine.replay.series import in_columns
from pageengine.settings.overrides import SettingInForce
from pagefmt.findings import Finding
from pagefmt.quantities import duration_text, size_text

BARS = 120
_KEY = {"memory": "memory", "disk": "disk", "page mode": "paging", "blocked": "warn", "dropped or refused": "bad"}
"""What a colour stands for: the name shown, the variable of the style."""
CHARTS = 40
"""Addresses that get a chart: those with the highest peak. The table has all of them."""

STYLE = """
:root{color-scheme:light dark;--fg:#1c2128;--bg:#fff;--soft:#59636e;--line:#d8dee4;--card:#f6f8fa;
--memory:#0b66c3;--disk:#b35900;--paging:#8a5cd6;--bad:#c62f3a;--warn:#9a6700;--track:#eaeef2}
@media (prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;--soft:#9198a1;--line:#30363d;--card:#151b23;
--memory:#58a6ff;--disk:#f0883e;--paging:#b392f0;--bad:#ff7b72;--warn:#d29922;--track:#21262d}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);margin:2rem auto;
max-width:1080px;padding:0 1rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.5rem 0 .25rem}
p.sub,.soft{color:var(--soft);margin:.2rem 0}.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);
text-align:left}
th{font-weight:600;color:var(--soft)}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td{overflow-wrap:anywhere}ul.findings{list-style:none;padding:0}
ul.findings li{padding:.45rem .7rem;margin:.3rem 0;background:var(--card);border-left:4px solid var(--line);
border-radius:3px}
li.w0,li.w1{border-color:var(--bad)!important}li.w2,li.w3{border-color:var(--warn)!important}
svg{width:100%;height:auto;background:var(--card);border-radius:4px}
.grid{stroke:var(--line);stroke-width:1}.label{font:11px system-ui,sans-serif;fill:var(--soft)}
path{fill:none;stroke-width:1.6}.memory{stroke:var(--memory)}.disk{stroke:var(--disk)}
.track{fill:var(--track)}.paging{fill:var(--paging)}.blocked{fill:var(--warn)}.lost{fill:var(--bad)}
.key span{margin-right:1.2rem}.key i{display:inline-block;width:1rem;height:.3rem;margin-right:.35rem;
vertical-align:middle}
footer{margin:2.5rem 0 1rem;color:var(--soft);font-size:.85rem}
"""


Settings = Mapping[str, Sequence[SettingInForce]]
"""By address; ``broker`` for what holds for the broker as a whole."""


def report_html(recording: Recording, found: Sequence[Finding], settings: Settings, facts: Mapping[str, str]) -> str:
    """The file's text. ``facts``: what was replayed with what, for the head."""
    return "".join(_page(recording, found, settings, facts))


def _page(
    recording: Recording, found: Sequence[Finding], settings: Settings, facts: Mapping[str, str]
) -> Iterator[str]:
    name = safe(recording.name)
    yield '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield f"<title>Replay of {name}</title><style>{STYLE}</style></head><body>"
    yield f"<h1>Replay of {name}</h1>"
    span = duration_text(recording.end - (recording.start or 0)) if recording.timed else "no times in the trace"
    yield f'<p class="sub">{recording.operations} operations, {safe(span)}</p>'
    yield "".join(f'<p class="sub">{safe(key)}: {safe(value)}</p>' for key, value in facts.items())
    yield from _findings(found)
    yield from _addresses(recording)
    yield from _charts(recording)
    yield from _moments(recording)
    yield from _settings(settings)
    yield "<footer>Written by pagectl replay. Times count from the start of the trace.</footer></body></html>\n"


def _findings(found: Sequence[Finding]) -> Iterator[str]:
    yield "<h2>Findings</h2>"
    if not found:
        yield "<p>Nothing was dropped, refused or blocked, and nothing was paged.</p>"
        return
    yield '<ul class="findings">'
    for one in found:
        yield f'<li class="w{[*RULES].index(one.rule)}">{safe(_sentence(one))}</li>'
    yield "</ul>"


def _sentence(one: Finding) -> str:
    return f"{one.message[:1].upper()}{one.message[1:]}."


def _table(columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table; the flag of a column says that it holds numbers."""
    css = [' class="n"' if number else "" for _, number in columns]
    heads = "".join(f"<th{c}>{safe(name)}</th>" for c, (name, _) in zip(css, columns, strict=True))
    yield f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>'
    for row in rows:
        yield "<tr>" + "".join(f"<td{c}>{safe(cell)}</td>" for c, cell in zip(css, row, strict=True)) + "</tr>"
    yield "</tbody></table></div>"


_COLUMNS = (
    "queued", "paged", "dropped", "refused", "blocked", "waited", "unrouted", "peak memory", "at", "peak disk", "pages",
    "page mode",
)  # fmt: skip


def _addresses(recording: Recording) -> Iterator[str]:
    """One row an address; columns that say nothing anywhere are left out."""
    yield "<h2>Addresses</h2>"
    rows = [_row(record, recording) for record in sorted(recording.addresses.values(), key=lambda one: one.name)]
    columns = [("address", False), *((name, True) for name in _COLUMNS)]
    told = [n for n in range(len(columns)) if n == 0 or any(row[n] not in ("0", "–", "0 B") for row in rows)]
    yield from _table([columns[n] for n in told], [[row[n] for n in told] for row in rows])


def _row(record: AddressRecord, recording: Recording) -> list[str]:
    sends, start = record.sends, recording.start or 0
    kinds = ("queued", "paged", "dropped", "failed")
    counts = [str(sends[kind] + sends[f"released {kind}"]) for kind in kinds]
    return [
        record.name,
        *counts,
        str(sends["blocked"]),
        duration_text(record.blocked_ns) if record.blocked_ns else "–",
        str(sends["unrouted"]),
        size_text(record.memory.value),
        _when(record.memory.t - start, record.memory.i, recording) if record.memory.value else "–",
        size_text(record.disk.value),
        str(record.pages.value),
        duration_text(record.paging.until(recording.end)) if record.paging.times else "–",
    ]


def _when(t: int, i: int, recording: Recording) -> str:
    return f"+{duration_text(t)}" if recording.timed else f"operation {i}"


def _charts(recording: Recording) -> Iterator[str]:
    records = [one for one in recording.addresses.values() if one.memory.value or one.disk.value or one.blocked.times]
    records.sort(key=lambda one: (-max(one.memory.value, one.disk.value), one.name))
    yield '<h2>Over time</h2><p class="key soft">'
    for name, variable in _KEY.items():
        yield f'<span><i style="background:var(--{variable})"></i>{name}</span>'
    yield "</p>"
    if len(recording.addresses) > 1:
        yield "<h3>All addresses together</h3>" + _chart(recording.broker, recording)
    for record in records[:CHARTS]:
        yield f"<h3>{safe(record.name)}</h3>" + _chart(record, recording)
    if len(records) > CHARTS:
        yield f'<p class="soft">{len(records) - CHARTS} addresses with lower peaks have no chart.</p>'


def _chart(record: AddressRecord, recording: Recording) -> str:
    start, end = recording.bounds
    steps = [start + (end - start) * n // 4 for n in range(5)]
    marks = [(x, f"+{duration_text(x - start)}" if recording.timed else f"operation {x}") for x in steps]
    chart = Chart(f"{record.name} over time", start, end, marks)
    peak = max(record.memory.value, record.disk.value)
    curves = [
        (name, name, record.series.points(name, timed=recording.timed))
        for name, value in (("memory", record.memory.value), ("disk", record.disk.value))
        if value
    ]
    chart.lines(curves, size_text(peak), peak)
    for css, series, label in (
        ("paging", "paging", "page mode"),
        ("blocked", "blocked", "blocked"),
        ("lost", "disk_full", "disk full"),
    ):
        points = record.series.points(series, timed=recording.timed)
        if any(high for _, high, _ in points):
            chart.band(css, label, points)
    for series, label in (("dropped", "dropped"), ("failed", "refused")):
        if record.sends[series]:
            sums = in_columns(record.series.points(series, timed=recording.timed), start, end, BARS, sums=True)
            chart.bars("lost", label, sums, f"max {max(sums)}")
    return chart.svg()


def _moments(recording: Recording) -> Iterator[str]:
    yield "<h2>When each limit was hit</h2>"
    if not recording.moments:
        yield "<p>No limit was hit.</p>"
        return
    start = recording.start or 0
    rows = [(_when(one.t - start, one.i, recording), str(one.i), one.where, one.what) for one in recording.moments]
    yield from _table((("when", True), ("operation", True), ("where", False), ("what", False)), rows)
    if recording.more_moments:
        yield f'<p class="soft">… and {recording.more_moments} more.</p>'


def _settings(settings: Settings) -> Iterator[str]:
    if not settings:
        return
    yield "<h2>Settings in force</h2>"
    for where, values in settings.items():
        yield f"<h3>{safe(where)}</h3>"
        rows = [(one.name, one.value, one.source) for one in values]
        yield from _table((("setting", False), ("value", True), ("from", False)), rows)
