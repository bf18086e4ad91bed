"""Which messages ``queue purge`` takes out of a queue."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.durations import parse_duration
from pagectl.options.groups import OptionGroup
from pagectl.options.shared import WhereOption
from pagectl.running.exits import CallError

if TYPE_CHECKING:
    from pagefmt.selector import Selector


class PurgeOptions(OptionGroup):
    """All messages, or those that a selector and an age choose."""

    everything: Annotated[bool, typer.Option("--all", help="All messages that the queue waits for.")] = False
    where: WhereOption = None
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than", metavar="AGE", help="Only messages that were sent so long ago or earlier, as 12h or 30d."
        ),
    ] = None

    def sent_before(self) -> int | None:
        """Return the time (ms) before which messages were sent that are old enough; None without an age."""
        if self.older_than is None:
            return None
        try:
            return int((time.time() - parse_duration(self.older_than)) * 1000) + 1
        except ValueError as err:
            raise CallError(f"--older-than: {err}") from err

    def selector(self, sent_before: int | None) -> Selector | None:
        """Return the condition of the messages; None for all. Raise ``CallError`` if none is chosen, or both."""
        if self.everything == (self.where is not None or sent_before is not None):
            raise CallError(
                "--all takes every message, so --where and --older-than do not go with it"
                if self.everything
                else "say which messages to purge: --all, --where SELECTOR or --older-than AGE"
            )
        if self.everything:
            return None
        from pagefmt.selector import parse
        from pagefmt.selector.facts import SentBetween, joined

        facts = [] if sent_before is None else [SentBetween(None, sent_before)]
        return joined(facts, None if self.where is None else parse(self.where))
