"""Tokens to expressions: the grammar of Artemis' selector parser, its precedence and its refusals.

    condition  = both { OR both }
    both       = equality { AND equality }
    equality   = compared { ("=" | "<>") compared | IS [NOT] NULL }
    compared   = sum { ("<" | "<=" | ">" | ">=") sum
                     | [NOT] LIKE string [ESCAPE string] | [NOT] BETWEEN sum AND sum
                     | [NOT] IN "(" string {"," string} ")" }
    sum        = product { ("+" | "-") product }
    product    = unary { ("*" | "/" | "%") unary }
    unary      = ("+" | "-" | NOT) unary | constant | name | "(" condition ")"

NOT binds tighter than ``=``: ``NOT a = b`` is ``(NOT a) = b``, as in the broker. XPATH and XQUERY, which look into XML
bodies, are refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from pagefmt.selector.identifiers import translated
from pagefmt.selector.lexer import SelectorError, Token, TokenKind, tokens
from pagefmt.selector.like import like
from pagefmt.selector.nodes import (
    ORDERS,
    Arithmetic,
    Constant,
    Equal,
    In,
    Junction,
    LikeTest,
    MessageFact,
    Minus,
    Node,
    Not,
    Ordered,
    PropertyName,
    PropertySource,
    Truth,
    height,
    is_condition,
    is_number,
)
from pagefmt.selector.token_stream import TokenStream
from pagefmt.selector.values import EvaluationFailed, JavaClass, Number, wrapped

NESTING_LIMIT: Final = 50
HEIGHT_LIMIT: Final = 200
DIGITS_LIMIT: Final = 300  # of a whole number; one of more than 308 is no double, which arithmetic may need
_PREFIXES: Final = (
    "convert_string_expressions:", "hyphenated_props:", "no_convert_string_expressions:", "no_hyphenated_props:",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Selector:
    """A parsed selector; ``matches`` never raises."""

    text: str
    root: Node

    def names(self) -> Iterator[str]:
        """Return the broker's names of the header fields and properties in the selector; one may come several times."""
        return (node.name for node in self._nodes() if isinstance(node, PropertyName))

    def facts(self) -> Iterator[MessageFact]:
        """Return the facts in the selector other than header fields and properties."""
        return (node for node in self._nodes() if isinstance(node, MessageFact))

    def _nodes(self) -> Iterator[Node]:
        left = [self.root]
        while left:
            node = left.pop()
            yield node
            left.extend(node.parts())

    def matches(self, source: PropertySource) -> bool:
        """Return whether a message is selected; not if the broker's evaluation fails."""
        try:
            return self.root.matches(source)
        except EvaluationFailed:
            return False


def parse(text: str) -> Selector:
    """Parse a selector. Raise ``SelectorError`` if the broker refuses the text, or if it is nested too deeply."""
    start, convert, hyphenated = _prefixes(text)
    translated_tokens = translated(list(tokens(text, start, hyphenated=hyphenated)))
    root = _Parser(TokenStream(text, translated_tokens), convert).whole()
    if height(root) > HEIGHT_LIMIT:
        raise SelectorError(text, 1, f"nested more than {HEIGHT_LIMIT} deep")
    return Selector(text, root)


def _prefixes(text: str) -> tuple[int, bool, bool]:
    """Return where the expression starts, whether strings convert to numbers, and whether names may contain hyphens."""
    start = len(text) - len(text.lstrip())
    convert = hyphenated = False
    while prefix := next((name for name in _PREFIXES if text.startswith(name, start)), None):
        start += len(prefix)
        if "convert" in prefix:
            convert = not prefix.startswith("no_")
        else:
            hyphenated = not prefix.startswith("no_")
    return start, convert, hyphenated


