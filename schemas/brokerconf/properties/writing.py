"""Entries of ``broker.properties`` written as text, JSON or YAML: what the broker reads is what was given."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

Steps = tuple[str, ...]
Tree = dict[str, "str | Tree"]
_PLAIN = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)
# what breaks a line of YAML, or cannot stand in it
_UNSEEN = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")
# no bean lies as deep by far
_DEEPEST = 100
_NO_TEXT = ("null", "true", "false")


def as_properties(pairs: Iterable[tuple[Steps, str]]) -> str:
    """A line for each; all that is not ASCII as escapes."""
    return "".join(f"{_escaped(joined(steps), key=True)}={_escaped(value, key=False)}\n" for steps, value in pairs)


def as_json(pairs: Iterable[tuple[Steps, str]]) -> tuple[str, list[str]]:
    """Nested objects, and the keys that have no place there: a value with keys below it."""
    tree, left = _tree(pairs)
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n", left


def as_yaml(pairs: Iterable[tuple[Steps, str]]) -> tuple[str, list[str]]:
    """Nested mappings, and the keys that have no place there."""
    tree, left = _tree(pairs)
    return "".join(_lines(tree, "")) or "{}\n", left


def joined(steps: Steps) -> str:
    """The steps as one key, those with dots between quotes."""
    return ".".join(_quoted(step) if "." in step or not step else _bracketed(step) for step in steps)


def _quoted(step: str) -> str:
    return f'"{step}"'


def _bracketed(step: str) -> str:
    """A bracket begins a subscript; readers of trees put quotes around names with dots alone."""
    return _quoted(step) if "." not in step and ("(" in step or "[" in step) else step


def _escaped(text: str, *, key: bool) -> str:
    text = "".join(_LETTERS.get(letter, letter) for letter in text)
    text = "".join(c if " " <= c <= "~" else "".join(f"\\u{unit:04x}" for unit in _units(c)) for c in text)
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
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
