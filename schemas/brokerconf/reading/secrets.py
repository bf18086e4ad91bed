"""The one place that hides passwords: no value leaves this module with a secret in it.

Secrets are returned as spans, offsets of the first character and after the last one: of a value, of a properties file,
or of a markup file, which need not be well-formed. Up to the place where it no longer is, elements say what is secret;
after it everything is hidden from the line on that names a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

HIDDEN = "****"
LONGEST_NAME = 200
Span = tuple[int, int]
# Expressions as text: they are compiled when one of them is first needed, which in most files none is.
# Misspelt ones as well: their line is the one that a finding shows. Bounded repeats throughout: a value of megabytes
# must not take more than a look.
_WORD = (
    r"(?:pas{1,3}o?w(?:r?o?r?d)?|pwd|pass-?(?:phrase|code)|(?:key|store)[-_]?pass|(?<![a-zA-Z])pass(?![a-zA-Z])|secret"
    r"|token|credential"
    r"|(?<![a-zA-Z])sig(?:nature)?(?![a-zA-Z])|accesssignature"
    r"|(?:api|access|account|client|private|shared|master|encryption|signing)[-_.]?key|(?<![a-zA-Z])auth(?:orization)?(?![a-zA-Z])|bearer)"
)
_NAME = rf"[\w.-]{{0,60}}{_WORD}[\w.-]{{0,60}}"
_NOT_SECRET = r"(?i)codec|(?:^|use|\.)mask(?:ed)?-?password$|enabled|file(?!.*(?:pwd|pass))|path|provider|type$|alias"
# A separator ends a value of a URL; commas and brackets only where another URL, or nothing, can follow.
_VALUE = r"\"[^\"]*\"?|'[^']*'?|\{[^{}]*\}|(?:[^&;\s\"'<,)]|,(?![\w.+-]{1,30}:)|\)(?![?;&,\s]|$))+"
# up to the last "@", but not into another URL: the password, or all that stands there if it is one word
_USER = (
    r"(?:://|(?<![\w:/])//)(?:[^/\s:@]{0,200}:(?P<user>(?:[^\s?<>\"':]|:(?!//)){0,4000})"
    r"|(?<!abfs://)(?<!abfss://)(?<!az://)(?!anonymous@)(?P<token>[^/\s:@?<>\"'(),;]{1,400}))@"
)
# the forms without "//": Oracle's user/password@, and user:password@ on its own
_BARE_USER = (
    r"\bjdbc:[a-z]{1,20}:[a-z0-9]{1,10}:(?:\"[^\"]{0,128}\"|[^/\n:@\"]{1,128})/(?P<oracle>\"[^\"]*\"|[^\s<>'\"]{1,400})@"
    r"|(?<![\w.@/:+-])[\w.+-]{1,64}:(?P<bare>[^\s@/:\"'<>,]{1,400})@(?=[\w\[])"
)
# secrets that their form gives away, whatever they are called
_SHAPED = (
    r"-----BEGIN[A-Z ]{0,30} PRIVATE KEY-----(?P<pem>(?:(?!-----END)[\s\S])*+)"
    r"|\b(?:basic|bearer)\s{1,9}(?P<header>[A-Za-z0-9+/=._~-]{8,4000})"
    r"|\b(?P<shape>eyJ[\w-]{8,4000}\.[\w-]{4,4000}\.[\w-]{0,4000}|(?-i:(?:AKIA|ASIA)[0-9A-Z]{16})|gh[pousr]_\w{20,255})"
)
_IN_VALUE = (
    rf"(?i)\bENC\((?!…)(?P<encoded>[^)]*)|{_USER}|{_BARE_USER}|{_SHAPED}"
    # of JSON, and of YAML that is written like it
    rf"|[\"'](?P<key>{_NAME})[\"']\s{{0,9}}:\s{{0,9}}(?P<scalar>\"(?:[^\"\\]|\\.)*+\"?|'[^']*+'?|[^\s,}}\]]++)"
    rf"|(?<![\w.-])(?P<name>{_NAME}|(?<=[;?&])key)\s{{0,9}}=\s{{0,9}}(?P<value>{_VALUE})"
    rf"|\$\{{(?P<property>{_NAME}):(?P<default>[^}}]*)"
)
_ATTRIBUTE = r"([^\s=\"'<>/]+)\s*=\s*(\"[^\"<]*\"|'[^'<]*')"
_MARKUP = (
    r"(?s)<!--(?P<comment>.*?)-->|<\?(?P<instruction>.*?)\?>|<!\[CDATA\[(?P<section>.*?)\]\]>|(?P<text>[^<]+)"
    r"|</(?P<end>[^\s/<>=\"'!?]+)\s*>"
    rf"|<(?P<start>[^\s/<>=\"'!?]+)(?P<attributes>(?:\s+{_ATTRIBUTE.replace('(', '(?:')})*+)\s*(?P<empty>/?)>"
)
# of a property: a line ends at a lone carriage return as well, and a key may go on in the next
_PROPERTY = (
    r"(?:^|(?<=[\r\n]))[ \t\f]*(?P<key>(?:\\(?:(?:\r\n?|\n)[ \t\f]*+|.)|[^\\=: \t\f\r\n])*)"
    r"[ \t\f]*[=:]?[ \t\f]*(?P<rest>(?:\\(?:\r\n|.|\n)|[^\\\r\n])*)"
)
_GOES_ON = r"\\(?:\r\n?|\n)[ \t\f]*"
_NAMES = r'"[^"]*"?|[^."]+'
_KNOWN_TAIL = r"(?i)s?[-_]?(?:codec|enabled|file|path|provider|type|alias)?(?:[\W_]*)"
_URL_ESCAPE = r"%[0-9A-Fa-f]{2}"
# Nothing is searched further where none of these stands: most values have none.
_HINTS = (
    "&#",
    "<!--",
    "pas",
    "pwd",
    "secret",
    "token",
    "credential",
    "key",
    "auth",
    "bearer",
    "basic",
    "enc(",
    "@",
    "\\",
    "sig",
    "eyj",
    "akia",
    "asia",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
)


def _hinted(text: str) -> bool:
    small = text.lower()
    return any(hint in small for hint in _HINTS) or ("%" in text and re.search(_URL_ESCAPE, text) is not None)


@lru_cache(maxsize=10_000)
def is_secret(name: str) -> bool:
    """Return whether a setting, attribute or property of that name holds a secret."""
    return bool(name) and bool(re.search(f"(?i){_WORD}", name)) and not re.search(_NOT_SECRET, name)


def masked(text: str, name: str = "") -> str:
    """Return a value with its secrets replaced by ``****``.

    The whole value is replaced if ``name`` names a secret; otherwise passwords in URLs and the content of ``ENC()``
    are.
    """
    if is_secret(name):
        return HIDDEN if text else text
    return without(text, _in_value(text)) if _hinted(text) else text


def is_in_clear(value: str) -> bool:
    """Return whether there is a value that is not masked as ``ENC(…)``."""
    value = value.strip()
    return bool(value) and not value.startswith("ENC(")


def is_password_in_clear(name: str, value: str) -> bool:
    """Return whether a value is or contains a password that is neither masked nor filled in."""
    if not is_in_clear(value) or "${" in value:
        return False
    return is_secret(name) or ("ENC(" not in value and masked(value) != value)


def without(text: str, spans: Iterable[Span]) -> str:
    """Return the text with ``****`` in place of each span; the spans are in order and do not overlap."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], HIDDEN]
        at = end
    return "".join((*parts, text[at:]))


