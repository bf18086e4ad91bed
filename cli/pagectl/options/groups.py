"""Options that go together: a parameter of a command whose type is a group stands for the options of its fields.

A group is a frozen dataclass below ``OptionGroup``; its fields are typed like parameters of a command, each with a
default.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, get_type_hints

from pagectl.options.configuration import ConfigurationOptions, configuration_options
from pagectl.options.formats import TableFormat
from pagectl.options.shared import (
    AcceptLostOption,
    BackupDirOption,
    BrokerXmlOption,
    CwdOption,
    DefineOption,
    DryRunOption,
    EditionOption,
    HeapOption,
    InPlaceOption,
    ListColumnsOption,
    ListLimitOption,
    ListSortOption,
    NoBackupOption,
    OutOption,
    ProfileOption,
    PropertiesOption,
    ServerOption,
    TableFormatOption,
)
from pagectl.running.exits import CallError


@dataclass(frozen=True)
class OptionGroup:
    """Options that several commands have together."""


@dataclass(frozen=True)
class ListOptions(OptionGroup):
    """What a list is to be: its format, and which columns and rows of it, in which order."""

    form: TableFormatOption = TableFormat.text
    columns: ListColumnsOption = None
    sort: ListSortOption = None
    limit: ListLimitOption = None


@dataclass(frozen=True)
class BrokerOptions(OptionGroup):
    """What says where the directories of a broker are, beside DIR."""

    broker_xml: BrokerXmlOption = None
    properties: PropertiesOption = None
    profile: ProfileOption = None
    server: ServerOption = None

    def reading(self, edition: EditionOption = None, **others: Any) -> ConfigurationOptions:
        """How its configuration is read; raises ``CallError``."""
        return configuration_options(
            edition, properties=self.properties, profile=self.profile, server=self.server, **others
        )


@dataclass(frozen=True)
class CompactionOptions(OptionGroup):
    """Whether a compaction is only planned, or where it writes and what it keeps."""

    out: OutOption = None
    in_place: InPlaceOption = False
    backup_dir: BackupDirOption = None
    no_backup: NoBackupOption = False
    dry_run: DryRunOption = False
    accept_lost: AcceptLostOption = False

    def check(self) -> None:
        """Raise ``CallError`` if options contradict one another."""
        if self.out is not None and self.in_place:
            raise CallError("--out and --in-place cannot be combined")
        if (self.backup_dir is not None or self.no_backup) and not self.in_place:
            raise CallError("--backup-dir and --no-backup need --in-place")
        if self.backup_dir is not None and self.no_backup:
            raise CallError("--backup-dir and --no-backup cannot be combined")

    @property
    def changing(self) -> bool:
        """Whether something is written."""
        return (self.in_place or self.out is not None) and not self.dry_run

    @property
    def replacing(self) -> bool:
        """Whether files in the directory itself are replaced."""
        return self.in_place and not self.dry_run

    @property
    def keeps_backup(self) -> bool:
        """Whether ``--in-place`` keeps, or would keep, the files that it replaces."""
        return not self.no_backup and self.out is None


@dataclass(frozen=True)
class DecidingOptions(OptionGroup):
    """What decides how a configuration is read that was named itself."""

    edition: EditionOption = None
    heap: HeapOption = None
    properties: PropertiesOption = None
    profile: ProfileOption = None
    server: ServerOption = None

    def reading(self, **others: Any) -> ConfigurationOptions:
        """The options as typed, understood; raises ``CallError``."""
        return configuration_options(**vars(self), **others)


@dataclass(frozen=True)
class ConfigFileOptions(DecidingOptions):
    """The same with all that a broker is started with."""

    cwd: CwdOption = None
    define: DefineOption = None


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options of each group in its place."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, OptionGroup)}
    if not groups:
        return command

    @wraps(command)
    def called(**given: Any) -> Any:
        for name, group in groups.items():
            given[name] = group(**{option: given.pop(option) for option in get_type_hints(group)})
        return command(**given)

    def parameters() -> Iterator[inspect.Parameter]:
        for one in inspect.signature(command).parameters.values():
            if one.name not in groups:
                yield one.replace(annotation=hints[one.name])
                continue
            for option, hint in get_type_hints(groups[one.name], include_extras=True).items():
                yield one.replace(name=option, annotation=hint, default=getattr(groups[one.name], option))

    vars(called)["__signature__"] = inspect.Signature(list(parameters()))
    return called
