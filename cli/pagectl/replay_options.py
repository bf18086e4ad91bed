"""Options that the commands of ``replay`` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.editions import EditionName, edition_of
from pagectl.exits import CallError

if TYPE_CHECKING:
    from pageengine.replaying import Configuration

TraceArgument = Annotated[Path, typer.Argument(metavar="TRACE", help="JSON Lines (plain, gzip, zstd) or Parquet.")]
EditionOfReplay = Annotated[
    EditionName | None,
    typer.Option("--edition", metavar="E", show_default=False, help="Which broker decides [default: the newest]."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="MATCH:NAME=VALUE", show_default=False, help="A setting over the file; repeatable."),
]
HeapOption = Annotated[
    str | None,
    typer.Option("--heap", metavar="SIZE", show_default=False, help="The JVM's heap; half of it is the global limit."),
]
SkipOption = Annotated[bool, typer.Option("--skip-bad-lines", help="Pass over malformed lines of the trace.")]


def refuse_overwriting(output: Path | None, *inputs: Path) -> None:
    """What is read is never written over. Errors: CallError."""
    for path in inputs:
        if output is not None and output.exists() and path.exists() and output.samefile(path):
            raise CallError(f"{output}: is also what is read; name another file to write")


def configuration(
    path: Path, edition: EditionName | None, settings: list[str] | None, heap: str | None
) -> Configuration:
    """The configuration as the options describe it. Errors: CallError, PageEngineError."""
    from pageengine.overrides import parse_override
    from pageengine.replaying import Configuration

    overrides = tuple(parse_override(text) for text in settings or ())
    return Configuration(path, edition_of(edition), overrides, None if heap is None else heap_bytes(heap))


def heap_bytes(text: str) -> int:
    """``2G`` and the like, as the broker writes sizes."""
    from brokerconf.sizes import SizeError, parse_size

    try:
        size = parse_size(text).value
    except SizeError as err:
        raise CallError(f"--heap {text!r}: {err}") from None
    if size <= 0:
        raise CallError(f"--heap {text!r}: must be more than nothing, as in 2G")
    return size
