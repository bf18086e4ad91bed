"""Formats that several commands share."""

from __future__ import annotations

from enum import StrEnum


class TextOrJson(StrEnum):
    text = "text"
    json = "json"
