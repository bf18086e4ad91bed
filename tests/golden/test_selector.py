"""Selectors decide what a broker's own filter decides; refusals point at the place; no text takes long or goes deep."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selector_judging import Properties, answer
from selector_questions import Question, questions

from pagefmt.selector import SelectorError, parse
from pagefmt.selector.arithmetic import java_text
from pagefmt.selector.like import like
from pagefmt.selector.values import JavaClass, Number, Value

HERE = Path(__file__).resolve().parents[1]
GOLDEN = json.loads((HERE / "golden" / "selectors.json").read_text("utf-8"))


def holds(text: str, **values: Value) -> bool:
    return parse(text).matches(Properties(values))


def integer(value: int) -> Number:
    return Number(JavaClass.INT, value)


@pytest.mark.parametrize("case", GOLDEN["answers"], ids=lambda case: case[0])
def test_as_the_broker_answered(case: list[object]) -> None:
    selector, properties, expected = case
    assert isinstance(selector, str)
    assert isinstance(properties, list)
    asked = Question(selector, tuple((name, (kind, value)) for name, kind, value in properties))
    assert answer(asked) == expected


@pytest.mark.broker
@pytest.mark.parametrize("version", ["2.56.0", "2.28.0"])
def test_as_a_broker_answers_now(version: str, tmp_path: Path) -> None:
    from broker_jars import class_path, compiled

    path = compiled(HERE / "oracle_java" / "SelectorJudge.java", class_path(version), tmp_path)
    asked = list(questions(int(version.replace(".", "")), 20000))
    done = subprocess.run(
        ["java", "-Xmx300m", "-XX:+UseSerialGC", "-cp", path, "SelectorJudge"],
        input="".join(f"{question.line()}\n" for question in asked),
        capture_output=True,
        text=True,
        timeout=250,
        check=True,
    )
    answers = done.stdout.split()
    assert len(answers) == len(asked)
    assert min(answers.count(kind) for kind in ("true", "false", "invalid")) > 2000
    assert [q for q, said in zip(asked, answers, strict=True) if answer(q) != said] == []


@pytest.mark.parametrize(
    ("text", "column", "detail"),
    [
        ("", 1, "the selector is empty"),
        ("color = ", 9, "expected a value or a name, found the end"),
        ("color = 'red", 9, "the quote ' is never closed"),
        ("color != 'red'", 7, "'!' is not part of the grammar (not equal is '<>')"),
        ("a = 1 b", 7, "the selector should end here, found 'b'"),
        ("(a = 1", 7, "')' expected, found the end"),
        ("a > 'x'", 5, "only numbers can be ordered, and this is a constant of another type"),
        ("a BETWEEN 1 OR 2", 13, "'AND' expected, found 'OR'"),
        ("a = NULL", 5, "NULL cannot be compared with '=' (use IS NULL)"),
        ("a IN (1)", 7, "a quoted string expected, found '1'"),
        ("5 IN ('a')", 1, "IN needs a name on its left"),
        ("a LIKE 'x' ESCAPE 'ab'", 19, "ESCAPE takes exactly one character"),
        ("a + 1", 1, "expected a condition, not a value"),
        ("a = 1 AND 5", 11, "expected a condition, not a value"),
        ("0xFFFFFFFFFFFFFFFF = a", 1, "'0xFFFFFFFFFFFFFFFF' is too large for a long"),
        ("XPATH '//a'", 1, "XPATH looks into XML bodies and is not supported"),
        ("my§ = 1", 3, "the character '§' is not part of the grammar"),
    ],
)
def test_refusal_names_the_place(text: str, column: int, detail: str) -> None:
    with pytest.raises(SelectorError) as caught:
        parse(text)
    assert (caught.value.column, caught.value.detail) == (column, detail)
    assert caught.value.pointer().splitlines()[-1].index("^") == column - 1
    assert f"column {column}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("JMSPriority = 7 AND JMSTimestamp > 0", True),
        ("JMSDeliveryMode = 'PERSISTENT'", True),
        ("JMSDeliveryMode = 'NON_PERSISTENT'", False),
        ("HQPriority > 6", True),
        ("HQDurable = 'DURABLE'", True),
        ("mode = 'PERSISTENT'", True),
        ("jmspriority IS NULL", True),
    ],
)
def test_names_that_clients_rename(text: str, expected: bool) -> None:
    assert holds(text, mode="PERSISTENT") is expected


def test_not_binds_tighter_than_equals() -> None:
    assert holds("NOT a = b", a=True, b=False)
    assert not holds("NOT a = b", a=True, b=True)


@pytest.mark.parametrize(
    "text", ["(" * 51 + "a" + ")" * 51, "NOT " * 60 + "a", "-" * 60 + "a = 1", "a" + " + a" * 300 + " = 1"]
)
def test_depth_has_a_limit(text: str) -> None:
    with pytest.raises(SelectorError, match="deep"):
        parse(text)


def test_many_alternatives_are_no_depth() -> None:
    text = " OR ".join(f"n = {number}" for number in range(5000))
    assert holds(text, n=integer(4999))
    assert not holds(text, n=integer(5000))


@pytest.mark.timeout(60)
def test_like_cannot_blow_up() -> None:
    # A backtracking matcher would not end.
    assert not like("%a" * 200 + "b", None).matches("a" * 20000)


@given(st.text("ab_", max_size=8), st.lists(st.sampled_from(["%", "_", "a", "b"]), max_size=8))
def test_like_against_a_plain_definition(text: str, pattern: list[str]) -> None:
    def fits(at: int, n: int) -> bool:
        if n == len(pattern):
            return at == len(text)
        if pattern[n] == "%":
            return any(fits(further, n + 1) for further in range(at, len(text) + 1))
        return at < len(text) and pattern[n] in ("_", text[at]) and fits(at + 1, n + 1)

    assert like("".join(pattern), None).matches(text) is fits(0, 0)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        parse(text).matches(Properties({}))
    except SelectorError as err:
        assert 1 <= err.column <= len(text) + 1


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (JavaClass.DOUBLE, 1.0, "1.0"),
        (JavaClass.DOUBLE, 1e7, "1.0E7"),
        (JavaClass.DOUBLE, 9999999.0, "9999999.0"),
        (JavaClass.DOUBLE, 0.001, "0.001"),
        (JavaClass.DOUBLE, 0.00099, "9.9E-4"),
        (JavaClass.DOUBLE, -0.0, "-0.0"),
        (JavaClass.DOUBLE, 123456789.125, "1.23456789125E8"),
        (JavaClass.DOUBLE, float("inf"), "Infinity"),
        (JavaClass.FLOAT, 0.10000000149011612, "0.1"),
        (JavaClass.FLOAT, 16777216.0, "1.6777216E7"),
        (JavaClass.LONG, -5, "-5"),
    ],
)
def test_numbers_as_java_writes_them(kind: JavaClass, value: float, text: str) -> None:
    assert java_text(Number(kind, value)) == text
