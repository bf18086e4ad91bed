"""``pagectl replay compare``: two outcomes, or one trace under two configurations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.options.configuration import configuration_options
from pagectl.options.formats import TextOrJson
from pagectl.options.replay import SkipOption
from pagectl.options.shared import EditionOption, HeapOption, TextOrJsonOption
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import json_text, print_json, print_table

if TYPE_CHECKING:
    from pageengine.replay.compare_outcomes import Comparison


def command(
    files: Annotated[list[Path], typer.Argument(metavar="A B | TRACE", help="Two outcomes, or one trace.")],
    config: Annotated[
        list[Path] | None,
        typer.Option("--config", metavar="FILE", help="Given twice, with a trace: two broker.xml or instances."),
    ] = None,
    edition: EditionOption = None,
    heap: HeapOption = None,
    skip_bad_lines: SkipOption = False,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Compare decisions only, not sizes and states.")
    ] = False,
    format: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Find the first operation where two outcomes differ, and sum up the rest.

    Ends with status 1 where they differ.
    """
    from pagectl.opening.replay import replay_configuration

    configs = config or []
    if len(files) == 2 and not configs:
        names = (str(files[0]), str(files[1]))
        result = _outcomes(files[0], files[1], decisions)
    elif len(files) == 1 and len(configs) == 2:
        names = (str(configs[0]), str(configs[1]))
        options = configuration_options(edition, heap=heap)
        sides = [replay_configuration(path, options) for path in configs]
        result = _configurations(files[0], sides, skip_bad_lines, decisions)
    else:
        raise CallError("give two outcomes, or one trace with --config twice")
    if format is TextOrJson.json:
        print_json(as_json(result, names))
    else:
        _print(result, names)
    return Exit.OK if result.equal else Exit.FOUND


def _outcomes(one: Path, other: Path, decisions: bool) -> Comparison:
    from pageengine.replay.compare_outcomes import compare_outcomes
    from pageengine.replay.outcome_reading import open_outcome

    left, right = open_outcome(one), open_outcome(other)
    return compare_outcomes(
        left.with_end(), right.with_end(), left_start=left.header, right_start=right.header, decisions_only=decisions
    )


def _configurations(trace: Path, sides: list[Any], skip_bad_lines: bool, decisions: bool) -> Comparison:
    """Both engines take the trace at the same time; nothing is kept."""
    from pageengine.replay.compare_outcomes import compare_outcomes
    from pageengine.replay.replaying import whole_outcome
    from pageengine.trace.reading import open_trace

    readers = [open_trace(trace, skip_bad_lines=skip_bad_lines) for _ in sides]
    (left_start, left), (right_start, right) = (
        whole_outcome(side.engine(reader), reader) for side, reader in zip(sides, readers, strict=True)
    )
    return compare_outcomes(left, right, left_start=left_start, right_start=right_start, decisions_only=decisions)


def as_json(result: Comparison, names: tuple[str, str]) -> dict[str, Any]:
    """The comparison as one JSON object; ``names`` are those of the two sides."""
    first = result.first
    return {
        "a": names[0],
        "b": names[1],
        "equal": result.equal,
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


def _print(result: Comparison, names: tuple[str, str]) -> None:
    if result.equal:
        print(f"equal: {result.operations} operations")
        return
    print(f"A: {one_line(names[0])}\nB: {one_line(names[1])}")
    differ = f"{result.lines_different} lines differ, in {result.fields_different} fields"
    print(f"{result.operations} operations compared; {differ}")
    for side, count in (("A", result.only_left), ("B", result.only_right)):
        if count:
            print(f"{count} operations are in {side} only")
    if result.first is not None:
        where = "the end line" if result.first.i is None else f"operation {result.first.i} ({result.first.op})"
        print(f"\nFirst difference: {where}")
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
        print("\nSends that end otherwise")
        moved = [(a, b, count) for (a, b), count in result.changes.most_common()]
        print_table(("A", "B", "count"), moved, right=("count",))
    if result.by_field:
        print("\nFields that differ")
        print_table(("field", "lines"), result.by_field.most_common(12), right=("lines",))


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json_text(value)
    return text if len(text) <= 60 else text[:59] + "…"
