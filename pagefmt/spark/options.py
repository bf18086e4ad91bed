"""The options of the data source and of an export: which brokers, and what of them."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa

from pagefmt.bytes.far_paths import any_path
from pagefmt.columns.column_tests import ColumnTest, header_tests
from pagefmt.columns.named_columns import OF_A_FLEET, TIME, NamedTable, NoSuchColumn
from pagefmt.columns.state_tables import SCHEMAS
from pagefmt.columns.table import TableQuery
from pagefmt.columns.table_body import TableBody
from pagefmt.columns.table_content import StoredIn, TableContent
from pagefmt.directory.fleet import FleetBroker, absolute, fleet_of, looked_for
from pagefmt.directory.locate import DataLocation, LocateError, LocationKind, locate
from pagefmt.errors import PageFmtError
from pagefmt.selector import parse

NAME: Final = "artemis-pages"
DAMAGE: Final = "damage"
_AROUND: Final = (("broker", "exported_at"), ("sent", "expires"))
"""Columns in front of those of a table of messages, and behind them."""
_NO_DIRECTORY: Final = (
    "no directory given; name one with load(DIR), several with the option brokers, and those of a table with "
    f"CREATE TABLE … USING `{NAME}` OPTIONS (…), without a list of columns"
)
_OF_TABLE: Final = "option."
"""What Spark puts before an option among the properties of a table."""
_SPARK_TIME: Final = pa.timestamp("us", "UTC")
_LOG: Final = logging.getLogger(__name__)


class BadOption(PageFmtError):
    """An option of the data source that is not understood."""


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What a table has; goes along with the tasks. ``exported_at``: ms. ``run``: tells one reading from another.

    ``within``: messages are looked for there alone. ``tests``: rows that do not pass may be left out.
    """

    content: TableContent = TableContent.MESSAGES
    within: StoredIn = StoredIn.LIVE
    body: TableBody = TableBody.SIZE
    where: str | None = None
    columns: tuple[str, ...] | None = None
    exported_at: int = 0
    run: str = ""
    tests: tuple[ColumnTest, ...] = ()

    def messages(self) -> NamedTable:
        """A table of messages. Raises ``NoSuchColumn``, and the selector's error."""
        where = None if self.where is None else parse(self.where)
        query = TableQuery(self.body, where, located=True, headers=header_tests(self.tests))
        before, behind = _AROUND
        names = (*before, *query.schema.names, *behind) if self.columns is None else self.columns
        return NamedTable.of(names, query, first=OF_A_FLEET)

    @property
    def schema(self) -> pa.Schema:
        """The columns. Raises as ``messages``."""
        if self.content.of_messages:
            return self.messages().schema
        every = SCHEMAS[self.content]
        for name in self.columns or ():
            if name not in every.names:
                raise NoSuchColumn(
                    f"{name}: a table of {self.content} has no such column; choose from {', '.join(every.names)}"
                )
        return every if self.columns is None else pa.schema([every.field(name) for name in self.columns])

    @classmethod
    def now(cls, **more: Any) -> TableSpec:
        """Of a reading that begins."""
        return cls(**more, exported_at=int(datetime.now(UTC).timestamp() * 1000), run=uuid4().hex[:12])


