"""Options and arguments that several commands share: one name, one type, one wording.

``tests/cli/test_command_tree.py`` walks the tree and finds whatever has the same name and is not the same.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer._types import TyperChoice

from pagectl.options.formats import ListFormat, TableFormat, TextOrJson
from pagectl.running.exits import CallError
from pagectl.terminal.streams import note
from pagefmt.editions import EDITION_NAMES, NEWEST, PRODUCT_RELEASES, Edition, release_named
from pagefmt.table.table_content import StoredIn

AUTO = "auto"
_RELEASES = f"{EDITION_NAMES[0]} … {EDITION_NAMES[-1]}, or a release such as 2.38, amq-7.12, eap-7.4, wildfly-31"
EditionChoice = Enum("EditionChoice", {name: name for name in (AUTO, *EDITION_NAMES)}, type=str)  # type: ignore[misc]


class _EditionType(TyperChoice[str]):
    """Editions by name; a release or a product that is none is the edition whose behaviour applies."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the edition of a name, with a note if the name is that of a release or a product."""
        if isinstance(value, Enum) or value in EditionChoice.__members__:
            return super().convert(value, param, ctx)
        named = release_named(str(value).lower())
        if named is None:
            self.fail(f"{value!r} is no release that is known; name {_RELEASES}", param, ctx)
        note(named.remark)
        return super().convert(named.edition.value, param, ctx)


def typed_path(text: str) -> Path:
    """Return DIR as it was typed: ``Path`` would take ``s3:///x``, which names no bucket, for bucket x."""
    from pagefmt.storage.remote_paths import any_path

    return any_path(text)


DirArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="DIR",
        parser=typed_path,
        help="Broker instance, data directory, paging directory, store folder or one page file "
        "[default: $ARTEMIS_INSTANCE].",
    ),
]
PlaceArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="DIR",
        parser=Path,
        help="Broker instance, data directory, or a directory of one [default: $ARTEMIS_INSTANCE].",
    ),
]
AnywayOption = Annotated[
    bool, typer.Option("--anyway", help="Answer although no broker starts with the configuration, with a warning.")
]
ConfigArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="broker.xml, broker.properties, JSON, YAML, Kubernetes YAML, or an instance."),
]
BrokerXmlOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", parser=Path, help="Configuration of DIR, if it is kept elsewhere."),
]
InOption = Annotated[
    StoredIn,
    typer.Option(
        "--in", help="Where to look: live (journal, pages, large-message files), only pages, only journal, or history."
    ),
]
PropertiesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--properties",
        metavar="FILE|FOLDER",
        help="Properties that override the configuration; repeatable [default: broker.properties beside it].",
    ),
]
_EDITIONS = _EditionType((AUTO, *EDITION_NAMES, *PRODUCT_RELEASES))
TargetEditionOption = Annotated[
    EditionChoice | None,
    typer.Option(
        "--edition",
        click_type=_EDITIONS,
        metavar="E",
        help=f"Release of the broker that will start: artemis-2.10 … {NEWEST.value}, or a release such as 2.38, "
        "amq-7.12, eap-7.4, wildfly-31.  [required]",
    ),
]
EditionOption = Annotated[
    EditionChoice | None,
    typer.Option(
        "--edition",
        click_type=_EDITIONS,
        metavar="E",
        help=f"Broker release to assume: {_RELEASES} [default: auto: as detected, else the newest that fits].",
    ),
]
BrokersOption = Annotated[
    Path | None,
    typer.Option(
        "--brokers",
        metavar="LIST",
        help="CSV file that lists more of them: column path, and optionally name and edition (for traces: config).",
    ),
]
JobsOption = Annotated[
    int,
    typer.Option("--jobs", metavar="N", min=0, help="Number of parallel processes; 0 for one per available processor."),
]
HeapOption = Annotated[
    str | None, typer.Option("--heap", metavar="SIZE", help="Heap of the broker's JVM (-Xmx), such as 2G.")
]
DiskOption = Annotated[str | None, typer.Option("--disk", metavar="SIZE", help="Size of the volume with the pages.")]
DataOption = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Data directory whose pages are taken into account.")
]
CwdOption = Annotated[
    Path | None,
    typer.Option(
        "--cwd",
        metavar="DIR",
        help="The broker's working directory, where includes are looked for [default: the file's folder].",
    ),
]
DefineOption = Annotated[
    list[str] | None,
    typer.Option("-D", metavar="NAME=VALUE", help="System property the broker is started with; repeatable."),
]


class JournalType(StrEnum):
    """What a journal of type ASYNCIO can be on a host."""

    asyncio = "asyncio"
    nio = "nio"


JournalTypeOption = Annotated[
    JournalType | None,
    typer.Option(
        "--journal-type",
        help="What journal type ASYNCIO means on the broker's host [default: asyncio where this host has libaio].",
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile", metavar="NAME", help="Profile of domain.xml [default: the only one with messaging; lint: all]."
    ),
]
ServerOption = Annotated[
    str | None,
    typer.Option("--server", metavar="NAME", help="Messaging server of a subsystem [default: the first; lint: all]."),
]
WhereOption = Annotated[
    str | None, typer.Option("--where", metavar="SELECTOR", help="Only messages that this JMS selector matches.")
]
PageOption = Annotated[
    str | None, typer.Option("--page", metavar="A:B", help="Only pages A to B; A: and :B are open, A is one page.")
]
ToFileOption = Annotated[
    Path | None, typer.Option("--to", metavar="FILE", help="Write to FILE, which appears only when complete.")
]
BackupDirOption = Annotated[
    Path | None,
    typer.Option(
        "--backup-dir", metavar="DIR", help="Where --in-place keeps the files it replaces [default: beside the pages]."
    ),
]
RecordOption = Annotated[
    int | None,
    typer.Option(
        "--record", metavar="N", help="Only this record: in a page by number (0 is the first), in a journal by id."
    ),
]
InPlaceOption = Annotated[bool, typer.Option("--in-place", help="Replace the files in the directory itself.")]
NoBackupOption = Annotated[bool, typer.Option("--no-backup", help="Keep no backup: the space is freed at once.")]
AcceptLostOption = Annotated[
    bool,
    typer.Option(
        "--accept-lost-acknowledgements",
        help="Continue although the journal is damaged: messages whose acknowledgements it lost are delivered again.",
    ),
]
OutOption = Annotated[Path | None, typer.Option("--out", metavar="NEW", help="Write into a new folder.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show the plan and change nothing.")]
FORMAT_HELP = "Output format."
TextOrJsonOption = Annotated[TextOrJson, typer.Option("--format", help=FORMAT_HELP)]
ListFormatOption = Annotated[ListFormat, typer.Option("--format", help=FORMAT_HELP)]
TableFormatOption = Annotated[TableFormat, typer.Option("--format", help=FORMAT_HELP)]
ListColumnsOption = Annotated[
    str | None, typer.Option("--columns", metavar="LIST", help="Only these columns, named as the keys of the JSON.")
]
ListSortOption = Annotated[
    str | None,
    typer.Option(
        "--sort", metavar="COLUMN", help="Numbers largest first, times and names smallest first; unknown ones last."
    ),
]
ListLimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=0, help="Number of rows; 0 for all.", show_default=False)
]


def edition_of(choice: EditionChoice | None) -> Edition | None:
    """Return the edition named on the command line, None if it is to be detected."""
    return None if choice is None or choice.value == AUTO else Edition(choice.value)


def processes(jobs: int) -> int:
    """Return the number of processes for ``--jobs``: 0 stands for one per processor."""
    from pagefmt.parallel import processors

    return jobs or processors()


CredentialsOption = Annotated[
    Path | None,
    typer.Option(
        "--credentials",
        metavar="FILE",
        parser=Path,
        help="USER:PASSWORD of the running broker [default: $ARTEMIS_USER, $ARTEMIS_PASSWORD].",
    ),
]


def directory_and_queue(directory: Path | None, name: str | None) -> tuple[Path | None, str]:
    """Return DIR and the queue; a single argument is the queue. Raise ``CallError`` without a queue."""
    if name is not None:
        return directory, name
    if directory is None:
        raise CallError("no queue given; name it after DIR as QUEUE or ADDRESS::QUEUE")
    return None, str(directory)
