"""``recover`` as text: what is damaged, what becomes of its messages, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pagectl.outputs.in_place import Move, commands, free_ending, moved_roots, print_command, quoted, with_ending
from pagectl.reports.recovery import NextStep
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import print_table
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.change.recovery.message_outcomes import MessageOutcomes
    from pagefmt.change.recovery.plan import MessageRange, RecoveryPlan, RecoveryStep

_OUTCOMES: Final = {"lost": "lost or perhaps lost", "again": "perhaps delivered again", "unsure": "unsure"}
_NUMBERS: Final = ("MESSAGES", "JOURNAL", "PAGES", "IN DOUBT")


def show_recovery(
    plan: RecoveryPlan, outcomes: MessageOutcomes, written: Path | None, steps: list[NextStep], undo: str
) -> None:
    """Print a plan. ``written``: the new directory; None if there is none."""
    if not plan.steps:
        print("nothing is damaged: there is nothing to recover")
        return
    for step in plan.steps:
        _show_step(step)
    print()
    rows = [
        (
            queue.messages,
            queue.journal,
            queue.pages,
            queue.in_doubt,
            queue.routing,
            queue.address,
            queue.name,
            queue.name_from,
        )
        for queue in plan.queues
    ]
    print_table((*_NUMBERS, "ROUTING", "ADDRESS", "QUEUE", "NAME FROM"), rows, right=_NUMBERS, prose=True)
    for number, why in sorted(plan.passed_over.items()):
        print(f"no queue for id {number}: {why}")
    if plan.aside:
        print(f"set aside: {count_text(len(plan.aside), 'large-message file')} that no record refers to")
    print(f"lost: {_messages(plan.lost)}; delivered again: {_messages(plan.again)}; unsure: {_messages(plan.unsure)}")
    if outcomes.counts:
        counts = (f"{count} {_OUTCOMES[outcome]}" for outcome, count in sorted(outcomes.counts.items()))
        print(f"by id and queue: {', '.join(counts)}; --list FILE writes them")
    if written:
        print(f"recovered: {one_line(str(written))}")
    if not plan.mends:
        print("nothing can be repaired; a backup may have what is missing")
        return
    print("\nwhat to do next:")
    for position, next_step in enumerate(steps, 1):
        print(f"  {position}. {next_step.what}")
        for command in next_step.commands:
            print_command(command)
    print("to go back (nothing of the damaged directory was changed), with the broker stopped:")
    print_command(undo)


def _show_step(step: RecoveryStep) -> None:
    print(f"{step.part.value}  {one_line(step.file)}: {one_line(step.what)}")
    effects = [
        f"{word} {_messages(messages)}"
        for word, messages in (("lost:", step.lost), ("delivered again:", step.again), ("unsure:", step.unsure))
        if messages != (0, 0)
    ]
    if effects and step.nameless is not None:
        effects.append(f"not all ids are known: {step.nameless}")
    print(f"    {one_line(step.action)}{''.join(f'; {effect}' for effect in effects)}")


def _messages(messages: MessageRange) -> str:
    if messages.most is None:
        return f"at least {count_text(messages.fewest, 'message')}" if messages.fewest else "not known"
    if messages.fewest == messages.most:
        return count_text(messages.most, "message") if messages.most else "no message"
    return f"at least {messages.fewest}, " * bool(messages.fewest) + f"at most {count_text(messages.most, 'message')}"


def next_steps(plan: RecoveryPlan, directory: Path, out: Path | None, written: Path | None) -> Iterator[NextStep]:
    """Yield what is left to do, with its commands. ``directory``: DIR. ``written``: the new directory, if it exists."""
    new = out.absolute() if out is not None else Path("NEW")
    if written is None:
        yield NextStep(what="stop the broker", commands=[])
        yield NextStep(
            what="write the new directory", commands=[f"pagectl recover {quoted(directory)} --out {quoted(new)}"]
        )
    yield NextStep(what="check it", commands=[f"pagectl messages verify {quoted(new)}"])
    moves = []
    for name, root, there in moved_roots(plan.roots):
        if there:
            moves.append(Move(root, with_ending(root, _ending(plan, ".damaged"))))
        moves.append(Move(new / name, root))
    with_broker = "with the broker stopped, " * (written is not None)
    yield NextStep(
        what=f"{with_broker}put it in place of the damaged one; 'done' is printed at the end",
        commands=[commands(moves)],
    )
    yield NextStep(what="start the broker; keep what is damaged until the messages have arrived", commands=[])


def undo_command(plan: RecoveryPlan) -> str:
    """Return the commands that put the damaged directories back."""
    moves = []
    for _, root, there in moved_roots(plan.roots):
        moves.append(Move(root, with_ending(root, _ending(plan, ".recovered"))))
        if there:
            moves.append(Move(with_ending(root, _ending(plan, ".damaged")), root))
    return commands(moves)


def _ending(plan: RecoveryPlan, ending: str) -> str:
    return free_ending((root for _, root, _ in moved_roots(plan.roots)), ending)
