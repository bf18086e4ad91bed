"""``disk watch`` on a terminal of its own: what it draws, and how it ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pagectl.app import run
from pseudo_terminal import Terminal


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for n in range(40):
        store = tmp_path / "data" / "paging" / f"s{n}"
        store.mkdir(parents=True)
        (store / "address.txt").write_text(f"orders.{n}.{'x' * 90}\x1b]0;evil\x07\n")
        (store / "000000001.page").write_bytes(bytes(1000 * n))
    return tmp_path / "data"


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    made: list[Terminal] = []
    yield made
    for one in made:
        one.close()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_it_draws_within_its_width_and_ends_with_q(data: Path, terminals: list[Terminal], width: int) -> None:
    terminals.append(Terminal(width, 24, "disk", "watch", data, "--every", "0.2"))
    shown = terminals[0]
    shown.until("orders.39")
    shown.type("q")
    assert shown.end() == 0
    frames = shown.seen.replace("\x1b[H", "\n")
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", frames).replace("\r", "").split("\n")
    assert max(map(len, lines)) <= width
    assert "max-disk-usage 90%" in shown.seen
    assert "\x1b]0;" not in shown.seen


def test_ctrl_c_ends_it(data: Path, terminals: list[Terminal]) -> None:
    terminals.append(Terminal(80, 24, "disk", "watch", data, "--every", "0.2"))
    terminals[0].until("usable")
    terminals[0].type("\x03")
    assert terminals[0].end() == 130
    assert "Traceback" not in terminals[0].seen


def test_it_ends_when_the_directory_disappears(data: Path, terminals: list[Terminal]) -> None:
    terminals.append(Terminal(80, 24, "disk", "watch", data, "--every", "0.2"))
    terminals[0].until("usable")
    data.rename(data.with_name("gone"))
    assert terminals[0].end() == 2
    assert "no such directory" in terminals[0].seen


def test_it_needs_a_terminal(data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["disk", "watch", str(data)]) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert "terminal" in told.err
