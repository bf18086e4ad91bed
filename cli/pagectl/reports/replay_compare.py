"""Two replays side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagectl.reports.form import Count, Report
from pagectl.reports.replay import ReplayTotals

if TYPE_CHECKING:
    from pageengine.replay.compare_outcomes import FirstDifference
    from pageengine.replay.side_by_side import SideBySide


class TotalsOfSides(Report):
    """The totals of both sides of a comparison."""

    a: ReplayTotals
    b: ReplayTotals


class SendsOfSides(Report):
    """How many sends of each side had which result."""

    a: dict[str, Count]
    b: dict[str, Count]


class FieldOfSides(Report):
    """A field of an operation that differs."""

    name: str
    a: Any
    b: Any


class DifferentOperation(Report):
    """The first operation that differs."""

    i: int | None
    """Null for the end line."""
    op: str | None
    fields: list[FieldOfSides]

    @classmethod
    def of(cls, first: FirstDifference) -> DifferentOperation:
        """Return the report of the first difference."""
        fields = [FieldOfSides(name=field.name, a=field.left, b=field.right) for field in first.fields]
        return cls(i=first.i, op=first.op, fields=fields)


class ChangedSends(Report):
    """How many sends had one result on side A and another one on side B."""

    a: str
    b: str
    count: Count


class ReplayComparison(Report):
    """``replay compare --format json``: two replays side by side."""

    a: str
    b: str
    equal: bool
    totals: TotalsOfSides
    remarks: list[str]
    """Why a figure is not known."""
    warnings: list[str]
    """What of a trace or an outcome is missing."""
    operations: Count
    """Operations that were compared."""
    only_in_a: Count
    only_in_b: Count
    operations_different: Count
    fields_different: Count
    left_out_unsettled: Count
    """Operations that were left out because a recording does not settle their results."""
    first: DifferentOperation | None
    by_field: dict[str, Count]
    """How many operations differ in a field."""
    sends: SendsOfSides
    changes: list[ChangedSends]

    @classmethod
    def of(cls, both: SideBySide) -> ReplayComparison:
        """Return the report of two replays."""
        (a, b), (totals_a, totals_b), comparison = both.names, both.totals, both.comparison
        return cls(
            a=a,
            b=b,
            equal=comparison.equal,
            totals=TotalsOfSides(a=ReplayTotals.of(totals_a), b=ReplayTotals.of(totals_b)),
            remarks=both.remarks,
            warnings=list(both.warnings),
            operations=comparison.operations,
            only_in_a=comparison.only_left,
            only_in_b=comparison.only_right,
            operations_different=comparison.lines_different,
            fields_different=comparison.fields_different,
            left_out_unsettled=comparison.unsettled,
            first=None if comparison.first is None else DifferentOperation.of(comparison.first),
            by_field=dict(comparison.by_field.most_common()),
            sends=SendsOfSides(a=dict(sorted(comparison.left.items())), b=dict(sorted(comparison.right.items()))),
            changes=[
                ChangedSends(a=left, b=right, count=count)
                for (left, right), count in sorted(comparison.changes.items())
            ],
        )


ANSWERS = {"replay-compare": ReplayComparison}
