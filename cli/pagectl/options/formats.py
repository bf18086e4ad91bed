"""Formats that several commands share."""

from __future__ import annotations

from enum import StrEnum


class TextOrJson(StrEnum):
    text = "text"
    json = "json"


class TextOrJsonl(StrEnum):
    text = "text"
    jsonl = "jsonl"


class TextJsonOrCsv(StrEnum):
    text = "text"
    json = "json"
    csv = "csv"
