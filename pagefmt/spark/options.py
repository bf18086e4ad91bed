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

from pagefmt.directory.fleet import FleetBroker, absolute, fleet_of, looked_for
from pagefmt.directory.locate import DataLocation, LocateError, LocationKind, locate
from pagefmt.errors import PageFmtError
from pagefmt.selector import parse
from pagefmt.storage.remote_paths import any_path
from pagefmt.table.named_columns import OF_A_FLEET, TIME, NamedTable, NoSuchColumn
from pagefmt.table.row_filters import ColumnTest, header_tests
from pagefmt.table.state_tables import SCHEMAS
from pagefmt.table.table import TableQuery
from pagefmt.table.table_body import TableBody
from pagefmt.table.table_content import StoredIn, TableContent

NAME: Final = "artemis-pages"
DAMAGE: Final = "damage"
# columns before and after those of a table of messages
_AROUND: Final = (("broker", "exported_at"), ("sent", "expires"))
_NO_DIRECTORY: Final = (
    "no directory given; name one with load(DIR), several with the option brokers, and those of a table with "
    f"CREATE TABLE … USING `{NAME}` OPTIONS (…), without a list of columns"
)
_OF_TABLE: Final = "option."  # prefix of Spark for options among the properties of a table
_SPARK_TIME: Final = pa.timestamp("us", "UTC")
_LOG: Final = logging.getLogger(__name__)


class BadOption(PageFmtError):
    """An option of the data source that is not understood."""


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What a table contains; sent to the tasks. ``exported_at``: in ms. ``run``: identifies the reading.

    ``within`` restricts where messages are read. ``tests``: rows that do not pass may be left out. ``states``: of a
    history, only messages in one of these states; None: all.
    """

    content: TableContent = TableContent.MESSAGES
    within: StoredIn = StoredIn.LIVE
    body: TableBody = TableBody.SIZE
    where: str | None = None
    columns: tuple[str, ...] | None = None
    exported_at: int = 0
    run: str = ""
    tests: tuple[ColumnTest, ...] = ()
    states: tuple[str, ...] | None = None

    def messages(self) -> NamedTable:
        """Return the table of messages. Raise ``NoSuchColumn``, and ``SelectorError`` for the selector."""
        where = None if self.where is None else parse(self.where)
        query = TableQuery(
            self.body, where, located=True, headers=header_tests(self.tests), past=self.within is StoredIn.HISTORY
        )
        before, behind = _AROUND
        names = (*before, *query.schema.names, *behind) if self.columns is None else self.columns
        return NamedTable.of(names, query, first=OF_A_FLEET)

    @property
    def schema(self) -> pa.Schema:
        """Return the columns. Raise the errors of ``messages``."""
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
        """Return a specification with the current time and a new run id."""
        return cls(**more, exported_at=int(datetime.now(UTC).timestamp() * 1000), run=uuid4().hex[:12])


_PLACES: Final = frozenset(("path", "paths", "brokers"))
_KNOWN: Final = (
    _PLACES
    | {"damage", "paging", "journal", "bindings"}
    | {field.name for field in fields(TableSpec)} - {"exported_at", "run", "tests", "states"}
)


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options, parsed. ``damage``: the name of the column that describes damage; empty for none."""

    brokers: tuple[FleetBroker, ...]
    spec: TableSpec
    damage: str = ""

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> SourceOptions:
        """Return the options by name. Raise ``BadOption``, ``SelectorError``, and ``LocateError`` for a single path."""
        options = {name.lower(): value for name, value in texts.items()}
        unknown = sorted(set(options) - _KNOWN)
        if unknown:
            raise BadOption(f"option {unknown[0]}: not known; choose from {', '.join(sorted(_KNOWN))}")
        content = _one_of(TableContent, options, "content", TableContent.MESSAGES)
        within = _one_of(StoredIn, options, "within", StoredIn.LIVE)
        if within is StoredIn.HISTORY:
            raise BadOption("option within: 'pagectl export --in history' exports a history; choose another")
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
        """Return the columns as Spark has them: nullable, and times in microseconds."""
        every = [*self.spec.schema, *([pa.field(self.damage, pa.string())] if self.damage else [])]
        types = {TIME: _SPARK_TIME}
        return pa.schema([pa.field(field.name, types.get(field.type, field.type)) for field in every])


def created_options(properties: Mapping[str, str]) -> dict[str, str] | None:
    """Return the options of a table made by ``CREATE TABLE``, from its properties; None for any other reading.

    Raises ``BadOption``.
    """
    if "provider" not in properties:
        return None
    options = {name.removeprefix(_OF_TABLE): value for name, value in properties.items() if name.startswith(_OF_TABLE)}
    misplaced = sorted({name for name in properties if name.lower() in _KNOWN} - set(options) - {"path"})
    if misplaced:
        raise BadOption(f"TBLPROPERTIES: {misplaced[0]} is an option; name it in OPTIONS (…)")
    return options | ({"path": properties["path"]} if "path" in properties else {})


def kept_options(options: Mapping[str, str], metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a reading: its own, or those that its table was created with."""
    kept = {} if _PLACES & {name.lower() for name in options} else json.loads(metadata.get(NAME, "{}"))
    return {**kept, **options}


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
    """Locate the brokers of the options. One of several that cannot be located is left out with a warning.

    Raise ``BadOption`` if there is none, and ``LocateError`` for a single broker.
    """
    listing = options.get("brokers")
    paths = [*json.loads(options.get("paths", "[]")), *([options["path"]] if options.get("path") else [])]
    entries = fleet_of(paths, None if listing is None else Path(listing))
    if not entries:
        raise BadOption(_NO_DIRECTORY)
    brokers: list[FleetBroker] = []
    own = options if len(entries) == 1 else {}
    with looked_for((entry.path for entry in entries), lambda path: _location(path, own)) as place_of:
        for entry in entries:
            try:
                brokers.append(FleetBroker(entry.name, absolute(place_of(entry.path)), entry.edition))
            except LocateError as err:
                if len(entries) == 1:
                    raise
                _LOG.warning(str(err))
    if not brokers:
        raise BadOption("none of the brokers can be read")
    return tuple(brokers)


def _location(path: Path, options: Mapping[str, str]) -> DataLocation:
    """Return the directories of a path; those of an instance by their usual names, without its configuration."""
    try:
        place = locate(path)
    except LocateError:
        if not options.get("paging"):
            raise
        place = DataLocation(path, LocationKind.INSTANCE, None)
    return place._replace(
        paging=_apart(options.get("paging"), place.paging),
        journal=_apart(options.get("journal"), place.journal),
        bindings=_apart(options.get("bindings"), place.bindings),
    )


def _apart(option: str | None, usual: Path | None) -> Path | None:
    """Return the directory of an option: None for empty text, the usual directory without the option."""
    return usual if option is None else any_path(option) if option else None
