"""A replay as one HTML file: inline SVG and CSS, no script, nothing fetched, all text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from brokerconf.reading.sizes import SizeError, parse_size
from brokerconf.settings.settings_model import find

from pagectl.outputs.html_page import foot, head, table
from pagectl.outputs.svg_chart import NARROW, WIDE, Chart, safe
from pagectl.reports.replay_run import ReplayRun
from pageengine.replay.findings import RULES, FoldedFinding, folded
from pageengine.replay.ranking import worst_first
from pageengine.replay.recording import Recording
from pageengine.replay.records import AddressRecord, Span
from pageengine.replay.series import in_columns
from pageengine.settings.overrides import SettingInForce
from pagefmt.editions import NEWEST
from pagefmt.findings import some
from pagefmt.quantities import SECOND, count_text, duration_text, size_text
from pagefmt.storage.writing import write_text

BARS = 120
# legend of the chart: the name shown, and the CSS variable of its colour
_KEY = {"memory": "memory", "disk": "disk", "page mode": "paging", "blocked": "warn", "dropped or refused": "bad"}
_NANOSECONDS = {"ns": 1, "ms": 1_000_000, "s": SECOND}
# addresses that get a chart at most, the worst ones; the table has all of them
CHARTS = 40

# settings by address; ``broker`` is the key of those for the whole broker
Settings = Mapping[str, Sequence[SettingInForce]]


def write_report(file: Path, recording: Recording, settings: Settings, answer: ReplayRun) -> None:
    """Write the report of a replay; the answer has what was replayed with what."""
    facts = {"trace": answer.trace, "config": answer.config, "edition": answer.edition}
    if isinstance(answer.wrote, str):
        facts["wrote"] = answer.wrote
    if answer.warnings:
        facts["warnings"] = "; ".join(answer.warnings)
    write_text(file, report_html(recording, settings, facts))


def report_html(recording: Recording, settings: Settings, facts: Mapping[str, str]) -> str:
    """Return the text of the HTML file. ``facts`` say in its head what was replayed with what."""
    return "".join(_page(recording, settings, facts))


def _page(recording: Recording, settings: Settings, facts: Mapping[str, str]) -> Iterator[str]:
    yield from head(f"Replay of {recording.name}")
    span = duration_text(recording.end - (recording.start or 0)) if recording.timed else "no times in the trace"
    yield f'<p class="sub">{count_text(recording.operations, "operation")}, {safe(span)}</p>'
    yield "".join(f'<p class="sub">{safe(key)}: {safe(value)}</p>' for key, value in facts.items())
    yield from _findings(folded(recording))
    yield from _addresses(recording)
    yield from _limits(recording, settings)
    yield from _charts(recording, settings)
    yield from _moments(recording)
    yield from _settings(settings)
    yield foot("Written by pagectl replay. Times count from the start of the trace.")


def _findings(findings: Sequence[FoldedFinding]) -> Iterator[str]:
    yield "<h2>Findings</h2>"
    if not findings:
        yield "<p>Nothing was dropped, refused or blocked, and nothing was paged.</p>"
        return
    yield '<ul class="findings">'
    for finding in findings:
        yield f'<li class="w{[*RULES].index(finding.rule)}">{safe(_sentence(finding.message))}'
        if len(finding.members) > 1:
            members = "".join(f"<li>{safe(_sentence(member.message))}</li>" for member in finding.members)
            yield f"<details><summary>all {len(finding.members)}</summary><ol>{members}</ol></details>"
        yield "</li>"
    yield "</ul>"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


_COLUMNS = (
    "queued", "paged", "dropped", "refused", "blocked", "waited", "unrouted", "peak memory", "at", "peak disk", "pages",
    "page mode",
)  # fmt: skip


def _addresses(recording: Recording) -> Iterator[str]:
    """Yield a table of addresses, the worst first, without columns that are zero everywhere."""
    yield "<h2>Addresses</h2>"
    rows = [_row(record, recording) for record in worst_first(recording)]
    columns = [("address", False), *((name, True) for name in _COLUMNS)]
    shown = [n for n in range(len(columns)) if n == 0 or any(row[n] not in ("0", "–", "0 B") for row in rows)]
    yield from table([columns[n] for n in shown], [[row[n] for n in shown] for row in rows])


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


def _limits(recording: Recording, settings: Settings) -> Iterator[str]:
    """Yield a table of the limits that were reached: where, how often, when first, and for how long."""
    broker = settings.get("broker", ())
    rows = [*_limit("the broker", "disk", recording.disk_full, _worded(broker, _DISK_LIMITS), recording)]
    rows += _limit("the broker", "global or disk", recording.broker.full, _worded(broker, _GLOBAL_LIMITS), recording)
    for record in worst_first(recording):
        values = settings.get(record.name, ())
        rows += _limit(record.name, "pages", record.page_full, _worded(values, _PAGE_LIMITS), recording)
        rows += _limit(record.name, "memory", record.full, _worded(values, _FULL_LIMITS), recording)
    yield "<h2>Limits that were hit</h2>"
    if not rows:
        yield "<p>None.</p>"
        return
    columns = [("where", False), ("limit", False), ("set to", False), ("times", True), ("first", True)]
    yield from table([*columns, *([("in all", True)] if recording.timed else [])], rows)


def _limit(where: str, what: str, span: Span, setting: str, recording: Recording) -> Iterator[tuple[str, ...]]:
    if span.times:
        first = span.first
        began = _when(first.t - (recording.start or 0), first.i, recording) if first is not None else "–"
        lasting = (duration_text(span.until(recording.end)),) if recording.timed else ()
        yield (where, what, setting, str(span.times), began, *lasting)


_FULL_LIMITS = ("max-size-bytes", "max-size-messages")
_PAGE_LIMITS = ("page-limit-bytes", "page-limit-messages")
_GLOBAL_LIMITS = ("global-max-size", "global-max-messages")
_DISK_LIMITS = ("max-disk-usage", "min-disk-free")
_NO_LIMIT = ("not set", "-1", "0")


def _worded(values: Sequence[SettingInForce], names: Sequence[str]) -> str:
    """Return those of the named settings that set a limit, in words."""
    limits = (item for item in values if item.name in names and item.value not in _NO_LIMIT)
    return ", ".join(
        f"{item.name} {item.value if (size := _bytes(item)) is None else size_text(size)}" for item in limits
    )


def _bytes(setting: SettingInForce) -> int | None:
    """Return the value of a setting that is a size in bytes, None for any other setting or if it sets no limit."""
    if not (setting.name.endswith("-bytes") or setting.name in ("global-max-size", "min-disk-free")):
        return None
    try:
        size = parse_size(setting.value, NEWEST).value
    except SizeError:
        return None
    return size if size > 0 else None


def _charts(recording: Recording, settings: Settings) -> Iterator[str]:
    records = [
        each_record
        for each_record in worst_first(recording)
        if each_record.memory.value or each_record.disk.value or each_record.blocked.times
    ]
    yield '<h2>Over time</h2><p class="key soft">'
    for name, variable in _KEY.items():
        yield f'<span><i style="background:var(--{variable})"></i>{name}</span>'
    yield "</p>"
    if len(recording.addresses) > 1:
        yield _chart("All addresses together", recording.broker, recording, settings.get("broker", ()))
    for record in records[:CHARTS]:
        yield _chart(record.name, record, recording, settings.get(record.name, ()))
    if len(records) > CHARTS:
        yield f'<p class="soft">{len(records) - CHARTS} addresses that fared better have no chart.</p>'


def _chart(title: str, record: AddressRecord, recording: Recording, values: Sequence[SettingInForce]) -> str:
    start, end = recording.bounds
    steps = [start + (end - start) * n // 4 for n in range(5)]
    marks = [(x, f"+{duration_text(x - start)}" if recording.timed else f"operation {x}") for x in steps]
    both = [Chart(f"{title} over time", start, end, marks, width) for width in (WIDE, NARROW)]
    for chart in both:
        _draw(chart, record, recording, values)
    return f"<figure><h3>{safe(title)}</h3>{''.join(chart.svg() for chart in both)}</figure>"


def _draw(chart: Chart, record: AddressRecord, recording: Recording, values: Sequence[SettingInForce]) -> None:
    sizes = {value.name: _bytes(value) for value in values}
    in_memory = "global-max-size" if record is recording.broker else "max-size-bytes"
    for name, peak, setting, span in (
        ("memory", record.memory.value, in_memory, record.full),
        ("disk", record.disk.value, "page-limit-bytes", record.page_full),
    ):
        if peak:
            limit = sizes.get(setting)
            points = record.series.points(name, timed=recording.timed)
            chart.curve(name, points, peak, size_text(peak), limit, _reached(setting, limit, span, recording))
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
            points = record.series.points(series, timed=recording.timed)
            sums = in_columns(points, chart.start, chart.end, BARS, sums=True)
            chart.bars("lost", label, sums, f"max {max(sums)}")


def _reached(setting: str, limit: int | None, span: Span, recording: Recording) -> str:
    """Return the label for the line of a limit."""
    if limit is None:
        return ""
    name = f"{setting} {size_text(limit)}"
    if not span.times:
        return f"{name}, not reached"
    lasting = f", {duration_text(span.until(recording.end))} in all" if recording.timed else ""
    return f"{name}, reached {span.times}×{lasting}"


def _moments(recording: Recording) -> Iterator[str]:
    if not recording.moments:
        return
    yield f"<h2>In order of time</h2><details><summary>{len(recording.moments)} moments</summary>"
    start = recording.start or 0
    rows = [
        (_when(moment.t - start, moment.i, recording), str(moment.i), moment.where, moment.what)
        for moment in recording.moments
    ]
    yield from table((("when", True), ("operation", True), ("where", False), ("what", False)), rows)
    if recording.more_moments:
        yield f'<p class="soft">… and {recording.more_moments} more.</p>'
    yield "</details>"


def _settings(settings: Settings) -> Iterator[str]:
    if not settings:
        return
    yield "<h2>Settings in force</h2>"
    by_values: dict[tuple[SettingInForce, ...], list[str]] = {}
    for where, values in settings.items():
        by_values.setdefault(tuple(values), []).append(where)
    for shared, places in by_values.items():
        yield f"<h3>{safe(some(places, 3))}</h3>"
        rows = [(setting.name, _in_full(setting), setting.source) for setting in shared]
        yield from table((("setting", False), ("value", True), ("from", False)), rows)


def _in_full(setting: SettingInForce) -> str:
    """Return a value that is a size or duration in words, followed by the value as written."""
    size = _bytes(setting)
    if size is not None:
        return f"{size_text(size)} ({setting.value})"
    nanoseconds = next((_NANOSECONDS[rule.unit] for rule in find(setting.name) if rule.unit in _NANOSECONDS), None)
    if nanoseconds is None or not setting.value.isdecimal() or len(setting.value) > 18 or setting.value == "0":
        return setting.value
    return f"{duration_text(int(setting.value) * nanoseconds)} ({setting.value})"
