"""Files that a program renders before a broker reads them: Jinja, Go and Helm templates, Mustache, ERB, FreeMarker."""

from __future__ import annotations

import re

from brokerconf.instance.recognition import ConfigurationForm

_HINTS = ("{{", "{%", "<%", "<#")
_MARK = r"\{\{|\{%|<%|<#[a-z]"
# braces in quoted text of YAML may be those of alerts and dashboards
_IN_YAML = (
    r"(?m)(?:[:-][ \t]+|^[ \t]*)\{\{|\{%"
    r"|\{\{-?[ \t]*(?:\.(?:Values|Release|Chart|Capabilities|Files)\b|include |template )"
)
_COMMENTS = {
    ConfigurationForm.XML: r"(?s)<!--.*?-->",
    ConfigurationForm.PROPERTIES: r"(?m)^[ \t\f]*[#!].*$",
    ConfigurationForm.YAML: r"(?m)^[ \t]*#.*$",
    ConfigurationForm.KUBERNETES: r"(?m)^[ \t]*#.*$",
}


def template_mark(text: str, form: ConfigurationForm) -> int | None:
    """Return the offset of the first mark of a template outside of comments, or None if there is none."""
    if not any(hint in text for hint in _HINTS):
        return None
    comments = _COMMENTS.get(form)
    plain = re.sub(comments, lambda mark: " " * len(mark.group()), text) if comments else text
    mark = re.search(_IN_YAML if form in (ConfigurationForm.YAML, ConfigurationForm.KUBERNETES) else _MARK, plain)
    return mark.start() if mark else None
