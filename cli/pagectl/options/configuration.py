"""The options that decide how a configuration is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pagectl.options.shared import EditionChoice, JournalType, edition_of
from pagectl.options.sizes import size_of
from pagectl.running.exits import CallError
from pagefmt.editions import Edition


class ConfigurationOptions(NamedTuple):
    """Each wins over what the instance says.

    ``heap`` is in bytes; ``define`` holds system properties; ``properties`` are files or folders as ``artemis run
    --properties`` takes them; ``profile`` is one of a domain, ``server`` one of a messaging subsystem;
    ``journal``: what one of type ASYNCIO is on the broker's host. With ``names_environment``, variables of the
    environment are named and their values never read: for commands that show what a configuration says.
    """

    edition: Edition | None = None
    heap: int | None = None
    cwd: Path | None = None
    define: Mapping[str, str] = {}
    properties: tuple[str, ...] = ()
    profile: str | None = None
    server: str | None = None
    journal: JournalType | None = None
    names_environment: bool = False


def configuration_options(
    edition: EditionChoice | None = None,
    *,
    heap: str | None = None,
    cwd: Path | None = None,
    define: Iterable[str] | None = None,
    properties: Iterable[str] | None = None,
    profile: str | None = None,
    server: str | None = None,
    journal: JournalType | None = None,
) -> ConfigurationOptions:
    """Parse the options about configurations. Raise ``CallError`` for an invalid one."""
    if cwd is not None and not cwd.is_dir():
        raise CallError(f"--cwd {cwd}: no such folder; name the one that the broker is started in")
    return ConfigurationOptions(
        edition_of(edition),
        None if heap is None else size_of(heap, "--heap"),
        cwd,
        _definitions(define or ()),
        tuple(properties or ()),
        profile,
        server,
        journal,
    )


def _definitions(texts: Iterable[str]) -> dict[str, str]:
    """Parse ``NAME=VALUE`` texts into values by name. Raise ``CallError``."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise CallError(f"-D {text.partition('=')[0]}: write it as NAME=VALUE")
        values[name] = value
    return values
