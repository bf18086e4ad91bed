"""Options that the commands of ``replay`` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.shared import EditionChoice, edition_of
from pagectl.options.sizes import size_of
from pagectl.running.exits import CallError
from pagectl.terminal.streams import warning

if TYPE_CHECKING:
    from pageengine.replay.replaying import Configuration

TraceArgument = Annotated[Path, typer.Argument(metavar="TRACE", help="JSON Lines (plain, gzip, zstd) or Parquet.")]
TraceOutOption = Annotated[
    Path,
    typer.Option(
        "--to", metavar="TRACE", show_default=False, help="Where to write: .jsonl, .jsonl.gz, .jsonl.zst, .parquet."
    ),
]
ConfigOption = Annotated[
    Path, typer.Option("--config", metavar="FILE", show_default=False, help="broker.xml to decide by, or an instance.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="MATCH:NAME=VALUE", show_default=False, help="A setting over the file; repeatable."),
]
SkipOption = Annotated[bool, typer.Option("--skip-bad-lines", help="Pass over malformed lines of the trace.")]


def refuse_overwriting(output: Path | None, *inputs: Path) -> None:
    """What is read is never written over. Errors: CallError."""
    for path in inputs:
        if output is not None and output.exists() and path.exists() and output.samefile(path):
            raise CallError(f"{output}: is also what is read; name another file to write")


def configuration(
    path: Path, edition: EditionChoice | None, settings: list[str] | None, heap: str | None
) -> Configuration:
    """The configuration as the options describe it; of an instance, its own. Errors: CallError, PageEngineError."""
    from brokerconf.instance.instance import find_instance

    from pageengine.replay.replaying import Configuration
    from pageengine.settings.overrides import parse_override

    overrides = tuple(parse_override(text) for text in settings or ())
    config = find_instance(path).config if path.is_dir() else path
    return Configuration(config, edition_of(edition), overrides, size_of(heap, "--heap"))


def say_how_sure(edition: EditionChoice | None) -> None:
    """A warning where the edition asked for was read from its sources and never held against a running broker."""
    from pageengine.settings.profiles import FROM_SOURCES_ALONE

    chosen = edition_of(edition)
    if chosen in FROM_SOURCES_ALONE:
        warning(f"{chosen.value}: its decisions are from that release's sources alone, held against no running broker")
