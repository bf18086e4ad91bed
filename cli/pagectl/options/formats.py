"""Formats that several commands share."""

from __future__ import annotations

from enum import StrEnum


class TextOrJson(StrEnum):
    """Text, or one JSON document."""

    text = "text"
    json = "json"


class ListFormat(StrEnum):
    """Text, one JSON document, or a JSON object a line: of whatever lists."""

    text = "text"
    json = "json"
    jsonl = "jsonl"


class CheckFormat(StrEnum):
    """Formats of ``disk check``."""

    nagios = "nagios"
    text = "text"
    json = "json"
    prometheus = "prometheus"


class LintFormat(StrEnum):
    """Formats of ``config lint``."""

    text = "text"
    json = "json"
    sarif = "sarif"
    junit = "junit"
    github = "github"
    gitlab = "gitlab"


class ConvertTo(StrEnum):
    """Forms of a configuration."""

    xml = "xml"
    properties = "properties"
    json = "json"
    yaml = "yaml"


class PluginFormat(StrEnum):
    """Formats of ``disk forecast`` and ``messages check``."""

    nagios = "nagios"
    text = "text"
    json = "json"


class TableFormat(StrEnum):
    """As ``ListFormat``, or CSV: of what has a row for each item."""

    text = "text"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
