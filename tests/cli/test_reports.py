"""The classes of answers, and the lists that are made of them."""

from __future__ import annotations

import csv
import io
import json
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import json_schemas
import pagectl.reports
import pytest
from golden_cases import GoldenCase
from pagectl.reports.form import Report
from pagectl.reports.listing import RowListing
from pagectl.reports.message_lines import CHOSEN
from program import call

MODULES = [import_module(f"pagectl.reports.{module.name}") for module in iter_modules(pagectl.reports.__path__)]
LISTINGS = [value for module in MODULES for value in vars(module).values() if isinstance(value, RowListing)]


def test_every_class_is_part_of_an_answer() -> None:
    tops = [classes if isinstance(classes, tuple) else (classes,) for classes in json_schemas.answers().values()]
    part = {one for classes in tops for top in classes for one in json_schemas.reached(top)}
    made = {value for module in MODULES for value in vars(module).values() if isinstance(value, type)}
    part |= set(CHOSEN)
    part |= {base for one in part for base in one.__mro__}
    assert {one for one in made if issubclass(one, Report) and one is not Report} <= part


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda listing: str(listing.row.__name__))
def test_a_table_shows_fields_that_are_there(listing: RowListing[Any]) -> None:
    assert {column.field for column in listing.columns} | set(listing.left_out) <= set(listing.fields)


LISTS = ["disk usage", "journal ls", "large ls", "messages ls", "messages top", "pages ls"]
DATA = {"large ls": "large-core"}  # golden directories with several rows of a list
SUMS = {"journal ls": "prepared_transactions"}  # a key of the lines that follow the rows


@pytest.mark.parametrize("command", LISTS)
def test_a_list_is_chosen_sorted_and_limited_in_every_format(command: str) -> None:
    data = GoldenCase("2.56.0", DATA.get(command, "two-addresses")).data()
    lines = call(*command.split(), data, "--format", "jsonl").lines()
    rows = [line for line in lines if SUMS.get(command) not in line]
    first = next(iter(rows[0]))
    table = list(csv.DictReader(io.StringIO(call(*command.split(), data, "--format", "csv").out)))
    assert len(table) == len(rows) > 1 and set(table[0]) <= set().union(*rows)
    number = next(name for name, value in rows[0].items() if type(value) is int and name in table[0])
    call_of = [*command.split(), data, "--sort", number, "--columns", f"{number},{first}"]
    ordered = [{number: row[number], first: row[first]} for row in sorted(rows, key=lambda row: -row[number])]
    assert call(*call_of, "--format", "jsonl").lines() == ordered
    whole = next(iter(json.loads(call(*call_of, "--format", "json").out).values()))
    assert whole == ordered
    assert call(*call_of, "--limit", "1", "--format", "jsonl").lines() == ordered[:1]
    assert call(*call_of, "--limit", "1", "--format", "csv").out.splitlines()[0] == f"{number},{first}"
    assert len(call(*call_of, "--format", "text").out.splitlines()) > len(rows)


@pytest.mark.parametrize("command", LISTS)
@pytest.mark.parametrize("option", ["--sort", "--columns"])
def test_a_column_that_is_none_is_refused_with_those_there_are(command: str, option: str) -> None:
    answer = call(*command.split(), GoldenCase("2.56.0", "basic").data(), option, "nothing")
    assert answer.status == 2 and "'nothing' is no column; there are " in answer.err
