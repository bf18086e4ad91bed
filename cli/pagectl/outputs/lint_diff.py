"""What ``--fix`` changes, as a unified diff; secrets are hidden in it as everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from brokerconf.instance.recognition import ConfigurationForm
from brokerconf.linting.fixing import RepairedText
from brokerconf.reading.secrets import hidden_in_markup, hidden_in_properties, without
from brokerconf.reading.yaml_tree import YamlSource

from pagectl.terminal.sanitise import one_line


def lint_diff(name: str, text: RepairedText) -> Iterator[str]:
    """Yield the lines of a file's diff. For Kubernetes objects, which may contain secrets, only changed lines."""
    plain = text.form in (ConfigurationForm.XML, ConfigurationForm.PROPERTIES)
    before, after = (_lines(content, text.form) for content in (text.before, text.after))
    for line in unified_diff(before, after, name, name, lineterm="", n=3 if plain else 0):
        yield f"{one_line(line)}\n"


def _lines(text: str, form: ConfigurationForm) -> list[str]:
    """Without their ends, which no repair changes."""
    match form:
        case ConfigurationForm.XML:
            hidden = hidden_in_markup(text)
        case ConfigurationForm.PROPERTIES:
            hidden = hidden_in_properties(text)
        case _:
            hidden = YamlSource("", text).secrets()
    lines = without(text, hidden).split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
