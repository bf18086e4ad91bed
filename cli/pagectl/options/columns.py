"""The words that options about columns take."""

from __future__ import annotations

# forms of a body in ``pages decode --body``
BODIES = ("none", "size", "sha256", "text", "value", "base64", "hex")

# columns by which a table can be partitioned: those with one value per message
SPLITS = ("address", "store", "store_address", "protocol", "page", "priority", "durable", "type_name")

# columns of commands that read messages from journal and pages
ORIGIN_COLUMNS = ("where", "queues_state")

# columns of ``pages decode --columns``, besides ``properties.NAME`` and fields of ``amqp``
COLUMNS = (
    "sent", "expires", "expired", "queue_names", "acked_by_names", "outstanding_names", "correlation_id", "file",
    "outstanding", "store", "store_address", "page", "number", "offset", "length", "tx", "queues", "acked_by",
    "large_type", "persister", "protocol", "id", "address", "durable", "priority", "timestamp", "expiration", "user_id",
    "type", "type_name", "large", "large_id", "large_file", "large_size", "properties",
    "property_types", "amqp", "damage",
    "body_size", "body_sha256", "body_text", "body_value", "body_base64", "body_hex", "body_error",
    *ORIGIN_COLUMNS,
)  # fmt: skip

# columns of ``export --partition-by``: also those that only tables of several brokers have
FLEET_SPLITS = ("broker", *SPLITS, "day", "hour")

# columns of ``pages decode --partition-by``
MESSAGE_SPLITS = (*SPLITS, "queue", "day", "hour")
