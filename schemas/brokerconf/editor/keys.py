"""Keys of ``broker.properties`` while they are being written: in lines, in YAML, and in a custom resource's list."""

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
    """A key at an offset: the names ``above``, the word there from ``start`` to ``stop``, and whether that is of its
    value. ``nested``: the names stand in lines of their own."""

    above: tuple[str, ...]
    start: int
    stop: int
    is_value: bool
    nested: bool


def key_at(text: str, offset: int, form: ConfigurationForm) -> KeyAt | None:
    """What stands at an offset of a file in one of these forms; None in a comment, and where no property stands."""
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
    found = _YAML_KEY.match(line)
    if found and begin + found.end() <= offset:
        value = line[found.end() :].rstrip()
        return KeyAt((*above, _name(found)), begin + found.end(), begin + found.end() + len(value), True, True)
    start = begin + len(line) - len(line.lstrip(" \"'"))
    word = re.match(r"[^\s:\"']*", text[start:offset] + text[offset : offset + 200])
    return KeyAt(above, start, start + len(word[0] if word else ""), False, True)


def _in_line(line: str, begin: int, offset: int, start: int) -> KeyAt | None:
    """In ``key=value``, of which the key begins at ``start``."""
    equals = re.compile(r"[^\\=:]*(?:\\.[^\\=:]*)*").match(line, start)
    stop = equals.end() if equals else len(line)
    steps = [(found[0].strip('"'), found.start(), found.end()) for found in _STEP.finditer(line, start, stop)]
    at = offset - begin
    if at < start:
        return None
    if at > stop:
        value = line[stop + 1 :]
        first = stop + 1 + len(value) - len(value.lstrip())
        return KeyAt(tuple(name for name, _, _ in steps), begin + first, begin + len(line.rstrip()), True, False)
    here = next((step for step in steps if step[1] <= at <= step[2]), None)
    above = tuple(name for name, _, end in steps if end < at and (here is None or end < here[1]))
    first, last = (here[1], here[2]) if here else (at, at)
    return KeyAt(above, begin + first, begin + last, False, False)


def _yaml_above(text: str, begin: int, indent: int) -> tuple[str, ...]:
    """The keys that a line stands under, by their indentation."""
    names: list[str] = []
    for line in reversed(text[:begin].split("\n")[-_LINES:]):
        found = _YAML_KEY.match(line)
        deep = len(line) - len(line.lstrip(" "))
        if found and deep < indent:
            names.append(_name(found))
            indent = deep
        if indent == 0:
            break
    return tuple(reversed(names))


def _name(found: re.Match[str]) -> str:
    return found[2] or found[3] or (found[4] or "").rstrip()


def _owner(edition: Edition, steps: tuple[str, ...]) -> tuple[str, BeanProperty | None]:
    """The class whose properties may come behind these names, and the property that the last of them names.

    The class is empty where a name of an entry comes, or nothing at all.
    """
    known, owner, inside, row = beans(max(edition, Edition.ARTEMIS_2_28)), ROOT, "", None
    for step in steps:
        if inside:
            entries = known.get(inside, {}).get("*")
            owner, inside, row = ("", entries.made, None) if entries else (inside, "", None)
            continue
        row = known.get(owner, {}).get(step)
        if row is None:
            return "", None
        owner, inside = ("", row.made) if row.type in _COLLECTIONS else (row.made or row.type, "")
    return owner if owner in known and "*" not in known[owner] else "", row


def key_proposals(text: str, offset: int, edition: Edition, form: ConfigurationForm) -> Iterator[Proposal]:
    """The properties that may be named at an offset, or the words of the value there."""
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
    for one in beans(max(edition, Edition.ARTEMIS_2_28)).get(owner, {}).values() if owner else ():
        if one.name[0] in "=*":
            continue
        more = (":" if at.nested else "=") if _is_value(one) else (":" if at.nested else ".")
        new = one.name if written else one.name + more + (" " if at.nested and _is_value(one) else "")
        yield Proposal(
            one.name, ProposalType.PROPERTY, at.start, at.stop, new, new, one.type.replace("|", ", "),
            tuple(_lines(one)),
        )  # fmt: skip


def _is_value(one: BeanProperty) -> bool:
    return one.type not in _COLLECTIONS and not one.made


def _lines(one: BeanProperty) -> Iterator[str]:
    """What is known of a property: as a setting, else its type and editions."""
    known = in_scope(_SCOPES[one.owner]).values() if one.owner in _SCOPES else ()
    setting = next((setting for setting in known if setting.bean == one.name), None)
    if setting is not None:
        yield from setting_lines(setting)
        return
    yield f"{one.name} (of {one.owner})"
    yield f"  type: {one.type.replace('|', ', ')}" + (f" of {one.made}" if one.made else "")
    first, *_, last = (*editions_with(one.owner, one.name), NEWEST)
    yield f"  known: since {first.value}" + ("" if last is NEWEST else f", until {last.value}")


def key_hover(text: str, offset: int, edition: Edition, form: ConfigurationForm) -> HoverText | None:
    """About the property that is named at an offset, or whose value stands there."""
    at = key_at(text, offset, form)
    if at is None or at.start == at.stop:
        return None
    steps = at.above if at.is_value else (*at.above, text[at.start : at.stop].strip('"'))
    _, row = _owner(edition, steps)
    return HoverText(at.start, at.stop, tuple(_lines(row))) if row else None
