"""Options that go together: a parameter of a command whose type is a group stands for the options of its fields.

A group is a class below ``OptionGroup``; its fields are typed like parameters of a command, each with a default.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, dataclass_transform, get_type_hints

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


@dataclass_transform(frozen_default=True)
class OptionGroup:
    """Options that several commands have together.

    Fields are declared as those of a frozen dataclass are. No code is generated for a group, which would take half a
    millisecond of each start.
    """

    def __init__(self, **options: object) -> None:
        vars(self).update(options)

    def __eq__(self, other: object) -> bool:
        """Return whether all options have the same values; those that were not given have their defaults."""
        if type(other) is not type(self):
            return NotImplemented
        names = vars(self).keys() | vars(other).keys()
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def hints(cls) -> dict[str, Any]:
        """Return the options of the group with their types, in order."""
        return get_type_hints(cls, include_extras=True)


class ListOptions(OptionGroup):
    """What a list is to be: its format, and which columns and rows of it, in which order."""

    form: TableFormatOption = TableFormat.text
    columns: ListColumnsOption = None
    sort: ListSortOption = None
    limit: ListLimitOption = None


class BrokerOptions(OptionGroup):
    """What says where the directories of a broker are, beside DIR."""

    broker_xml: BrokerXmlOption = None
    properties: PropertiesOption = None
    profile: ProfileOption = None
    server: ServerOption = None

    def reading(self, edition: EditionOption = None, **others: Any) -> ConfigurationOptions:
        """Return how the broker's configuration is read. Raise ``CallError``."""
        return configuration_options(
            edition, properties=self.properties, profile=self.profile, server=self.server, **others
        )


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
        """Return whether something is written."""
        return (self.in_place or self.out is not None) and not self.dry_run

    @property
    def replacing(self) -> bool:
        """Return whether files in the directory itself are replaced."""
        return self.in_place and not self.dry_run

    @property
    def keeps_backup(self) -> bool:
        """Return whether ``--in-place`` keeps, or would keep, the files that it replaces."""
        return not self.no_backup and self.out is None


class DecidingOptions(OptionGroup):
    """What decides how a configuration is read that was named itself."""

    edition: EditionOption = None
    heap: HeapOption = None
    properties: PropertiesOption = None
    profile: ProfileOption = None
    server: ServerOption = None

    def reading(self, **others: Any) -> ConfigurationOptions:
        """Return how the configuration is read. Raise ``CallError``."""
        return configuration_options(**vars(self), **others)


class ConfigFileOptions(DecidingOptions):
    """The same with all that a broker is started with."""

    cwd: CwdOption = None
    define: DefineOption = None


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command with each parameter that is an option group replaced by the options of the group.

    The new function has their names in its signature, from which typer makes options, and builds the groups when
    called.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, OptionGroup)}
    if not groups:
        return command

    @wraps(command)
    def called(**values: Any) -> Any:
        for name, group in groups.items():
            values[name] = group(**{option: values.pop(option) for option in group.hints()})
        return command(**values)

    def parameters() -> Iterator[inspect.Parameter]:
        for parameter in inspect.signature(command).parameters.values():
            if parameter.name not in groups:
                yield parameter.replace(annotation=hints[parameter.name])
                continue
            for option, hint in groups[parameter.name].hints().items():
                yield parameter.replace(name=option, annotation=hint, default=getattr(groups[parameter.name], option))

    vars(called)["__signature__"] = inspect.Signature(list(parameters()))
    return called
