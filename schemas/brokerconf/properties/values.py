"""Conversion of a property's text into the type of its setter, as the broker does it (docs/spec/properties.md 1)."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from brokerconf.reading.sizes import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, SizeError, parse_size, trimmed
from brokerconf.reading.substitution import is_expression
from brokerconf.schema.beans import BeanProperty

_TRUE = frozenset({"true", "yes", "on", "1", "y"})
_FALSE = frozenset({"false", "no", "off", "0", "n"})
_ZERO = re.compile(r"[-+]?(0+|0x0+|#0+)(\.0*)?")
_WHOLE = re.compile(r"[+-]?\d+")
_DOUBLE = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:\d++\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)[dDfF]?"
    r"|0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+[dDfF]?)",
    re.ASCII,
)
_RANGES = {
    "int": (INT_MIN, INT_MAX),
    "Integer": (INT_MIN, INT_MAX),
    "Long": (LONG_MIN, LONG_MAX),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
}
_DOUBLES = {"double", "Double", "float", "Float"}
_BOOLEANS = {"boolean", "Boolean"}
_TEXTS = {"String", "SimpleString", "File", "String[]", "Object"}
_LISTS = {"List", "Set"}
_CLASS = ".class"
# words that a setter asks for itself, or that a set of an enumeration may have
_WORDS = {
    ("CoreAddressConfiguration", "routingTypes"): ("ANYCAST", "MULTICAST"),
    ("JaasAppConfigurationEntry", "controlFlag"): ("required", "requisite", "sufficient", "optional"),
}


class Refusal(Exception):
    """Error for a value that the broker's status reports as an error; the old value stays."""


class Converted(NamedTuple):
    """Value that takes effect; ``lost`` says what it silently became instead of what was written."""

    value: object
    lost: str = ""


def converted(bean: BeanProperty, text: str) -> Converted:
    """Return the text as the setter of a property takes it; raise ``Refusal`` if it does not.

    A text that names what only the running broker knows is returned unchanged.
    """
    if is_expression(text):
        return Converted(text)
    result = _converted(bean, text)
    odd = bean.odd.split(" ") if bean.odd else []
    words = _WORDS.get((bean.owner, bean.name))
    if words:
        if not all(word in words for word in text.split(",")):
            raise Refusal(f"it accepts {' or '.join(words)}")
    elif "!*" in odd or f"!{result.value}" in odd:
        raise Refusal("the broker's setter refuses it")
    if result.lost and all(bean.startswith("~") for bean in odd) and odd:
        return Converted(result.value)
    return result


def _converted(bean: BeanProperty, text: str) -> Converted:
    kind = bean.type
    if kind not in ("String", "String[]") and text.endswith(_CLASS):
        raise Refusal("a value that ends in .class is read as a class name")
    if bean.words:
        if text not in bean.words:
            raise Refusal(f"it accepts {', '.join(bean.words)}")
        return Converted(text)
    if kind == "long":
        try:
            size = parse_size(text)
        except SizeError:
            raise Refusal("it accepts a whole number, optionally with K, M or G") from None
        return Converted(size.value, f"overflows to {size.value}" if size.overflowed else "")
    if kind in _BOOLEANS:
        value = text.lower() in _TRUE
        return Converted(value, "" if value or text.strip().lower() in _FALSE else "becomes false")
    if kind in _RANGES or kind in _DOUBLES:
        number = _double(text) if kind in _DOUBLES else _whole(text, *_RANGES[kind])
        if number is None:
            return Converted(
                0.0 if kind in _DOUBLES else 0, "" if _ZERO.fullmatch(text.strip().lower()) else "becomes 0"
            )
        return Converted(number)
    if kind == "Map":
        pairs = [part.split("=") for part in text.split(",") if part.strip()]
        # what is empty at the end is left out, as Java splits
        for pair in pairs:
            while pair and not pair[-1]:
                pair.pop()
        if any(len(pair) != 2 for pair in pairs):
            raise Refusal("it accepts key=value pairs separated by commas")
        return Converted(dict(pairs))
    if kind == "char":
        return Converted(text[:1] or " ")
    if kind in _LISTS:
        return Converted(text.split(","))
    if kind in _TEXTS:
        return Converted(text)
    raise Refusal("it cannot be set from text")


def _whole(text: str, low: int, high: int) -> int | None:
    text = trimmed(text)
    number = int(text) if _WHOLE.fullmatch(text) and len(text) < 30 else None
    return number if number is not None and low <= number <= high else None


def _double(text: str) -> float | None:
    text = trimmed(text)
    if not _DOUBLE.fullmatch(text):
        return None
    bare = text.rstrip("dDfF")
    try:
        return float.fromhex(bare) if "x" in bare.lower() else float(bare.replace("Infinity", "inf"))
    except OverflowError:
        return -math.inf if text.startswith("-") else math.inf
