"""An Iceberg table in a folder, without a catalog: ``metadata/vN.metadata.json``, and ``version-hint.text`` with N.

A commit is the file of the next version, made under another name and linked to its own, which fails where somebody else
has it. Readers find it by the hint; where a run ended between the two, the hint is one behind, and readers see the
version before.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.conversions import to_bytes
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema, assign_fresh_schema_ids
from pyiceberg.serializers import ToOutputFile
from pyiceberg.table import CommitTableResponse, StaticTable, Table
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import PrimitiveType

from pagefmt.bytes.writing import write_text
from pagefmt.spark.table_formats import APPLICATION

if TYPE_CHECKING:
    from pagefmt.spark.table_formats import FormatCommit, TablePart

_NAMES = "schema.name-mapping.default"


def _metadata(folder: Path, version: int) -> Path:
    return folder / "metadata" / f"v{version}.metadata.json"


def version_at(folder: Path) -> int:
    """The last version; 0 where there is no table."""
    hint = folder / "metadata" / "version-hint.text"
    version = int(hint.read_text("ascii")) if hint.exists() else 0
    while _metadata(folder, version + 1).exists():
        version += 1
    return version


def note_version(folder: Path) -> None:
    """The hint names the last version."""
    write_text(folder / "metadata" / "version-hint.text", str(version_at(folder)))


def iceberg_at(folder: Path) -> Table:
    """To be read."""
    return StaticTable.from_metadata(str(_metadata(folder, version_at(folder))))


class FolderFiles(PyArrowFileIO):
    """Files of a table that is made in another folder than where it will be; notes those that are made."""

    def __init__(self, folder: Path, table: Path, noting: Path) -> None:
        super().__init__()
        self.folder, self.table, self.noting = folder, table, noting

    def path(self, location: str) -> Path:
        """Where a file is now."""
        return self.folder / Path(location).relative_to(self.table)

    def new_input(self, location: str) -> PyArrowFile:
        """A file of the table."""
        found = super().new_input(str(self.path(location)))
        found._location = location
        return found

    def new_output(self, location: str) -> PyArrowFile:
        """The same."""
        with self.noting.open("a", encoding="utf-8") as noting:
            noting.write(f"{Path(location).relative_to(self.table)}\n")
        found = super().new_output(str(self.path(location)))
        found._location = location
        return found


class FolderCatalog(NoopCatalog):
    """Of the one table in a folder."""

    def __init__(self, files: FolderFiles, version: int) -> None:
        super().__init__(APPLICATION)
        self.files, self.version = files, version

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """The next version."""
        for each in requirements:
            each.validate(table.metadata)
        before = table.metadata_location if self.version else None
        fresh = update_table_metadata(table.metadata, updates, metadata_location=before)
        location = str(_metadata(self.files.table, self.version + 1))
        made = f"{location}.new"
        ToOutputFile.table_metadata(fresh, self.files.new_output(made))
        try:
            os.link(self.files.path(made), self.files.path(location))
        except FileExistsError as err:
            raise CommitFailedException(
                f"another program has committed version {self.version + 1}; run it again"
            ) from err
        self.files.path(made).unlink()
        note_version(self.files.folder)
        return CommitTableResponse.model_validate({"metadata": fresh, "metadata-location": location})


def commit_iceberg(given: FormatCommit, noting: Path) -> None:
    """Raises what pyiceberg does."""
    version = version_at(given.folder)
    files = FolderFiles(given.folder, given.table, noting)
    if version:
        metadata = iceberg_at(given.folder).metadata
    else:
        (given.folder / "metadata").mkdir(exist_ok=True)
        schema = _schema(given.schema)
        metadata = new_table_metadata(
            schema, _partitions(schema, given.splits), UNSORTED_SORT_ORDER, str(given.table),
            {_NAMES: schema.name_mapping.model_dump_json()},
        )  # fmt: skip
    at = str(_metadata(given.table, version))
    table = Table((APPLICATION,), metadata, at, files, FolderCatalog(files, version))
    types = [given.schema.field(name).type for name in given.splits]
    with warnings.catch_warnings(), table.transaction() as changes:
        warnings.simplefilter("ignore")  # of a delete that finds nothing
        changes.set_properties({APPLICATION: str(given.number)})
        if given.overwrite and metadata.current_snapshot() is not None:
            changes.delete(AlwaysTrue())
        if given.parts:
            with changes.update_snapshot().fast_append() as append:
                for each in given.parts:
                    partition = Record(*map(_typed, each.values, types))
                    append.append_data_file(_data_file(each, str(given.table / each.path), partition, metadata))


def fits_iceberg(folder: Path, schema: pa.Schema, splits: Sequence[str]) -> bool:
    """Whether the table has these columns and partitions."""
    metadata = iceberg_at(folder).metadata
    return (
        metadata.schema().as_struct() == _schema(schema).as_struct()
        and [each.name for each in metadata.spec().fields] == [*splits]
    )  # fmt: skip


def _data_file(part: TablePart, path: str, partition: Record, metadata: TableMetadata) -> DataFile:
    schema, facts = metadata.schema(), part.facts

    def bounds(values: Mapping[str, int]) -> dict[int, bytes]:
        fields = ((schema.find_field(name), value) for name, value in values.items())
        return {
            field.field_id: to_bytes(field.field_type, value)
            for field, value in fields if isinstance(field.field_type, PrimitiveType)
        }  # fmt: skip

    found = DataFile.from_args(
        content=DataFileContent.DATA, file_path=path, file_format=FileFormat.PARQUET, partition=partition,
        record_count=facts.rows, file_size_in_bytes=facts.size, lower_bounds=bounds(facts.least),
        upper_bounds=bounds(facts.most),
    )  # fmt: skip
    found.spec_id = metadata.default_spec_id
    return found


def _schema(schema: pa.Schema) -> Schema:
    return assign_fresh_schema_ids(NoopCatalog._convert_schema_if_needed(schema))


def _partitions(schema: Schema, splits: Sequence[str]) -> PartitionSpec:
    return PartitionSpec(
        *(
            PartitionField(schema.find_field(name).field_id, 1000 + n, IdentityTransform(), name)
            for n, name in enumerate(splits)
        )
    )


def _typed(value: str | None, form: pa.DataType) -> Any:
    return None if value is None else pa.scalar(value, pa.string()).cast(form).as_py()
