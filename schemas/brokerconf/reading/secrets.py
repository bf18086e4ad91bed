"""The one place that hides passwords: no value leaves here with a secret in it.

What is hidden is told as spans, offsets of the first character and behind the last one: of a value, of a file of
properties, or of a file of markup, which need not be well-formed. Up to the place where it no longer is, elements say
what is secret; behind it everything is hidden from the line on that speaks of a secret.
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
    r"|(?<!abfs://)(?<!abfss://)(?P<token>[^/\s:@?<>\"'(),;]{1,400}))@"
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
# Nothing is searched further where none of these stands: most values have none.
_HINTS = (
    "%", "&#", "<!--", "pas", "pwd", "secret", "token", "credential", "key", "auth", "bearer", "basic", "enc(", "@",
    "\\", "sig", "eyj", "akia", "asia", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
)  # fmt: skip


def _hinted(text: str) -> bool:
    small = text.lower()
    return any(hint in small for hint in _HINTS)


@lru_cache(maxsize=10_000)
def is_secret(name: str) -> bool:
    """Whether a setting, attribute or property of that name holds a secret."""
    return bool(re.search(f"(?i){_WORD}", name)) and not re.search(_NOT_SECRET, name)


def masked(text: str, name: str = "") -> str:
    """A value without its secrets: the whole of it where the name speaks of one, else those in URLs and ``ENC()``."""
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
    """The text with ``****`` in place of each span."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], HIDDEN]
        at = end
    return "".join((*parts, text[at:]))


def hidden_in_markup(text: str) -> list[Span]:
    """The secrets of a configuration file as it was written, in order."""
    return list(_merged(sorted([*_Markup(text).spans(), *_private_keys(text)]))) if _hinted(text) else []


def hidden_in_properties(text: str) -> list[Span]:
    """The secrets of a file of properties, in order."""
    found: list[Span] = []
    for entry in re.finditer(_PROPERTY, text) if _hinted(text) else ():
        start, end = entry.span("rest")
        if entry["key"][:1] in ("#", "!"):
            found += _from_word(text, *entry.span())
            continue
        key = _plain(re.sub(_GOES_ON, "", entry["key"]))
        at = _glued_at(key)
        if at < len(key):
            # where escapes stand, none of it tells where that is
            found.append((entry.start("key") + (at if key == entry["key"] else 0), entry.end("key")))
        found += [(start, end)] if start < end and (is_secret(key) or at < len(key)) else _within(text, *entry.span())
    found += _private_keys(text) if found else ()
    return list(_merged(sorted(found)))


def _private_keys(text: str) -> Iterator[Span]:
    """Yield the private keys in PEM format, which go on over lines and elements."""
    if "PRIVATE KEY" in text:
        yield from (found.span("pem") for found in re.finditer(_SHAPED, text) if found["pem"])


def shown_key(key: str) -> str:
    """A key of properties without a secret that stands right behind it, no separator between."""
    at = _glued_at(key)
    return key[:at] + HIDDEN if at < len(key) else key


def without_glued(text: str, key: str) -> str:
    """A sentence about a key, or about the names in it, without such a secret."""
    shown = shown_key(key)
    if shown == key:
        return text
    for whole in (key, *sorted(re.findall(_NAMES, key), key=len, reverse=True)):
        text = text.replace(whole, shown_key(whole))
    return text


@lru_cache(maxsize=10_000)
def _glued_at(key: str) -> int:
    """Where in a key a secret may begin that lost its separator: behind a word for one, in a name that goes on.

    The second of several names is one that operators choose.
    """
    names = list(re.finditer(_NAMES, key)) if _hinted(key) else []
    for number, name in enumerate(names):
        word = re.search(f"(?i){_WORD}(?:word|phrase|code(?!c))?", name[0])
        at = name.start() + word.end() if word else len(key)
        if not re.fullmatch(_KNOWN_TAIL, key[at:]) and (number != 1 or len(names) == 2):
            return at
    return len(key)


def _in_value(text: str, offset: int = 0) -> Iterator[Span]:
    """The secrets in URLs, in defaults of placeholders and in ``ENC()``; all of it where escapes hide a name."""
    inside = [(offset + start, offset + end) for start, end in _as_written(text)]
    plain = _plain(text)
    hidden = plain != text and _hinted(plain) and len(list(_as_written(plain))) > len(inside)
    yield from [(offset, offset + len(text))] if hidden else inside


_KINDS = (
    "value", "scalar", "default", "encoded", "user", "token", "oracle", "bare", "pem", "header", "shape",
)  # fmt: skip


