"""Recorded scenarios: unpacking them, running the engine over them, comparing every field with the broker's."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from brokerconf.reading.reading import read_bytes

from pageengine.running.engine import Engine
from pageengine.settings.from_document import engine_settings
from pageengine.settings.profiles import profile_of
from pageengine.trace.items import Interpreter
from pagefmt.editions import NEWEST, Edition

HEAP = 512 * 1024 * 1024
"""Of the JVM that the scenarios were recorded on."""
Line = dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """A recorded scenario: configuration, trace, and the broker's outcome with its timing-dependent parts."""

    name: str
    config: bytes
    trace: bytes
    outcome: bytes
    timing: Line


def _folders(archive: Path) -> dict[str, dict[str, bytes]]:
    files: dict[str, dict[str, bytes]] = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            folder, name = member.name.split("/")
            content = tar.extractfile(member)
            assert content is not None
            files.setdefault(folder, {})[name] = content.read()
    return dict(sorted(files.items()))


@cache
def scenarios(archive: Path) -> dict[str, Scenario]:
    return {
        folder: Scenario(folder, f["broker.xml"], f["trace.jsonl"], f["outcome.jsonl"], json.loads(f["timing.json"]))
        for folder, f in _folders(archive).items()
    }


@cache
def recordings(archive: Path) -> dict[str, list[Scenario]]:
    """Return all outcomes recorded for each trace."""
    exact: Line = {"timing_dependent": [], "stable_until": None}
    return {
        folder: [
            Scenario(folder, f["broker.xml"], f["trace.jsonl"], f[name], exact)
            for name in sorted(f)
            if name.startswith("outcome")
        ]
        for folder, f in _folders(archive).items()
    }


@cache
def protocol_recordings(archive: Path) -> dict[str, tuple[str, Scenario]]:
    """Return release and scenario of each recording, by trace and release."""
    found = {}
    for folder, f in _folders(archive).items():
        for name in sorted(f):
            if name.startswith("outcome"):
                release = json.loads(f[name].splitlines()[0])["broker"]
                timing = json.loads(f[name.replace("outcome", "timing").removesuffix("l")])
                scenario = Scenario(folder, f["broker.xml"], f["trace.jsonl"], f[name], timing)
                found[f"{folder}/{release}"] = (release, scenario)
    return found


def replayed(scenario: Scenario, edition: Edition = NEWEST, *, check: bool = True) -> list[Line]:
    """Replay a scenario on the engine and return its outcome after a round trip through JSON."""
    document = read_bytes(scenario.config, "broker.xml", folder=Path(), edition=edition, properties={}, environment={})
    interpreter = Interpreter()
    lines = [json.loads(line) for line in scenario.trace.splitlines() if line.strip()]
    header = interpreter.header(lines[0], scenario.name)
    engine = Engine(engine_settings(document, heap=HEAP), profile_of(edition), header, check=check)
    if any(line.get("protocol", "core") != "core" for line in lines):
        engine.show_clients()
    found = [engine.start().as_json()]
    for line in lines[1:]:
        operation = interpreter.operation(line)
        found.append(engine.apply(operation).as_json())  # type: ignore[arg-type]
    found.append(engine.finish().as_json())
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def with_full_states(lines: list[Line]) -> list[Line]:
    """Replace the changes of state in each line by the complete state."""
    parts: dict[str, Line] = {}
    full = []
    for line in lines:
        for key, change in (line.get("state") or {}).items():
            if change is None:
                parts.pop(key, None)
            elif line.get("op") == "checkpoint" or key not in parts:
                parts[key] = dict(change)
            else:
                parts[key] = {k: v for k, v in (parts[key] | change).items() if v is not None}
        full.append(line | {"state": {key: dict(part) for key, part in parts.items()}})
    return full


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from flat(part, f"{path}.{key}" if path else key)
    else:
        yield path, value


@dataclass
class Comparison:
    """Counts of compared operations and fields, with a description of the first difference."""

    operations: int = 0
    different: int = 0
    fields: int = 0
    first: str | None = None


def compared(scenario: Scenario, found: list[Line]) -> Comparison:
    """Compare every field of the broker's lines, except those that vary with its timing."""
    expected = with_full_states([json.loads(line) for line in scenario.outcome.splitlines() if line.strip()])
    skip = {(i, key) for i, key in scenario.timing["timing_dependent"]}
    until = scenario.timing["stable_until"]
    result = Comparison()
    assert len(expected) == len(found)
    for theirs, ours in list(zip(expected, with_full_states(found), strict=True))[1:]:
        i = "end" if "end" in theirs else theirs["i"]
        if until is not None and (i == "end" or (until != "end" and i >= until)):
            break
        mine = dict(flat(ours))
        result.operations += 1
        wrong = None
        for key, value in flat(theirs):
            if (i, key) in skip:
                continue
            result.fields += 1
            if mine.get(key, "absent") != value:
                wrong = f"{i} {theirs.get('op')} {key}: broker {value!r}, engine {mine.get(key, 'absent')!r}"
                result.first = result.first or wrong
        result.different += wrong is not None
    return result


def engine_after(scenario: Scenario, last: int, edition: Edition = NEWEST) -> Engine:
    document = read_bytes(scenario.config, "broker.xml", folder=Path(), edition=edition, properties={}, environment={})
    interpreter = Interpreter()
    lines = [json.loads(line) for line in scenario.trace.splitlines() if line.strip()]
    engine = Engine(
        engine_settings(document, heap=HEAP), profile_of(edition), interpreter.header(lines[0], scenario.name)
    )
    for line in lines[1:]:
        operation = interpreter.operation(line)
        engine.apply(operation)  # type: ignore[arg-type]
        if engine.operations > last:
            break
    return engine
