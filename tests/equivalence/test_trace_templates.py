"""Lines recognised by their text are the operations that a careful reading of each line gives, odd lines included."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pageengine.trace.forms import BadValue
from pageengine.trace.items import Interpreter
from pageengine.trace.operations import MessageProperty, PropertyKind, Send, TraceHeader
from pageengine.trace.reading import open_trace
from pageengine.trace.unread import MalformedLine
from pageengine.trace.writing import write_trace

NUMBER = (PropertyKind.INT, 5)
HEAD = '{"trace":1,"name":"t"}'
loose = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)

FORMS = (
    '{"t":%d,"op":"send","address":"a","seq":%d,"size":%d}',
    '{"op":"send", "seq" : %d, "t":%d ,"address":"a1","size":%d,"props":{"k":"x","n":{"int":3}}}',
    '{"t":%d,"op":"send","address":"a","seq":%d,"props":{"seq":%d}}',
    '{"t":%d,"op":"send","address":"a","seq":%d,"props":{"size":%d}}',
    '{"t":%d,"op":"send","address":"t","seq":%d,"text":"size %d"}',
    '{"t":%d,"op":"send","address":"a\\n","seq":%d,"priority":7,"size":%d}\r',
    '{"t":%d,"op":"send","address":"a","seq":%d,"size":%d,"extra":1}',
    '{"t":%d,"op":"receive","consumer":"c","max":%d,"note":"%d"}',
    '{"t":%d,"op":"ack","consumer":"c","seq":%d,"note":"%d"}',
    '{"t":%d,"op":"ack","consumer":"c","mode":"individual","seq":[%d,%d]}',
    '{"t":%d,"op":"settings","match":"a","max-size-bytes":%d,"max-size-messages":%d}',
    '{"t":%d,"op":"novelty","seq":%d,"size":%d}',
)  # fmt: skip
ODD = ("", "  ", "{", "[]", '{"op":1}', '{"t":0,"op":"send","address":"a","seq":01}', '{"op":"send","seq":5}')
numbers = st.sampled_from([0, 1, 7, 10, 99, 100, 2**63 - 1, 2**63, 10**19])
stretches = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(FORMS), st.integers(1, 90), st.integers(0, 3), st.integers(0, 3)),
        st.tuples(st.sampled_from(ODD), st.just(1), st.just(0), st.just(0)),
        st.tuples(st.sampled_from(FORMS), st.just(1), numbers, numbers),
    ),
    max_size=6,
)


def lines(drawn: list[tuple[str, int, int, int]]) -> list[str]:
    found = []
    number = 0
    for form, count, step, size in drawn:
        for _ in range(count):
            number += 1 if step <= 3 else step
            found.append(form % (number * max(step, 1), number, size) if "%d" in form else form)
    return found


def carefully(texts: list[str]) -> tuple[list[Any], dict[str, int]]:
    """Each line by itself, without templates."""
    interpreter = Interpreter()
    found: list[Any] = []
    for number, text in enumerate(texts, 2):
        if not text.strip(" \t\r"):
            continue
        try:
            found.append(interpreter.operation(json.loads(text)))
        except (BadValue, ValueError) as err:
            interpreter.skip()
            reason = str(err) if isinstance(err, BadValue) else None
            found.append(MalformedLine(interpreter.i - 1, interpreter.t, number, reason or ""))
    return found, interpreter.ignored


@loose
@given(stretches)
def test_templates_read_what_care_reads(tmp_path: Path, drawn: list[tuple[str, int, int, int]]) -> None:
    texts = lines(drawn)
    (tmp_path / "t").write_text("\n".join([HEAD, *texts, '{"op":"checkpoint"}', ""]))
    reader = open_trace(tmp_path / "t", skip_bad_lines=True)
    found = list(reader)
    expected, ignored = carefully([*texts, '{"op":"checkpoint"}'])
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, MalformedLine) and not other.reason:
            assert isinstance(one, MalformedLine) and (one.i, one.t, one.line) == (other.i, other.t, other.line)
        else:
            assert one == other
    assert reader._interpreter.ignored == ignored


def test_a_recognised_line_that_must_be_refused_is_refused(tmp_path: Path) -> None:
    rows = [FORMS[0] % (n, n, 5) for n in range(100)]
    rows[60] = FORMS[0] % (60, 3, 5)
    rows[80] = FORMS[0] % (1, 80, 5)
    (tmp_path / "t").write_text("\n".join([HEAD, *rows]))
    found = list(open_trace(tmp_path / "t", skip_bad_lines=True))
    assert [one.line for one in found if isinstance(one, MalformedLine)] == [62, 82]


def sends(kinds: list[tuple[int, int, int]]) -> list[Send]:
    made: list[Send] = []
    for count, kind, seq in kinds:
        for n in range(count):
            name = ("k", "k", "other", "k")[kind]
            props = (
                ()
                if kind == 3
                else (MessageProperty(name, PropertyKind.STRING, "v" * kind), MessageProperty("n", *NUMBER))
            )
            i = len(made)
            number = seq if n == 20 and seq else i + 1000
            made.append(Send(i, i // 3, "a", number, size=kind and n * 7, props=props, durable=kind != 2))
    return made


@loose
@given(st.lists(st.tuples(st.integers(1, 80), st.integers(0, 3), st.sampled_from([0, 0, 1010])), max_size=6))
def test_a_trace_as_parquet_is_the_trace_as_lines(tmp_path: Path, kinds: list[tuple[int, int, int]]) -> None:
    made = sends(kinds)
    write_trace(tmp_path / "t.parquet", TraceHeader("t"), made)
    write_trace(tmp_path / "t.jsonl", TraceHeader("t"), made)
    rows = list(open_trace(tmp_path / "t.parquet", skip_bad_lines=True))
    lines = list(open_trace(tmp_path / "t.jsonl", skip_bad_lines=True))
    assert [replace(one, line=0) if isinstance(one, MalformedLine) else one for one in rows] == [
        replace(one, line=0) if isinstance(one, MalformedLine) else one for one in lines
    ]
    assert [one.line for one in rows if isinstance(one, MalformedLine)] == [
        one.line - 1 for one in lines if isinstance(one, MalformedLine)
    ]