def _as_written(text: str) -> Iterator[Span]:
    for found in re.finditer(_IN_VALUE, text):
        kind = next(each for each in _KINDS if found[each] is not None)
        name = found["name"] or found["key"] or found["property"]
        if not name or name == "key" or is_secret(name):
            yield found.span(kind)


def _within(text: str, start: int, end: int) -> Iterator[Span]:
    return _in_value(text[start:end], start)


def _plain(text: str) -> str:
    """Without the escapes of properties and JSON, of URLs, and of markup."""
    if "\\" in text:
        text = re.sub(r"\\(?:u([0-9a-fA-F]{4})|)", lambda found: chr(int(found[1], 16)) if found[1] else "", text)
    if "%" not in text and "&" not in text:
        return text
    from html import unescape
    from urllib.parse import unquote

    return unquote(unescape(text))


def _from_word(text: str, start: int, end: int) -> Iterator[Span]:
    """Of a comment and its like: what stands behind the first word for a secret."""
    found = re.search(rf"(?i){_WORD}[\w.-]{{0,60}}", text[start:end])
    if found:
        yield start + found.end(), end
    yield from _in_value(text[start:end], start)


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
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
    """Goes through the text element by element."""

    def __init__(self, text: str) -> None:
        self.text = text
        # what is open, and whether all in it is secret
        self.open: list[tuple[str, bool]] = []
        self.names: set[str] = set()
        self.secret = False
        self.last_text = 0
        # what the element has said since its last tag: a comment may stand in the middle of a name
        self.said = ""

    def spans(self) -> Iterator[Span]:
        """All that is secret."""
        markup, at = re.compile(_MARKUP), 0
        while at < len(self.text):
            found = markup.match(self.text, at)
            if found is None or (found["end"] and (not self.open or self.open[-1][0] != found["end"])):
                yield from self._torn(at)
                return
            yield from self._of(found)
            at = found.end()

    def _of(self, found: re.Match[str]) -> Iterator[Span]:
        if found["start"] or found["end"]:
            self.said = ""
        if found["start"]:
            if self.secret:
                yield found.span()
            yield from self._start_tag(found)
        elif found["end"]:
            self.open.pop()
            self.secret = bool(self.open) and self.open[-1][1]
            if self.secret:
                yield found.span()
        else:
            kind = next(name for name in ("text", "section", "comment", "instruction") if found[name] is not None)
            start, end = found.span(kind)
            self.last_text = start
            if self.secret or self._goes_on(found[kind] if kind in ("text", "section") else ""):
                yield from self._all(start, end)
            elif kind in ("comment", "instruction") or re.search(rf"(?i){_WORD}[\w.-]{{0,60}}+\s*+[>\"']", found[kind]):
                yield from _from_word(self.text, start, end)
            else:
                yield from _in_value(found[kind], start)

    def _goes_on(self, text: str) -> bool:
        """Whether what stands in front of a comment and behind it is a secret only together."""
        before, self.said = self.said, (self.said + text)[-LONGEST_NAME:]
        if not before.strip() or not text.strip():
            return False
        apart = [*_in_value(before), *_in_value(text)]
        return len(list(_in_value(before + text))) > len(apart)

    def _all(self, start: int, end: int) -> Iterator[Span]:
        """All but the blanks around it."""
        inside = self.text[start:end]
        if inside.strip():
            yield start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip())

    def _start_tag(self, found: re.Match[str]) -> Iterator[Span]:
        name = found["start"]
        self.names.add(name)
        secret = self.secret or is_secret(name.rpartition(":")[2])
        start, end = found.span("attributes")
        attributes = [(one[1], start + one.start(2) + 1, start + one.end(2) - 1)
                      for one in re.finditer(_ATTRIBUTE, found["attributes"])]  # fmt: skip
        # a tag that names a secret in its key or name: any other value in it may be that secret
        named = any(one in ("key", "name") and is_secret(self.text[a:b]) for one, a, b in attributes)
        if secret:
            yield from self._all(start, end)
        for one, begin, behind in () if secret else attributes:
            if is_secret(one) or (named and one not in ("key", "name")):
                yield begin, behind
            else:
                yield from _in_value(self.text[begin:behind], begin)
        if not found["empty"]:
            self.secret = secret or (named and name in ("property", "param"))
            self.open.append((name, self.secret))

    def _torn(self, at: int) -> Iterator[Span]:
        """From where the text is no longer well-formed: all but the tags of elements that came before."""
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
