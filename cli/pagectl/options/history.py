"""Options about a broker's history: where its files lie, and which messages of it are wanted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.groups import OptionGroup
from pagectl.options.journal_records import ZoneOption
from pagectl.options.message_filter import FilterOptions, IdOption, SinceOption, UntilOption
from pagectl.running.exits import CallError
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagefmt.history.messages import PastState
    from pagefmt.selector import Selector


def refuse_history(within: StoredIn) -> None:
    """Raise ``CallError`` for ``--in history`` of a command that looks at what is there now."""
    if within is StoredIn.HISTORY:
        raise CallError(
            "--in history: this command looks at what is there now; messages ls, find, decode, xml and send, and "
            "export read a history"
        )


AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME|FILE",
        help="With --in history: what queues held at the end of this journal file, or of the last one that was copied "
        "by this time.",
    ),
]


class HistoryPlaceOptions(OptionGroup):
    """Where the files of a history lie, and how they are named."""

    retention: Annotated[
        Path | None,
        typer.Option(
            "--history",
            metavar="FOLDER",
            parser=Path,
            help="Retention folder [default: journal-retention-directory of the configuration, or the folder history "
            "beside the data].",
        ),
    ] = None
    timezone: ZoneOption = None

    def refuse(self) -> None:
        """Raise ``CallError`` if an option about histories was given for something else."""
        if self.retention is not None or self.timezone is not None:
            raise CallError("--history and --timezone are for the directory of a broker")

    def check(self, within: StoredIn | None, *others: object) -> None:
        """Raise ``CallError`` if an option about histories was options without ``--in history``.

        ``others``: options of the command that belong to these, None where not options.
        """
        options = (self.retention, self.timezone, getattr(self, "states", None), *others)
        if within is not StoredIn.HISTORY and any(option is not None for option in options):
            raise CallError("--history, --timezone, --in-state and --as-of need --in history")


class HistoryOptions(HistoryPlaceOptions):
    """The same, and which messages of it are wanted."""

    states: Annotated[
        str | None,
        typer.Option(
            "--in-state",
            metavar="STATE,…",
            help="With --in history: only messages in one of these states in a queue: waiting, acknowledged, expired, "
            "moved, removed (with its queue), rolled-back, unknown.",
        ),
    ] = None

    def past_states(self) -> tuple[PastState, ...] | None:
        """Return the states of ``--in-state``, None without it. Raise ``CallError``."""
        if self.states is None:
            return None
        from pagefmt.history.messages import PastState

        names = [name.strip() for name in self.states.split(",")]
        for name in names:
            if name not in list(PastState):
                raise CallError(f"--in-state {name}: no such state; choose from {', '.join(PastState)}")
        return tuple(map(PastState, names))


class HistoryChoiceOptions(HistoryOptions):
    """Which messages of a history are brought back."""

    message_id: IdOption = None
    since: SinceOption = None
    until: UntilOption = None
    everything: Annotated[
        bool, typer.Option("--all", help="With --in history: every message in one of the states, whatever its queue.")
    ] = False

    def check_choice(self, within: StoredIn, queues: list[str] | None, where: str | None) -> None:
        """Raise ``CallError`` unless messages of a history were chosen, or no option about histories was given."""
        chosen = (self.message_id, self.since, self.until)
        self.check(within, *chosen, self.everything or None)
        if within is StoredIn.HISTORY and not (queues or where or self.everything or any(map(bool, chosen))):
            raise CallError(
                "--in history: say which messages: --id, --where, --queue, --since, --until, or --all for every "
                "one that is acknowledged, expired or removed"
            )

    def states_to_send(self) -> tuple[PastState, ...]:
        """Return the states of messages that are brought back: what has left its queue and is nowhere else."""
        from pagefmt.history.messages import PastState

        return self.past_states() or (PastState.ACKNOWLEDGED, PastState.EXPIRED, PastState.REMOVED)

    def selector(self, where: str | None) -> Selector | None:
        """Return the selector for all options together, None if they choose every message."""
        facts = FilterOptions(message_id=self.message_id, since=self.since, until=self.until, where=where)
        return facts.joined(facts.selector(), None)
