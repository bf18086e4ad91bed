"""Every exit status of ``pagectl.running.statuses`` is produced here, or by the test that is named.

``watched_calls`` sees to it that no call of the whole suite ends with another one.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from every_call import CALLS, make_world
from pagectl.running.statuses import STATUSES
from program import ROOT, call

INTERRUPTED = 130
# what takes a terminal, Spark, a disk that fills, or a folder that refuses (even root) is another test's
ELSEWHERE = {
    ("export", 0): "test_export.py::test_a_killed_export_leaves_no_table_and_the_next_run_is_clean",
    ("export", 1): "test_export.py::test_the_command_keeps_damage_aside_without_java",
    ("config serve", 0): "test_language_server.py::test_the_order_of_a_session_and_its_statuses",
    ("config serve", 1): "test_language_server.py::test_the_order_of_a_session_and_its_statuses",
    ("pages browse", 0): "test_pages_browse.py::test_the_terminal_is_put_back",
    ("disk watch", 0): "test_disk_watch.py::test_it_draws_within_its_width_and_ends_with_q",
    ("disk exporter", 0): "test_disk_exporter.py::test_beside_a_growing_directory_until_it_is_ended",
    ("disk forecast", 1): "test_disk_forecast.py::test_it_warns_in_time",
    ("disk forecast", 2): "test_disk_forecast.py::test_blocked_now_is_critical",
    ("disk usage", 1): "test_disk_usage.py::test_what_may_not_be_read_is_named",
    ("", INTERRUPTED): "test_pages_bad_input.py::test_ctrl_c_ends_it_with_130_and_leaves_nothing",
}


def test_the_tables_have_every_status_and_no_other() -> None:
    wanted = {(" ".join(path), status) for path, found in STATUSES.items() for status in found} | {("", INTERRUPTED)}
    listed = [(command, status) for command, status, _ in CALLS] + list(ELSEWHERE)
    assert len(listed) == len(set(listed)) and set(listed) == wanted


@pytest.mark.parametrize("place", sorted(ELSEWHERE.values()))
def test_the_named_test_exists(place: str) -> None:
    file, name = place.split("::")
    tree = ast.parse(next((ROOT / "tests").rglob(file)).read_text("utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_world(tmp_path_factory.mktemp("statuses"), lambda *words: call(*words).status)


@pytest.mark.parametrize(("command", "status", "words"), CALLS, ids=lambda part: str(part))
def test_status(world: dict[str, Path], command: str, status: int, words: str) -> None:
    answer = call(*command.split(), *(word.format(**world) for word in words.split()))
    assert answer.status == status, answer


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("--version", 0),
        ("--help", 0),
        ("pages --help", 0),
        ("pages ls --help", 0),
        ("disk check --help", 0),
        ("", 2),
        ("pages", 2),
        ("nonsense", 2),
        ("pages nonsense", 2),
        ("--nonsense", 2),
        ("disk nonsense", 2),
        ("disk check --nonsense", 3),
        ("disk forecast --nonsense", 3),
    ],
)
def test_status_of_the_frame(words: str, status: int) -> None:
    assert call(*words.split()).status == status
