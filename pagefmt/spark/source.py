"""The Spark data source ``artemis-pages``.

    spark.dataSource.register(PageFiles)
    spark.read.format("artemis-pages").load("/var/lib/broker/data")

``load`` takes a data, paging or store directory, or a page file, also below a URL or inside of an archive, or a pattern
of such paths; every machine of the cluster must see local ones under the same path. ``readStream`` follows paging
directories (see ``pagefmt.spark.stream``).
Options: ``brokers`` (a list, see ``pagefmt.directory.fleet``), ``content`` (of ``TableContent``), ``body`` (none, size,
text, value, base64), ``where`` (a selector), ``columns`` (names by commas: no more is read than they need; Spark does
not tell a source which columns a query uses), ``paging``, ``journal``, ``bindings`` (directories of the one broker that
were moved apart), ``damage`` (true or a name: a column ``damage`` or of that name, and one row for each damaged page
and for each broker that cannot be read). Damage that is not asked for, brokers that cannot be read, and what is not
known of journal and bindings, is logged as a warning.

With ``spark.sql.python.filterPushdown.enabled`` (Spark from 4.1 on) filters on ``broker``, ``store``, ``store_address``
and ``page`` leave out files, and those on headers (``timestamp``, ``sent``, ``address``, ``priority``, ``id`` …) rows
before properties and bodies are made.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.locate import stores
from pagefmt.errors import PageFmtError
from pagefmt.spark.groups import PageGroup, Piece, grouped, pieces_of, pruned
from pagefmt.spark.options import NAME, BadOption, SourceOptions, created_options, kept_options
from pagefmt.spark.rows import rows_of, shown, tell
from pagefmt.spark.stream import PageFilesStream
from pagefmt.storage.interruptible_calls import thread_pool
from pagefmt.storage.remote_paths import archive_now
from pagefmt.table.row_filters import EQUAL, IN, PREFIX, ColumnTest

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType


_LISTED_AT_ONCE: Final = 16
_LOG: Final = logging.getLogger(__name__)


class PageFiles(DataSource):
    """All messages of paging directories as a table; ``docs/message-table.md`` has it column by column."""

    @classmethod
    def name(cls) -> str:
        """Return the format's name for ``spark.read.format``."""
        return NAME

    def schema(self) -> StructType:
        """Return the columns that the options ask for."""
        from pyspark.sql.pandas.types import from_arrow_schema

        created = created_options(dict(self.options))
        schema: StructType = from_arrow_schema(SourceOptions.of(created or dict(self.options)).schema())
        if (
            created is not None
        ):  # Spark passes a table's columns to its queries but not its options, so the first column carries them
            schema.fields[0].metadata = {NAME: json.dumps(created)}
        return schema

    def reader(self, schema: StructType) -> PageFilesReader:
        """Return the reader of one query."""
        return PageFilesReader(self._options(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        """Return the reader of one stream."""
        return PageFilesStream(self._options(schema))

    def _options(self, schema: StructType) -> SourceOptions:
        options = kept_options(dict(self.options), schema.fields[0].metadata or {})
        checked = SourceOptions.of(options)
        if schema.names != checked.schema().names:
            raise BadOption(
                "the columns differ from those that the options give: leave them out, or create the table again"
            )
        return checked


class FilterPushing:
    """The ``pushFilters`` of a reader, which notes filters that exclude files or rows; Spark applies all of them again.

    Spark ends a query whose source takes filters if ``spark.sql.python.filterPushdown.enabled`` is off (the default),
    so that no filter is lost. Here none is lost: to Spark this looks like a source that takes none.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reader: PageFilesReader) -> None:
        self.reader = reader

    def __call__(self, filters: list[Filter]) -> list[Filter]:
        """Note the filters that exclude pages. Return all filters, because Spark has to apply them to rows."""
        tests = tuple(test for pushed in filters if (test := column_test(pushed)) is not None)
        self.reader.spec = replace(self.reader.spec, tests=tests)
        return filters


_OPERATORS: Final = {
    "EqualTo": EQUAL, "GreaterThan": ">", "GreaterThanOrEqual": ">=", "LessThan": "<", "LessThanOrEqual": "<=",
    "In": IN, "StringStartsWith": PREFIX,
}  # fmt: skip


def column_test(spark_filter: Filter) -> ColumnTest | None:
    """Return a filter of Spark as a test, or None if no test is equivalent."""
    operator = _OPERATORS.get(type(spark_filter).__name__)
    value: Any = getattr(spark_filter, "value", None)
    path: tuple[str, ...] = getattr(spark_filter, "attribute", ())
    if operator == IN:  # Spark gives a list, in which nulls may be
        value = tuple(member for member in value if member is not None) or None
    if operator is None or len(path) != 1 or not isinstance(value, Hashable) or value is None:
        return None
    return ColumnTest(path[0], operator, value)


class PageFilesReader(DataSourceReader):
    """Created where the query is planned, which lists pages; tasks read journals and bindings."""

    def __init__(self, options: SourceOptions) -> None:
        self.brokers, self.spec, self.form = options.brokers, options.spec, options.schema()
        self.damage = options.damage

    @property
    def pushFilters(self) -> FilterPushing:  # noqa: N802 (Spark's name)
        """Return the callable that takes filters; Spark calls this from 4.1 on."""
        return FilterPushing(self)

    def partitions(self) -> list[PageGroup]:
        """Return the pages in groups, one for each task."""
        with thread_pool(min(_LISTED_AT_ONCE, len(self.brokers))) as pool:
            pieces_of_brokers = pool.map(self._pieces, self.brokers)
            return grouped([*pruned((piece for pieces in pieces_of_brokers for piece in pieces), self.spec.tests)])

    def _pieces(self, broker: FleetBroker) -> list[Piece]:
        try:
            broker = replace(broker, archive=archive_now(broker.place.given))
            return list(pieces_of(broker, stores(broker.place), self.spec.content, self.spec.within))
        except (PageFmtError, OSError) as err:
            if len(self.brokers) == 1:
                raise
            _LOG.warning("%s: %s", broker.name, err)
            return []

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a group; runs in the task."""
        assert isinstance(partition, PageGroup)
        for piece in partition.pieces:
            tell(piece.broker, self.spec)
            yield from shown(rows_of(piece, self.spec), self.form, self.damage)
