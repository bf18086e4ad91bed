"""The one place that hides passwords: no value leaves here with a secret in it."""

from __future__ import annotations

import re

HIDDEN = "****"
# Expressions as text: they are compiled when one of them is first needed, which in most files none is.
# Misspelt ones as well: their line is the one that a finding shows.
_WORD = r"(?:pas{1,3}o?w(?:r?o?r?d)?|pwd|passphrase|secret|token|credential)"
_NAME = rf"[\w.-]{{0,60}}{_WORD}[\w.-]{{0,60}}"
_SECRET_NAME = rf"(?i){_WORD}|api-?key|private-?key"
_NOT_SECRET = r"(?i)codec|mask|enabled|file|path|provider|type$|alias"
_ENCODED = r"ENC\([^)]*\)?"
# Bounded repeats throughout: a value of megabytes must not take more than a look.
_IN_QUERY = rf"(?i)([?;&,\s]{_NAME}\s{{0,9}}=\s{{0,9}})[^&;,\s\"'<)]+"
_USER_INFO = r"(\b[A-Za-z][\w+.-]{0,30}://[^/\s:@]{0,200}:)[^/\s@]*@"
_IN_ELEMENT = rf"(?i)(<(?:[\w.-]{{1,60}}:)?({_NAME})[^>]*>)[^<]*"
_QUOTED = r"(\"[^\"]*\"|'[^']*')"
_IN_ATTRIBUTE = rf"(?i)(?<![\w.-])({_NAME}\s{{0,9}}=\s{{0,9}}){_QUOTED}"
# A tag that names a secret in its key or name: any other value in it may be that secret.
_TAG = r"<[^<>]*>?"
_NAMES_SECRET = rf"(?i)\b(?:key|name)\s{{0,9}}=\s{{0,9}}[\"'][^\"']{{0,200}}{_WORD}"
_OTHER_VALUE = rf"(?i)(\s(?!(?:key|name)\b)[\w.:-]{{1,60}}\s{{0,9}}=\s{{0,9}}){_QUOTED}"


# Nothing is searched further where none of these stands: most lines have none.
_HINTS = ("pas", "pwd", "secret", "token", "credential", "key", "enc(", "@")
_OVER_LINES = rf"(?i)(<(?:[\w.-]{{1,60}}:)?({_NAME})[^>]*>)([^<]*\n[^<]*)"
_ATTRIBUTE_OVER_LINES = rf"(?i)((?<![\w.-])({_NAME})\s{{0,9}}=\s{{0,9}})(\"[^\"<]*\n[^\"<]*\"|'[^'<]*\n[^'<]*')"


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

    return re.sub(_TAG, _tag, re.sub(_ATTRIBUTE_OVER_LINES, hidden, re.sub(_OVER_LINES, hidden, text)))


def _tag(found: re.Match[str]) -> str:
    tag = found.group()
    if not re.search(_NAMES_SECRET, tag):
        return tag
    return re.sub(_OTHER_VALUE, lambda value: f'{value.group(1)}"{HIDDEN}"' + "\n" * value.group(2).count("\n"), tag)


def is_secret(name: str) -> bool:
    """Whether a setting, attribute or property of that name holds a secret."""
    return bool(re.search(_SECRET_NAME, name)) and not re.search(_NOT_SECRET, name)


def masked(text: str, name: str = "") -> str:
    """A value without its secrets: the whole of it where the name speaks of one, else those in URLs and ``ENC()``."""
    if is_secret(name):
        return HIDDEN if text else text
    if not _hinted(text):
        return text
    text = re.sub(_ENCODED, f"ENC({HIDDEN})", text)
    text = re.sub(_USER_INFO, rf"\g<1>{HIDDEN}@", text)
    return re.sub(_IN_QUERY, rf"\g<1>{HIDDEN}", text)


def masked_line(line: str) -> str:
    """A line of a configuration file fit to be shown, its length not kept."""
    if not _hinted(line):
        return line

    def element(found: re.Match[str]) -> str:
        return found.group(1) + HIDDEN if is_secret(found.group(2)) else found.group()

    line = re.sub(_IN_ELEMENT, element, line)
    line = re.sub(_TAG, _tag, line)
    line = re.sub(_IN_ATTRIBUTE, rf'\g<1>"{HIDDEN}"', line)
    return masked(line)
