"""Several processes answer what one does, byte for byte, on sound and on damaged directories."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from golden_cases import GoldenCase, cases_of_each_kind, spread
from mutated_directories import mutated
from program import Answer, call

READING = (
    ("pages", "ls", "--format", "jsonl"),
    ("pages", "outstanding", "--format", "json", "--positions"),
    ("pages", "verify", "--format", "jsonl"),
    ("messages", "verify", "--format", "jsonl"),
    ("pages", "compact", "--dry-run", "--format", "json"),
    ("pages", "decode", "--format", "jsonl", "--body", "text,sha256"),
    ("pages", "decode", "--format", "jsonl", "--columns", "sent,expired,body_text,properties.color"),
    ("messages", "decode", "--in", "pages", "--format", "csv", "--outstanding"),
    ("messages", "find", "--format", "jsonl", "--where", "AMQPriority > 3"),
    ("messages", "decode", "--format", "jsonl", "--body", "text"),
    ("messages", "find", "--format", "csv", "--where", "AMQPriority > 3"),
)


@pytest.fixture(autouse=True)
def _units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the thresholds, so that several processes share even a small directory."""
    monkeypatch.setattr("pagefmt.parallel.UNIT", 1)
    monkeypatch.setattr("pagefmt.table.row_groups.UNIT", 1)
    monkeypatch.setattr("pagefmt.parallel._FEW", 10)


@pytest.fixture
def _no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the fallback to this process, so that the failure of a worker surfaces as an error."""
    monkeypatch.delattr("pagefmt.parallel.islice")


def answers(data: Path, jobs: int) -> list[Answer]:
    return [call(*words[:2], data, *words[2:], "--jobs", str(jobs)) for words in READING]


CASES = cases_of_each_kind()


@pytest.mark.usefixtures("_no_failure")
@pytest.mark.parametrize("case", spread(CASES, 7), ids=str)
def test_golden_directories(case: GoldenCase) -> None:
    assert answers(case.data(), 2) == answers(case.data(), 1)


@pytest.mark.parametrize("seeds", spread((range(at, at + 6) for at in range(0, 24, 6)), 4), ids=str)
def test_changed_directories(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        data = mutated(seed)[1].write(tmp_path / str(seed))
        assert answers(data, 2) == answers(data, 1), seed
        salvaged = [salvage(data, tmp_path / f"{seed}-{jobs}", jobs) for jobs in (1, 2)]
        assert salvaged[0] == salvaged[1], seed


@pytest.mark.usefixtures("_no_failure")
@pytest.mark.parametrize("what", ["pages", "messages"])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("case", spread(CASES, 11), ids=str)
def test_tables(case: GoldenCase, form: str, what: str, tmp_path: Path) -> None:
    for jobs in (1, 2):
        answer = call(what, "decode", case.data(), "--to", tmp_path / f"{jobs}.{form}", "--jobs", str(jobs))
        assert answer.status in (0, 1), answer.err
    assert (tmp_path / f"1.{form}").read_bytes() == (tmp_path / f"2.{form}").read_bytes()


def salvage(data: Path, out: Path, jobs: int) -> tuple[int, str, dict[str, str]]:
    """Salvage with ``jobs`` processes, and return status, output and the checksums of the files written."""
    answer = call("pages", "salvage", data, "--out", out, "--jobs", str(jobs))
    files = {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }
    return answer.status, (answer.out + answer.err).replace(str(out), "OUT"), files
