"""What is damaged in a broker's directories, what recovery makes of it, and what that means for messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta

from pagectl.reports.form import Count, EditionName, Report

if TYPE_CHECKING:
    from pagefmt.change.recovery.message_outcomes import MessageOutcomes, RecoveryOutcome
    from pagefmt.change.recovery.plan import MessageRange, QueuePlan, RecoveryPlan, RecoveryStep

NAMED_IN_JSON: Final = 1000  # messages by id in a JSON document; --list writes all


class MessageBounds(Report):
    """A number of messages that is not known exactly."""

    at_least: Count
    at_most: Count | None
    """Null: not known."""


class NamedMessages(Report):
    """Numbers of messages that are known by id, each counted once for every queue.

    More can be named than are concerned, if it is not known which of them are.
    """

    lost: Count
    again: Count
    unsure: Count


class MessageOfRecovery(Report):
    """What becomes of one message for one queue: lost, delivered again, or unsure."""

    outcome: Literal["lost", "again", "unsure"]
    id: int
    queue_id: int | None
    """Null: it is not known for which queue."""
    queue: str | None
    address: str | None
    sure: bool
    """False: the outcome is possible."""
    file: str
    """The damaged file."""
    why: str


class RecoveredPart(Report):
    """A damage, and what recovery does about it. Numbers of messages are null where they are not known."""

    part: Literal["pages", "journal", "bindings", "large-messages"]
    file: str
    what: str
    action: str
    lost: MessageBounds | Count | None
    again: MessageBounds | Count | None
    """Messages that are delivered although they were acknowledged."""
    unsure: MessageBounds | Count | None
    """Messages of which it is not known whether they should be delivered."""
    mends: bool
    """Whether something is written that differs from what is there."""
    command: str | None
    """The command that does this alone."""
    nameless: str | None
    """Why not all messages of the step are known by id."""

    @classmethod
    def of(cls, step: RecoveryStep) -> RecoveredPart:
        """Return the report of a step."""
        return cls(
            part=step.part.value,
            file=step.file,
            what=step.what,
            action=step.action,
            lost=_number(step.lost),
            again=_number(step.again),
            unsure=_number(step.unsure),
            mends=step.mends,
            command=step.command,
            nameless=step.nameless,
        )


class RecoveredQueue(Report):
    """A queue of the recovered directory, with what a broker has for it."""

    address: str
    queue: str
    id: int
    routing: str | None
    routing_known: bool
    name_from: Literal["bindings", "messages", "configuration", "address", "invented"]
    messages: Count
    journal: Count
    pages: Count
    in_doubt: Count
    """Messages of prepared transactions; not part of the others."""

    @classmethod
    def of(cls, queue: QueuePlan) -> RecoveredQueue:
        """Return the report of a queue."""
        return cls(
            address=queue.address,
            queue=queue.name,
            id=queue.id,
            routing=queue.routing,
            routing_known=queue.routing_known,
            name_from=queue.name_from.name.lower(),  # type: ignore[arg-type]
            messages=queue.messages,
            journal=queue.journal,
            pages=queue.pages,
            in_doubt=queue.in_doubt,
        )


class PassedOverQueue(Report):
    """A queue id of messages that becomes no queue."""

    id: int
    why: str


class NextStep(Report):
    """What is left to do, with the shell commands that do it."""

    what: str
    commands: list[str]


class Recovery(Report):
    """``recover --format json``: what is damaged, what becomes of its messages, and what to do."""

    done: bool
    wrote: str | None
    edition: EditionName
    lost: MessageBounds | Count | None
    again: MessageBounds | Count | None
    unsure: MessageBounds | Count | None
    named: NamedMessages
    messages: Annotated[list[MessageOfRecovery], Meta(max_length=NAMED_IN_JSON)]
    """The first 1,000 messages that are known by id; --list writes all, one per line."""
    steps: list[RecoveredPart]
    queues: list[RecoveredQueue]
    passed_over: list[PassedOverQueue]
    aside: list[str]
    """Large-message files that no record refers to."""
    next: list[NextStep]
    undo: list[str]
    """The commands that put the damaged directories back."""

    @classmethod
    def of(
        cls, plan: RecoveryPlan, outcomes: MessageOutcomes, written: Path | None, steps: list[NextStep], undo: str
    ) -> Recovery:
        """Return the report of a plan. ``written``: the new directory; None if there is none."""
        return cls(
            done=written is not None,
            wrote=str(written) if written else None,
            edition=plan.edition.value,
            lost=_number(plan.lost),
            again=_number(plan.again),
            unsure=_number(plan.unsure),
            named=NamedMessages(**{outcome.value: count for outcome, count in _all_counts(outcomes).items()}),
            messages=list(islice(messages_by_id(plan, outcomes), NAMED_IN_JSON)),
            steps=[RecoveredPart.of(step) for step in plan.steps],
            queues=[RecoveredQueue.of(queue) for queue in plan.queues],
            passed_over=[PassedOverQueue(id=number, why=why) for number, why in sorted(plan.passed_over.items())],
            aside=list(plan.aside),
            next=steps,
            undo=[undo],
        )


def messages_by_id(plan: RecoveryPlan, outcomes: MessageOutcomes) -> Iterator[MessageOfRecovery]:
    """Yield the messages that are known by id."""
    queues = {queue.id: queue for queue in plan.queues}
    for outcome in outcomes:
        queue = queues.get(outcome.queue) if outcome.queue is not None else None
        yield MessageOfRecovery(
            outcome=outcome.outcome.value,
            id=outcome.message,
            queue_id=outcome.queue,
            queue=queue.name if queue is not None else None,
            address=queue.address if queue is not None else None,
            sure=outcome.sure,
            file=outcome.file,
            why=outcome.why,
        )


def _all_counts(outcomes: MessageOutcomes) -> dict[RecoveryOutcome, int]:
    from pagefmt.change.recovery.message_outcomes import RecoveryOutcome

    return {outcome: outcomes.counts[outcome] for outcome in RecoveryOutcome}


def _number(messages: MessageRange) -> int | MessageBounds | None:
    fewest, most = messages
    if most is None and not fewest:
        return None
    return fewest if fewest == most else MessageBounds(at_least=fewest, at_most=most)


ANSWERS = {"recover": Recovery}
