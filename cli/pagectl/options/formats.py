"""Formats that several commands share."""

from __future__ import annotations

from enum import StrEnum


class TextOrJson(StrEnum):
    """Text, or one JSON document."""

    text = "text"
    json = "json"


class TextOrJsonl(StrEnum):
    """Text, or a JSON object a line."""

    text = "text"
    jsonl = "jsonl"


class CheckFormat(StrEnum):
    """Formats of ``disk check``."""

    nagios = "nagios"
    text = "text"
    json = "json"
    prometheus = "prometheus"


class ForecastFormat(StrEnum):
    """Formats of ``disk forecast``."""

    nagios = "nagios"
    text = "text"
    json = "json"


class TextJsonOrCsv(StrEnum):
    """Text, one JSON document, or CSV."""

    text = "text"
    json = "json"
    csv = "csv"
