"""The one place that hides passwords: no value that passes here leaves with a secret in it (design/promises.md 15)."""

from __future__ import annotations

import re

HIDDEN = "****"
_SECRET_NAME = re.compile(r"passw(or)?d|passphrase|secret|token|credential|api-?key|private-?key", re.IGNORECASE)
_NOT_SECRET = re.compile(r"codec|mask|enabled|file|path|provider|type$|alias", re.IGNORECASE)
_ENCODED = re.compile(r"ENC\([^)]*\)?")
_IN_QUERY = re.compile(
    r"([?;&,\s][\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credential)[\w.-]*\s*=\s*)[^&;,\s\"'<)]*", re.IGNORECASE
)
_USER_INFO = re.compile(r"(\w[\w+.-]*://[^/\s:@]*:)[^/\s@]*@")
_IN_ELEMENT = re.compile(
    r"(<(?:[\w.-]+:)?([\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credential)[\w.-]*)[^>]*>)[^<]*", re.IGNORECASE
)
_IN_ATTRIBUTE = re.compile(
    r"([\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credential)[\w.-]*\s*=\s*)(\"[^\"]*\"|'[^']*')", re.IGNORECASE
)
_KEY_VALUE = re.compile(
    r"((?:key|name)\s*=\s*[\"'][^\"']*(?:passw(?:or)?d|secret|token)[^\"']*[\"']\s+value\s*=\s*)(\"[^\"]*\"|'[^']*')",
    re.IGNORECASE,
)


def is_secret(name: str) -> bool:
    """Whether a setting, attribute or property of that name holds a secret."""
    return bool(_SECRET_NAME.search(name)) and not _NOT_SECRET.search(name)


def masked(text: str, name: str = "") -> str:
    """A value without its secrets: the whole of it where the name speaks of one, else those in URLs and ``ENC()``."""
    if is_secret(name):
        return HIDDEN if text else text
    text = _ENCODED.sub(f"ENC({HIDDEN})", text)
    text = _USER_INFO.sub(rf"\g<1>{HIDDEN}@", text)
    return _IN_QUERY.sub(rf"\g<1>{HIDDEN}", text)


def masked_line(line: str) -> str:
    """A line of a configuration file fit to be shown, its length not kept."""

    def element(found: re.Match[str]) -> str:
        return found.group(1) + HIDDEN if is_secret(found.group(2)) else found.group()

    line = _IN_ELEMENT.sub(element, line)
    line = _KEY_VALUE.sub(rf'\g<1>"{HIDDEN}"', line)
    line = _IN_ATTRIBUTE.sub(rf'\g<1>"{HIDDEN}"', line)
    return masked(line)
