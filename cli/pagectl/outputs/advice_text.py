"""The settings that work for recorded traffic, as text."""

from __future__ import annotations

from pagectl.outputs.replay_totals import in_words
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import print_table, say
from pageengine.replay.advice import Advice


def print_advice(advice: Advice) -> None:
    """Print the settings with the evidence for them, or what was tried."""
    if advice.best is None:
        print("No settings work. Tried:")
        for trial in advice.trials:
            own = "" if trial.own is None else f", {one_line(str(trial.own))}"
            say(f"  max-size-bytes={trial.limit_text}{own}: {', '.join(trial.failing)}")
        return
    print("These settings work with the least paging:\n")
    for text in advice.best.settings:
        print(f"  {one_line(text)}")
    print("\nEvidence")
    for name, sentence in advice.evidence:
        say(f"  {name}: {sentence}")
    print()
    words = in_words(advice.best.totals)
    before = in_words(advice.demand)
    print_table(
        ("", "with these", "without limits"),
        [(name, words[name], before[name]) for name in words],
        right=("with these", "without limits"),
    )
