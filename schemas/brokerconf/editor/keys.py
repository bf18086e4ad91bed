"""Keys of ``broker.properties`` while they are written: in lines, in YAML, and in a custom resource's list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from brokerconf.editor.completion import Proposal, ProposalType
from brokerconf.editor.descriptions import setting_lines
from brokerconf.editor.hover import HoverText
from brokerconf.instance.recognition import ConfigurationForm
from brokerconf.schema.beans import ROOT, BeanProperty, beans, editions_with
from brokerconf.settings.settings_model import Scope, in_scope
from pagefmt.editions import NEWEST, Edition

_COLLECTIONS = ("List", "Set", "Map")
_STEP = re.compile(r'"[^"\n]*"?|[^."=:\s]+')
_YAML_KEY = re.compile(r"""([ ]*+)(?:- )?(?:(?:"([^"\n]*)"|'([^'\n]*)')[ ]*+|([^\s"'#:][^:\n]*+)):(?:\s|$)""")
_ITEM = re.compile(r"""[ ]*- ["']?""")
_SCOPES = {ROOT: Scope.BROKER, "AddressSettings": Scope.ADDRESS}
# Further up than this nothing is looked for that a line stands in.
_LINES = 20_000


class KeyAt(NamedTuple):
    """Key at an offset of a properties file: the word from ``start`` to ``stop``, and the names ``above`` it.

    ``is_value``: the word belongs to the key's value. ``nested``: the names are on lines of their own.
    """

    above: tuple[str, ...]
    start: int
    stop: int
    is_value: bool
    nested: bool


def key_at(text: str, offset: int, form: ConfigurationForm) -> KeyAt | None:
    """Return the key at an offset of a file in one of these forms; None in a comment, and where no property is."""
    begin, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
    line = text[begin : len(text) if end < 0 else end]
    if line.lstrip()[:1] in ("#", "!"):
        return None
    if form is ConfigurationForm.PROPERTIES:
        return _in_line(line, begin, offset, len(line) - len(line.lstrip()))
    above = _yaml_above(text, begin, len(line) - len(line.lstrip(" ")))
    item = _ITEM.match(line)
    if above and above[-1] == "brokerProperties" and item:
        return _in_line(line, begin, offset, item.end())
    if above and above[-1].endswith(".properties"):
        return _in_line(line, begin, offset, len(line) - len(line.lstrip()))
    if form is not ConfigurationForm.YAML:
        return None
    match = _YAML_KEY.match(line)
    if match and begin + match.end() <= offset:
        value = line[match.end() :].rstrip()
        return KeyAt((*above, _name(match)), begin + match.end(), begin + match.end() + len(value), True, True)
    start = begin + len(line) - len(line.lstrip(" \"'"))
    word = re.match(r"[^\s:\"']*", text[start:offset] + text[offset : offset + 200])
    return KeyAt(above, start, start + len(word[0] if word else ""), False, True)


def _in_line(line: str, begin: int, offset: int, start: int) -> KeyAt | None:
    """Return the key in a line ``key=value`` whose key begins at ``start``; None if the offset is before it."""
    equals = re.compile(r"[^\\=:]*(?:\\.[^\\=:]*)*").match(line, start)
    stop = equals.end() if equals else len(line)
    steps = [(match[0].strip('"'), match.start(), match.end()) for match in _STEP.finditer(line, start, stop)]
    at = offset - begin
    if at < start:
        return None
    if at > stop:
        value = line[stop + 1 :]
        first = stop + 1 + len(value) - len(value.lstrip())
        return KeyAt(tuple(name for name, _, _ in steps), begin + first, begin + len(line.rstrip()), True, False)
    step_at = next((step for step in steps if step[1] <= at <= step[2]), None)
    above = tuple(name for name, _, end in steps if end < at and (step_at is None or end < step_at[1]))
    first, last = (step_at[1], step_at[2]) if step_at else (at, at)
    return KeyAt(above, begin + first, begin + last, False, False)


