"""Outcomes compared: the first difference, the sums, and states taken whole."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from replay_scenarios import scenarios

from pageengine.errors import PageEngineError
from pageengine.replay.compare_outcomes import ABSENT, Comparison, FieldDifference, compare_outcomes
from pageengine.replay.outcome_reading import OutcomeError, open_outcome
from pageengine.replay.outcome_writing import writing_outcome
from pageengine.trace.writing import line_text

START: dict[str, Any] = {"outcome": 1, "state": {}}
ARCHIVE = Path(__file__).parents[1] / "recorded" / "replays" / "broker-2.56.0.tar.xz"


def compared(left: list[dict[str, Any]], right: list[dict[str, Any]], *, decisions_only: bool = False) -> Comparison:
    return compare_outcomes(left, right, left_start=START, right_start=START, decisions_only=decisions_only)


def sent(i: int, r: str, state: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"i": i, "op": "send", "r": r, **more, **({"state": state} if state is not None else {})}


def test_equal_outcomes_written_differently() -> None:
    left = [sent(0, "queued", {"a:q": {"size": 5, "full": False}}), sent(1, "queued", {"a:q": {"size": 9}})]
    right = [
        sent(0, "queued", {"a:q": {"size": 5, "full": False}}),
        sent(1, "queued", {"a:q": {"size": 9, "full": False}}),
    ]
    assert compared(left, right).equal


def test_the_first_difference_and_the_sums() -> None:
    left = [sent(0, "queued", {"a:q": {"size": 5}}), sent(1, "paged", {"a:q": {"size": 5}}), sent(2, "paged")]
    right = [
        sent(0, "queued", {"a:q": {"size": 5}}),
        sent(1, "dropped", {"a:q": {"size": 6}}, why="address_full"),
        sent(2, "paged"),
    ]
    found = compared(left, right)
    assert (found.operations, found.lines_different, found.fields_different) == (3, 2, 4)
    assert found.first is not None and found.first.i == 1
    assert found.first.fields == (
        FieldDifference("r", "paged", "dropped"),
        FieldDifference("why", ABSENT, "address_full"),
        FieldDifference("a:q.size", 5, 6),
    )
    assert found.changes == {("paged", "dropped"): 1}
    assert found.left == {"queued": 1, "paged": 2} and found.right == {"queued": 1, "dropped": 1, "paged": 1}
    only = compared(left, right, decisions_only=True)
    assert (only.lines_different, only.fields_different) == (1, 2)


def test_a_part_that_is_gone_on_one_side() -> None:
    left = [sent(0, "queued", {"q:a": {"n": 1}}), sent(1, "queued", {"q:a": None})]
    right = [sent(0, "queued", {"q:a": {"n": 1}}), sent(1, "queued")]
    found = compared(left, right)
    assert found.first is not None and found.first.fields == (FieldDifference("q:a.n", ABSENT, 1),)


def test_one_outcome_is_longer_and_one_line_unsettled() -> None:
    left = [sent(0, "queued"), sent(1, "paged", unsettled=True), sent(2, "paged")]
    found = compared(left, [sent(0, "queued"), sent(1, "queued")])
    assert (found.operations, found.only_left, found.only_right, found.unsettled) == (1, 1, 0, 1)
    assert not found.equal and found.first is None


states = st.dictionaries(
    st.sampled_from(["a:x", "a:y", "q:x", "g"]),
    st.none() | st.dictionaries(st.sampled_from(["n", "size", "full"]), st.none() | st.integers(0, 2)),
    max_size=3,
)


def whole(lines: list[dict[str, Any]]) -> list[dict[str, dict[str, Any]]]:
    """Compute the complete state after each line: a slow but simple reference."""
    parts: dict[str, dict[str, Any]] = {}
    found = []
    for line in lines:
        for part, fields in line["state"].items():
            if fields is None:
                parts.pop(part, None)
            else:
                kept = parts.setdefault(part, {})
                kept.update(fields)
                for name in [name for name, value in kept.items() if value is None]:
                    del kept[name]
        found.append({part: dict(fields) for part, fields in parts.items() if fields})
    return found


@given(st.lists(st.tuples(states, states), max_size=8))
def test_states_differ_exactly_where_the_whole_states_do(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    left = [sent(i, "queued", one) for i, (one, _) in enumerate(pairs)]
    right = [sent(i, "queued", other) for i, (_, other) in enumerate(pairs)]
    different = [one != other for one, other in zip(whole(left), whole(right), strict=True)]
    found = compared(left, right)
    assert found.lines_different == sum(different)
    first = found.first.i if found.first is not None else None
    assert first == (different.index(True) if any(different) else None)


@pytest.mark.parametrize("name", ["random-001-08", "multicast-slow"])
def test_a_recorded_outcome_reads_back_and_equals_itself(tmp_path: Path, name: str) -> None:
    lines = [json.loads(line) for line in scenarios(ARCHIVE)[name].outcome.splitlines()]
    path = tmp_path / "o.jsonl.zst"
    with writing_outcome(path) as write:
        for line in lines:
            write.line(line)
    one, other = open_outcome(path), open_outcome(path)
    assert [one.header, *one.with_end()] == lines
    found = compare_outcomes(lines[1:], other.with_end(), left_start=lines[0], right_start=other.header)
    assert found.equal and found.operations == len(lines) - 2


def test_a_line_is_always_utf_8() -> None:
    assert line_text({"q:\ud800ü": 1}) == '{"q:\\ud800\\u00fc":1}\n'
    assert line_text({"q:ü": 1}) == '{"q:ü":1}\n'


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"nope",
        b'{"outcome":2}',
        b'{"outcome":1,"state":[]}',
        b'{"outcome":1}\n{"i":1,"r":"ok"}\n',
        b'{"outcome":1}\n[]\n',
        b'{"outcome":1}\n{"i":0',
        b"\xff\n",
    ],
)
def test_what_is_no_outcome_is_an_own_error(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "o").write_bytes(text)
    with pytest.raises(OutcomeError, match="line"):
        list(open_outcome(tmp_path / "o"))


@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_own_errors_only(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "o"
    path.write_bytes(b'{"outcome":1}\n' + text)
    with contextlib.suppress(PageEngineError):
        list(open_outcome(path))
