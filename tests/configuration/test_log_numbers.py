"""The table of numbered log lines: what it names exists, and every number that is cited anywhere is in it."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from brokerconf.linting.log_numbers import log_numbers, number_in
from brokerconf.rules import rules
from brokerconf.settings.settings_model import settings
from pagectl.app import TREE
from product_source import ROOT

CITED = re.compile(r"\b(?:AMQ|HQ)([0-9]{6})\b")
SOURCES = [
    path
    for folder in ("schemas/brokerconf", "pagefmt", "pageengine", "cli/pagectl", "docs/spec")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".csv", ".md")
]


def test_every_number_that_is_cited_is_explained() -> None:
    cited = {number for path in SOURCES for number in CITED.findall(path.read_text("utf-8"))}
    assert len(cited) > 60 and cited - set(log_numbers()) == set()


def test_what_the_table_names_exists() -> None:
    known = {setting.name for setting in settings()}
    ids = {rule.id for rule in rules()}
    for number in log_numbers().values():
        assert set(number.settings) <= known, number
        assert set(number.rules) <= ids, number
        assert re.fullmatch("[0-9]{6}", number.number) and number.happened and number.happened[-1] not in ".!"


def test_rules_that_cite_a_number_are_among_its_rules() -> None:
    assert "persistence-off-paging-on" in log_numbers()["224092"].rules
    assert "pool-files-unbounded" in log_numbers()["222269"].rules


def test_its_commands_exist() -> None:
    groups = {name: second for name, (_, second) in TREE.items() if isinstance(second, Mapping)}
    paths = {f"{group} {name}" for group, members in groups.items() for name in members} | (TREE.keys() - groups.keys())
    for number in log_numbers().values():
        for command in number.commands:
            words = command.split()
            assert {" ".join(words[:2]), words[0]} & paths, command


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("AMQ222039", "222039"),
        ("amq222039:", "222039"),
        ("HQ224000", "224000"),
        ("2026-11-21 09:10:15,695 WARN  [server] AMQ222210: Free storage space is at 1GB of 9GB", "222210"),
        ("222038", "222038"),
        ("max-size-bytes", None),
        ("AMQ22203", None),
        ("AMQ2220390", None),
        ("1222038", None),
    ],
)
def test_a_number_is_found_in_a_line(text: str, number: str | None) -> None:
    assert number_in(text) == number


def test_no_sentence_is_one_of_the_broker() -> None:
    assert not [one for one in log_numbers().values() if "{" in one.happened or one.happened[0].isupper()]
