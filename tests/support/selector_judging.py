"""Questions asked of our selectors, in the values that they work on."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from selector_questions import Question, Typed

from pagefmt.selector import SelectorError, Value, parse
from pagefmt.selector.values import JavaClass, Number, Opaque

# The header of the message that SelectorJudge.java makes.
HEADER: dict[str, Value] = {
    "AMQPriority": Number(JavaClass.INT, 7),
    "AMQTimestamp": Number(JavaClass.LONG, 1700000000000),
    "AMQDurable": "DURABLE",
}


def value_of(typed: Typed) -> Value:
    kind, value = typed
    match kind:
        case "boolean":
            return bool(value)
        case "string":
            return str(value)
        case "float" | "double":
            code = ">f" if kind == "float" else ">d"
            return Number(JavaClass[kind.upper()], struct.unpack(code, bytes.fromhex(str(value)))[0])
        case "char":
            return Opaque("Character", True, value)
        case "bytes":
            return Opaque("byte[]", False, bytes.fromhex(str(value)))
        case _:
            assert isinstance(value, int)
            return Number(JavaClass[kind.upper()], value)


@dataclass
class Properties:
    """The properties and header fields of a message, as a selector reads them."""

    values: dict[str, Value]

    def property(self, name: str) -> Value:
        return self.values.get(name, HEADER.get(name))


def answer(question: Question) -> str:
    """Evaluate a question, and return ``invalid``, ``true`` or ``false`` as the judge does."""
    try:
        selector = parse(question.selector)
    except SelectorError:
        return "invalid"
    source = Properties({name: value_of(typed) for name, typed in question.properties})
    return str(selector.matches(source)).lower()
