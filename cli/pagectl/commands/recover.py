"""``recover``: a data directory that a broker starts on, made of what damage has left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, redirect_stdout
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.files.in_place import Move, commands, free_ending, moved_roots, print_command, quoted, with_ending
from pagectl.opening.assumed_edition import note_judged
from pagectl.opening.broker import OpenedBroker, open_broker
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, EditionOption, OutOption, TextOrJsonOption, edition_of
from pagectl.running.exits import CallError, Exit
from pagectl.running.locking import brokers_held_off, instance_of
from pagectl.running.permissions import refuse_closed
from pagectl.terminal.progress import progress
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note, print_json, print_json_line, print_table, warning
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.recovery.message_outcomes import MessageOutcomes
    from pagefmt.recovery.plan import MessageRange, RecoveryPlan, RecoveryStep
    from pagefmt.recovery.queues import QueueToName

_NAMED_IN_JSON = 1000
_OUTCOMES = {"lost": "lost or perhaps lost", "again": "perhaps delivered again", "unsure": "unsure"}
EXAMPLES = (
    ("The broker does not start: what is damaged, and what would be lost", "recover /var/lib/broker"),
    ("Write a directory that it starts on", "recover /var/lib/broker --out recovered"),
    ("Which messages are lost or delivered again, by id", "recover /var/lib/broker --list messages.jsonl"),
)


def command(
    given: DirArgument = None,
    out: OutOption = None,
    form: TextOrJsonOption = TextOrJson.text,
    edition: EditionOption = None,
    broker: BrokerOptions = BrokerOptions(),
    list_to: Annotated[
        Path | None,
        typer.Option(
            "--list", metavar="FILE", help="Write the messages that are lost, delivered again or unsure as JSON lines."
        ),
    ] = None,
) -> int:
    """Plan how a broker can start again on damaged pages, journal, bindings and large messages, and what that means for
    messages: lost, delivered again, unsure. With --out, carry it out in a new directory; the broker must be stopped.

    What is read is never changed. If bindings are lost, queues are recreated from the ids in messages; their names are
    taken from the configuration if it declares one queue of an address, or are invented. Messages are listed by id as
    far as ids are left. Ends with status 1 if something is damaged, or if something was lost or is unsure.
    """
    from pagectl.files.destination import fresh_file, note_written
    from pagefmt.directory.locate import LocationKind
    from pagefmt.directory.locks import running_broker
    from pagefmt.recovery.message_outcomes import MessageOutcomes
    from pagefmt.recovery.recovering import plan_recovery, recover

    opened = open_broker(given, broker.broker_xml, broker.reading())
    place = opened.place
    if place.kind not in (LocationKind.INSTANCE, LocationKind.DATA):
        raise CallError(f"{place.given}: is {place.kind}; name the instance or the data directory, with its journals")
    refuse_closed(place)
    if out is None and running_broker(place.journal, instance_of(place)) is not None:
        warning("a broker is running on these files: what it is writing looks like damage; stop it, and run this again")
    declared = list(_declared(opened))
    with MessageOutcomes() as outcomes, ExitStack() as stack:
        fresh = None if list_to is None else stack.enter_context(fresh_file(list_to, place))
        with brokers_held_off(place, out is not None, out) as held, progress("reading everything", None):
            if out is None:
                plan = plan_recovery(place, declared, edition_of(edition), outcomes)
            else:
                plan = recover(place, out, declared, edition_of(edition), held, outcomes=outcomes)
        if fresh is not None:
            with fresh.open("w", encoding="utf-8") as stream, redirect_stdout(stream):
                for each in _messages_by_id(plan, outcomes):
                    print_json_line(each)
        written = out.absolute() if out is not None and plan.mends else None
        if form is TextOrJson.json:
            print_json(_object(plan, outcomes, place.given, out, written))
        else:
            _text(plan, outcomes, place.given, out, written)
            note_judged(edition, plan.edition)
    if list_to is not None:
        note(f"{count_text(outcomes.counts.total(), 'message')} in {list_to.absolute()}")
    if written is not None:
        note_written(written, place.paging)
    unsure = plan.lost.most != 0 or plan.again.most != 0 or plan.unsure.most != 0
    damaged = bool(plan.steps) if written is None else unsure or any(not step.mends for step in plan.steps)
    return Exit.FOUND if damaged else Exit.OK


def _declared(broker: OpenedBroker) -> Iterator[QueueToName]:
    from pagectl.opening.drift import declarations
    from pagefmt.recovery.queues import QueueToName

    if broker.configuration is not None:
        for (address, name), queue in declarations(broker.configuration)[1].queues.items():
            yield QueueToName(address, name, queue.routing)


def _messages_by_id(plan: RecoveryPlan, outcomes: MessageOutcomes) -> Iterator[dict[str, object]]:
    queues = {each.id: each for each in plan.queues}
    for each in outcomes:
        queue = queues.get(each.queue) if each.queue is not None else None
        yield {
            "outcome": each.outcome.value,
            "id": each.message,
            "queue_id": each.queue,
            "queue": queue.name if queue is not None else None,
            "address": queue.address if queue is not None else None,
            "sure": each.sure,
            "file": each.file,
            "why": each.why,
        }


def _object(
    plan: RecoveryPlan, outcomes: MessageOutcomes, given: Path, out: Path | None, written: Path | None
) -> dict[str, Any]:
    from pagefmt.recovery.message_outcomes import RecoveryOutcome

    return {
        "done": written is not None,
        "wrote": str(written) if written else None,
        "edition": plan.edition.value,
        "lost": _number(plan.lost),
        "again": _number(plan.again),
        "unsure": _number(plan.unsure),
        "named": {outcome.value: outcomes.counts[outcome] for outcome in RecoveryOutcome},
        "messages": list(islice(_messages_by_id(plan, outcomes), _NAMED_IN_JSON)),
        "steps": [_step_object(step) for step in plan.steps],
        "queues": [
            {
                "address": each.address,
                "queue": each.name,
                "id": each.id,
                "routing": each.routing,
                "routing_known": each.routing_known,
                "name_from": each.name_from.name.lower(),
                "messages": each.messages,
                "journal": each.journal,
                "pages": each.pages,
                "in_doubt": each.in_doubt,
            }
            for each in plan.queues
        ],
        "passed_over": [{"id": number, "why": why} for number, why in sorted(plan.passed_over.items())],
        "aside": list(plan.aside),
        "next": [{"what": what, "commands": steps} for what, steps in _next(plan, given, out, written)],
        "undo": [_undo(plan)],
    }


def _step_object(step: RecoveryStep) -> dict[str, Any]:
    return {
        "part": step.part.value,
        "file": step.file,
        "what": step.what,
        "action": step.action,
        "lost": _number(step.lost),
        "again": _number(step.again),
        "unsure": _number(step.unsure),
        "mends": step.mends,
        "command": step.command,
        "nameless": step.nameless,
    }


def _number(messages: MessageRange) -> int | dict[str, int | None] | None:
    fewest, most = messages
    if most is None and not fewest:
        return None
    return fewest if fewest == most else {"at_least": fewest, "at_most": most}


def _text(plan: RecoveryPlan, outcomes: MessageOutcomes, given: Path, out: Path | None, written: Path | None) -> None:
    if not plan.steps:
        print("nothing is damaged: there is nothing to recover")
        return
    for step in plan.steps:
        print(f"{step.part.value}  {one_line(step.file)}: {one_line(step.what)}")
        told = [
            f"{word} {_messages(one)}"
            for word, one in (("lost:", step.lost), ("delivered again:", step.again), ("unsure:", step.unsure))
            if one != (0, 0)
        ]
        if told and step.nameless is not None:
            told.append(f"not all ids are known: {step.nameless}")
        print(f"    {one_line(step.action)}{''.join(f'; {each}' for each in told)}")
    print()
    numbers = ("MESSAGES", "JOURNAL", "PAGES", "IN DOUBT")
    rows = [
        (each.messages, each.journal, each.pages, each.in_doubt, each.routing, each.address, each.name, each.name_from)
        for each in plan.queues
    ]
    print_table((*numbers, "ROUTING", "ADDRESS", "QUEUE", "NAME FROM"), rows, right=numbers, prose=True)
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
    for number, (what, steps) in enumerate(_next(plan, given, out, written), 1):
        print(f"  {number}. {what}")
        for each in steps:
            print_command(each)
    print("to go back (nothing of the damaged directory was changed), with the broker stopped:")
    print_command(_undo(plan))


def _messages(one: MessageRange) -> str:
    if one.most is None:
        return f"at least {count_text(one.fewest, 'message')}" if one.fewest else "not known"
    if one.fewest == one.most:
        return count_text(one.most, "message") if one.most else "no message"
    return f"at least {one.fewest}, " * bool(one.fewest) + f"at most {count_text(one.most, 'message')}"


def _next(plan: RecoveryPlan, given: Path, out: Path | None, written: Path | None) -> Iterator[tuple[str, list[str]]]:
    """Yield what is left to be done, with the commands that do it. ``written``: the new directory, if it is there."""
    made = out.absolute() if out is not None else Path("NEW")
    if written is None:
        yield "stop the broker", []
        yield "write the new directory", [f"pagectl recover {quoted(given)} --out {quoted(made)}"]
    yield "check it", [f"pagectl messages verify {quoted(made)}"]
    moves = []
    for name, root, there in moved_roots(plan.roots):
        if there:
            moves.append(Move(root, with_ending(root, _ending(plan, ".damaged"))))
        moves.append(Move(made / name, root))
    with_broker = "with the broker stopped, " * (written is not None)
    yield f"{with_broker}put it in place of the damaged one; 'done' is printed at the end", [commands(moves)]
    yield "start the broker; keep what is damaged until the messages have arrived", []


def _undo(plan: RecoveryPlan) -> str:
    """Return the commands that put the damaged directories back."""
    moves = []
    for _, root, there in moved_roots(plan.roots):
        moves.append(Move(root, with_ending(root, _ending(plan, ".recovered"))))
        if there:
            moves.append(Move(with_ending(root, _ending(plan, ".damaged")), root))
    return commands(moves)


def _ending(plan: RecoveryPlan, ending: str) -> str:
    return free_ending((root for _, root, _ in moved_roots(plan.roots)), ending)
