"""The fuzz targets accept their own seeds; a short guided run with ``-m fuzz`` (tests/fuzz/run.py for long ones)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
sys.path.append(str(HERE / "fuzz"))

import targets  # noqa: E402


@pytest.mark.parametrize("name", targets.TARGETS)
def test_seeds_and_their_mutilations_are_taken(name: str) -> None:
    fed = 0
    for seed in targets.seeds(name):
        for raw in (seed, seed[: len(seed) // 2], seed[::-1], b"\xff" + seed):
            targets.feed(name, raw)
            fed += 1
    assert fed


@pytest.mark.fuzz
@pytest.mark.parametrize("name", targets.TARGETS)
def test_a_short_guided_run(name: str) -> None:
    pytest.importorskip("atheris")
    run = [sys.executable, str(HERE / "fuzz" / "run.py"), "--seconds", "5", "--target", name]
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout
