"""Lints: time grows with what is there, and never with its square."""

from __future__ import annotations

from pathlib import Path

import pytest
from brokerconf.schema.validation import MOST_FAULTS
from growth import grows
from harmed import pagectl
from pagectl.options.formats import LintFormat

HEAD = '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>'
TAIL = "</address-settings></core></configuration>"
SIZES = "<max-size-bytes>10</max-size-bytes><page-size-bytes>20</page-size-bytes>"


@pytest.mark.slow
@pytest.mark.parametrize("form", LintFormat)
def test_settings_on_one_line(form: str, tmp_path: Path) -> None:
    path = tmp_path / "broker.xml"

    def make(count: int) -> list[str | Path]:
        body = "".join(f'<address-setting match="a{n}">{SIZES}</address-setting>' for n in range(count))
        path.write_text(f"{HEAD}{body}{TAIL}")
        return ["config", "lint", path, "--format", form]

    grows(make, 800, 0.3)


def test_a_quoted_line_is_short(tmp_path: Path) -> None:
    path = tmp_path / "broker.xml"
    setting = f'<address-setting match="a">{SIZES}{" " * 100_000}</address-setting>'
    path.write_text(f"{HEAD}{setting}{TAIL}")
    answer = pagectl("config", "lint", path)
    assert max(map(len, answer.out.splitlines())) < 2000


@pytest.mark.slow
def test_an_unknown_element_in_each_of_thousands_of_settings(tmp_path: Path) -> None:
    # libxml2 counts the previous siblings for each fault.
    path = tmp_path / "broker.xml"

    def make(count: int) -> list[str | Path]:
        inside = (f'<address-setting match="a{n}"><unknown{n}/></address-setting>' for n in range(count))
        path.write_text(f"{HEAD}{''.join(inside)}{TAIL}")
        return ["config", "lint", path]

    grows(make, 8_000, 1)
    told = pagectl("config", "lint", path).out
    assert told.count("[unknown-element]") == MOST_FAULTS and told.count("[more-faults]") == 1
