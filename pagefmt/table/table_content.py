"""What a table of a fleet has a row for. Apart from the tables: a command line lists these without their libraries."""

from __future__ import annotations

from enum import StrEnum


class TableContent(StrEnum):
    """What the rows of a table are.

    ``outstanding``: queues with what is outstanding in pages. ``acknowledgements``: of messages in pages, from the
    journal.
    """

    MESSAGES = "messages"
    PAGES = "pages"
    OUTSTANDING = "outstanding"
    DAMAGE = "damage"
    ACKNOWLEDGEMENTS = "acknowledgements"

    @property
    def of_messages(self) -> bool:
        """Return whether a row is a message."""
        return self is TableContent.MESSAGES


class StoredIn(StrEnum):
    """Where messages are looked for; ``live``: everywhere where a broker that starts finds some."""

    LIVE = "live"
    PAGES = "pages"
    JOURNAL = "journal"
    HISTORY = "history"


class LakeFormat(StrEnum):
    """What says which files a table has: the folder, or a log in it."""

    PARQUET = "parquet"
    DELTA = "delta"
    ICEBERG = "iceberg"


class WriteMode(StrEnum):
    """What to do if the table exists."""

    ERROR = "error"
    APPEND = "append"
    OVERWRITE = "overwrite"
    PARTITIONS = "overwrite-partitions"


class Compression(StrEnum):
    """Codecs of Parquet files."""

    ZSTD = "zstd"
    SNAPPY = "snappy"
    GZIP = "gzip"
    LZ4 = "lz4"
    NONE = "none"
