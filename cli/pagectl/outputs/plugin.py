"""How the monitoring plugins answer: in time, in the format asked for, and UNKNOWN for whatever goes wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import typer

from pagectl.running.deadline import Answer, TimedOut, within
from pagectl.running.exits import describe
from pagectl.terminal.nagios import Status, line

if TYPE_CHECKING:
    from pagectl.reports.disk_check import DiskUnknown, PluginUnknown

# seconds of start-up that count towards the timeout at most
START_UP = 0.2


class Plugin(NamedTuple):
    """A call of a monitoring plugin.

    ``service`` begins the line, ``format`` is an output format, ``subject`` what the operator named, ``broker`` the
    broker's name in metrics and JSON, where there is one.
    """

    service: str
    format: str
    subject: object = ""
    broker: str | None = None

    def run(self, work: Callable[[], Answer], seconds: float) -> int:
        """Print the answer of ``work`` and return its status; UNKNOWN where it raises or takes too long."""
        starting = min(time.process_time(), START_UP)
        try:
            answer = within(max(0.05, seconds - starting), lambda: self._guarded(work))
        except TimedOut:
            answer = self.unknown(f"{self.subject}: no answer from its file system within {seconds:g} s")
        except OSError as err:
            answer = self.unknown(describe(err))
        return _print(answer)

    def tell_unknown(self, why: str) -> int:
        """Print UNKNOWN for a call that is not understood; returns the status."""
        return _print(self.unknown(why))

    def _guarded(self, work: Callable[[], Answer]) -> Answer:
        try:
            return work()
        except Exception as err:
            return self.unknown(describe(err))

    def answer(self, status: Status, text: Callable[[], str], values: Callable[[], object]) -> Answer:
        """Return the answer in the format requested; ``values`` returns the JSON document."""
        match self.format:
            case "json":
                from pagectl.terminal.streams import json_text

                return Answer(status, json_text(values(), indent=2) + "\n")
            case "prometheus":
                from pagectl.outputs.disk_metrics import status_metric
                from pagectl.outputs.prometheus import exposition

                return Answer(status, exposition(self.broker or "", [status_metric(status)]))
            case _:
                return Answer(status, text())

    def unknown(self, why: str) -> Answer:
        """UNKNOWN; in JSON and Prometheus formats the line goes to standard error."""
        text = line(self.service, Status.UNKNOWN, why) + "\n"
        answer = self.answer(Status.UNKNOWN, lambda: text, lambda: self._unknown_report(why))
        return answer if answer.out == text else Answer(answer.status, answer.out, text)

    def _unknown_report(self, why: str) -> DiskUnknown | PluginUnknown:
        from msgspec import UNSET

        from pagectl.reports.disk_check import DiskUnknown, PluginUnknown

        if self.service != "DISK":
            return PluginUnknown(status="UNKNOWN", exit_status=3, text=why)
        broker = UNSET if self.broker is None else self.broker
        return DiskUnknown(status="UNKNOWN", exit_status=3, state="unknown", broker=broker, text=why)


def _print(answer: Answer) -> int:
    typer.echo(answer.err, nl=False, err=True)
    typer.echo(answer.out, nl=False)
    return answer.status