def hidden_in_markup(text: str) -> list[Span]:
    """Return the spans of secrets in the original text of an XML file, in order."""
    return list(_merge_spans(sorted([*_Markup(text).spans(), *_private_keys(text)]))) if _hinted(text) else []


def hidden_in_properties(text: str) -> list[Span]:
    """Return the spans of secrets in the text of a properties file, in order."""
    spans: list[Span] = []
    for entry in re.finditer(_PROPERTY, text) if _hinted(text) else ():
        start, end = entry.span("rest")
        if entry["key"][:1] in ("#", "!"):
            spans += _from_word(text, *entry.span())
            continue
        key = _plain(re.sub(_GOES_ON, "", entry["key"]))
        at = _glued_at(key)
        if at < len(key):
            # where escapes stand, none of it tells where that is
            spans.append((entry.start("key") + (at if key == entry["key"] else 0), entry.end("key")))
        spans += [(start, end)] if start < end and (is_secret(key) or at < len(key)) else _within(text, *entry.span())
    spans += _private_keys(text) if spans else ()
    return list(_merge_spans(sorted(spans)))


def _private_keys(text: str) -> Iterator[Span]:
    """Yield the spans of private keys in PEM format, which may extend over several lines and elements."""
    if "PRIVATE KEY" in text:
        yield from (match.span("pem") for match in re.finditer(_SHAPED, text) if match["pem"])


