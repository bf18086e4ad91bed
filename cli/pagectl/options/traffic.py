"""Options of ``replay generate``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pagectl.options.durations import real_number

MOST = 1_000_000_000  # messages, messages per second, and seconds (31 years)
LARGEST = 1 << 30  # bytes of a body; a quarter more is still within what a trace may say
NAMES = 1_000_000  # addresses, and queues of each


class ShapeName(StrEnum):
    """Shapes of synthetic traffic."""

    steady = "steady"
    burst = "burst"
    slow_consumer = "slow-consumer"
    one_slow_subscriber = "one-slow-subscriber"
    selective_consumer = "selective-consumer"
    transactions = "transactions"
    disk_filling_up = "disk-filling-up"


MessagesOption = Annotated[
    int, typer.Option("--messages", metavar="N", min=1, max=MOST, help="Number of messages sent.")
]
RateOption = Annotated[
    float,
    typer.Option(
        "--rate",
        metavar="N",
        min=0.001,
        max=MOST,
        callback=real_number,
        help="Messages per second across all addresses.",
    ),
]
DurationOption = Annotated[
    float | None,
    typer.Option(
        "--duration",
        metavar="SECONDS",
        min=0.001,
        max=MOST,
        callback=real_number,
        help="Duration of the traffic; --messages then follows from --rate.",
    ),
]
SizeOption = Annotated[
    int, typer.Option("--size", metavar="BYTES", min=0, max=LARGEST, help="Mean body size; it varies by a quarter.")
]
AddressesOption = Annotated[
    int, typer.Option("--addresses", metavar="N", min=1, max=NAMES, help="Number of addresses.")
]
SubscribersOption = Annotated[
    int,
    typer.Option(
        "--subscribers", metavar="N", min=1, max=NAMES, help="Queues of each address, for one-slow-subscriber."
    ),
]
