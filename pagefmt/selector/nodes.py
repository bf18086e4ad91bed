"""Expressions of a selector. ``evaluate`` returns a value, None if unknown; ``matches`` decides.

The two differ: a match stops at the first deciding part, so later parts cannot fail. Comparison with an unknown value
is unknown, and unknown does not match, nor does its negation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, Protocol, cast

from pagefmt.selector.arithmetic import calculate, negated
from pagefmt.selector.like import LikePattern
from pagefmt.selector.values import EvaluationFailed, Number, Opaque, Value, compared, equal

if TYPE_CHECKING:
    from pagefmt.codec.messages.persisted import Message


class PropertySource(Protocol):
    """What a selector is asked about."""

    def property(self, name: str) -> Value:
        """Return the value of a header field or property, or None if the message has none."""


class FactSource(PropertySource, Protocol):
    """A message of which more can be asked than selectors do."""

    def fact(self, fact: MessageFact) -> bool:
        """Return whether the fact is true of the message. Raise ``EvaluationFailed``."""


@dataclass(frozen=True, slots=True)
class Node(ABC):
    """An expression. Its fields that are expressions themselves are its parts."""

    @abstractmethod
    def evaluate(self, source: PropertySource) -> Value:
        """Return the value, or None if unknown. Raise ``EvaluationFailed`` if the broker's evaluation throws."""

    def matches(self, source: PropertySource) -> bool:
        """Return whether the condition is known and true."""
        return self.evaluate(source) is True

    def parts(self) -> Iterator[Node]:
        """Yield the direct operands, from left to right."""
        for field in fields(self):
            value = getattr(self, field.name)
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, Node):
                    yield part


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """A literal value in a selector."""

    value: Value

    def evaluate(self, source: PropertySource) -> Value:
        return self.value


@dataclass(frozen=True, slots=True)
class PropertyName(Node):
    """A header field or a property, by its name."""

    name: str

    def evaluate(self, source: PropertySource) -> Value:
        return source.property(self.name)


@dataclass(frozen=True, slots=True)
class MessageFact(Node):
    """A condition on a message that no selector can write: what ``messages find`` asks for beside one."""

    def evaluate(self, source: PropertySource) -> Value:
        return cast(FactSource, source).fact(self)

    @abstractmethod
    def of(self, message: Message) -> bool:
        """Return whether the fact is true of this message. Raise ``Undecodable``."""


@dataclass(frozen=True, slots=True)
class Truth(Node):
    """A property used as a condition: true only for a boolean that is true, unknown if it is absent."""

    property: PropertyName

    def evaluate(self, source: PropertySource) -> Value:
        """Return whether the property is the boolean true; None if it is absent."""
        value = self.property.evaluate(source)
        return None if value is None else value is True


@dataclass(frozen=True, slots=True)
class Not(Node):
    """NOT; unknown stays unknown."""

    operand: Node

    def evaluate(self, source: PropertySource) -> Value:
        """Return the opposite, or None if unknown."""
        value = self.operand.evaluate(source)
        return None if value is None else not value


@dataclass(frozen=True, slots=True)
class Junction(Node):
    """AND (``settles`` False) or OR (``settles`` True) of two or more."""

    settles: bool
    operands: tuple[Node, ...]

    def evaluate(self, source: PropertySource) -> Value:
        """Return the deciding value as soon as an operand has it, else None if an operand is unknown."""
        unknown = False
        for operand in self.operands:
            value = operand.evaluate(source)
            if value is self.settles:
                return self.settles
            unknown = unknown or value is None
        return None if unknown else not self.settles

    def matches(self, source: PropertySource) -> bool:
        """Return whether the condition is known and true. Operands after the deciding one are not evaluated."""
        for operand in self.operands:
            if operand.matches(source) is self.settles:
                return self.settles
        return not self.settles


@dataclass(frozen=True, slots=True)
class Equal(Node):
    """The condition ``=``, or ``IS NULL`` with the unknown constant on the right."""

    left: Node
    right: Node
    convert: bool

    def evaluate(self, source: PropertySource) -> Value:
        """Return whether both are equal as the broker compares them; None if unknown because a side is."""
        left, right = self.left.evaluate(source), self.right.evaluate(source)
        if left is None or right is None:
            return True if left is right else (None if left is None else False)
        return equal(left, right) or compared(left, right, _same, convert=self.convert)


def _same(order: int) -> bool:
    return order == 0


ORDERS: Final[dict[str, Callable[[int], bool]]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}


@dataclass(frozen=True, slots=True)
class Ordered(Node):
    """The condition ``<``, ``<=``, ``>`` or ``>=``."""

    sign: str
    left: Node
    right: Node
    convert: bool

    def evaluate(self, source: PropertySource) -> Value:
        """Return the result of the comparison, or None if one side is unknown."""
        left = _orderable(self.left.evaluate(source))
        if left is None:
            return None
        right = _orderable(self.right.evaluate(source))
        return None if right is None else compared(left, right, ORDERS[self.sign], convert=self.convert)


def _orderable(value: Value) -> Value:
    if isinstance(value, Opaque) and not value.comparable:
        raise EvaluationFailed(f"{value.java_class} has no order")
    return value


@dataclass(frozen=True, slots=True)
class LikeTest(Node):
    """A condition with LIKE and a pattern."""

    operand: Node
    pattern: LikePattern

    def evaluate(self, source: PropertySource) -> Value:
        """Return whether the text fits the pattern; false for a value that is not text, None if unknown."""
        value = self.operand.evaluate(source)
        if value is None:
            return None
        return isinstance(value, str) and self.pattern.matches(value)


@dataclass(frozen=True, slots=True)
class In(Node):
    """IN and NOT IN; unknown for what is no text, in both forms."""

    operand: PropertyName
    members: frozenset[str]
    negated: bool

    def evaluate(self, source: PropertySource) -> Value:
        """Return whether the text is, or is not, a member; None for a value that is not text."""
        value = self.operand.evaluate(source)
        if not isinstance(value, str):
            return None
        return (value in self.members) != self.negated


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    """A binary arithmetic operation: ``+ - * / %``."""

    sign: str
    left: Node
    right: Node
    convert: bool

    def evaluate(self, source: PropertySource) -> Value:
        """Return the result, or None if one side is unknown."""
        left = self.left.evaluate(source)
        if left is None:
            return None
        right = self.right.evaluate(source)
        return None if right is None else calculate(self.sign, left, right, convert=self.convert)


@dataclass(frozen=True, slots=True)
class Minus(Node):
    """The minus sign before a value."""

    operand: Node

    def evaluate(self, source: PropertySource) -> Value:
        return negated(self.operand.evaluate(source))


def is_condition(node: Node) -> bool:
    """Return whether the broker accepts the expression as a condition."""
    if isinstance(node, Constant):
        return node.value is None or isinstance(node.value, bool)
    return not isinstance(node, PropertyName | Arithmetic | Minus)


def is_number(node: Node) -> bool:
    """Return whether the expression is a literal number."""
    return isinstance(node, Constant) and isinstance(node.value, Number)


def height(node: Node) -> int:
    """Return the levels of the tree, counted without recursion."""
    level, levels = [node], 0
    while level:
        level = [part for inner in level for part in inner.parts()]
        levels += 1
    return levels
