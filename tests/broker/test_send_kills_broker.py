"""``messages send`` killed at random instants, and run again until it is done: the broker has each message once.

``make test-broker``; ``PAGECTL_SEND_KILLS`` (50) says how often.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from program import environment
from target_broker import target_broker

pytest.importorskip("proton", reason="the extra pagectl[amqp] is not installed")
pytestmark = [pytest.mark.broker, pytest.mark.timeout(3600)]
KILLS = int(os.environ.get("PAGECTL_SEND_KILLS", "50"))
SOURCE = GoldenCase("2.56.0", "journal-mix")
QUEUES = {"a.mixed": 70, "b.mixed": 80}


@pytest.mark.parametrize("version", ["2.56.0"])
def test_killed_runs_send_each_message_once(version: str, tmp_path: Path) -> None:
    data, state = SOURCE.copy(tmp_path), tmp_path / "state"
    seeded, killed, rounds, wrong = random.Random(1), 0, 0, Counter[str]()
    with target_broker(version, tmp_path / "target") as broker:
        while killed < KILLS:
            words = ["messages", "send", str(data), "--to", broker.url, "--checkpoint", str(state), "--rate", "150"]
            # a broker remembers ids: each round has an address of its own
            words += [f"--to-address=mixed::{name}=round{rounds}::{name}.{rounds}" for name in QUEUES]
            process = subprocess.Popen([sys.executable, "-m", "pagectl", *words], env=environment())
            before = state.stat().st_size if state.exists() else 0
            while process.poll() is None and (state.stat().st_size if state.exists() else 0) == before:
                time.sleep(0.01)
            try:
                assert process.wait(seeded.random() * 0.8) == 0
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
                continue
            for name, count in QUEUES.items():
                found = broker.empty(f"{name}.{rounds}")
                wrong["missing"] += max(0, count - found)
                wrong["twice"] += max(0, found - count)
            state.unlink()
            rounds += 1
    print(f"{version}: {killed} kills in {rounds} rounds of {sum(QUEUES.values())} messages: {dict(wrong)}")
    assert not +wrong
