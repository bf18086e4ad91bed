"""``pagectl replay generate``: synthetic traffic of a named shape."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pagectl.options.durations import real_number
from pagectl.options.replay import TraceOutOption, refuse_unknown_ending
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import note
from pagefmt.quantities import count_text


class ShapeName(StrEnum):
    """Shapes of synthetic traffic."""

    steady = "steady"
    burst = "burst"
    slow_consumer = "slow-consumer"
    one_slow_subscriber = "one-slow-subscriber"
    selective_consumer = "selective-consumer"
    transactions = "transactions"
    disk_filling_up = "disk-filling-up"


_MOST = 1_000_000_000
"""Of messages, of messages a second, and of seconds (31 years)."""
_LARGEST = 1 << 30
"""Bytes of a body; a quarter more is still within what a trace may say."""
_NAMES = 1_000_000

EXAMPLES = (
    ("A minute of traffic with one slow consumer", "replay generate slow-consumer --duration 60 --to slow.jsonl"),
)


def command(
    shape: Annotated[ShapeName, typer.Argument(metavar="SHAPE", help="Shape of the traffic.")],
    to: TraceOutOption,
    messages: Annotated[
        int, typer.Option("--messages", metavar="N", min=1, max=_MOST, help="Number of messages sent.")
    ] = 10_000,
    rate: Annotated[
        float,
        typer.Option(
            "--rate",
            metavar="N",
            min=0.001,
            max=_MOST,
            callback=real_number,
            help="Messages per second across all addresses.",
        ),
    ] = 1000.0,
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration",
            metavar="SECONDS",
            min=0.001,
            max=_MOST,
            callback=real_number,
            help="Duration of the traffic; --messages then follows from --rate.",
        ),
    ] = None,
    size: Annotated[
        int,
        typer.Option("--size", metavar="BYTES", min=0, max=_LARGEST, help="Mean body size; it varies by a quarter."),
    ] = 1024,
    addresses: Annotated[
        int, typer.Option("--addresses", metavar="N", min=1, max=_NAMES, help="Number of addresses.")
    ] = 1,
    subscribers: Annotated[
        int,
        typer.Option(
            "--subscribers", metavar="N", min=1, max=_NAMES, help="Queues of each address, for one-slow-subscriber."
        ),
    ] = 4,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same trace.")] = 1,
) -> int:
    """Write a trace of synthetic traffic: steady, burst, slow-consumer, one-slow-subscriber, selective-consumer,
    transactions or disk-filling-up."""
    from pageengine.trace.generate import DESCRIPTIONS, Traffic, TrafficShape, generate
    from pageengine.trace.writing import write_trace

    refuse_unknown_ending(to)
    if duration is not None:
        messages = max(1, round(duration * rate))
    if messages > _MOST:
        raise CallError(f"--duration {duration:g} and --rate {rate:g} are {messages} messages; {_MOST} is the most")
    if messages / rate > _MOST:
        raise CallError(f"{messages} messages at --rate {rate:g} last {messages / rate:.0f} s; {_MOST} s is the most")
    traffic = Traffic(TrafficShape(shape.value), messages, rate, size, addresses, subscribers, seed)
    count = write_trace(to, traffic.header, generate(traffic))
    note(f"{to}: {count_text(count, 'operation')}; {shape.value}: {DESCRIPTIONS[traffic.shape]}")
    return Exit.OK
