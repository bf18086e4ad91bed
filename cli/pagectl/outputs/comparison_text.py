"""Two replays side by side, as text."""

from __future__ import annotations

from pagectl.outputs.replay_totals import in_words
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import json_text, print_table
from pageengine.replay.compare_outcomes import Comparison
from pageengine.replay.side_by_side import SideBySide
from pagefmt.quantities import count_text


def print_comparison(both: SideBySide, *, detail: bool) -> None:
    """Print the totals of both sides and how many operations differ; ``detail``: also which fields and sends."""
    names, result = both.names, both.comparison
    if result.equal:
        print(f"equal: {count_text(result.operations, 'operation')}")
        if failed := both.totals[0].failed_acks:
            print(f"{count_text(failed, 'acknowledgement')} failed on both sides")
        return
    print(f"A: {one_line(names[0])}\nB: {one_line(names[1])}\n")
    words_a, words_b = map(in_words, both.totals)
    print_table(("", "A", "B"), [(name, words_a[name], words_b[name]) for name in words_a], right=("A", "B"))
    for text in both.remarks:
        print(f"? {text}")
    print(f"\n{_summary(result)}")
    for side, count in (("A", result.only_left), ("B", result.only_right)):
        if count:
            print(f"{count} operations occur in {side} only")
    if detail:
        _print_detail(result)


def _summary(result: Comparison) -> str:
    compared = f"{count_text(result.operations, 'operation')} compared; {result.lines_different} differ"
    return compared if result.first is None else f"{compared}, the first is {_where(result.first.i, result.first.op)}"


def _where(i: int | None, op: str | None) -> str:
    return "the end line" if i is None else f"operation {i} ({op})"


def _print_detail(result: Comparison) -> None:
    if result.first is not None:
        print(f"\nFirst difference: {_where(result.first.i, result.first.op)}")
        rows = [(field.name, _shown(field.left), _shown(field.right)) for field in result.first.fields]
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
