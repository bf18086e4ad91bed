"""Syntax check of ``java.util.regex``: a match with special characters becomes such an expression in the broker.

Only the syntax is parsed, far enough to tell what stops the start of a broker from what does not.

    atom        character, escape, [class], (group)
    after it    ? * + {n} {n,} {n,m}, and one more ? or + after that
"""

from __future__ import annotations

import re

from brokerconf.errors import BrokerConfError

# Letters that mean nothing behind a backslash, and are refused for it.
_NO_ESCAPE = frozenset("gijlmoqyCEFIJKLMOTUY")
_GROUP = re.compile(r"\?(?::|=|!|>|<=|<!|<(?P<name>[a-zA-Z][a-zA-Z0-9]*)>|[idmsuxU]*(?:-[idmsuxU]*)?(?P<end>[:)]))")
_REPEAT = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
# What must stand behind an escape's letter.
_BEHIND = {
    "k": (re.compile(r"<([a-zA-Z][a-zA-Z0-9]*)>"), "the name of a group"),
    "p": (re.compile(r"\{[^}]+\}|."), "the name of a class"),
    "P": (re.compile(r"\{[^}]+\}|."), "the name of a class"),
    "u": (re.compile(r"[0-9a-fA-F]{4}"), "four hexadecimal digits"),
    "x": (re.compile(r"[0-9a-fA-F]{2}|\{0*(?:10|[0-9a-fA-F])?[0-9a-fA-F]{1,4}\}"), "hexadecimal digits"),
    "N": (re.compile(r"\{[^}]+\}"), "a name in braces"),
    "c": (re.compile(r".", re.DOTALL), "a letter"),
    "0": (re.compile(r"[0-7]"), "an octal digit"),
}
_INT_MAX = 2**31 - 1


class ExpressionError(BrokerConfError):
    """Error for an expression that Java does not compile; the message says why."""


def check(expression: str) -> None:
    """Raise ``ExpressionError`` if Java does not compile the expression."""
    _SyntaxCheck(expression).run()


class _SyntaxCheck:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        # whether something stands before that can be repeated
        self.repeatable = False
        self.names: set[str] = set()

    def run(self) -> None:
        while self.at < len(self.text):
            self._next(self.text[self.at])
        if self.depth:
            raise ExpressionError("'(' is never closed")

    def _next(self, char: str) -> None:
        if char == "\\":
            self._escape()
        elif char == "[":
            self._class()
        elif char == "(":
            self._open()
        elif char == ")":
            self._close()
        elif char in "*+?{":
            self._repeat(char)
        else:
            self.repeatable = char != "|"
            self.at += 1

    def _escape(self) -> None:
        letter = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        self.repeatable = True
        if letter in _NO_ESCAPE and letter:
            raise ExpressionError(f"'\\{letter}' is not a valid escape")
        if letter == "Q":
            end = self.text.find("\\E", self.at)
            self.at = len(self.text) if end < 0 else end + 2
        elif letter in _BEHIND:
            wanted, requirement = _BEHIND[letter]
            match = wanted.match(self.text, self.at)
            if match is None:
                raise ExpressionError(f"'\\{letter}' without {requirement}")
            self.at = match.end()
            if letter == "k" and match.group(1) not in self.names:
                raise ExpressionError(f"'\\k<{match.group(1)}>' does not name an earlier group")

    def _class(self) -> None:
        """Skip a character class, which may contain other classes; a bracket right after its start is a literal."""
        depth, first = 0, False
        while True:
            char = self.text[self.at : self.at + 1]
            if not char:
                raise ExpressionError("'[' is never closed")
            if char == "[":
                depth, first = depth + 1, True
                self.at += 2 if self.text[self.at + 1 : self.at + 2] == "^" else 1
                continue
            if char == "]" and not first:
                depth -= 1
                self.at += 1
                if not depth:
                    break
            elif char == "\\":
                self._escape()
            else:
                self._range()
            first = False
        self.repeatable = True

    def _range(self) -> None:
        character_range = re.compile(r"(.)-([^\[\]\\&])", re.DOTALL).match(self.text, self.at)
        if character_range and character_range.group(1) > character_range.group(2):
            raise ExpressionError(f"'{character_range.group()}' is not a valid range")
        self.at = character_range.end() if character_range else self.at + 1

    def _open(self) -> None:
        self.at += 1
        self.depth += 1
        self.repeatable = False
        if self.text.startswith("?", self.at):
            group = _GROUP.match(self.text, self.at)
            if group is None:
                raise ExpressionError(f"'({self.text[self.at : self.at + 2]}' does not start a group")
            self.at = group.end()
            if group.group("name") in self.names:
                raise ExpressionError(f"two groups are named '{group.group('name')}'")
            self.names |= {group.group("name")} if group.group("name") else set()
            if group.group("end") == ")":
                self.depth -= 1

    def _close(self) -> None:
        if not self.depth:
            raise ExpressionError("')' closes nothing")
        self.depth -= 1
        self.at += 1
        self.repeatable = True

    def _repeat(self, char: str) -> None:
        if not self.repeatable and char != "{":
            raise ExpressionError(f"'{char}' repeats nothing")
        if char == "{":
            repetition = _REPEAT.match(self.text, self.at)
            if repetition is None:
                raise ExpressionError("'{' must hold a number")
            least, most = (
                int(repetition.group(1)[:25]),
                int(repetition.group(3)[:25] if repetition.group(3) else repetition.group(1)[:25]),
            )
            if not least <= most <= _INT_MAX:
                raise ExpressionError(f"'{repetition.group()}' is not a valid range")
            self.at = repetition.end()
        else:
            self.at += 1
        if self.text[self.at : self.at + 1] in ("?", "+") and self.at < len(self.text):
            self.at += 1
        self.repeatable = False
