"""``${name:default}`` as an application server resolves it: in the values of attributes and elements, not in the text.

Several names may precede the default, separated by commas; expressions may be nested; ``$$`` is a plain ``$``. A name
is a system property, ``env.NAME`` a variable of the environment. What only the running server knows (its own
``jboss.…``, entries of a vault or a credential store) stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from brokerconf.reading.substitution import Placeholder, ReplacedText, SubstitutionError, reference

KNOWN_TO_SERVER = "server"
_ELSEWHERE = ("jboss.", "VAULT::", "ENC::")
_SEPARATORS = {"/": "/", ":": ":"}
_DEEPEST = 50


class ServerExpressions:
    """Resolver of expressions with system properties and the environment."""

    def __init__(self, properties: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self.properties, self.environment = properties, environment
        self.placeholders: list[Placeholder] = []

    def resolved(self, text: str) -> ReplacedText:
        """Return the text with the expressions that can be resolved replaced, and each of them recorded.

        Raises ``SubstitutionError`` for a malformed one.
        """
        self.placeholders = []
        return ReplacedText(self._text(text, 0), self.placeholders)

    def _text(self, text: str, depth: int) -> str:
        if depth > _DEEPEST:
            raise SubstitutionError("an expression whose values refer to each other in a loop")
        out, at = [], 0
        while (start := text.find("$", at)) >= 0:
            out.append(text[at:start])
            following = text[start + 1 : start + 2]
            if following != "{":
                out.append("$")
                at = start + 1 + (following == "$")
                continue
            end = _end(text, start + 2)
            out.append(self._expression(text[start + 2 : end], depth))
            at = end + 1
        return "".join((*out, text[at:]))

    def _expression(self, inner: str, depth: int) -> str:
        if inner in _SEPARATORS:
            return _SEPARATORS[inner]
        names, default = _parts(inner)
        names = self._text(names, depth + 1)
        for name in names.split(","):
            value, origin = self._value(name.strip())
            if origin == "environment" and value == reference(_variable(name.strip())):
                self.placeholders.append(Placeholder(name, default, f"${{{inner}}}", origin, 0))
                return f"${{{inner}}}"
            if value is not None:
                self.placeholders.append(Placeholder(name, default, value, origin, 0))
                return self._text(value, depth + 1)
        elsewhere = inner.startswith(_ELSEWHERE)
        if default is None or (elsewhere and "::" in inner):
            origin = KNOWN_TO_SERVER if elsewhere else "empty"
            self.placeholders.append(Placeholder(names, None, "", origin, 0))
            return f"${{{inner}}}"
        self.placeholders.append(Placeholder(names, default, default, "default", 0))
        return self._text(default, depth + 1)

    def _value(self, name: str) -> tuple[str | None, str]:
        if name in self.properties:
            return self.properties[name], "property"
        return self.environment.get(_variable(name)), "environment"


def _variable(name: str) -> str:
    """Return the environment variable that an expression of that name stands for."""
    return name[4:] if name.startswith("env.") else re.sub(r"\W", "_", name).upper()


def _end(text: str, at: int) -> int:
    """Return the offset of the brace that closes the one before ``at``; raise ``SubstitutionError`` if none does."""
    depth = 1
    for brace in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if brace.group() == "{" else -1
        if not depth:
            return brace.start()
    raise SubstitutionError("'${' without '}'")


def _parts(inner: str) -> tuple[str, str | None]:
    """Split an expression into names and default at the first colon outside inner expressions.

    The default is None without such a colon.
    """
    depth = 0
    for at, sign in enumerate(inner):
        depth += (sign == "{") - (sign == "}")
        if sign == ":" and not depth:
            return inner[:at], inner[at + 1 :]
    return inner, None
