"""Entries of ``broker.properties`` written as text, JSON or YAML: the broker reads back the same entries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator

Steps = tuple[str, ...]
Tree = dict[str, "str | Tree"]
_PLAIN = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)
_NOT_ASCII = re.compile(r"[^\n -~]")
# no bean lies as deep by far
_DEEPEST = 100
_NO_TEXT = ("null", "true", "false")


def as_properties(pairs: Iterable[tuple[Steps, str]]) -> str:
    """Return a properties file with a line for each pair; non-ASCII characters are escaped."""
    return "".join(f"{_escaped(joined(steps), key=True)}={_escaped(value, key=False)}\n" for steps, value in pairs)


def as_json(pairs: Iterable[tuple[Steps, str]]) -> tuple[str, list[str]]:
    """Return nested objects, and the keys that cannot be in them: those of a value with keys below it."""
    tree, left = _tree(pairs)
    text = json.dumps(tree, indent=2, ensure_ascii=False) + "\n"
    return with_escapes(text, _utf16_escapes), left


def with_escapes(text: str, escape: Callable[[str], str]) -> str:
    """Return the text with an escape for each character that is not printable, except a newline.

    Printable excludes control, bidirectional and zero-width characters, surrogates and line separators
    (``str.isprintable``), so that the text steers no terminal.
    """
    return _NOT_ASCII.sub(lambda match: match[0] if match[0].isprintable() else escape(match[0]), text)


def as_yaml(pairs: Iterable[tuple[Steps, str]]) -> tuple[str, list[str]]:
    """Return nested mappings, and the keys that cannot be in them: those of a value with keys below it."""
    tree, left = _tree(pairs)
    return "".join(_lines(tree, "")) or "{}\n", left


def joined(steps: Steps) -> str:
    """Return the steps as one key; steps that contain dots are quoted."""
    return ".".join(_quoted(step) if "." in step or not step else _bracketed(step) for step in steps)


def _quoted(step: str) -> str:
    return f'"{step}"'


def _bracketed(step: str) -> str:
    """Return the step, quoted if it contains a bracket, which would begin a subscript.

    Steps with dots stay bare, because readers of trees add quotes to them.
    """
    return _quoted(step) if "." not in step and ("(" in step or "[" in step) else step


def _escaped(text: str, *, key: bool) -> str:
    text = "".join(_LETTERS.get(letter, letter) for letter in text)
    text = "".join(c if " " <= c <= "~" else _utf16_escapes(c) for c in text)
    return re.sub(r"[ =:]|^[#!]", r"\\\g<0>", text) if key else re.sub(r"^ ", r"\\ ", text)


_LETTERS = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}


def _units(letter: str) -> Iterator[int]:
    raw = letter.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2))


def _tree(pairs: Iterable[tuple[Steps, str]]) -> tuple[Tree, list[str]]:
    tree: Tree = {}
    left: list[str] = []
    for steps, value in pairs:
        at: Tree = tree
        if not 0 < len(steps) <= _DEEPEST:
            left.append(joined(steps))
            continue
        *above, last = map(_bracketed, steps)
        for step in above:
            below = at.setdefault(step, {})
            if isinstance(below, str):
                break
            at = below
        else:
            if isinstance(at.get(last), dict):
                left.append(joined(steps))
            else:
                at[last] = value
            continue
        left.append(joined(steps))
    return tree, left


def _lines(tree: Tree, indent: str) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, str):
            yield f"{indent}{_scalar(key, key=True)}: {_scalar(value, key=False)}\n"
        else:
            yield f"{indent}{_scalar(key, key=True)}:\n"
            yield from _lines(value, indent + "  ")


def _scalar(text: str, *, key: bool) -> str:
    number = not key and re.fullmatch(r"0|[1-9][0-9]{0,17}", text)
    if number or (_PLAIN.fullmatch(text) and text not in _NO_TEXT):
        return text
    return with_escapes(json.dumps(text, ensure_ascii=False), _yaml_escape)


def _utf16_escapes(letter: str) -> str:
    return "".join(f"\\u{unit:04x}" for unit in _units(letter))


def _yaml_escape(letter: str) -> str:
    code = ord(letter)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
