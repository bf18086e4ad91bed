"""A line decoded in one pass is the operation that a careful reading of the line gives, odd lines included."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from generated import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pageengine.trace.decoding import BadValue, json_value
from pageengine.trace.items import Interpreter, MalformedLine
from pageengine.trace.operations import MessageProperties, MessageProperty, Send, TraceHeader
from pageengine.trace.reading import open_trace
from pageengine.trace.writing import write_trace
from pagefmt.codec.messages.values import ValueKind

NUMBER = (ValueKind.INT, 5)
HEAD = '{"trace":1,"name":"t"}'
loose = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(150))

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
    '{"t":%d,"op":"receive","consumer":"c","max":2,"seq":[%d,%d]}',
    '{"t":%d,"op":"settings","match":"a","max-size-bytes":%d,"max-size-messages":%d}',
    '{"t":%d,"op":"novelty","seq":%d,"size":%d}',
)  # fmt: skip
ODD = ("", "  ", "{", "[]", '{"op":1}', '{"t":0,"op":"send","address":"a","seq":01}', '{"op":"send","seq":5}')
SPECIAL = (
    '{"op":"send","address":"a","seq":1,"op":"wait","ms":3}',
    '{"op":"send","address":7,"seq":1,"address":"b"}',
    '{"op":"send","address":"\\ud800","seq":1,"text":"\\u00e9\\n"}',
    '{"op":"send","address":"a","seq":-5,"size":NaN}',
    '{"op":"send","address":"a","seq":-5,"x":1e999,"props":{"f":{"float":1e39},"d":1e999}}',
    '{"op":"send","address":"a","seq":-0,"props":{"a":1,"a":2,"b":{"int":5},"c":{"char":"\\ud800"},"n":null}}',
    '{"op":"send","address":"a","seq":5,"props":{"big":{"float":100000000000000000000},"z":-0.0,"m":1e-400}}',
    '{"op":"send","address":"a","seq":5,"body_b64":"YR==","note":5}',
    '{"op":"send","address":"a","seq":5,"body_b64":"YQ= =","type":"text","":9}',
    '{"op":"create_address","address":"a","routing":["anycast","multicast"],"i":4}',
    '{"op":"create_queue","queue":"q","address":"","filter":null,"max_consumers":null}',
    ' {"op":"ack","consumer":"c","mode":"all","seq":null}\t',
    '{"op":"ack","consumer":"c","mode":"individual","seq":[]}',
)
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
    """Decode each line by itself, starting from its JSON value."""
    interpreter = Interpreter()
    found: list[Any] = []
    for number, text in enumerate(texts, 2):
        if not text.strip(" \t\r"):
            continue
        try:
            found.append(interpreter.operation(json_value(text.encode("utf-8", "surrogatepass"))))
        except BadValue as err:
            interpreter.skip()
            found.append(MalformedLine(interpreter.i - 1, interpreter.t, number, str(err)))
    return found, interpreter.ignored


def compare(folder: Path, texts: list[str]) -> None:
    texts = [*texts, '{"op":"checkpoint"}']
    (folder / "t").write_bytes("\n".join([HEAD, *texts, ""]).encode("utf-8", "surrogatepass"))
    reader = open_trace(folder / "t", skip_bad_lines=True)
    assert (list(reader), reader._interpreter.ignored) == carefully(texts)


@loose
@given(stretches)
def test_a_line_decoded_at_once_is_the_line_decoded_with_care(
    tmp_path: Path, drawn: list[tuple[str, int, int, int]]
) -> None:
    compare(tmp_path, lines(drawn))


@loose
@given(st.sampled_from([*SPECIAL, *(form % (1, 2, 3) for form in FORMS if form.count("%d") == 3)]), st.data())
def test_so_is_a_line_with_letters_changed(tmp_path: Path, line: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(line)))
        put = data.draw(
            st.sampled_from(['"', "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e9", "\x00", "é", "\ud800"])
        )
        line = line[:at] + put + line[at + data.draw(st.integers(0, 2)) :]
    compare(tmp_path, line.split("\n"))


def test_a_line_that_does_not_follow_from_those_before_is_refused(tmp_path: Path) -> None:
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
                else (MessageProperty(name, ValueKind.STRING, "v" * kind), MessageProperty("n", *NUMBER))
            )
            i = len(made)
            number = seq if n == 20 and seq else i + 1000
            made.append(
                Send("a", number, size=kind and n * 7, props=MessageProperties(props), durable=kind != 2, i=i, t=i // 3)
            )
    return made


@settings(loose, max_examples=examples(50))
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
