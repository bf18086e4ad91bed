"""Values as the broker's selector sees them: Java's classes, their order, their conversions, their arithmetic.

A value is ``None`` (unknown), ``bool``, ``str``, a ``Number`` with its Java class, or an ``Opaque`` of a class that
selectors can do nothing with. Whole numbers wrap as in Java; ``float`` values are kept rounded to single precision.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from enum import IntEnum, auto
from typing import Any, Final, NamedTuple


class JavaClass(IntEnum):
    """The Java class of a number. OTHER: a class that supports arithmetic but no comparison."""

    BYTE = auto()
    SHORT = auto()
    INT = auto()
    LONG = auto()
    FLOAT = auto()
    DOUBLE = auto()
    BIG = auto()
    OTHER = auto()


class Number(NamedTuple):
    """A number of a Java class."""

    kind: JavaClass
    value: int | float


class Opaque(NamedTuple):
    """A value of another class. ``comparable``: Java can order it within its class."""

    java_class: str
    comparable: bool
    value: object


BITS: Final = {JavaClass.BYTE: 8, JavaClass.SHORT: 16, JavaClass.INT: 32, JavaClass.LONG: 64}
Value = bool | str | Number | Opaque | None


class EvaluationFailed(Exception):
    """Raised if the broker's evaluation would throw; its filter then treats the message as not matching."""


def number(kind: JavaClass, value: int | float) -> Number:
    """Return a number of the Java class. Whole numbers wrap to its bits, ``float`` is rounded to single precision.

    Values of BIG and OTHER stay as they are.
    """
    if kind in BITS:
        return Number(kind, wrapped(int(value), BITS[kind]))
    if kind is JavaClass.FLOAT:
        return Number(kind, single(value))
    return Number(kind, float(value) if kind is JavaClass.DOUBLE else value)


