"""Text answers are at most as wide as a terminal, but where one value alone is longer; in a pipe a row is a line."""

from __future__ import annotations

import io
import re
from pathlib import Path
from shlex import split

import pytest
from golden_cases import GoldenCase
from hypothesis import given
from hypothesis import strategies as st
from made_pages import message, store
from pagectl.terminal import streams
from pagectl.terminal.streams import cell_width, print_table
from program import call

from pagefmt.quantities import age_text

LISTS = (
    ("pages", "ls"), ("messages", "top"), ("pages", "outstanding"), ("pages", "verify"),
    ("pages", "compact"), ("messages", "ls"), ("messages", "verify"), ("journal", "ls"), ("journal", "verify"),
    ("large", "ls"), ("large", "verify"), ("disk", "usage"),
    ("pages", "decode", "--limit", "3"), ("pages", "decode", "--columns", "id,sent,address,queue_names,file,offset"),
)  # fmt: skip


def table(columns: list[str], rows: list[list[str]], width: int, right: list[str]) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pagectl.terminal.streams.line_width", lambda: width)
        patch.setattr("sys.stdout", io.StringIO())
        print_table(columns, rows, right=right)
        return streams.sys.stdout.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


@given(st.data(), st.integers(1, 9), st.sampled_from([40, 80, 200]))
def test_every_value_is_there_whole_and_lines_fit(data: st.DataObject, count: int, width: int) -> None:
    columns = [f"C{n}" for n in range(count)]
    value = st.text("abc漢é", min_size=1, max_size=60)
    rows = data.draw(st.lists(st.lists(value, min_size=count, max_size=count), max_size=5))
    right = data.draw(st.lists(st.sampled_from(columns)))
    lines = table(columns, rows, width, right)
    assert " ".join(lines).split() == [word for row in [columns, *rows] for word in row]
    longest = max((cell_width(cell) for row in rows for cell in row), default=0)
    assert max(map(cell_width, lines)) <= max(width, longest + 4)


def test_columns_stand_below_each_other() -> None:
    rows = [["1", "a" * 20, "x", "y z"], ["2", "b", "x" * 20, "y"], ["3", "c" * 30, "x", "y"]]
    assert table(["N", "ONE", "TWO", "THREE"], rows, 40, ["N"]) == [
        "N  ONE",
        "    TWO                   THREE",
        f"1  {'a' * 20}",
        "    x                     y z",
        "2  b",
        f"    {'x' * 20}  y",
        f"3  {'c' * 30}",
        "    x                     y",
    ]
    assert table(["N", "ONE", "TWO"], [["1", "a", "x"], ["2", "b" * 25, "y"]], 40, ["N"]) == [
        "N  ONE  TWO",
        "1  a    x",
        f"2  {'b' * 25}",
        "        y",
    ]


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_a_terminal_gets_its_columns_and_a_pipe_whole_rows(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = GoldenCase("2.56.0", "multicast-acks").data()
    monkeypatch.chdir(data.parent)
    monkeypatch.setenv("COLUMNS", "60")
    whole = call(*words[:2], data.name, *words[2:]).out.splitlines()
    monkeypatch.setattr("pagectl.terminal.streams.line_width", lambda: 80)
    lines = call(*words[:2], data.name, *words[2:]).out.splitlines()
    assert lines and max(map(len, lines)) <= 80, max(lines, key=len)
    assert " ".join(lines).split() == " ".join(whole).split() and len(whole) <= len(lines)


def test_a_row_in_a_pipe_has_name_and_numbers() -> None:
    # ``| grep NAME`` must give the complete row.
    data = GoldenCase("2.56.0", "multicast-acks").data()
    for words in (("messages", "top"), ("messages", "ls")):
        (row,) = (line for line in call(*words, data).out.splitlines() if line.startswith("red.news"))
        assert "10" in row.split() and "2023-11-14T22:13Z" in row
    (row,) = (
        line for line in call("pages", "ls", data, "--long").out.splitlines() if "news" in line and "89" in line.split()
    )
    assert "108.1 KiB" in row and "/paging/" in row


def test_the_folder_of_a_narrow_list_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tmp_path / "data" / "paging", "orders of a long name", {1: message(1, "orders", "x")}, "f" * 70 + " g")
    monkeypatch.chdir(tmp_path)
    for width in ("80", "300"):
        monkeypatch.setenv("COLUMNS", width)
        line = next(row for row in call("pages", "ls", "data", "--long").out.splitlines() if "'" in row)
        folder = split(line[line.index("'") :])[0]
        assert call("pages", "decode", folder, "--format", "jsonl").out.count("\n") == 1


@pytest.mark.parametrize(
    ("before", "age"),
    [(0, "0s"), (59, "59s"), (60, "1min"), (3599, "59min"), (3600, "1h"), (86399, "23h"), (86400, "1d"), (-5, "")],
)
def test_ages_in_one_unit(monkeypatch: pytest.MonkeyPatch, before: int, age: str) -> None:
    monkeypatch.setattr("time.time", lambda: 2e9)
    assert age_text((2_000_000_000 - before) * 1000) == age
    assert age_text(None) == age_text(0) == ""


@pytest.mark.parametrize("command", ["messages ls", "messages top", "pages ls"])
def test_an_age_stands_beside_the_oldest_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    data = GoldenCase("2.56.0", "multicast-acks").copy(tmp_path)
    monkeypatch.setattr("time.time", lambda: 1_700_000_000 + 3.5 * 86400)
    table = call(*command.split(), data).out
    assert re.search(r"OLDEST +AGE\b", table) and re.search(r"2023-11-14T22:13Z +3d\b", table), table
