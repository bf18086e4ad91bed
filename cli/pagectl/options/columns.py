"""The words that options about columns take."""

from __future__ import annotations

# forms of a body in ``pages decode --body``
BODIES = ("none", "size", "sha256", "text", "value", "base64", "hex")

# columns by which a table can be partitioned: those with one value per message
SPLITS = ("address", "store", "store_address", "protocol", "page", "priority", "durable", "type_name")

# columns of commands that read messages from journal and pages
ORIGIN_COLUMNS = ("where", "queues_state")

# columns of messages in a history
TIME_COLUMNS = ("not_before", "not_after")

# columns of ``export --partition-by``: also those that only tables of several brokers have
FLEET_SPLITS = ("broker", *SPLITS, "day", "hour")

# columns of ``pages decode --partition-by``
MESSAGE_SPLITS = (*SPLITS, "queue", "day", "hour")