_PLACES: Final = frozenset(("path", "paths", "brokers"))
_KNOWN: Final = (
    _PLACES
    | {"damage", "paging", "journal", "bindings"}
    | {field.name for field in fields(TableSpec)} - {"exported_at", "run", "tests"}
)


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options, parsed. ``damage``: the column that tells what is damaged; empty for none."""

    brokers: tuple[FleetBroker, ...]
    spec: TableSpec
    damage: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> SourceOptions:
        """The options by name. Raises ``BadOption``, the selector's error, and ``LocateError`` of one path alone."""
        options = {name.lower(): value for name, value in given.items()}
        unknown = sorted(set(options) - _KNOWN)
        if unknown:
            raise BadOption(f"option {unknown[0]}: not known; choose from {', '.join(sorted(_KNOWN))}")
        content = _one_of(TableContent, options, "content", TableContent.MESSAGES)
        within = _one_of(StoredIn, options, "within", StoredIn.LIVE)
        body = _one_of(TableBody, options, "body", TableBody.SIZE)
        columns = options.get("columns")
        names = None if columns is None else tuple(dict.fromkeys(name.strip() for name in columns.split(",")))
        spec = TableSpec.now(content=content, within=within, body=body, where=options.get("where"))
        every = spec.schema
        if names is not None:
            wrong = next((name for name in names if not _has(replace(spec, columns=(name,)))), None)
            if wrong is not None:
                there = ", ".join(every.names)
                raise BadOption(f"option columns: {wrong!r} is none; with body {body} there are {there}")
            spec = replace(spec, columns=tuple(sorted(names, key=[*every.names, *names].index)))
        damage = options.get("damage", "false")
        damage = {"true": DAMAGE, "false": ""}.get(damage.lower(), damage)
        if damage in every.names:
            raise BadOption(f"option damage: a table of {content} has a column {damage} already; name another")
        return cls(_brokers(options), spec, damage)

    def schema(self) -> pa.Schema:
        """The columns of the table as Spark has them: nullable, and times in microseconds."""
        every = [*self.spec.schema, *([pa.field(self.damage, pa.string())] if self.damage else [])]
        types = {TIME: _SPARK_TIME}
        return pa.schema([pa.field(each.name, types.get(each.type, each.type)) for each in every])


def created_options(properties: Mapping[str, str]) -> dict[str, str] | None:
    """The options of a table that ``CREATE TABLE`` makes, by its properties; None for any other reading.

    Raises ``BadOption``.
    """
    if "provider" not in properties:
        return None
    given = {
        name.removeprefix(_OF_TABLE): value for name, value in properties.items() if name.startswith(_OF_TABLE)
    }  # fmt: skip
    misplaced = sorted({name for name in properties if name.lower() in _KNOWN} - set(given) - {"path"})
    if misplaced:
        raise BadOption(f"TBLPROPERTIES: {misplaced[0]} is an option; name it in OPTIONS (…)")
    return given | ({"path": properties["path"]} if "path" in properties else {})


def kept_options(given: Mapping[str, str], metadata: Mapping[str, str]) -> dict[str, str]:
    """The options of a reading: those that it has itself, or that a table was created with."""
    kept = {} if _PLACES & {name.lower() for name in given} else json.loads(metadata.get(NAME, "{}"))
    return {**kept, **given}


def _has(spec: TableSpec) -> bool:
    try:
        return bool(spec.schema)
    except NoSuchColumn:
        return False


def _one_of(words: Any, options: Mapping[str, str], name: str, usual: Any) -> Any:
    try:
        return words(options.get(name, usual))
    except ValueError:
        raise BadOption(f"option {name}: {options[name]!r} is none of {', '.join(words)}") from None


def _brokers(options: Mapping[str, str]) -> tuple[FleetBroker, ...]:
    listing = options.get("brokers")
    paths = [*json.loads(options.get("paths", "[]")), *([options["path"]] if options.get("path") else [])]
    entries = fleet_of(paths, None if listing is None else Path(listing))
    if not entries:
        raise BadOption(_NO_DIRECTORY)
    found: list[FleetBroker] = []
    own = options if len(entries) == 1 else {}
    with looked_for((entry.path for entry in entries), lambda path: _location(path, own)) as place_of:
        for entry in entries:
            try:
                found.append(FleetBroker(entry.name, absolute(place_of(entry.path)), entry.edition))
            except LocateError as err:
                if len(entries) == 1:
                    raise
                _LOG.warning(str(err))
    if not found:
        raise BadOption("none of the brokers can be read")
    return tuple(found)


def _location(path: Path, options: Mapping[str, str]) -> DataLocation:
    """Of an instance the directories in their usual places: a configuration is for the caller to read."""
    try:
        place = locate(path)
    except LocateError:
        if not options.get("paging"):
            raise
        place = DataLocation(path, LocationKind.INSTANCE, None)
    return place._replace(
        paging=_apart(options.get("paging"), place.paging), journal=_apart(options.get("journal"), place.journal),
        bindings=_apart(options.get("bindings"), place.bindings),
    )  # fmt: skip


def _apart(given: str | None, usual: Path | None) -> Path | None:
    """As given, empty for none; else where it usually lies."""
    return usual if given is None else any_path(given) if given else None
