"""``pagectl replay compare``: two outcomes, or one trace under two configurations or settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pagectl.options.configuration import configuration_options
from pagectl.options.formats import TextOrJson
from pagectl.options.replay import SetOption, SkipOption, TwoSides
from pagectl.options.shared import (
    AnywayOption,
    EditionOption,
    HeapOption,
    ProfileOption,
    ServerOption,
    TextOrJsonOption,
)
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import json_text, print_json, print_table, warning
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pageengine.replay.compare_outcomes import Comparison
    from pageengine.replay.recording import Recording
    from pageengine.replay.replaying import Configuration
    from pageengine.replay.totals import Totals

PARSED_BY = TwoSides
_UNTIMED = "durations are not known: times are in the trace, not in an outcome"
_UNKNOWN = {
    "peak_messages": "outcomes of this edition do not record the messages in memory",
    "peak_disk": "the outcome does not record the bytes of pages",
    "blocked_ns": _UNTIMED,
    "page_mode_ns": _UNTIMED,
}


class SideBySide(NamedTuple):
    """Two replays: what they are called, what they come to, where they differ.

    ``warnings``: what they are without. ``lacking``: lines of the trace or of an outcome.
    """

    names: tuple[str, str]
    totals: tuple[Totals, Totals]
    comparison: Comparison
    warnings: Sequence[str] = ()
    lacking: bool = False

    @property
    def remarks(self) -> list[str]:
        """Why a figure is not known."""
        found = (f"{side}: {_UNKNOWN[name]}" for side, one in zip("AB", self.totals, strict=True)
                 for name, value in asdict(one).items() if value is None)  # fmt: skip
        return list(dict.fromkeys(found))


EXAMPLES = (
    (
        "Two limits on the same traffic",
        "replay compare friday.jsonl --config broker.xml"
        " --set '#:max-size-bytes=10M' --versus --set '#:max-size-bytes=64M'",
    ),
    ("Before and after a change to the file", "replay compare friday.jsonl --config broker.xml --config new.xml"),
)


def command(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="A B | TRACE", help="Two outcomes, or one trace.")],
    config: Annotated[
        list[Path] | None,
        typer.Option(
            "--config", metavar="FILE", help="With a trace: configuration or instance, for both sides or one for each."
        ),
    ] = None,
    settings: SetOption = None,
    versus: Annotated[
        bool, typer.Option("--versus", help="--set before it applies to side A, after it to side B.")
    ] = False,
    edition: EditionOption = None,
    heap: HeapOption = None,
    profile: ProfileOption = None,
    server: ServerOption = None,
    anyway: AnywayOption = False,
    skip_bad_lines: SkipOption = False,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Compare decisions only, not sizes and states.")
    ] = False,
    detail: Annotated[
        bool, typer.Option("--detail", help="Show the fields that differ, and sends with different results.")
    ] = (False),
    format: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Show the results of two replays side by side: peaks, drops, refusals, waits, time in page mode.

    Compares two outcomes (also a real broker's), or replays one trace twice: under two configurations, or under
    one with --set A --versus --set B. Without --versus, --set applies to both sides.

    Ends with status 1 if any operation differs, or lines of a trace could not be applied or read.
    """
    from pagectl.opening.replay import note_not_modelled, replay_configuration

    configs, given = config or [], settings or []
    if len(files) == 2 and not configs and not given and not versus:
        found = _outcomes(files[0], files[1], decisions)
    elif len(files) == 1 and (len(configs) == 2 or (len(configs) == 1 and versus)):
        by_side = (given[: ctx.obj], given[ctx.obj :]) if versus else (given, given)
        pairs = list(zip((configs[0], configs[-1]), by_side, strict=True))
        options = configuration_options(edition, heap=heap, profile=profile, server=server)
        sides = [replay_configuration(path, options, texts, anyway=anyway) for path, texts in pairs]
        one, other = (" ".join([str(path), *texts]) for path, texts in pairs)
        found = _configurations(files[0], sides, (one, other), skip_bad_lines, decisions)
        note_not_modelled(sides)
    else:
        raise CallError("give two outcomes, or one trace with --config twice, or with --config and --set … --versus …")
    for text in found.warnings:
        warning(text)
    if format is TextOrJson.json:
        print_json(as_json(found))
    else:
        _print(found, detail)
    return Exit.OK if found.comparison.equal and not found.lacking else Exit.FOUND


def _outcomes(one: Path, other: Path, decisions: bool) -> SideBySide:
    from pageengine.replay.outcome_reading import open_outcome
    from pageengine.replay.outcome_results import recorded_outcome
    from pageengine.replay.recording import Recording

    names = (str(one), str(other))
    readers = open_outcome(one), open_outcome(other)
    recordings = Recording(names[0]), Recording(names[1])
    sides = [(reader.header, recorded_outcome(reader, kept)) for reader, kept in zip(readers, recordings, strict=True)]
    found = _compared(names, sides, recordings, decisions)
    cut = [f"{each.path}: has no end line; what comes after its last line is not known" for each in readers
           if each.end is None]  # fmt: skip
    return found._replace(warnings=list(dict.fromkeys(cut)), lacking=bool(cut))


