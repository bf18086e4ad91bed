"""What ``--fix`` changes, as a unified diff; secrets are hidden in it as everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from brokerconf.instance.recognition import ConfigurationForm
from brokerconf.linting.fixing import RepairedText
from brokerconf.reading.secrets import hidden_in_markup, hidden_in_properties, without

from pagectl.terminal.sanitise import one_line


def lint_diff(name: str, text: RepairedText) -> Iterator[str]:
    """The lines of the diff of one file; of objects that may hold any secret only those that change."""
    markup, properties = text.form is ConfigurationForm.XML, text.form is ConfigurationForm.PROPERTIES
    before, after = (_lines(each, markup) for each in (text.before, text.after))
    for line in unified_diff(before, after, name, name, lineterm="", n=3 if markup or properties else 0):
        yield f"{one_line(line)}\n"


def _lines(text: str, markup: bool) -> list[str]:
    """Without their ends, which no repair changes."""
    hidden = hidden_in_markup(text) if markup else hidden_in_properties(text)
    return [line.removesuffix("\r") for line in without(text, hidden).split("\n")]
