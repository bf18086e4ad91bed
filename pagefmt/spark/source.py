"""The Spark data source ``artemis-pages``.

    spark.dataSource.register(PageFiles)
    spark.read.format("artemis-pages").load("/var/lib/broker/data")

``load`` takes a data, paging or store directory, or a page file, or a pattern of such paths; every machine of the
cluster must see them under the same path. ``readStream`` follows paging directories (see ``pagefmt.spark.stream``).
Options: ``brokers`` (a list, see ``pagefmt.directory.fleet``), ``content`` (of ``TableContent``), ``body`` (none, size,
text, value, base64), ``where`` (a selector), ``columns`` (names by commas: no more is read than they need; Spark does
not tell a source which columns a query uses), ``paging``, ``journal``, ``bindings`` (directories of the one broker that
were moved apart), ``damage`` (true: a column ``damage``, and one row for each damaged page). Damage that is not asked
for, brokers that cannot be read, and what is not known of journal and bindings, is logged as a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.locate import stores
from pagefmt.errors import PageFmtError
from pagefmt.spark.groups import PageGroup, Piece, grouped, pieces_of
from pagefmt.spark.options import SourceOptions
from pagefmt.spark.rows import rows_of, shown, tell
from pagefmt.spark.stream import PageFilesStream

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


NAME: Final = "artemis-pages"
_LISTED_AT_ONCE: Final = 16
_LOG: Final = logging.getLogger(__name__)


class PageFiles(DataSource):
    """All messages of paging directories as a table; ``docs/message-table.md`` has it column by column."""

    @classmethod
    def name(cls) -> str:
        """The format to name in ``spark.read.format``."""
        return NAME

    def schema(self) -> StructType:
        """The columns that the options ask for."""
        from pyspark.sql.pandas.types import from_arrow_schema

        found: StructType = from_arrow_schema(SourceOptions.of(dict(self.options)).schema())
        return found

    def reader(self, schema: StructType) -> PageFilesReader:
        """Of one query."""
        return PageFilesReader(SourceOptions.of(dict(self.options)))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        """Of one stream."""
        return PageFilesStream(SourceOptions.of(dict(self.options)))


class PageFilesReader(DataSourceReader):
    """Created where the query is planned, which lists pages; tasks read journals and bindings."""

    def __init__(self, options: SourceOptions) -> None:
        self.brokers, self.spec, self.form = options.brokers, options.spec, options.schema()

    def partitions(self) -> list[PageGroup]:
        """The pages in groups, one a task."""
        with ThreadPoolExecutor(min(_LISTED_AT_ONCE, len(self.brokers))) as pool:
            found = pool.map(self._pieces, self.brokers)
            return grouped([piece for pieces in found for piece in pieces])

    def _pieces(self, broker: FleetBroker) -> list[Piece]:
        try:
            return list(pieces_of(broker, stores(broker.place), self.spec.content))
        except (PageFmtError, OSError) as err:
            if len(self.brokers) == 1:
                raise
            _LOG.warning("%s: %s", broker.name, err)
            return []

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of a group, where the task runs."""
        assert isinstance(partition, PageGroup)
        for piece in partition.pieces:
            tell(piece.broker, self.spec)
            yield from shown(rows_of(piece, self.spec), self.form)
