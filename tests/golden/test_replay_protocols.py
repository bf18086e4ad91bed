"""Clients of AMQP, OpenWire, STOMP and MQTT meet what they met at real brokers: every key, every field of the state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from replay_scenarios import Line, Scenario, flat, protocol_recordings, replayed, with_full_states

from pagefmt.editions import Edition

ARCHIVE = Path(__file__).parents[1] / "recorded" / "replays" / "protocols.tar.xz"
RECORDED = protocol_recordings(ARCHIVE)
EDITIONS = {one.release: one for one in (Edition.ARTEMIS_2_56, Edition.ARTEMIS_2_44, Edition.ARTEMIS_2_28)}
KEYS = (
    "r", "broker", "error", "credit", "credit_after", "drain_asked", "drained", "frame", "on_wire", "behind",
    "reconnected", "mem", "enc",
)  # fmt: skip
FIRST_ARRIVAL = "the recorder shows the first message that arrived since, here one of the other session"
NOT_YET = {f"{name}/{release}": FIRST_ARRIVAL for name in ("amqp-two-fail", "openwire-two") for release in EDITIONS}


def keys(line: Line) -> Line:
    return {key: line[key] for key in KEYS if key in line}


def compared_fields(line: Line) -> dict[str, Any]:
    """Select the fields of a line that are compared; the others are for people or exist on one side only."""
    released = [{"i": one["i"], **keys(one)} for one in line.get("released") or ()]
    return {**keys(line), "released": released, **dict(flat(line["state"], "state"))}


def differences(scenario: Scenario, found: list[Line]) -> list[str]:
    """Return the first difference of each outcome line that differs, except fields recorded as varying."""
    recorded = [json.loads(line) for line in scenario.outcome.splitlines()]
    varies = {(i, key) for i, key in scenario.timing["varies"]}
    wrong = []
    for theirs, ours in zip(recorded, with_full_states(found), strict=True):
        i = theirs.get("i", "end" if "end" in theirs else "header")
        expected, mine = compared_fields(theirs), compared_fields(ours)
        names = [*expected, *(key for key in KEYS if key in mine and key not in expected)]
        differs = (
            f"{i} {key}: broker {expected.get(key, 'absent')!r}, engine {mine.get(key, 'absent')!r}"
            for key in names
            if expected.get(key, "absent") != mine.get(key, "absent") and (i, key) not in varies
        )
        wrong += [one for one in (next(differs, None),) if one is not None]
    return wrong


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.xfail(strict=True, reason=NOT_YET[name])] if name in NOT_YET else [])
        for name in RECORDED
    ],
)
def test_clients_meet_what_they_met_at_the_broker(name: str) -> None:
    release, scenario = RECORDED[name]
    found = differences(scenario, replayed(scenario, EDITIONS[release]))
    print(f"{name}: {len(found)} lines different")
    assert not found


def test_every_protocol_and_edition_is_recorded() -> None:
    known = {(name.split("-")[0], release) for name, (release, _) in RECORDED.items()}
    print(f"{len(RECORDED)} recordings, {len(NOT_YET)} of them not equal")
    assert {(protocol, release) for protocol in ("amqp", "openwire", "stomp", "mqtt") for release in EDITIONS} <= known
