"""What clients are given of each queue: by the broker that had it, and by the one that it was sent to."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import golden_cases
from broker_jars import CURRENT
from program import call
from target_broker import TargetBroker, target_broker

LAST_VALUE = "last-value"
"""What such a queue keeps depends on when it is read, and that it is one on the broker's configuration."""
PAIRS = [*((each, each) for each in CURRENT), ("2.28.0", "2.56.0"), ("2.56.0", "2.28.0")]
Taken = TypeVar("Taken")
Takers = Mapping[str, Callable[[TargetBroker, str], Iterable[Taken]]]
"""By the name of a client: takes all messages of a queue."""


@dataclass(frozen=True, slots=True)
class Source:
    """A directory, and the queues in it that hold something, as ``address::queue``."""

    name: str
    data: Path
    queues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Given(Generic[Taken]):
    """What each client is given of a queue. ``scheduled``: some were, so that there is no order."""

    by: Mapping[str, tuple[Taken, ...]]
    scheduled: bool


@dataclass(frozen=True, slots=True)
class Sent(Generic[Taken]):
    """By queue; those that nothing was sent of; what the command said."""

    given: Mapping[str, Given[Taken]]
    refused: frozenset[str]
    said: str


def golden_sources(version: str) -> list[Source]:
    """Return all cases of a release, except the last-value one, which is read differently each time."""
    return [_source(case) for case in golden_cases.cases(version) if case.name != LAST_VALUE]


def _source(case: golden_cases.GoldenCase) -> Source:
    found = {each["name"]: each["address"] for each in case.manifest()["bindings"]["queues"]}
    held = (each["name"] for each in case.drain()["queues"] if each["count"] and not each["name"].startswith("$"))
    return Source(str(case), case.data(), tuple(f"{found[name]}::{name}" for name in held))


def given_before(
    version: str, folder: Path, sources: Iterable[Source], takers: Takers[Taken]
) -> dict[Source, dict[str, Given[Taken]]]:
    """Return what clients receive from the release's broker on a copy of each directory."""
    found = {}
    with target_broker(version, folder / "nothing") as broker:
        for source in sources:

            def old(here: Path, data: Path = source.data) -> None:
                shutil.copytree(data, here / "data")
                broker.start(here)

            found[source] = _given(broker, source.queues, old, folder, takers)
            told = {name: [*map(len, each.by.values())] for name, each in found[source].items()}
            print(source.name, told, flush=True)
    return found


def given_after(
    release: str, folder: Path, sources: Iterable[Source], takers: Takers[Taken]
) -> Iterator[tuple[Source, Sent[Taken]]]:
    """Send each directory to a broker of the release, and yield what clients receive from there."""
    with target_broker(release, folder / "nothing") as broker:
        for source in sources:
            data = Path(shutil.copytree(source.data, folder / "source"))
            said: list[str] = []

            def new(here: Path, data: Path = data, said: list[str] = said) -> None:
                broker.start(here)
                answer = call("messages", "send", data, "--to", broker.url)
                said.append(answer.err)
                assert answer.status < 2, (data, answer.err)

            given = _given(broker, source.queues, new, folder, takers)
            refused = {name for name in given if f"::{name.partition('::')[2]}: nothing sent" in said[0]}
            yield source, Sent(given, frozenset(refused), said[0])
            shutil.rmtree(data)


def _given(
    broker: TargetBroker, names: Iterable[str], filled: Callable[[Path], object], folder: Path, takers: Takers[Taken]
) -> dict[str, Given[Taken]]:
    """Receive the messages of the queues with each client.

    Each client has its own folder: ``filled`` fills it and starts the broker on it, before or after.
    """
    found: dict[str, dict[str, tuple[Taken, ...]]] = {name: {} for name in names}
    scheduled = dict.fromkeys(found, False)
    for client, take in takers.items():
        filled(folder / client)
        for name in found:
            scheduled[name] |= broker.due(name.partition("::")[2]) > 0
            found[name][client] = tuple(take(broker, name))
        broker.start(folder / "nothing")
        shutil.rmtree(folder / client)
    return {name: Given(by, scheduled[name]) for name, by in found.items()}
