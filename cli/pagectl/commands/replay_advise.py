"""``pagectl replay advise``: the settings under which recorded traffic holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import DecidingOptions
from pagectl.options.replay import ConfigOption, SkipOption, SparkOption, TraceArgument
from pagectl.options.shared import AnywayOption, DiskOption, JobsOption, TextOrJsonOption, processes
from pagectl.options.sizes import size_of
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.progress import progress
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note, print_json, print_table, say, warning

if TYPE_CHECKING:
    from pageengine.replay.advice import Advice, Trial
    from pageengine.replay.sweep import SweepRow, SweepVariant


EXAMPLES = (
    (
        "Settings that work on a machine of this size",
        "replay advise friday.jsonl --config broker.xml --heap 2G --disk 50G",
    ),
)


def command(
    trace: TraceArgument,
    config: ConfigOption,
    disk: DiskOption = None,
    options: DecidingOptions = DecidingOptions(),
    anyway: AnywayOption = False,
    skip_bad_lines: SkipOption = False,
    jobs: JobsOption = 0,
    spark: SparkOption = None,
    format: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Search by replays for the settings that work with the least paging, and show the evidence for each limit.

    If one of several addresses pages heavily, limits and page sizes of its own are tried as well.

    Settings work if no message is dropped or refused, no producer is blocked, messages stay within half of the heap,
    and pages within what the disk monitor allows. Ends with status 1 if none work, or lines of a
    trace could not be applied or read.
    """
    from pagectl.opening.replay import note_not_modelled, replay_configuration
    from pageengine.replay.advice import advise, budget
    from pageengine.replay.replaying import recorded, trace_warnings
    from pageengine.replay.sweep import SweepJob, sweep_row, sweeping
    from pageengine.trace.reading import open_trace

    deciding = replay_configuration(config, options.reading(), anyway=anyway).absolute()
    room = size_of(disk, "--disk")
    if not deciding.heap or not room:
        raise CallError("say how large heap and disk are: --heap SIZE (where no -Xmx is found) and --disk SIZE")
    allowed = budget(deciding.heap, room, deciding)
    count = 0
    with (
        sweeping("pagectl replay advise", processes(jobs), spark, sweep_row, note) as sweep,
        progress("replaying", None, "replays") as bar,
    ):

        def replays(variants: Sequence[SweepVariant]) -> list[SweepRow]:
            nonlocal count
            rows = []
            for row in sweep([SweepJob(trace.absolute(), deciding, skip_bad_lines, one) for one in variants]):
                rows.append(row)
                count += 1
                bar.advance(1)
            return rows

        reader = open_trace(trace, skip_bad_lines=skip_bad_lines)
        recording = recorded(deciding, reader)
        addresses = sorted(recording.addresses)
        count += 1
        bar.advance(1)
        found = advise(deciding, addresses, allowed, replays)
    missing = trace_warnings(reader, recording)
    for text in missing:
        warning(text)
    note_not_modelled([deciding])
    note(f"{count} replays")
    if format is TextOrJson.json:
        print_json({"trace": str(trace), "config": str(config), **as_json(found), "warnings": missing})
    else:
        _print(found)
    lacking = reader.cut is not None or found.demand.unapplied
    return Exit.FOUND if found.best is None or lacking else Exit.OK


def as_json(found: Advice) -> dict[str, Any]:
    """The advice as a JSON object, with all that was tried."""
    return {
        "holds": found.best is not None,
        **asdict(found.budget),
        "without_limits": asdict(found.demand),
        "best": None if found.best is None else _trial(found.best),
        "evidence": [{"setting": name, "sentence": sentence} for name, sentence in found.evidence],
        "tried": [_trial(one) for one in found.trials],
    }


def _trial(one: Trial) -> dict[str, Any]:
    return {"settings": list(one.settings), "totals": asdict(one.totals), "failing": list(one.failing)}


def _print(found: Advice) -> None:
    from pagectl.outputs.replay_totals import in_words

    if found.best is None:
        print("No settings work. Tried:")
        for one in found.trials:
            own = "" if one.own is None else f", {one_line(str(one.own))}"
            say(f"  max-size-bytes={one.limit_text}{own}: {', '.join(one.failing)}")
        return
    print("These settings work with the least paging:\n")
    for text in found.best.settings:
        print(f"  {one_line(text)}")
    print("\nEvidence")
    for name, sentence in found.evidence:
        say(f"  {name}: {sentence}")
    print()
    words = in_words(found.best.totals)
    before = in_words(found.demand)
    print_table(
        ("", "with these", "without limits"),
        [(name, words[name], before[name]) for name in words],
        right=("with these", "without limits"),
    )
