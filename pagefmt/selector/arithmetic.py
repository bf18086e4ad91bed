"""Arithmetic in selectors: whole numbers wrap, division and remainder are always in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from pagefmt.selector.values import (
    EvaluationFailed,
    JavaClass,
    Number,
    Opaque,
    Value,
    number,
    parse_real,
    parse_whole,
    single,
    wrapped,
)

_LONG_MIN: Final = -(1 << 63)


def calculate(sign: str, left: Value, right: Value, *, convert: bool) -> Value:
    """Return ``left sign right`` for two known values; text plus anything is text.

    ``convert``: text may be read as a number. Raise ``EvaluationFailed`` if a side is not a number.
    """
    if sign == "+" and isinstance(left, str):
        return left + java_text(right)
    return _OPERATIONS[sign](_operand(left, convert), _operand(right, convert))


def _operand(value: Value, convert: bool) -> Number:
    if isinstance(value, Number):
        return value
    if convert and isinstance(value, str):
        if "." in value:
            real = parse_real(value)
            if real is not None:
                return Number(JavaClass.DOUBLE, real)
        else:
            whole = parse_whole(value, 64)
            if whole is not None:
                return Number(JavaClass.LONG, whole)
    raise EvaluationFailed("not a number")


def _result_kind(left: Number, right: Number) -> JavaClass:
    kinds = {left.kind, right.kind}
    if kinds & {JavaClass.FLOAT, JavaClass.DOUBLE}:
        return JavaClass.DOUBLE
    return JavaClass.LONG if JavaClass.LONG in kinds else JavaClass.INT


def _with(
    whole: Callable[[int, int], int], real: Callable[[float, float], float]
) -> Callable[[Number, Number], Number]:
    def run(left: Number, right: Number) -> Number:
        kind = _result_kind(left, right)
        if kind is JavaClass.DOUBLE:
            return Number(kind, real(float(left.value), float(right.value)))
        return number(kind, whole(int(left.value), int(right.value)))

    return run


def _product(left: float, right: float) -> float:
    return left * right


def _quotient(left: Number, right: Number) -> Number:
    """Divide as Java divides doubles, also for whole numbers: a zero divisor gives infinity or NaN."""
    a, b = float(left.value), float(right.value)
    if b != 0:
        return Number(JavaClass.DOUBLE, a / b)
    if a == 0 or math.isnan(a):
        return Number(JavaClass.DOUBLE, math.nan)
    return Number(JavaClass.DOUBLE, math.inf * math.copysign(1, a) * math.copysign(1, b))


def _remainder(left: Number, right: Number) -> Number:
    a, b = float(left.value), float(right.value)
    defined = b != 0 and not math.isinf(a)
    return Number(JavaClass.DOUBLE, math.fmod(a, b) if defined else math.nan)


_OPERATIONS: Final[dict[str, Callable[[Number, Number], Number]]] = {
    "+": _with(lambda a, b: a + b, lambda a, b: a + b),
    "-": _with(lambda a, b: a - b, lambda a, b: a - b),
    "*": _with(lambda a, b: a * b, _product),
    "/": _quotient,
    "%": _remainder,
}


def negated(value: Value) -> Value:
    """Return the number with its sign changed; None (unknown) for any other value.

    Raise ``EvaluationFailed`` for byte, short and OTHER, for which the broker throws.
    """
    if not isinstance(value, Number):
        return None
    if value.kind in (JavaClass.BYTE, JavaClass.SHORT, JavaClass.OTHER):
        raise EvaluationFailed(f"minus cannot be applied to {value.kind.name.lower()}")
    if value.kind is JavaClass.BIG:
        return Number(JavaClass.LONG, _LONG_MIN) if -value.value == _LONG_MIN else Number(JavaClass.BIG, -value.value)
    return number(value.kind, -value.value)


def java_text(value: Value) -> str:
    """Return the text of Java's ``String.valueOf``, for text plus another value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Number):
        return real_text(value) if isinstance(value.value, float) else str(value.value)
    if isinstance(value, Opaque):
        return (
            chr(wrapped(value.value, 32))
            if isinstance(value.value, int) and value.java_class == "Character"
            else str(value.value)
        )
    return str(value)


def real_text(value: Number) -> str:
    """Return the text of ``Double.toString`` or ``Float.toString``.

    It has the fewest digits that read back as the number, and an exponent below 1e-3 and from 1e7 on.
    """
    real = float(value.value)
    if math.isnan(real) or math.isinf(real):
        return "NaN" if math.isnan(real) else ("Infinity" if real > 0 else "-Infinity")
    sign = "-" if math.copysign(1, real) < 0 else ""
    if real == 0:
        return f"{sign}0.0"
    digits, exponent = _shortest(abs(real), value.kind)
    if -3 <= exponent < 7:
        padded = digits.ljust(exponent + 1, "0") if exponent >= 0 else "0" * -exponent + digits
        point = max(exponent, 0) + 1
        return f"{sign}{padded[:point]}.{padded[point:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _shortest(real: float, kind: JavaClass) -> tuple[str, int]:
    """Return the fewest digits that read back as the same number, and the decimal exponent of the first."""
    for places in range(17):
        text = f"{real:.{places}e}"
        if (single(float(text)) if kind is JavaClass.FLOAT else float(text)) == real:
            break
    mantissa, exponent = text.split("e")
    return mantissa.replace(".", "").rstrip("0") or "0", int(exponent)
