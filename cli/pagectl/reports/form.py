"""The form of every answer, and types that several have."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from pagefmt.describe.json_object import Count, Either, JsonObject

__all__ = ["Checksum", "Count", "EditionName", "Either", "PluginStatus", "Report"]


class Report(JsonObject):
    """An object of an answer."""


Checksum: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{8}$")]  # CRC-32C (Castagnoli) in hexadecimal digits
EditionName: TypeAlias = Literal[
    "hornetq-2.4",
    "artemis-1.5",
    "artemis-2.4",
    "artemis-2.10",
    "artemis-2.17",
    "artemis-2.28",
    "artemis-2.44",
    "artemis-2.56",
]
PluginStatus: TypeAlias = Literal["OK", "WARNING", "CRITICAL", "UNKNOWN"]
