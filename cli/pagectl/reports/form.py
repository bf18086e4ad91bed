"""The form of every answer, and types that several have."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from pagefmt.describe.json_object import Count, Either, JsonObject
from pagefmt.editions import EDITION_NAMES

__all__ = ["Checksum", "Count", "EditionName", "Either", "PluginStatus", "Report"]


class Report(JsonObject):
    """An object of an answer."""


Checksum: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{8}$")]  # CRC-32C (Castagnoli) in hexadecimal digits
EditionName: TypeAlias = Annotated[str, Meta(extra_json_schema={"enum": list(EDITION_NAMES)})]
PluginStatus: TypeAlias = Literal["OK", "WARNING", "CRITICAL", "UNKNOWN"]
