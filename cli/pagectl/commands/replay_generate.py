"""``pagectl replay generate``: synthetic traffic of a named shape."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.options.replay import TraceOutOption, refuse_unknown_ending
from pagectl.options.traffic import (
    MOST,
    AddressesOption,
    DurationOption,
    MessagesOption,
    RateOption,
    ShapeName,
    SizeOption,
    SubscribersOption,
)
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import note
from pagefmt.quantities import count_text

EXAMPLES = (
    ("A minute of traffic with one slow consumer", "replay generate slow-consumer --duration 60 --to slow.jsonl"),
)


def command(
    shape: Annotated[ShapeName, typer.Argument(metavar="SHAPE", help="Shape of the traffic.")],
    to: TraceOutOption,
    messages: MessagesOption = 10_000,
    rate: RateOption = 1000.0,
    duration: DurationOption = None,
    size: SizeOption = 1024,
    addresses: AddressesOption = 1,
    subscribers: SubscribersOption = 4,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same trace.")] = 1,
) -> int:
    """Write a trace of synthetic traffic: steady, burst, slow-consumer, one-slow-subscriber, selective-consumer,
    transactions or disk-filling-up.
    """  # noqa: D205
    from pageengine.trace.generate import DESCRIPTIONS, Traffic, TrafficShape, generate
    from pageengine.trace.writing import write_trace

    refuse_unknown_ending(to)
    if duration is not None:
        messages = max(1, round(duration * rate))
    if messages > MOST:
        raise CallError(f"--duration {duration:g} and --rate {rate:g} are {messages} messages; {MOST} is the most")
    if messages / rate > MOST:
        raise CallError(f"{messages} messages at --rate {rate:g} last {messages / rate:.0f} s; {MOST} s is the most")
    traffic = Traffic(TrafficShape(shape.value), messages, rate, size, addresses, subscribers, seed)
    count = write_trace(to, traffic.header, generate(traffic))
    note(f"{to}: {count_text(count, 'operation')}; {shape.value}: {DESCRIPTIONS[traffic.shape]}")
    return Exit.OK
