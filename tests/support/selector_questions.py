"""Selectors with the properties of a message to ask them about, made up at random but always the same for a seed.

Most selectors are well formed and deep in the corners (classes of numbers, unknown values, escapes, literals); some are
cut or garbled, so that refusals are asked about as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Typed = tuple[str, object]
"""A type name and a plain value; float and double as hex of their bits, bytes as hex."""


@dataclass(frozen=True, slots=True)
class Question:
    """A selector and the typed properties of the message that it is applied to."""

    selector: str
    properties: tuple[tuple[str, Typed], ...]

    def line(self) -> str:
        """Encode the question for the judge of a broker, SelectorJudge.java."""
        return " ".join(
            (_hex(self.selector), *(f"{_hex(n)}:{kind}:{_wire(kind, v)}" for n, (kind, v) in self.properties))
        )


def _hex(text: str) -> str:
    return text.encode("utf-16-be", "surrogatepass").hex()


def _wire(kind: str, value: object) -> str:
    if kind == "string":
        return _hex(str(value))
    return str(value).lower()


NAMES = ("a", "b", "color", "n", "_x", "$y", "flag", "absent", "AMQPriority", "AMQTimestamp", "AMQDurable")
TEXTS = (
    "",
    "red",
    "RED",
    "blue",
    "it's",
    "100%",
    "a_b",
    "ab",
    "aXb",
    "é€",
    "😀",
    "true",
    "5",
    "-7",
    "2.5",
    "1e3",
    " 5 ",
    "A\\B",
    "x%y_z",
)
WHOLE = (0, 1, -1, 2, 5, 7, 10, 100, 127, -128)
EDGES = {
    "byte": (127, -128), "short": (32767, -32768), "int": (2147483647, -2147483648),
    "long": (9223372036854775807, -9223372036854775808, 16777217, 9007199254740993),
}  # fmt: skip
FLOATS = ("40a00000", "3f000000", "7fc00000", "7f800000", "ff800000", "80000000", "00000000", "3dcccccd", "4b800000")
DOUBLES = (
    "4014000000000000", "3fe0000000000000", "7ff8000000000000", "7ff0000000000000", "fff0000000000000",
    "8000000000000000", "0000000000000000", "3fb999999999999a", "4170000010000000", "7fefffffffffffff",
)  # fmt: skip
LITERALS = (
    "0", "1", "5", "7", "10", "5L", "5l", "017", "0x1F", "0XfF", "5.0", "5.", ".5", "5E0", "0.1", "1e3", "2.5",
    "2147483647", "2147483648", "9223372036854775807", "9223372036854775808", "18446744073709551621", "16777217",
    "0x7fffffffffffffff",
)  # fmt: skip
PREFIXES = (
    "convert_string_expressions:",
    "hyphenated_props:",
    "no_convert_string_expressions:",
    "no_hyphenated_props:",
)


class Maker:
    """Random parts of a selector; ``depth`` runs down."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def one(self, *choices: Callable[[], str]) -> str:
        return self.pick.choice(choices)()

    def question(self) -> Question:
        text = self.condition(self.pick.randint(0, 3))
        if self.pick.random() < 0.12:
            text = self.pick.choice(PREFIXES) + text
        if self.pick.random() < 0.12:
            text = self.garbled(text)
        return Question(text.strip() or "a = 1", self.properties())

    def garbled(self, text: str) -> str:
        at = self.pick.randrange(len(text) + 1)
        scrap = self.pick.choice(
            (
                "'",
                '"',
                "(",
                ")",
                "=",
                "!",
                "--",
                "/*",
                "*/",
                "#",
                "é",
                "5F",
                "NOT ",
                " AND ",
                " IN ",
                "\\",
                "0x",
                ",",
                "-- c\n",
                "/* c */",
                "",
            )
        )
        return text[:at] + scrap + text[at + self.pick.randint(0, 1) :]

    def properties(self) -> tuple[tuple[str, Typed], ...]:
        names = self.pick.sample(("a", "b", "color", "n", "_x", "$y", "flag"), self.pick.randint(2, 6))
        return tuple((name, self.typed()) for name in sorted(names))

    def typed(self) -> Typed:
        kind = self.pick.choice(
            (
                "boolean",
                "byte",
                "short",
                "int",
                "int",
                "long",
                "float",
                "double",
                "string",
                "string",
                "string",
                "char",
                "bytes",
            )
        )
        match kind:
            case "boolean":
                return kind, self.pick.random() < 0.5
            case "float":
                return kind, self.pick.choice(FLOATS)
            case "double":
                return kind, self.pick.choice(DOUBLES)
            case "string":
                return kind, self.pick.choice(TEXTS)
            case "char":
                return kind, self.pick.choice((65, 53, 233))
            case "bytes":
                return kind, self.pick.choice(("", "00ff", "414243"))
            case _:
                return kind, self.pick.choice(WHOLE + EDGES[kind])

    def condition(self, depth: int) -> str:
        if depth <= 0:
            return self.one(
                self.test, self.test, self.test, self.name, lambda: self.pick.choice(("TRUE", "false", "Null"))
            )
        return self.one(
            lambda: f"{self.condition(depth - 1)} AND {self.condition(depth - 1)}",
            lambda: f"{self.condition(depth - 1)} or {self.condition(depth - 1)}",
            lambda: f"NOT {self.condition(depth - 1)}",
            lambda: f"NOT ({self.condition(depth - 1)})",
            lambda: f"({self.condition(depth - 1)})",
            lambda: f"({self.condition(depth - 1)}) = {self.name()}",
            self.test,
        )

    def test(self) -> str:
        return self.one(
            self.comparison, self.comparison, self.comparison, self.like, self.inside, self.between, self.null
        )

    def comparison(self) -> str:
        sign = self.pick.choice(("=", "<>", "<", "<=", ">", ">=", "="))
        right = self.value(1)
        if sign in ("=", "<>"):
            right = self.one(self.text, lambda: right, lambda: self.pick.choice(("TRUE", "FALSE")), self.name)
        return f"{self.value(1)}{self.pick.choice((' ', ''))}{sign} {right}"

    def like(self) -> str:
        pattern = "".join(
            self.pick.choice(
                ("%", "_", "r", "e", "d", "a", "b", "%", "x", "\\", "é", "😀", ".", "*", "5", "X", "''", "€")
            )
            for _ in range(self.pick.randint(0, 5))
        )
        escape = self.pick.choice(
            (
                "",
                "",
                " ESCAPE '\\'",
                " escape 'x'",
                " ESCAPE '%'",
                " ESCAPE 'é'",
                " ESCAPE '€'",
                " ESCAPE ''",
                " ESCAPE '😀'",
            )
        )
        return f"{self.value(0)} {self.negation()}LIKE '{pattern}'{escape}"

    def inside(self) -> str:
        members = ", ".join(self.text() for _ in range(self.pick.randint(1, 6)))
        return f"{self.name()} {self.negation()}IN ({members})"

    def between(self) -> str:
        return f"{self.value(0)} {self.negation()}BETWEEN {self.value(0)} AND {self.value(1)}"

    def null(self) -> str:
        return f"{self.value(0)} IS {self.negation()}NULL"

    def negation(self) -> str:
        return self.pick.choice(("", "NOT "))

    def value(self, depth: int) -> str:
        if depth <= 0:
            return self.one(self.name, self.name, lambda: self.pick.choice(LITERALS))
        return self.one(
            self.name,
            self.name,
            lambda: self.pick.choice(LITERALS),
            lambda: f"-{self.value(depth - 1)}",
            lambda: f"+{self.value(depth - 1)}",
            lambda: f"{self.value(depth - 1)} {self.pick.choice('+-*/%')} {self.value(depth - 1)}",
            lambda: f"({self.value(depth - 1)} {self.pick.choice('+-*/%')} {self.text()})",
            lambda: f"{self.text()} + {self.value(depth - 1)}",
        )

    def name(self) -> str:
        plain = self.pick.choice(NAMES)
        return f'"{plain}"' if self.pick.random() < 0.05 else ("my-prop" if self.pick.random() < 0.03 else plain)

    def text(self) -> str:
        return "'" + self.pick.choice(TEXTS).replace("'", "''") + "'"


def questions(seed: int, count: int) -> Iterator[Question]:
    maker = Maker(seed)
    return (maker.question() for _ in range(count))
