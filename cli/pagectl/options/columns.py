"""The words that options about columns take."""

from __future__ import annotations

BODIES = ("none", "size", "sha256", "text", "value", "base64", "hex")
"""Forms of a body: ``pages decode --body``."""

SPLITS = ("address", "store", "store_address", "protocol", "page", "priority", "durable", "type_name")
"""Columns that a table can be split by: those with one value for each message."""

ORIGIN_COLUMNS = ("where", "queues_state")
"""Of commands that read messages wherever they lie."""

COLUMNS = (
    "sent", "expires", "expired", "queue_names", "acked_by_names", "outstanding_names", "correlation_id", "file",
    "outstanding", "store", "store_address", "page", "number", "offset", "length", "tx", "queues", "acked_by",
    "large_type", "persister", "protocol", "id", "address", "durable", "priority", "timestamp", "expiration", "user_id",
    "type", "type_name", "large", "large_id", "large_file", "large_size", "properties",
    "property_types", "amqp", "damage",
    "body_size", "body_sha256", "body_text", "body_value", "body_base64", "body_hex", "body_error",
    *ORIGIN_COLUMNS,
)  # fmt: skip
"""Columns of messages: ``pages decode --columns``; beside them ``properties.NAME`` and fields of ``amqp``."""

FLEET_SPLITS = ("broker", *SPLITS, "day", "hour")
"""The same, and what tables of several brokers have; ``export --partition-by``."""

MESSAGE_SPLITS = (*SPLITS, "queue", "day", "hour")
"""What ``pages decode --partition-by`` splits by."""
