"""Expressions of a selector. ``evaluate`` gives a value, None where it is unknown; ``matches`` decides.

The two differ: a match stops at the first part that settles it, so that what stands behind cannot fail. Comparison
with an unknown value is unknown, and unknown does not match, nor does its negation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from pagefmt.selector.arithmetic import calculate, negated
from pagefmt.selector.like import LikePattern
from pagefmt.selector.values import EvaluationFailed, Number, Opaque, Value, compared, equal


class PropertySource(Protocol):
    """What a selector is asked about."""

    def property(self, name: str) -> Value: ...


class Node(Protocol):
    def evaluate(self, source: PropertySource) -> Value: ...

    def matches(self, source: PropertySource) -> bool: ...

    def parts(self) -> tuple[Node, ...]: ...


class Leaf:
    __slots__ = ()

    def evaluate(self, source: PropertySource) -> Value:
        raise NotImplementedError

    def matches(self, source: PropertySource) -> bool:
        return self.evaluate(source) is True

    def parts(self) -> tuple[Node, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Constant(Leaf):
    value: Value

    def evaluate(self, source: PropertySource) -> Value:
        return self.value


@dataclass(frozen=True, slots=True)
class PropertyName(Leaf):
    name: str

    def evaluate(self, source: PropertySource) -> Value:
        return source.property(self.name)


@dataclass(frozen=True, slots=True)
class Truth(Leaf):
    """A property where a condition is wanted: true only for a boolean that is true, unknown where it is absent."""

    property: PropertyName

    def evaluate(self, source: PropertySource) -> Value:
        value = self.property.evaluate(source)
        return None if value is None else value is True

    def parts(self) -> tuple[Node, ...]:
        return (self.property,)


@dataclass(frozen=True, slots=True)
class Not(Leaf):
    operand: Node

    def evaluate(self, source: PropertySource) -> Value:
        value = self.operand.evaluate(source)
        return None if value is None else not value

    def parts(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Junction(Leaf):
    """AND (``settles`` False) or OR (``settles`` True) of two or more."""

    settles: bool
    operands: tuple[Node, ...]

    def evaluate(self, source: PropertySource) -> Value:
        unknown = False
        for operand in self.operands:
            value = operand.evaluate(source)
            if value is self.settles:
                return self.settles
            unknown = unknown or value is None
        return None if unknown else not self.settles

    def matches(self, source: PropertySource) -> bool:
        for operand in self.operands:
            if operand.matches(source) is self.settles:
                return self.settles
        return not self.settles

    def parts(self) -> tuple[Node, ...]:
        return self.operands


@dataclass(frozen=True, slots=True)
class Equal(Leaf):
    """``=``, and ``IS NULL`` with the unknown constant on the right."""

    left: Node
    right: Node
    convert: bool

    def evaluate(self, source: PropertySource) -> Value:
        left, right = self.left.evaluate(source), self.right.evaluate(source)
        if left is None or right is None:
            return True if left is right else (None if left is None else False)
        return equal(left, right) or compared(left, right, _same, convert=self.convert)

    def parts(self) -> tuple[Node, ...]:
        return (self.left, self.right)


def _same(order: int) -> bool:
    return order == 0


ORDERS: Final[dict[str, Callable[[int], bool]]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}


@dataclass(frozen=True, slots=True)
class Ordered(Leaf):
    """``<``, ``<=``, ``>``, ``>=``."""

    sign: str
    left: Node
    right: Node
    convert: bool

    def evaluate(self, source: PropertySource) -> Value:
        left = _orderable(self.left.evaluate(source))
        if left is None:
            return None
        right = _orderable(self.right.evaluate(source))
        return None if right is None else compared(left, right, ORDERS[self.sign], convert=self.convert)

    def parts(self) -> tuple[Node, ...]:
        return (self.left, self.right)


def _orderable(value: Value) -> Value:
    if isinstance(value, Opaque) and not value.comparable:
        raise EvaluationFailed(f"{value.java_class} has no order")
    return value


@dataclass(frozen=True, slots=True)
class LikeTest(Leaf):
    operand: Node
    pattern: LikePattern

    def evaluate(self, source: PropertySource) -> Value:
        value = self.operand.evaluate(source)
        if value is None:
            return None
        return isinstance(value, str) and self.pattern.matches(value)

    def parts(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class In(Leaf):
    """IN and NOT IN; unknown for what is no text, in both forms."""

    operand: PropertyName
    members: frozenset[str]
    negated: bool

    def evaluate(self, source: PropertySource) -> Value:
        value = self.operand.evaluate(source)
        if not isinstance(value, str):
            return None
        return (value in self.members) != self.negated

    def parts(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Arithmetic(Leaf):
    sign: str
    left: Node
    right: Node
    convert: bool

    def evaluate(self, source: PropertySource) -> Value:
        left = self.left.evaluate(source)
        if left is None:
            return None
        right = self.right.evaluate(source)
        return None if right is None else calculate(self.sign, left, right, convert=self.convert)

    def parts(self) -> tuple[Node, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class Minus(Leaf):
    operand: Node

    def evaluate(self, source: PropertySource) -> Value:
        return negated(self.operand.evaluate(source))

    def parts(self) -> tuple[Node, ...]:
        return (self.operand,)


def is_condition(node: Node) -> bool:
    """Whether the broker takes the expression for a condition as it stands."""
    if isinstance(node, Constant):
        return node.value is None or isinstance(node.value, bool)
    return not isinstance(node, PropertyName | Arithmetic | Minus)


def is_number(node: Node) -> bool:
    return isinstance(node, Constant) and isinstance(node.value, Number)


def height(node: Node) -> int:
    """Levels of the tree, counted without recursion."""
    level, levels = [node], 0
    while level:
        level = [part for inner in level for part in inner.parts()]
        levels += 1
    return levels
