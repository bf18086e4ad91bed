"""Expressions of a selector. ``evaluate`` gives a value, None where it is unknown; ``matches`` decides.

The two differ: a match stops at the first part that settles it, so that what stands behind cannot fail. Comparison
with an unknown value is unknown, and unknown does not match, nor does its negation.
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
    from pagefmt.messages.persisted import Message


class PropertySource(Protocol):
    """What a selector is asked about."""

    def property(self, name: str) -> Value:
        """The value of a header field or a property, None where there is none."""


class FactSource(PropertySource, Protocol):
    """A message of which more can be asked than selectors do."""

    def fact(self, fact: MessageFact) -> bool:
        """Whether it is so. Raises ``EvaluationFailed``."""


@dataclass(frozen=True, slots=True)
class Node(ABC):
    """An expression. Its fields that are expressions themselves are its parts."""

    @abstractmethod
    def evaluate(self, source: PropertySource) -> Value:
        """The value, None where it is unknown. Raises ``EvaluationFailed`` where the broker's evaluation throws."""

    def matches(self, source: PropertySource) -> bool:
        """Whether the condition is known and true."""
        return self.evaluate(source) is True

    def parts(self) -> Iterator[Node]:
        """The expressions that this one is made of, from left to right."""
        for field in fields(self):
            value = getattr(self, field.name)
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, Node):
                    yield each


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """A literal."""

    value: Value

    def evaluate(self, source: PropertySource) -> Value:
        """The literal's value."""
        return self.value


@dataclass(frozen=True, slots=True)
class PropertyName(Node):
    """A header field or a property, by its name."""

    name: str

    def evaluate(self, source: PropertySource) -> Value:
        """What the message has under the name."""
        return source.property(self.name)


@dataclass(frozen=True, slots=True)
class MessageFact(Node):
    """A condition on a message that no selector can write: what ``messages find`` asks for beside one."""

    def evaluate(self, source: PropertySource) -> Value:
        """Whether it is so."""
        return cast(FactSource, source).fact(self)

    @abstractmethod
    def of(self, message: Message) -> bool:
        """Whether it is so of this message. Raises ``Undecodable``."""


@dataclass(frozen=True, slots=True)
class Truth(Node):
    """A property where a condition is wanted: true only for a boolean that is true, unknown where it is absent."""

    property: PropertyName

    def evaluate(self, source: PropertySource) -> Value:
        """Unknown where the property is absent, else whether it is the boolean true."""
        value = self.property.evaluate(source)
        return None if value is None else value is True


@dataclass(frozen=True, slots=True)
class Not(Node):
    """NOT; unknown stays unknown."""

    operand: Node

    def evaluate(self, source: PropertySource) -> Value:
        """The opposite."""
        value = self.operand.evaluate(source)
        return None if value is None else not value


@dataclass(frozen=True, slots=True)
class Junction(Node):
    """AND (``settles`` False) or OR (``settles`` True) of two or more."""

    settles: bool
    operands: tuple[Node, ...]

    def evaluate(self, source: PropertySource) -> Value:
        """The settling value as soon as one operand has it, else unknown if one operand is."""
        unknown = False
        for operand in self.operands:
            value = operand.evaluate(source)
            if value is self.settles:
                return self.settles
            unknown = unknown or value is None
        return None if unknown else not self.settles

    def matches(self, source: PropertySource) -> bool:
        """As ``evaluate``; what stands behind the settling operand is not looked at."""
        for operand in self.operands:
            if operand.matches(source) is self.settles:
                return self.settles
        return not self.settles


@dataclass(frozen=True, slots=True)
class Equal(Node):
    """``=``, and ``IS NULL`` with the unknown constant on the right."""

    left: Node
    right: Node
    convert: bool

    def evaluate(self, source: PropertySource) -> Value:
        """Whether both are equal as the broker compares them; unknown where one side is."""
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
    """``<``, ``<=``, ``>``, ``>=``."""

    sign: str
    left: Node
    right: Node
    convert: bool

    def evaluate(self, source: PropertySource) -> Value:
        """The comparison; unknown where one side is."""
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
    """LIKE."""

    operand: Node
    pattern: LikePattern

    def evaluate(self, source: PropertySource) -> Value:
        """Whether the text has the pattern; false for what is no text."""
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
        """Whether the text is, or is not, a member."""
        value = self.operand.evaluate(source)
        if not isinstance(value, str):
            return None
        return (value in self.members) != self.negated


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    """``+ - * / %``."""

    sign: str
    left: Node
    right: Node
    convert: bool

    def evaluate(self, source: PropertySource) -> Value:
        """The result; unknown where one side is."""
        left = self.left.evaluate(source)
        if left is None:
            return None
        right = self.right.evaluate(source)
        return None if right is None else calculate(self.sign, left, right, convert=self.convert)


@dataclass(frozen=True, slots=True)
class Minus(Node):
    """The sign in front of a value."""

    operand: Node

    def evaluate(self, source: PropertySource) -> Value:
        """The negated number."""
        return negated(self.operand.evaluate(source))


def is_condition(node: Node) -> bool:
    """Whether the broker takes the expression for a condition as it stands."""
    if isinstance(node, Constant):
        return node.value is None or isinstance(node.value, bool)
    return not isinstance(node, PropertyName | Arithmetic | Minus)


def is_number(node: Node) -> bool:
    """Whether the expression is a literal number."""
    return isinstance(node, Constant) and isinstance(node.value, Number)


def height(node: Node) -> int:
    """Levels of the tree, counted without recursion."""
    level, levels = [node], 0
    while level:
        level = [part for inner in level for part in inner.parts()]
        levels += 1
    return levels
