"""``pagectl replay compare``: two outcomes, or one trace under two configurations or settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.configuration import configuration_options
from pagectl.options.formats import TextOrJson
from pagectl.options.replay import ComparisonOptions, SetOption, SidesOption, SkipOption, TwoSides, VersusOption
from pagectl.options.shared import (
    AnywayOption,
    EditionOption,
    HeapOption,
    ProfileOption,
    ServerOption,
    TextOrJsonOption,
)
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import print_json, warning

PARSED_BY = TwoSides
EXAMPLES = (
    (
        "Two limits on the same traffic",
        "replay compare friday.jsonl --config broker.xml"
        " --set '#:max-size-bytes=10M' --versus --set '#:max-size-bytes=64M'",
    ),
    ("Before and after a change to the file", "replay compare friday.jsonl --config broker.xml --config new.xml"),
)


def command(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="A B | TRACE", help="Two outcomes, or one trace.")],
    config: SidesOption = None,
    settings: SetOption = None,
    versus: VersusOption = False,
    edition: EditionOption = None,
    heap: HeapOption = None,
    profile: ProfileOption = None,
    server: ServerOption = None,
    anyway: AnywayOption = False,
    skip_bad_lines: SkipOption = False,
    compared: ComparisonOptions = ComparisonOptions(),
    format: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Show the results of two replays side by side: peaks, drops, refusals, waits, time in page mode.

    Compares two outcomes (also a real broker's), or replays one trace twice: under two configurations, or under
    one with --set A --versus --set B. Without --versus, --set applies to both sides.

    Ends with status 1 if any operation differs, or lines of a trace could not be applied or read.
    """
    from pagectl.opening.replay import note_not_modelled, replay_configuration
    from pagectl.outputs.comparison_text import print_comparison
    from pagectl.reports.replay_compare import ReplayComparison
    from pageengine.replay.side_by_side import compared_configurations, compared_outcomes

    configs, overrides = config or [], settings or []
    if len(files) == 2 and not configs and not overrides and not versus:
        both = compared_outcomes(files[0], files[1], decisions_only=compared.decisions)
    elif len(files) == 1 and (len(configs) == 2 or (len(configs) == 1 and versus)):
        by_side = (overrides[: ctx.obj], overrides[ctx.obj :]) if versus else (overrides, overrides)
        pairs = list(zip((configs[0], configs[-1]), by_side, strict=True))
        options = configuration_options(edition, heap=heap, profile=profile, server=server)
        sides = [replay_configuration(path, options, texts, anyway=anyway) for path, texts in pairs]
        label_a, label_b = (" ".join([str(path), *texts]) for path, texts in pairs)
        both = compared_configurations(
            files[0], sides, (label_a, label_b), skip_bad_lines=skip_bad_lines, decisions_only=compared.decisions
        )
        note_not_modelled(sides)
    else:
        raise CallError("give two outcomes, or one trace with --config twice, or with --config and --set … --versus …")
    for text in both.warnings:
        warning(text)
    if format is TextOrJson.json:
        print_json(ReplayComparison.of(both))
    else:
        print_comparison(both, detail=compared.detail)
    return Exit.OK if both.comparison.equal and not both.lacking else Exit.FOUND