def _yaml_above(text: str, begin: int, indent: int) -> tuple[str, ...]:
    """Return the keys above a line, by their indentation, the outermost first."""
    names: list[str] = []
    for line in reversed(text[:begin].split("\n")[-_LINES:]):
        match = _YAML_KEY.match(line)
        deep = len(line) - len(line.lstrip(" "))
        if match and deep < indent:
            names.append(_name(match))
            indent = deep
        if indent == 0:
            break
    return tuple(reversed(names))


def _name(match: re.Match[str]) -> str:
    return match[2] or match[3] or (match[4] or "").rstrip()


def _owner(edition: Edition, steps: tuple[str, ...]) -> tuple[str, BeanProperty | None]:
    """Return the class whose properties may follow these names, and the property that the last name denotes.

    The class is empty if a name of an entry is expected, or nothing at all.
    """
    classes, owner, inside, row = beans(max(edition, Edition.ARTEMIS_2_28)), ROOT, "", None
    for step in steps:
        if inside:
            entries = classes.get(inside, {}).get("*")
            owner, inside, row = ("", entries.made, None) if entries else (inside, "", None)
            continue
        row = classes.get(owner, {}).get(step)
        if row is None:
            return "", None
        owner, inside = ("", row.made) if row.type in _COLLECTIONS else (row.made or row.type, "")
    return owner if owner in classes and "*" not in classes[owner] else "", row


def key_proposals(text: str, offset: int, edition: Edition, form: ConfigurationForm) -> Iterator[Proposal]:
    """Yield the properties that may be named at an offset, or the words of the value there."""
    at = key_at(text, offset, form)
    if at is None:
        return
    owner, row = _owner(edition, at.above)
    if at.is_value:
        words = row.words or (("true", "false") if row.type in ("boolean", "Boolean") else ()) if row else ()
        for word in words:
            yield Proposal(word, ProposalType.VALUE, at.start, at.stop, word, word)
        return
    written = re.match(r"\s*[=:.]", text[at.stop : at.stop + 20]) is not None
    for bean in beans(max(edition, Edition.ARTEMIS_2_28)).get(owner, {}).values() if owner else ():
        if bean.name[0] in "=*":
            continue
        more = (":" if at.nested else "=") if _is_value(bean) else (":" if at.nested else ".")
        new = bean.name if written else bean.name + more + (" " if at.nested and _is_value(bean) else "")
        yield Proposal(
            bean.name,
            ProposalType.PROPERTY,
            at.start,
            at.stop,
            new,
            new,
            bean.type.replace("|", ", "),
            tuple(_lines(bean)),
        )


def _is_value(bean: BeanProperty) -> bool:
    return bean.type not in _COLLECTIONS and not bean.made


def _lines(bean: BeanProperty) -> Iterator[str]:
    """Yield the description of a property: that of its setting, else its type and editions."""
    settings = in_scope(_SCOPES[bean.owner]).values() if bean.owner in _SCOPES else ()
    setting = next((setting for setting in settings if setting.bean == bean.name), None)
    if setting is not None:
        yield from setting_lines(setting)
        return
    yield f"{bean.name} (of {bean.owner})"
    yield f"  type: {bean.type.replace('|', ', ')}" + (f" of {bean.made}" if bean.made else "")
    first, *_, last = (*editions_with(bean.owner, bean.name), NEWEST)
    yield f"  known: since {first.value}" + ("" if last is NEWEST else f", until {last.value}")


def key_hover(text: str, offset: int, edition: Edition, form: ConfigurationForm) -> HoverText | None:
    """Describe the property that is named at an offset, or whose value is there; return None without one."""
    at = key_at(text, offset, form)
    if at is None or at.start == at.stop:
        return None
    steps = at.above if at.is_value else (*at.above, text[at.start : at.stop].strip('"'))
    _, row = _owner(edition, steps)
    return HoverText(at.start, at.stop, tuple(_lines(row))) if row else None
