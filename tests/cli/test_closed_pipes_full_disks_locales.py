"""What holds for every command: closed pipes, full disks, any locale, no colour."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from every_call import CALLS, make_world
from golden_cases import GoldenCase
from pagectl.app import PLUGINS
from pagectl.running.statuses import END_WITH_READER
from program import Answer, call, environment, forked, started

# The status table's calls that print something by themselves, one for each command; a backup can be dropped only once.
PRINTING = [
    (command, words)
    for command, status, words in CALLS
    if status == 0 and "--to" not in words and command not in ("pages restore", "pages drop-backup")
]
# Of each command the call that finds something, or else the one that ends well: a status that can be lost.
TELLING = list(dict([*PRINTING, *((command, words) for command, status, words in CALLS if status == 1)]).items())
# Calls that change or write something, below {folder}.
WORKING = [
    ("pages compact", "{folder}/work --in-place"),
    ("journal compact", "{folder}/journals --in-place"),
    ("pages restore", "{folder}/compacted"),
    ("pages drop-backup", "{folder}/compacted-too"),
    ("replay run", "{trace} --config {sound} --report {folder}/report.html --outcome {folder}/outcome.jsonl"),
    ("recover", "{torn} --list {folder}/list.jsonl --out {folder}/recovered"),
    ("messages xml", "{news} --to {folder}/messages.xml"),
    ("pages seal", "{news} --to {folder}/seal.jsonl"),
    ("config lint", "{folder}/fixed.xml --fix"),
    ("replay import", "{log} --to {folder}/imported.jsonl"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_world(tmp_path_factory.mktemp("everywhere"), lambda *words: call(*words).status)


def carried_out(
    world: dict[str, Path], folder: Path, calls: list[tuple[str, str]] = PRINTING, **how: Any
) -> list[tuple[str, Answer]]:
    """Run every call with its files in ``folder``, and return pairs of command and answer."""
    places = world | {"folder": folder}
    folder.mkdir(exist_ok=True)
    return [
        (command, forked(*command.split(), *(word.format(**places) for word in words.split()), cwd=str(folder), **how))
        for command, words in calls
    ]


def complaint(answer: Answer) -> str:
    """Return the last line of the program on standard error, which states the failure, or an empty text."""
    assert "Traceback" not in answer.err and "internal error" not in answer.err, answer
    lines = [line for line in answer.err.splitlines() if line.startswith("pagectl")]
    return lines[-1] if lines else ""


def ends_with_reader(command: str) -> bool:
    return tuple(command.split()) in END_WITH_READER


def allowed(command: str, usual: Answer, stream: str, kind: str) -> set[int]:
    """Return the permitted statuses if ``stream`` is ``kind`` (closed or full); ``usual`` is the undisturbed answer."""
    if stream == "out" and kind == "full" and usual.out:
        return {3 if tuple(command.split()) in PLUGINS else 2}
    return {usual.status, 141} if (stream, kind) == ("out", "closed") and ends_with_reader(command) else {usual.status}


WITHOUT = [(stream, kind) for stream in ("out", "err") for kind in ("closed", "gone", "full")]


def check_statuses(world: dict[str, Path], folder: Path, calls: list[tuple[str, str]], usual: list[Answer]) -> None:
    """Run each call with each output stream broken in each way, and check the status.

    ``usual``: the answers with intact streams.
    """
    for stream, kind in WITHOUT:
        found = carried_out(world, folder / f"{stream}-{kind}", calls, **{stream: kind})
        for (command, two), one in zip(found, usual, strict=True):
            check_status(command, stream, kind, one, two)


def check_status(command: str, stream: str, kind: str, usual: Answer, answer: Answer) -> None:
    assert answer.status in allowed(command, usual, stream, kind), (stream, kind, command, usual, answer)
    full = (stream, kind) == ("out", "full") and bool(usual.out)
    assert ("No space left" in complaint(answer)) == full, (stream, kind, command, answer)


def test_a_verdict_keeps_its_status(world: dict[str, Path], tmp_path: Path) -> None:
    usual = carried_out(world, tmp_path / "usual", TELLING)
    for number, (_, one) in enumerate(usual):
        for stream, kind in (WITHOUT[0], WITHOUT[1 + number % (len(WITHOUT) - 1)]):
            ((command, two),) = carried_out(world, tmp_path / f"{stream}-{kind}", [TELLING[number]], **{stream: kind})
            check_status(command, stream, kind, one, two)


@pytest.mark.slow
def test_every_call_keeps_its_status(world: dict[str, Path], tmp_path: Path) -> None:
    once = ("pages restore", "pages drop-backup")
    calls = [(command, words) for command, _, words in CALLS if command not in once]
    check_statuses(world, tmp_path, calls, [answer for _, answer in carried_out(world, tmp_path / "usual", calls)])


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, world: dict[str, Path]) -> Path:
    """Create the directories and the file that the calls of ``WORKING`` change."""
    folder = tmp_path_factory.mktemp("prepared") / "folder"
    case = GoldenCase("2.56.0", "scattered-acks")
    folder.mkdir()
    case.copy(folder / "work")
    case.copy(folder / "journals")
    for name in ("compacted", "compacted-too"):
        assert call("pages", "compact", case.copy(folder / name), "--in-place").status == 0
    (folder / "fixed.xml").write_text(world["sound"].read_text().replace(">PAGE<", "> Page <"))
    return folder


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(("stream", "kind"), WITHOUT)
def test_work_is_done_to_its_end(
    stream: str, kind: str, world: dict[str, Path], prepared: Path, usual_work: dict[str, Any], tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(prepared, folder, symlinks=True)
    for command, answer in carried_out(world, folder, WORKING, **{stream: kind}):
        assert answer.status in allowed(command, usual_work[command], stream, kind), (command, answer)
    assert written(folder).keys() == usual_work["files"].keys()


@pytest.fixture(scope="module")
def usual_work(
    world: dict[str, Path], prepared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("usual") / "folder"
    shutil.copytree(prepared, folder, symlinks=True)
    answers = dict(carried_out(world, folder, WORKING))
    assert [each for each in answers.items() if each[1].status > 1] == []
    files = written(folder)
    before = written(prepared)
    assert (
        len(files.keys() - before.keys()) > 5
        and before.keys() - files.keys()
        and files["fixed.xml"] != before["fixed.xml"]
    )
    yield answers | {"files": files}


def test_same_bytes_in_any_locale(world: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "same"
    plain = carried_out(world, folder, out="pipe")
    shutil.rmtree(folder)
    other = carried_out(world, folder, out="pipe", encoding="ascii", extra={"NO_COLOR": "1"})
    for (command, one), (_, two) in zip(plain, other, strict=True):
        assert (one.status, two.status, complaint(two)) == (0, 0, ""), (command, one, two)
        # how full the machine's disk is changes meanwhile, and how old a message is
        assert one.out == two.out or tuple(command.split()) in PLUGINS, command


LONG = ("pages", "inspect", "{news}", "--hex")  # some hundred kilobytes


def test_what_only_prints_ends_with_its_reader(world: dict[str, Path]) -> None:
    words = [word.format(**world) for word in LONG]
    answer = forked(*words, out="closed")
    assert (answer.status, answer.out, answer.err) == (141, "", forked(*words).err)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command_whose_reader_does_not_read(world: dict[str, Path], number: int) -> None:
    # Nothing reads standard error either: it is the same pipe.
    process = started(*(word.format(**world) for word in LONG), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    assert process.stdout.read(1)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(number)
    assert process.wait(10) == 128 + number
    process.stdout.close()


def test_a_reader_that_is_slow_gets_everything(world: dict[str, Path]) -> None:
    # A previous program may have put the pipe into non-blocking mode.
    words = [word.format(**world) for word in LONG]
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = started(*words, stdout=writing)
    os.close(writing)
    time.sleep(0.5)
    with os.fdopen(reading) as stream:
        assert stream.read() == forked(*words).out
    assert process.wait(10) == 0


def test_descriptors_that_are_closed_are_given_to_no_file(world: dict[str, Path], tmp_path: Path) -> None:
    # A message to standard error would be written into the file that is opened next.
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        script = f'exec "$@" {closed}'
        words = ("replay", "run", world["trace"], "--config", world["odd"], "--outcome", tmp_path / "none")
        assert run_in_shell(script, *words) == 2
        words = ("replay", "run", world["odd"], "--config", world["sound"], "--outcome", tmp_path / "outcome")
        assert run_in_shell(script, *words) == 1
        assert all(line.startswith("{") for line in (tmp_path / "outcome").read_text().splitlines())
        assert run_in_shell(script, "config", "serve") == 1


def run_in_shell(script: str, *words: str | Path) -> int:
    shell = ["sh", "-c", script, "sh", sys.executable, "-m", "pagectl", *map(str, words)]
    return subprocess.run(shell, env=environment(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode


def test_a_version_that_cannot_be_written_is_an_error() -> None:
    assert (forked("--version", out="full").status, forked("--version", out="closed").status) == (2, 0)