def _configurations(
    trace: Path, sides: list[Configuration], names: tuple[str, str], skip_bad_lines: bool, decisions: bool
) -> SideBySide:
    """Both engines take the trace at the same time; nothing is kept."""
    from pageengine.replay.recording import Recording
    from pageengine.replay.replaying import trace_warnings, whole_outcome
    from pageengine.trace.reading import open_trace

    recordings = Recording(names[0]), Recording(names[1])
    outcomes = []
    for side, recording in zip(sides, recordings, strict=True):
        reader = open_trace(trace, skip_bad_lines=skip_bad_lines)
        outcomes.append(whole_outcome(side.engine(reader), reader, recording))
    found = _compared(names, outcomes, recordings, decisions)
    told = trace_warnings(reader, recordings[1])
    return found._replace(warnings=told, lacking=reader.cut is not None or found.totals[1].unapplied > 0)


def _compared(
    names: tuple[str, str], sides: list[Any], recordings: tuple[Recording, Recording], decisions: bool
) -> SideBySide:
    from pageengine.replay.compare_outcomes import compare_outcomes
    from pageengine.replay.totals import totals

    (left_start, left), (right_start, right) = sides
    found = compare_outcomes(left, right, left_start=left_start, right_start=right_start, decisions_only=decisions)
    return SideBySide(names, (totals(recordings[0]), totals(recordings[1])), found)


def as_json(found: SideBySide) -> dict[str, Any]:
    """Figures and comparison as one JSON object."""
    names, result = found.names, found.comparison
    first = result.first
    return {
        "a": names[0],
        "b": names[1],
        "equal": result.equal,
        "totals": {side: asdict(one) for side, one in zip("ab", found.totals, strict=True)},
        "remarks": found.remarks,
        "warnings": list(found.warnings),
        "operations": result.operations,
        "only_in_a": result.only_left,
        "only_in_b": result.only_right,
        "operations_different": result.lines_different,
        "fields_different": result.fields_different,
        "left_out_unsettled": result.unsettled,
        "first": None
        if first is None
        else {
            "i": first.i,
            "op": first.op,
            "fields": [{"name": one.name, "a": one.left, "b": one.right} for one in first.fields],
        },
        "by_field": dict(result.by_field.most_common()),
        "sends": {"a": dict(sorted(result.left.items())), "b": dict(sorted(result.right.items()))},
        "changes": [{"a": a, "b": b, "count": count} for (a, b), count in sorted(result.changes.items())],
    }


def _print(found: SideBySide, detail: bool) -> None:
    from pagectl.outputs.replay_totals import in_words

    names, result = found.names, found.comparison
    if result.equal:
        print(f"equal: {count_text(result.operations, 'operation')}")
        if failed := found.totals[0].failed_acks:
            print(f"{count_text(failed, 'acknowledgement')} failed on both sides")
        return
    print(f"A: {one_line(names[0])}\nB: {one_line(names[1])}\n")
    one, other = map(in_words, found.totals)
    print_table(("", "A", "B"), [(name, one[name], other[name]) for name in one], right=("A", "B"))
    for text in found.remarks:
        print(f"? {text}")
    print(f"\n{_summary(result)}")
    for side, count in (("A", result.only_left), ("B", result.only_right)):
        if count:
            print(f"{count} operations occur in {side} only")
    if detail:
        _print_detail(result)


def _summary(result: Comparison) -> str:
    told = f"{count_text(result.operations, 'operation')} compared; {result.lines_different} differ"
    return told if result.first is None else f"{told}, the first is {_where(result.first.i, result.first.op)}"


def _where(i: int | None, op: str | None) -> str:
    return "the end line" if i is None else f"operation {i} ({op})"


def _print_detail(result: Comparison) -> None:
    if result.first is not None:
        print(f"\nFirst difference: {_where(result.first.i, result.first.op)}")
        rows = [(one.name, _shown(one.left), _shown(one.right)) for one in result.first.fields]
        print_table(("field", "A", "B"), rows)
    _print_sums(result)


def _print_sums(result: Comparison) -> None:
    kinds = sorted({*result.left, *result.right})
    if kinds:
        print("\nSends")
        rows = [(kind, result.left[kind], result.right[kind]) for kind in kinds]
        print_table(("result", "A", "B"), rows, right=("A", "B"))
    if result.changes:
        print("\nSends with different results")
        moved = [(a, b, count) for (a, b), count in result.changes.most_common()]
        print_table(("A", "B", "count"), moved, right=("count",))
    if result.by_field:
        print("\nFields that differ")
        print_table(("field", "lines"), result.by_field.most_common(12), right=("lines",))


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json_text(value)
    return text if len(text) <= 60 else text[:59] + "…"
