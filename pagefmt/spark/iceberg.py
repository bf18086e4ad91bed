"""An Iceberg table without a catalog: ``metadata/vN.metadata.json``, and ``version-hint.text`` with N.

A commit creates the file of the next version atomically: in a folder it is written under another name and linked to its
own, below a URL the store does this. Readers find it by the hint; if a run ended between the two, the hint is one
behind, and readers see the version before.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.conversions import to_bytes
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io import FileIO, InputFile, OutputFile
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema, assign_fresh_schema_ids
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import PrimitiveType

from pagefmt.spark.format_commit import (
    APPLICATION,
    ICEBERG_FILES,
    VERSION_HINT,
    FormatRefused,
    iceberg_version,
    named_for_others,
)
from pagefmt.storage.remote_outputs import StoredPath, whole_text

if TYPE_CHECKING:
    from pagefmt.spark.format_commit import FormatCommit, TablePart

_NAMES = "schema.name-mapping.default"
_RUN = f"{APPLICATION}-run"  # property that identifies a commit
_OWN = (APPLICATION, _RUN, _NAMES)  # the only properties that pyiceberg is given to act on
_CODE = re.compile(r"(?:^|[.-])py-|impl$|class(?:name)?$", re.IGNORECASE)  # in names of properties that name code


def _name(version: int) -> str:
    return f"{ICEBERG_FILES}/{iceberg_version(version)}"


def version_at(folder: Path) -> int:
    """Return the last version of the table, or 0 if there is none."""
    hint = folder / ICEBERG_FILES / VERSION_HINT
    version = int(hint.read_text("ascii")) if hint.exists() else 0
    while (folder / _name(version + 1)).exists():
        version += 1
    return version


def note_version(folder: Path) -> None:
    """Write the last version into the hint file. Raise ``OSError`` if this fails; the hint then names an older one."""
    try:
        whole_text(folder / ICEBERG_FILES / VERSION_HINT, str(version_at(folder)))
    except OSError as err:
        err.strerror = f"{err.strerror}; {VERSION_HINT} still names the previous version"
        raise


def metadata_at(folder: Path, version: int | None = None) -> TableMetadata:
    """Read a version, or the last one.

    Raises ``FormatRefused`` if it names code to run, or a place outside of the table's folder.
    """
    name = _name(version or version_at(folder))
    metadata = TableMetadataUtil.parse_raw((folder / name).read_text("utf-8"))
    for key in metadata.properties:
        if _CODE.search(key):
            raise FormatRefused(f"{folder / name}: the property {key} names code to run; remove it from the table")
    root = _root(folder)
    if metadata.location.rstrip("/") != root:
        raise FormatRefused(f"{folder}: the table was created at {metadata.location} and cannot be moved")
    for path in (snapshot.manifest_list for snapshot in metadata.snapshots):
        _inside(root, path or "")
    return metadata


def _root(folder: Path) -> str:
    """Return the location of a table."""
    return named_for_others(folder.absolute())[0].rstrip("/")


def _inside(root: str, location: str) -> str:
    """Return a location relative to the table's. Raises ``FormatRefused`` if it is not below it."""
    name = location.removeprefix(f"{root}/")
    if name == location or ".." in name.split("/"):
        raise FormatRefused(f"{root}: the table's metadata names {location!r}, which is outside of its folder")
    return name


class _MetadataFile(InputFile, OutputFile):
    """A small one, read and written at once."""

    def __init__(self, location: str, path: Path) -> None:
        super().__init__(location)
        self.path = path

    def __len__(self) -> int:
        return self.path.stat().st_size

    def exists(self) -> bool:
        return self.path.exists()

    def open(self, seekable: bool = True) -> BytesIO:
        return BytesIO(self.path.read_bytes())

    def to_input_file(self) -> InputFile:
        return self

    def create(self, overwrite: bool = False) -> BytesIO:
        return _Written(self.path)


