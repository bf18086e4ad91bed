"""The Spark data source ``artemis-pages``.

    spark.dataSource.register(PageFiles)
    spark.read.format("artemis-pages").load("/var/lib/broker/data")

``load`` takes a data, paging or store directory, or a page file; every machine of the cluster must see it under the
same path. ``readStream`` follows a paging directory (see ``pagefmt.spark.stream``). Options: ``body`` (none, size,
text, value, base64), ``where`` (a selector), ``columns`` (names by commas: no more is read than they need; Spark does
not tell a source which columns a query uses), ``paging``, ``journal``, ``bindings`` (directories that were moved
apart), ``damage`` (true: a column ``damage``, and one row for each damaged page). Damage that is not asked for, and
what is not known of the journal and the bindings, is logged as a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from pagefmt.outstanding.state import load_place
from pagefmt.spark.groups import PageGroup, SourceOptions, acknowledgements_of, groups_of, read_page
from pagefmt.spark.stream import PageFilesStream

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


NAME: Final = "artemis-pages"
_LOG: Final = logging.getLogger(__name__)


class PageFiles(DataSource):
    """All messages of a paging directory as a table; ``docs/message-table.md`` has it column by column."""

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
    """Created where the query is planned: journal and bindings are read there once and sent along to the tasks."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        place = options.location()
        state = load_place(place)
        for remark in [*(unknown.reason for unknown in state.known.unknown()), *state.known.lost()]:
            _LOG.warning(remark)
        self.journal = acknowledgements_of(state)
        self._groups = groups_of(place, state)

    def partitions(self) -> list[PageGroup]:
        """The pages in groups, one a task."""
        return self._groups

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of a group, where the task runs."""
        assert isinstance(partition, PageGroup)
        wanted = self.options.query()
        form = self.options.schema()
        for page in partition.pages:
            yield from read_page(page, wanted, form, self.journal)
