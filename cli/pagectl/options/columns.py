"""The words that options about columns take."""

from __future__ import annotations

BODIES = ("none", "size", "sha256", "text", "value", "base64", "hex")
"""Forms of a body: ``pages decode --body``."""

SPLITS = ("address", "store", "store_address", "protocol", "page", "priority", "durable", "type_name")
"""Columns that a table can be split by: those with one value for each message; ``export --partition-by``."""
