"""An error is one line: the program, what it is about, where in it, what is wrong, what to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from every_call import make_world
from program import call

# words, what it is about (file, option or place), what to do
CASES = [
    ("pages ls {folder}/nowhere", "nowhere", "name a broker instance"),
    ("pages ls", "no DIR", "ARTEMIS_INSTANCE"),
    ("pages ls {sound}", "sound.xml", "; "),
    ("pages decode {news} --page x", "--page x", "write A:B"),
    ("pages decode {news} --where =", "column 1", "expected a value"),
    ("messages decode --in pages {news} --queue nosuch", "nosuch", "pagectl messages ls {news} lists the queues"),
    ("pages decode {news} --body all", "--body all", "one of"),
    ("pages decode {news} --to {pages}/x", "/x", "write somewhere else"),
    ("messages decode --in pages {alone} --outstanding", "alone", "name the data directory"),
    ("pages inspect {news} --page 99", "news", "pagectl pages ls"),
    ("pages verify {news} --manifest {sound}", "line 1", "another kind of file"),
    ("pages compact {news} --no-backup", "--no-backup", "--in-place"),
    ("pages restore {news}", "pagectl-backup", "--backup-dir"),
    ("pages salvage {news}", "--out NEW", "new folder"),
    ("export {news} --to {folder}", "{folder}", "--mode"),
    ("config lint {folder}/nowhere.xml", "nowhere.xml", "is the name right?"),
    ("config lint {sound} --only nosuch", "--only nosuch", "pagectl config rules"),
    ("config lint {sound} --edition 9.17", "--edition", "artemis-2.56"),
    ("config effective {sound} --heap much", "--heap", "write it as 512M"),
    ("config effective {sound} --cwd {folder}/nowhere", "--cwd", "name the one"),
    ("config explain page-size-byte", "page-size-byte", "did you mean"),
    ("disk check {folder}/nowhere", "nowhere", "name a broker instance"),
    ("replay run {folder}/nowhere.jsonl --config {sound}", "nowhere.jsonl", "is the name right?"),
    ("replay run {trace} --config {sound} --set x", "'x'", "as in"),
    ("replay run {sound} --config {sound}", "sound.xml", "; "),
    ("replay import {sound} --to {folder}/t.jsonl", "sound.xml", "switch on"),
    ("replay compare {trace}", "two outcomes", "--config twice"),
    ("nonsense", "nonsense", "--help"),
    ("ls {news}", "'ls'", "did you mean 'pagectl messages ls'?"),
    ("verify {news}", "'verify'", "did you mean 'pagectl messages verify'?"),
    ("queue ls {news}", "'ls'", "did you mean 'pagectl messages ls'?"),
    ("pages export {news}", "'export'", "did you mean 'pagectl export'?"),
    ("messages export {news}", "'export'", "did you mean 'pagectl export'?"),
    ("messages find {news} --count-by queue", "count all", "pagectl messages decode {news} --count-by queue"),
    ("queue drop {news} nowhere", "nowhere", "pagectl messages ls {news} lists the queues"),
    ("messages decode {news} --queue nowhere", "nowhere", "pagectl messages ls {news} lists the queues"),
    ("messages decode {news} --address nowhere", "nowhere", "pagectl messages ls {news} lists"),
    ("pages decode {news} --address nowhere", "nowhere", "pagectl pages ls {news} lists"),
    ("journal inspect {news} --file nowhere.amq", "{news}", "pagectl journal ls {news} lists"),
    ("pages inspect {news} --page 999", "{news}", "pagectl pages ls {news} counts"),
    ("pages list", "'list'", "did you mean 'ls'?"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_world(tmp_path_factory.mktemp("errors"), lambda *words: call(*words).status)


@pytest.mark.parametrize(("words", "place", "advice"), CASES, ids=lambda part: str(part))
def test_it_says_where_and_what_to_do(world: dict[str, Path], words: str, place: str, advice: str) -> None:
    answer = call(*(word.format(**world) for word in words.split()))
    said = (answer.err + answer.out).splitlines()
    lines = [line for line in said if re.match(r"pagectl[ :]|DISK (FORECAST )?UNKNOWN - ", line)]
    assert answer.status in (2, 3) and len(lines) == 1, answer
    where = lines[0].find(place.format(**world))
    assert where > 0 and lines[0].find(advice.format(**world), where) > 0, lines[0]


def test_a_folder_that_refuses_is_named_by_what_was_asked_for(world: dict[str, Path]) -> None:
    # The name of the temporary file must not appear.
    answer = call("pages", "decode", world["news"], "--format", "jsonl", "--to", "/proc/messages.jsonl")
    assert answer.status == 2
    assert answer.err.startswith("pagectl: /proc/messages.jsonl: ") and answer.err.count("\n") == 1


def test_a_working_folder_that_was_deleted_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    answer = call("replay", "sweep", "a.jsonl", "b.jsonl", "--config", "c.xml", "--vary", "#:max-size-bytes=1")
    assert answer.status == 2
    assert answer.err == "pagectl: the working folder was deleted; change to one that is there\n"


def test_a_user_without_a_home_is_told(world: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    # In a container the user may be a mere number.
    monkeypatch.setattr(Path, "home", Path("~nobody-of-this-name").expanduser)
    for name in ("STATE_DIRECTORY", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    answer = call("disk", "forecast", world["news"])
    assert answer.status == 3 and "set HOME or XDG_STATE_HOME" in answer.out + answer.err, answer


@pytest.mark.parametrize("words", ["messages decode {news} --format jsonl", "messages xml {news}", "pages seal {news}"])
def test_a_full_device_is_named(world: dict[str, Path], words: str) -> None:
    answer = call(*(word.format(**world) for word in words.split()), "--to", "/dev/full")
    assert answer.status == 2 and answer.err.startswith("pagectl: /dev/full: No space left on device"), answer
