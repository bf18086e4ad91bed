"""Options that the commands of ``replay`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pagectl.options.groups import OptionGroup
from pagectl.options.shared import OutOption
from pagectl.running.examples import CommandWithExamples
from pagectl.running.exits import CallError

TracesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TRACE…",
        help="JSON Lines (plain, gzip, zstd) or Parquet; several, or patterns of such paths, give a row each.",
    ),
]
_TRACES = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")
TraceOutOption = Annotated[Path, typer.Option("--to", metavar="TRACE", help=f"Where to write: {', '.join(_TRACES)}.")]
_CONFIG: Any = typer.Option(
    "--config",
    metavar="FILE",
    help="Configuration to replay under: broker.xml, properties, JSON, YAML, or an instance.",
)
ConfigOption = Annotated[Path, _CONFIG]
# for calls in which a list may name one configuration per broker
UsualConfigOption = Annotated[Path | None, _CONFIG]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="MATCH:NAME=VALUE", help="Override a setting; repeatable.")
]
SparkOption = Annotated[
    str | None, typer.Option("--spark", metavar="MASTER", help="Run on Spark: local[N], spark://HOST:PORT.")
]
OutcomeOption = Annotated[
    Path | None, typer.Option("--outcome", metavar="FILE", help="Write the outcome of each operation.")
]
UntilOption = Annotated[
    int | None, typer.Option("--until", metavar="N", min=0, help="Stop after operation N (the first is 0).")
]
CheckOption = Annotated[bool, typer.Option("--check", help="Test the engine's invariants after each operation.")]
ReportOption = Annotated[Path | None, typer.Option("--report", metavar="FILE", help="Write a report as an HTML file.")]
SidesOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--config", metavar="FILE", help="With a trace: configuration or instance, for both sides or one for each."
    ),
]
VersusOption = Annotated[bool, typer.Option("--versus", help="--set before it applies to side A, after it to side B.")]
SkipOption = Annotated[bool, typer.Option("--skip-bad-lines", help="Skip malformed lines of the trace.")]


class TraceOptions(OptionGroup):
    """What the replay of one trace writes, where it ends, and how it is checked."""

    outcome: OutcomeOption = None
    out: OutOption = None
    until: UntilOption = None
    check: CheckOption = False
    to_html: ReportOption = None

    def refuse(self) -> None:
        """Raise ``CallError`` if one of the options is there, because there is not one trace."""
        if any(value is not None and value is not False for value in vars(self).values()):
            raise CallError("--outcome, --out, --until, --check and --report work with one TRACE only")


class ComparisonOptions(OptionGroup):
    """What of two replays is compared, and shown."""

    decisions: Annotated[bool, typer.Option("--decisions", help="Compare decisions only, not sizes and states.")] = (
        False
    )
    detail: Annotated[
        bool, typer.Option("--detail", help="Show the fields that differ, and sends with different results.")
    ] = False


def refuse_overwriting(output: Path | None, *inputs: Path) -> None:
    """Raise ``CallError`` if the output is an input, and ``TargetRefused`` if it is a link."""
    from pagefmt.storage.writing import refuse_linked_file

    if output is not None:
        refuse_linked_file(output)
    for path in inputs:
        if output is not None and output.exists() and path.exists() and output.samefile(path):
            raise CallError(f"{output}: is an input of this command; name another file to write")


def refuse_unknown_ending(to: Path) -> None:
    """Raise ``CallError`` if the ending of a trace's name stands for no format."""
    from pagefmt.storage.writing import is_stream

    if not to.name.endswith(_TRACES) and not is_stream(to):
        wrong = f"no trace has the ending {to.suffix}" if to.suffix else "the name has no ending"
        raise CallError(f"--to {to}: {wrong}; use {', '.join(_TRACES)}")


class TwoSides(CommandWithExamples):
    """A command with ``--set`` before and after ``--versus``.

    ``obj`` of its context is the number of those before, None without ``--versus``.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the words, and count ``--set`` before ``--versus``: the values that click passes on have no order."""
        names = [parameter.name for parameter in self.make_parser(ctx).parse_args(args=list(args))[2]]
        ctx.obj = names[: names.index("versus")].count("settings") if "versus" in names else None
        return super().parse_args(ctx, args)