class _Written(BytesIO):
    """What is written to a file when it is closed."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def close(self) -> None:
        if not self.closed:
            content = self.getvalue()
            super().close()
            _write(self.path, content)


def _write(path: Path, content: bytes) -> None:
    if isinstance(path, StoredPath):
        path.put(content)
        return
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


class FolderFiles(FileIO):
    """The files of a table by location, with a list of those that were created.

    ``folder``: where they are now, because a table may be written in another folder than its final one. ``root``: its
    final location. ``noting``: the file for the list, None if nothing is created.
    """

    def __init__(self, folder: Path, root: str, noting: Path | None = None) -> None:
        super().__init__()
        self.folder, self.root, self.noting = folder, root, noting
        self._made: list[str] = []
        self._lock = Lock()

    def _noted(self, location: str) -> Path:
        assert self.noting is not None
        name = _inside(self.root, location)
        with self._lock:  # manifests are made in threads
            self._made.append(name)
            whole_text(self.noting, "".join(f"{name_made}\n" for name_made in self._made))
        return self.folder / name

    def new_input(self, location: str) -> InputFile:
        """Return a file of the table to read."""
        return _MetadataFile(location, self.folder / _inside(self.root, location))

    def new_output(self, location: str) -> OutputFile:
        """Return a file of the table to write, which is noted for removal if the run fails."""
        return _MetadataFile(location, self._noted(location))

    def delete(self, location: str | InputFile | OutputFile) -> None:
        name = location if isinstance(location, str) else location.location
        (self.folder / _inside(self.root, name)).unlink(missing_ok=True)

    def create(self, location: str, content: bytes) -> None:
        """Create a file atomically. Raise ``FileExistsError`` if it exists."""
        path = self.folder / _inside(self.root, location)
        if isinstance(path, StoredPath):
            path.create(content)
            return
        new_file = self._noted(f"{location}.new")
        _write(new_file, content)
        os.link(new_file, path)
        new_file.unlink()


class FolderCatalog(NoopCatalog):
    """The catalog of the one table in a folder. ``metadata``: of its last version, with all properties."""

    def __init__(self, files: FolderFiles, version: int, metadata: TableMetadata) -> None:
        super().__init__(APPLICATION)
        self.files, self.version, self.metadata = files, version, metadata

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Write the next version of the metadata. Raise ``FormatRefused`` if another program has written it."""
        for requirement in requirements:
            requirement.validate(self.metadata)
        before = table.metadata_location if self.version else None
        fresh = update_table_metadata(self.metadata, updates, metadata_location=before)
        location = f"{self.files.root}/{_name(self.version + 1)}"
        try:
            self.files.create(location, fresh.model_dump_json(exclude_none=True).encode())
        except FileExistsError as err:
            raise FormatRefused(
                f"{self.files.root}: another program has committed to it meanwhile; export again"
            ) from err
        return CommitTableResponse.model_validate({"metadata": fresh, "metadata-location": location})


def commit_iceberg(commit: FormatCommit, noting: Path) -> None:
    """Commit files to the table, but leave the version hint unchanged.

    ``noting``: the file that takes names of files to remove if the commit fails. Raises ``FormatRefused``, ``OSError``
    and the errors of pyiceberg.
    """
    version, root = version_at(commit.folder), named_for_others(commit.table)[0].rstrip("/")
    files = FolderFiles(commit.folder, root, noting)
    if version:
        metadata = metadata_at(commit.folder, version)
    else:
        (commit.folder / ICEBERG_FILES).mkdir(parents=True, exist_ok=True)
        schema = _schema(commit.schema)
        metadata = new_table_metadata(
            schema,
            _partitions(schema, commit.splits),
            UNSORTED_SORT_ORDER,
            root,
            {_NAMES: schema.name_mapping.model_dump_json()},
        )
    catalog = FolderCatalog(files, version, metadata)
    table = Table((APPLICATION,), _without_properties(metadata), f"{root}/{_name(version)}", files, catalog)
    types = [commit.schema.field(name).type for name in commit.splits]
    with warnings.catch_warnings(), table.transaction() as changes:
        warnings.simplefilter("ignore")  # of a delete that finds nothing
        changes.set_properties({APPLICATION: str(commit.number), _RUN: commit.run})
        if commit.overwrite and metadata.current_snapshot() is not None:
            changes.delete(AlwaysTrue())
        if commit.parts:
            with changes.update_snapshot().fast_append() as append:
                for part in commit.parts:
                    partition = Record(*map(_typed, part.values, types))
                    append.append_data_file(_data_file(part, f"{root}/{part.path}", partition, metadata))


def data_files_at(folder: Path) -> list[str]:
    """Return the paths in the table of the data files that its last version has."""
    metadata = _without_properties(metadata_at(folder))
    files = FolderFiles(folder, _root(folder))
    table = Table((APPLICATION,), metadata, files.root, files, NoopCatalog(APPLICATION))
    return [_inside(files.root, task.file.file_path) for task in table.scan().plan_files()]


def _without_properties(metadata: TableMetadata) -> TableMetadata:
    """Return metadata without the properties of other programs: some make pyiceberg import and call what they name."""
    kept = {name: value for name, value in metadata.properties.items() if name in _OWN}
    return metadata.model_copy(update={"properties": kept})


def fits_iceberg(folder: Path, schema: pa.Schema, splits: Sequence[str]) -> bool:
    """Return whether the table has these columns and partitions."""
    metadata = metadata_at(folder)
    return metadata.schema().as_struct() == _schema(schema).as_struct() and [
        field.name for field in metadata.spec().fields
    ] == [*splits]


def _data_file(part: TablePart, path: str, partition: Record, metadata: TableMetadata) -> DataFile:
    schema, facts = metadata.schema(), part.facts

    def bounds(values: Mapping[str, int]) -> dict[int, bytes]:
        fields = ((schema.find_field(name), value) for name, value in values.items())
        return {
            field.field_id: to_bytes(field.field_type, value)
            for field, value in fields
            if isinstance(field.field_type, PrimitiveType)
        }

    data_file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=partition,
        record_count=facts.rows,
        file_size_in_bytes=facts.size,
        lower_bounds=bounds(facts.least),
        upper_bounds=bounds(facts.most),
    )
    data_file.spec_id = metadata.default_spec_id
    return data_file


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
