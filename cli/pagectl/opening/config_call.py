"""What the ``config`` commands are asked: options made into values, files and instances into bytes and surroundings."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from brokerconf.linting.lint import FileReport, Selection, Surroundings, lint, read_raw

from pagectl.options.sizes import size_of
from pagectl.running.exits import CallError
from pagefmt.editions import Edition

if TYPE_CHECKING:
    from brokerconf.evidence.host import Store
    from brokerconf.instance.instance import Instance
    from brokerconf.schema.validation import Schemas

STDIN = "-"


def selection(only: Iterable[str], ignored: Iterable[str]) -> Selection:
    """The rules named; raises ``CallError`` for a name that no rule has."""
    return Selection(frozenset(_named(only, "--only")), frozenset(_named(ignored, "--ignore")))


def _named(given: Iterable[str], option: str) -> list[str]:
    from brokerconf.linting.catalogue import known_ids

    names = [name.strip() for text in given for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known_ids():
            from difflib import get_close_matches

            close = get_close_matches(name, sorted(known_ids()), 1)
            meant = f"did you mean '{close[0]}'?" if close else "'pagectl config rules' lists them"
            raise CallError(f"{option} {name}: no such rule; {meant}")
    return names


def definitions(given: Iterable[str]) -> dict[str, str]:
    """``NAME=VALUE`` each; raises ``CallError``."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise CallError(f"-D {text.partition('=')[0]}: write it as NAME=VALUE")
        found[name] = value
    return found


def surroundings(
    edition: Edition | None, schema: Path | None, home: Path | None, heap: str | None, data: Path | None,
    cwd: Path | None, define: Iterable[str],
) -> Surroundings:  # fmt: skip
    """All that is the same for every file of a call; raises ``CallError`` or a room's own error."""
    import os

    if schema is not None and home is not None:
        raise CallError("--schema and --artemis-home: one of the two")
    if cwd is not None and not cwd.is_dir():
        raise CallError(f"--cwd {cwd}: no such folder; name the one that the broker is started in")
    properties = definitions(define)
    return Surroundings(
        edition=edition,
        schemas=_own_schemas(schema, home, edition),
        cwd=cwd,
        properties=properties,
        environment=dict(os.environ),
        heap=size_of(heap, "--heap"),
        stores=_stores(data),
    )


def _own_schemas(schema: Path | None, home: Path | None, edition: Edition | None) -> Schemas | None:
    if schema is None and home is None:
        return None
    from brokerconf.instance.own_schema import from_file, from_home

    from pagefmt.editions import NEWEST

    if home is not None:
        return from_home(home)
    assert schema is not None
    return from_file(schema, edition or NEWEST)


def _stores(data: Path | None) -> tuple[Store, ...] | None:
    if data is None:
        return None
    from pagectl.opening.config_host import stores_below

    return stores_below(data)


def default_files() -> list[str]:
    """What is linted where no file is named; raises ``CallError``."""
    import os

    instance = os.environ.get("ARTEMIS_INSTANCE")
    if not instance:
        raise CallError("name a configuration file or a broker instance; '-' reads standard input")
    return [instance]


def lint_one(name: str, around: Surroundings, chosen: Selection) -> FileReport:
    """One file, the configuration of an instance, or standard input; raises ``OSError`` or ``CallError``."""
    if name == STDIN:
        from brokerconf.reading.inclusion import LARGEST

        return lint(sys.stdin.buffer.read(LARGEST + 1), "stdin", around, chosen)
    path = Path(name)
    instance = instance_of(path)
    config = instance.config if instance else path
    shown = str(config) if path.is_dir() else name
    return lint(read_raw(config), shown, _with_instance(around, instance, config), chosen)


def instance_of(path: Path) -> Instance | None:
    """The instance of a folder; of a file only where a start profile lies beside it."""
    if not path.is_dir() and not (path.parent / "artemis.profile").is_file():
        return None
    from brokerconf.instance.instance import InstanceError, find_instance

    try:
        return find_instance(path)
    except InstanceError as err:
        raise CallError(str(err)) from err


def _with_properties(around: Surroundings, beside: Path) -> Surroundings:
    from brokerconf.reading.properties import PropertiesError, read_properties
    from brokerconf.reading.sources import plain_source

    try:
        entries, text = read_properties(beside), beside.read_text("utf-8", "replace")
    except PropertiesError as err:
        raise CallError(str(err)) from err
    return replace(around, entries=entries, beside=(plain_source(str(beside), text),))


def _with_instance(around: Surroundings, instance: Instance | None, config: Path) -> Surroundings:
    """What the instance says itself, where the call does not say it."""
    beside = config.parent / "broker.properties"
    if beside.exists():
        around = _with_properties(around, beside)
    if instance is None:
        return around
    from brokerconf.instance.installed import edition_of_instance

    from pagectl.opening.config_host import volumes_of

    edition = around.edition
    if edition is None and around.schemas is None:
        edition = edition_of_instance(config)
    return replace(
        around,
        edition=edition,
        heap=around.heap or instance.heap,
        properties={**instance.properties, **around.properties},
        host=lambda document: volumes_of(document, instance.root),
    )