def shown_key(key: str) -> str:
    """Return a property key for display: a secret that follows a word for one without a separator is masked."""
    at = _glued_at(key)
    return key[:at] + HIDDEN if at < len(key) else key


def without_glued(text: str, key: str) -> str:
    """Return a sentence that quotes a key, or names from it, with secrets that are glued to those names masked."""
    shown = shown_key(key)
    if shown == key:
        return text
    for whole in (key, *sorted(re.findall(_NAMES, key), key=len, reverse=True)):
        text = text.replace(whole, shown_key(whole))
    return text


@lru_cache(maxsize=10_000)
def _glued_at(key: str) -> int:
    """Return the offset in a key from which a secret may follow that lost its separator, or the key's length.

    A secret is suspected after a word such as "password" that is not a known ending of a name. The second of several
    names is exempt, because operators choose it freely.
    """
    names = list(re.finditer(_NAMES, key)) if _hinted(key) else []
    for number, name in enumerate(names):
        word = re.search(f"(?i){_WORD}(?:word|phrase|code(?!c))?", name[0])
        at = name.start() + word.end() if word else len(key)
        if not re.fullmatch(_KNOWN_TAIL, key[at:]) and (number != 1 or len(names) == 2):
            return at
    return len(key)


def _in_value(text: str, offset: int = 0) -> Iterator[Span]:
    """Yield the spans of secrets in URLs, in defaults of placeholders and in ``ENC()``.

    Yields the whole text if escapes hide the name of a secret.
    """
    inside = [(offset + start, offset + end) for start, end in _as_written(text)]
    plain = _plain(text)
    hidden = plain != text and _hinted(plain) and len(list(_as_written(plain))) > len(inside)
    yield from [(offset, offset + len(text))] if hidden else inside


_KINDS = ("value", "scalar", "default", "encoded", "user", "token", "oracle", "bare", "pem", "header", "shape")


def _as_written(text: str) -> Iterator[Span]:
    for match in re.finditer(_IN_VALUE, text):
        kind = next(kind_name for kind_name in _KINDS if match[kind_name] is not None)
        name = match["name"] or match["key"] or match["property"]
        if not name or name == "key" or is_secret(name):
            yield match.span(kind)


def _within(text: str, start: int, end: int) -> Iterator[Span]:
    return _in_value(text[start:end], start)


def _plain(text: str) -> str:
    """Return the text with the escapes of properties and JSON, of URLs, and of markup resolved."""
    if "\\" in text:
        text = re.sub(r"\\(?:u([0-9a-fA-F]{4})|)", lambda match: chr(int(match[1], 16)) if match[1] else "", text)
    if "%" not in text and "&" not in text:
        return text
    from html import unescape
    from urllib.parse import unquote

    return unquote(unescape(text))


