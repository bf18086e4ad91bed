"""The one place that hides passwords: no value that passes here leaves with a secret in it (design/promises.md 15)."""

from __future__ import annotations

import re

HIDDEN = "****"
# Misspelt ones as well: their line is the one that a finding shows.
_WORD = r"(?:pas{1,3}o?w(?:r?o?r?d)?|pwd|passphrase|secret|token|credential)"
_NAME = rf"[\w.-]{{0,60}}{_WORD}[\w.-]{{0,60}}"
_SECRET_NAME = re.compile(rf"{_WORD}|api-?key|private-?key", re.IGNORECASE)
_NOT_SECRET = re.compile(r"codec|mask|enabled|file|path|provider|type$|alias", re.IGNORECASE)
_ENCODED = re.compile(r"ENC\([^)]*\)?")
# Bounded repeats throughout: a value of megabytes must not take more than a look.
_IN_QUERY = re.compile(rf"([?;&,\s]{_NAME}\s{{0,9}}=\s{{0,9}})[^&;,\s\"'<)]+", re.IGNORECASE)
_USER_INFO = re.compile(r"(\b[A-Za-z][\w+.-]{0,30}://[^/\s:@]{0,200}:)[^/\s@]*@")
_IN_ELEMENT = re.compile(rf"(<(?:[\w.-]{{1,60}}:)?({_NAME})[^>]*>)[^<]*", re.IGNORECASE)
_QUOTED = r"(\"[^\"]*\"|'[^']*')"
_IN_ATTRIBUTE = re.compile(rf"(?<![\w.-])({_NAME}\s{{0,9}}=\s{{0,9}}){_QUOTED}", re.IGNORECASE)
# A tag that names a secret in its key or name: any other value in it may be that secret.
_TAG = re.compile(r"<[^<>]*>?")
_NAMES_SECRET = re.compile(rf"\b(?:key|name)\s{{0,9}}=\s{{0,9}}[\"'][^\"']{{0,200}}{_WORD}", re.IGNORECASE)
_OTHER_VALUE = re.compile(rf"(\s(?!(?:key|name)\b)[\w.:-]{{1,60}}\s{{0,9}}=\s{{0,9}}){_QUOTED}", re.IGNORECASE)


# Nothing is searched further where none of these stands: most lines have none.
_HINTS = ("pas", "pwd", "secret", "token", "credential", "key", "enc(", "@")
_OVER_LINES = re.compile(rf"(<(?:[\w.-]{{1,60}}:)?({_NAME})[^>]*>)([^<]*\n[^<]*)", re.IGNORECASE)
_ATTRIBUTE_OVER_LINES = re.compile(
    rf"((?<![\w.-])({_NAME})\s{{0,9}}=\s{{0,9}})(\"[^\"<]*\n[^\"<]*\"|'[^'<]*\n[^'<]*')", re.IGNORECASE
)


def _hinted(text: str) -> bool:
    small = text.lower()
    return any(hint in small for hint in _HINTS)


def masked_text(text: str) -> str:
    """A whole file in which secrets that go over several lines are hidden; lines keep their numbers."""
    if not _hinted(text):
        return text

    def hidden(found: re.Match[str]) -> str:
        inside = re.sub(r"[^\n\s][^\n]*", HIDDEN, found.group(3))
        return found.group(1) + inside if is_secret(found.group(2)) else found.group()

    return _TAG.sub(_tag, _ATTRIBUTE_OVER_LINES.sub(hidden, _OVER_LINES.sub(hidden, text)))


def _tag(found: re.Match[str]) -> str:
    tag = found.group()
    if not _NAMES_SECRET.search(tag):
        return tag
    return _OTHER_VALUE.sub(lambda value: f'{value.group(1)}"{HIDDEN}"' + "\n" * value.group(2).count("\n"), tag)


def is_secret(name: str) -> bool:
    """Whether a setting, attribute or property of that name holds a secret."""
    return bool(_SECRET_NAME.search(name)) and not _NOT_SECRET.search(name)


def masked(text: str, name: str = "") -> str:
    """A value without its secrets: the whole of it where the name speaks of one, else those in URLs and ``ENC()``."""
    if is_secret(name):
        return HIDDEN if text else text
    if not _hinted(text):
        return text
    text = _ENCODED.sub(f"ENC({HIDDEN})", text)
    text = _USER_INFO.sub(rf"\g<1>{HIDDEN}@", text)
    return _IN_QUERY.sub(rf"\g<1>{HIDDEN}", text)


def masked_line(line: str) -> str:
    """A line of a configuration file fit to be shown, its length not kept."""
    if not _hinted(line):
        return line

    def element(found: re.Match[str]) -> str:
        return found.group(1) + HIDDEN if is_secret(found.group(2)) else found.group()

    line = _IN_ELEMENT.sub(element, line)
    line = _TAG.sub(_tag, line)
    line = _IN_ATTRIBUTE.sub(rf'\g<1>"{HIDDEN}"', line)
    return masked(line)