class _Parser:
    __slots__ = ("_convert", "_depth", "_tokens")

    def __init__(self, tokens: TokenStream, convert: bool) -> None:
        self._tokens = tokens
        self._convert = convert
        self._depth = 0

    # Conditions

    def whole(self) -> Node:
        """Parse the selector to its end. Raise ``SelectorError`` if it is empty, or a value instead of a condition."""
        if self._tokens.next().kind is TokenKind.END:
            raise self._tokens.error("the selector is empty")
        first = self._tokens.next()
        node = self._condition()
        if self._tokens.next().kind is not TokenKind.END:
            raise self._tokens.error(f"the selector should end here, found {self._tokens.next().shown()}")
        return self._truth(node, first)

    def _truth(self, node: Node, at: Token) -> Node:
        if is_condition(node):
            return node
        if isinstance(node, PropertyName):
            return Truth(node)
        raise self._tokens.error("expected a condition, not a value", at)

    def _condition(self) -> Node:
        return self._junction("OR", self._both)

    def _both(self) -> Node:
        return self._junction("AND", self._equality)

    def _junction(self, word: str, member: Callable[[], Node]) -> Node:
        first = self._tokens.next()
        node = member()
        if not self._tokens.comes(word):
            return node
        members = [self._truth(node, first)]
        while self._tokens.accept(word):
            at = self._tokens.next()
            members.append(self._truth(member(), at))
        return Junction(word == "OR", tuple(members))

    def _equality(self) -> Node:
        first = self._tokens.next()
        left = self._compared()
        while self._tokens.comes("=", "<>", "IS"):
            sign = self._tokens.take()
            left = self._null_test(left) if sign.text == "IS" else self._equal(left, first, sign)
        return left

    def _null_test(self, left: Node) -> Node:
        negated = self._tokens.accept("NOT")
        self._tokens.expect("NULL")
        test = Equal(left, Constant(None), self._convert)
        return Not(test) if negated else test

    def _equal(self, left: Node, first: Token, sign: Token) -> Node:
        at = self._tokens.next()
        right = self._compared()
        for node, token in ((left, first), (right, at)):
            if isinstance(node, Constant) and node.value is None:
                raise self._tokens.error(f"NULL cannot be compared with '{sign.text}' (use IS NULL)", token)
        if isinstance(left, Constant) and isinstance(right, Constant) and is_condition(left) > is_condition(right):
            raise self._tokens.error("TRUE and FALSE can only be compared with a condition", sign)
        test = Equal(left, right, self._convert)
        return Not(test) if sign.text == "<>" else test

    # Comparisons

    def _compared(self) -> Node:
        first = self._tokens.next()
        left = self._sum()
        while True:
            if self._tokens.comes(*ORDERS):
                sign = self._tokens.take()
                at = self._tokens.next()
                left = self._ordered(sign.text, left, first, self._sum(), at)
            elif self._tokens.comes("LIKE", "BETWEEN", "IN"):
                left = self._word_test(left, first, negated=False)
            elif self._tokens.comes("NOT") and self._tokens.comes("LIKE", "BETWEEN", "IN", ahead=1):
                self._tokens.take()
                left = self._word_test(left, first, negated=True)
            else:
                return left

    def _ordered(self, sign: str, left: Node, left_at: Token, right: Node, right_at: Token) -> Node:
        for node, token in ((left, left_at), (right, right_at)):
            if isinstance(node, Constant) and not is_number(node):
                raise self._tokens.error("only numbers can be ordered, and this is a constant of another type", token)
            if is_condition(node):
                raise self._tokens.error("only numbers can be ordered, and this is a condition", token)
        return Ordered(sign, left, right, self._convert)

    def _word_test(self, left: Node, first: Token, *, negated: bool) -> Node:
        """Parse LIKE, BETWEEN or IN and its right side. ``first``: the token at which ``left`` begins, for errors."""
        word = self._tokens.take().text
        if word == "BETWEEN":
            return self._between(left, first, negated)
        if word == "IN":
            return self._in(left, first, negated)
        node = self._like(left)
        return Not(node) if negated else node

    def _between(self, value: Node, first: Token, negated: bool) -> Node:
        """Parse ``low AND high`` as two comparisons, joined by AND, or if ``negated`` by OR."""
        low_at = self._tokens.next()
        low = self._sum()
        self._tokens.expect("AND")
        high_at = self._tokens.next()
        high = self._sum()
        signs = ("<", ">") if negated else (">=", "<=")
        return Junction(
            negated,
            (self._ordered(signs[0], value, first, low, low_at), self._ordered(signs[1], value, first, high, high_at)),
        )

    def _in(self, left: Node, first: Token, negated: bool) -> Node:
        """Parse the list of strings after IN. Raise ``SelectorError`` unless ``left`` is a name."""
        if not isinstance(left, PropertyName):
            raise self._tokens.error("IN needs a name on its left", first)
        self._tokens.expect("(")
        members = [self._tokens.string().text]
        while self._tokens.accept(","):
            members.append(self._tokens.string().text)
        self._tokens.expect(")")
        return In(left, frozenset(members), negated)

    def _like(self, left: Node) -> Node:
        pattern = self._tokens.string()
        escape = None
        if self._tokens.accept("ESCAPE"):
            token = self._tokens.string()
            escape = token.text
            if len(escape.encode("utf-16-be", "surrogatepass")) != 2:
                raise self._tokens.error("ESCAPE takes exactly one character", token)
        try:
            return LikeTest(left, like(pattern.text, escape))
        except ValueError as err:
            raise self._tokens.error(str(err), pattern) from err

    # Values

    def _sum(self) -> Node:
        left = self._product()
        while self._tokens.comes("+", "-"):
            left = Arithmetic(self._tokens.take().text, left, self._product(), self._convert)
        return left

    def _product(self) -> Node:
        left = self._unary()
        while self._tokens.comes("*", "/", "%"):
            left = Arithmetic(self._tokens.take().text, left, self._unary(), self._convert)
        return left

    def _unary(self) -> Node:
        """Parse an operand with its signs. Raise ``SelectorError`` if it is nested beyond ``NESTING_LIMIT``."""
        self._depth += 1
        if self._depth > NESTING_LIMIT:
            raise self._tokens.error(f"nested more than {NESTING_LIMIT} deep")
        node = self._signed() if self._tokens.comes("+", "-", "NOT") else self._primary()
        self._depth -= 1
        return node

    def _signed(self) -> Node:
        """Parse ``+``, ``-`` or NOT, which binds as tightly as the signs, and its operand."""
        sign = self._tokens.take().text
        at = self._tokens.next()
        operand = self._unary()
        if sign == "NOT":
            return Not(self._truth(operand, at))
        return Minus(operand) if sign == "-" else operand

    def _primary(self) -> Node:
        token = self._tokens.take()
        if token.kind is TokenKind.NAME:
            return PropertyName(token.text)
        if token.kind is TokenKind.STRING:
            return Constant(token.text)
        if token.kind is TokenKind.KEYWORD and token.text in _WORDS:
            return Constant(_WORDS[token.text])
        if token.kind is TokenKind.SIGN and token.text == "(":
            node = self._condition()
            self._tokens.expect(")")
            return node
        if token.kind in (TokenKind.SIGN, TokenKind.KEYWORD, TokenKind.END):
            raise self._unwanted(token)
        return Constant(self._number(token))

    def _unwanted(self, token: Token) -> SelectorError:
        if token.text in ("XPATH", "XQUERY"):
            return self._tokens.error(f"{token.text} looks into XML bodies and is not supported", token)
        return self._tokens.error(f"expected a value or a name, found {token.shown()}", token)

    def _number(self, token: Token) -> Number:
        if token.kind is TokenKind.FLOAT:
            return Number(JavaClass.DOUBLE, float(token.text))
        if token.kind is TokenKind.DECIMAL:
            if len(token.text) > DIGITS_LIMIT:
                raise self._tokens.error(f"a number of more than {DIGITS_LIMIT} digits", token)
            return _decimal(int(token.text.rstrip("lL")))
        value = int(token.text, 16 if token.kind is TokenKind.HEX else 8)
        if value != wrapped(value, 64):
            raise self._tokens.error(f"'{token.text}' is too large for a long", token)
        return _decimal(value)


_WORDS: Final = {"TRUE": True, "FALSE": False, "NULL": None}


def _decimal(value: int) -> Number:
    """Return an int or long if the value fits, else an exact number.

    A value whose low 64 bits fit an int becomes that int, as in the broker.
    """
    low = wrapped(value, 64)
    if low == wrapped(low, 32):
        return Number(JavaClass.INT, low)
    return Number(JavaClass.LONG, value) if low == value else Number(JavaClass.BIG, value)