def _from_word(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the span from the first word for a secret to the end, and secrets in values; meant for comments."""
    word = re.search(rf"(?i){_WORD}[\w.-]{{0,60}}", text[start:end])
    if word:
        yield start + word.end(), end
    yield from _in_value(text[start:end], start)


def _merge_spans(spans: Iterable[Span]) -> Iterator[Span]:
    last = (0, 0)
    for start, end in sorted(spans):
        if start > last[1]:
            if last[1] > last[0]:
                yield last
            last = (start, end)
        else:
            last = (last[0], max(last[1], end))
    if last[1] > last[0]:
        yield last


class _Markup:
    """Scanner of a markup text, element by element."""

    def __init__(self, text: str) -> None:
        self.text = text
        # what is open, and whether all in it is secret
        self.open: list[tuple[str, bool]] = []
        self.names: set[str] = set()
        self.secret = False
        self.last_text = 0
        # what the element has said since its last tag: a comment may stand in the middle of a name
        self.recent_text = ""

    def spans(self) -> Iterator[Span]:
        markup, at = re.compile(_MARKUP), 0
        while at < len(self.text):
            match = markup.match(self.text, at)
            if match is None or (match["end"] and (not self.open or self.open[-1][0] != match["end"])):
                yield from self._torn(at)
                return
            yield from self._of(match)
            at = match.end()

    def _of(self, match: re.Match[str]) -> Iterator[Span]:
        if match["start"] or match["end"]:
            self.recent_text = ""
        if match["start"]:
            if self.secret:
                yield match.span()
            yield from self._start_tag(match)
        elif match["end"]:
            self.open.pop()
            self.secret = bool(self.open) and self.open[-1][1]
            if self.secret:
                yield match.span()
        else:
            kind = next(name for name in ("text", "section", "comment", "instruction") if match[name] is not None)
            start, end = match.span(kind)
            self.last_text = start
            if self.secret or self._goes_on(match[kind] if kind in ("text", "section") else ""):
                yield from self._all(start, end)
            elif kind in ("comment", "instruction") or re.search(rf"(?i){_WORD}[\w.-]{{0,60}}+\s*+[>\"']", match[kind]):
                yield from _from_word(self.text, start, end)
            else:
                yield from _in_value(match[kind], start)

    def _goes_on(self, text: str) -> bool:
        """Return whether the texts before and after a comment form a secret only when joined."""
        before, self.recent_text = self.recent_text, (self.recent_text + text)[-LONGEST_NAME:]
        if not before.strip() or not text.strip():
            return False
        apart = [*_in_value(before), *_in_value(text)]
        return len(list(_in_value(before + text))) > len(apart)

    def _all(self, start: int, end: int) -> Iterator[Span]:
        """Yield the span without its leading and trailing blanks; nothing if only blanks are in it."""
        inside = self.text[start:end]
        if inside.strip():
            yield start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip())

    def _start_tag(self, match: re.Match[str]) -> Iterator[Span]:
        name = match["start"]
        self.names.add(name)
        secret = self.secret or is_secret(name.rpartition(":")[2])
        start, end = match.span("attributes")
        attributes = [
            (attribute[1], start + attribute.start(2) + 1, start + attribute.end(2) - 1)
            for attribute in re.finditer(_ATTRIBUTE, match["attributes"])
        ]
        # a tag that names a secret in its key or name: any other value in it may be that secret
        named = any(attribute in ("key", "name") and is_secret(self.text[a:b]) for attribute, a, b in attributes)
        if secret:
            yield from self._all(start, end)
        for attribute, begin, behind in () if secret else attributes:
            if is_secret(attribute) or (named and attribute not in ("key", "name")):
                yield begin, behind
            else:
                yield from _in_value(self.text[begin:behind], begin)
        if not match["empty"]:
            self.secret = secret or (named and name in ("property", "param"))
            self.open.append((name, self.secret))

    def _torn(self, at: int) -> Iterator[Span]:
        """Yield suspected secrets from the offset where the text stops being well-formed.

        All text is suspect except tags of elements whose names occurred before.
        """
        suspect = re.compile(rf"(?i){_WORD}|\bENC\(|{_USER}").search(self.text, at)
        start = at
        if not self.secret and not self.text.startswith("<!", at):
            if suspect is None:
                return
            line = self.text.rfind("\n", at, suspect.start())
            # a secret may have lost its start tag
            start = line + 1 if line >= 0 else self.last_text if self.text.startswith("</", at) else at
        last = start
        for tag in () if self.secret else re.compile(r"</?([^\s/<>=\"'!?]+)>?").finditer(self.text, start):
            if tag[1] in self.names:
                yield from self._all(last, tag.start())
                last = tag.end()
        yield from self._all(last, len(self.text))