def wrapped(value: int, bits: int) -> int:
    """Wrap a whole number to two's complement of this many bits."""
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def single(value: int | float) -> float:
    """Round to IEEE single precision, in one step for whole numbers too, as a Java cast does.

    Too large becomes infinity.
    """
    if isinstance(value, int):
        value = _odd_rounded(value)
    try:
        return float(struct.unpack(">f", struct.pack(">f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _odd_rounded(value: int) -> float:
    """Return a double that rounds to the same single as the whole number does.

    Rounding to odd keeps ties apart, so that the second rounding is right.
    """
    excess = max(0, abs(value).bit_length() - 53)
    kept = abs(value) >> excess
    if kept << excess != abs(value):
        kept |= 1
    return math.copysign(float(kept << excess), value) if value else 0.0


def equal(left: Value, right: Value) -> bool:
    """Compare as ``Object.equals``: same class and value; NaN equals NaN, 0.0 does not equal -0.0."""
    if isinstance(left, Number) and isinstance(right, Number):
        if left.kind is not right.kind:
            return False
        return total_order(left.value) == total_order(right.value)
    if isinstance(left, Opaque) and isinstance(right, Opaque):
        if left.java_class == "byte[]":
            return left.value is right.value
        return left == right
    return type(left) is type(right) and left == right


def total_order(value: int | float) -> tuple[bool, int | float, bool]:
    """Return a sort key equal to ``Double.compareTo``: -0.0 before 0.0, NaN last and equal to itself."""
    if isinstance(value, int):
        return (False, value, True)
    if value != value:
        return (True, 0, True)
    return (False, value, math.copysign(1.0, value) > 0)


def _order(left: Value, right: Value) -> int:
    """Compare two values of one class as ``compareTo``: negative, zero or positive."""
    a, b = _key(left), _key(right)
    return int(a > b) - int(a < b)


def _key(value: Value) -> Any:
    if isinstance(value, Number):
        return total_order(value.value)
    if isinstance(value, Opaque):
        return value.value
    return value.encode("utf-16-be", "surrogatepass") if isinstance(value, str) else value


# Left class to the right classes it compares with. The wider of the two is used; the narrow whole numbers are widened
# on the left side only: ``short = 5`` compares, ``5 = short`` does not.
_COMPARES: Final[dict[JavaClass, frozenset[JavaClass]]] = {
    JavaClass.BYTE: frozenset((JavaClass.SHORT, JavaClass.INT, JavaClass.LONG, JavaClass.FLOAT, JavaClass.DOUBLE)),
    JavaClass.SHORT: frozenset((JavaClass.INT, JavaClass.LONG, JavaClass.FLOAT, JavaClass.DOUBLE)),
    JavaClass.INT: frozenset((JavaClass.LONG, JavaClass.FLOAT, JavaClass.DOUBLE)),
    JavaClass.LONG: frozenset((JavaClass.INT, JavaClass.FLOAT, JavaClass.DOUBLE)),
    JavaClass.FLOAT: frozenset((JavaClass.INT, JavaClass.LONG, JavaClass.DOUBLE)),
    JavaClass.DOUBLE: frozenset((JavaClass.INT, JavaClass.LONG, JavaClass.FLOAT)),
    JavaClass.BIG: frozenset(),
    JavaClass.OTHER: frozenset(),
}


def compared(left: Value, right: Value, holds: Callable[[int], bool], *, convert: bool) -> bool:
    """Compare two known values as the broker does. ``convert``: text is read as the other side's class."""
    pair = _alike(left, right, convert)
    return pair is not None and holds(_order(*pair))


def _alike(left: Value, right: Value, convert: bool) -> tuple[Value, Value] | None:
    """Return both values as one class, or None if the broker says that they do not compare."""
    if _class(left) == _class(right):
        return None if isinstance(left, Opaque) and not left.comparable else (left, right)
    if isinstance(left, Number) and isinstance(right, Number):
        if right.kind not in _COMPARES[left.kind]:
            return None
        kind = max(left.kind, right.kind)
        return number(kind, left.value), number(kind, right.value)
    if convert and isinstance(right, str):
        read = _read_as(left, right)
        return None if read is None else (left, read)
    if convert and isinstance(left, str):
        read = _read_as(right, left)
        return None if read is None else (read, right)
    return None


def _class(value: Value) -> object:
    if isinstance(value, Number):
        return value.kind
    return value.java_class if isinstance(value, Opaque) else type(value)


_WHOLE: Final = re.compile(r"[+-]?\d+")
_DECIMAL: Final = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]++\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)")
_HEX_FLOAT: Final = re.compile(r"([+-]?0[xX](?:[0-9a-fA-F]++\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?")


def _read_as(model: Value, text: str) -> Value:
    """Return the text as ``valueOf`` of the model's class reads it; None if that throws."""
    if isinstance(model, bool):
        return text.lower() == "true"
    if not isinstance(model, Number):
        return None
    if model.kind in BITS:
        whole = parse_whole(text, BITS[model.kind])
        return None if whole is None else Number(model.kind, whole)
    if model.kind in (JavaClass.FLOAT, JavaClass.DOUBLE):
        real = parse_real(text)
        return None if real is None else number(model.kind, real)
    return None


def parse_whole(text: str, bits: int) -> int | None:
    """Return a whole number of this many bits as Java's ``parseInt`` and its kin read it; None if they throw."""
    if not _WHOLE.fullmatch(text) or len(text) > 64:
        return None
    value = int(text)
    return value if value == wrapped(value, bits) else None


def parse_real(text: str) -> float | None:
    """Return a double as ``Double.valueOf`` reads it; None if that throws."""
    text = text.strip("".join(map(chr, range(33))))
    if hexadecimal := _HEX_FLOAT.fullmatch(text):
        try:
            return float.fromhex(hexadecimal.group(1))
        except OverflowError:
            return math.copysign(math.inf, -1 if text.startswith("-") else 1)
    return float(text.rstrip("fFdD")) if _DECIMAL.fullmatch(text) and not text.endswith("Infinity") else _infinite(text)


def _infinite(text: str) -> float | None:
    return {"Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}.get(text)
