"""A directory of the broker is missing: every command that was asked about it says so, and its status is not 0."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest
from harmed import golden, no_trace
from program import ROOT, Answer, call


def asked(words: str, data: Path, out: Path) -> Answer:
    """One call about ``data``, whose place in ``words`` is behind the name of the command."""
    name, _, options = words.partition(" -")
    rest = f"-{options}".replace("{out}", str(out)).split() if options else []
    answer = call(*name.split(), data, *rest)
    no_trace(answer)
    return answer


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return golden("basic").copy(tmp_path)


@pytest.fixture
def never_paged(tmp_path: Path) -> Path:
    with tarfile.open(ROOT / "tests" / "recorded" / "limits" / "fail-full-2.56.0" / "data.tar.gz") as packed:
        packed.extractall(tmp_path / "never", filter="data")
    return tmp_path / "never" / "data"


# ---------------------------------------------------------------- no paging directory

VERIFY = ("messages verify", "messages verify --in pages", "pages verify", "journal verify", "large verify")


@pytest.mark.parametrize("words", VERIFY)
def test_a_missing_paging_directory_is_a_finding(words: str, data: Path, tmp_path: Path) -> None:
    shutil.rmtree(data / "paging")
    answer = asked(f"{words} --format jsonl", data, tmp_path)
    found = [(line["severity"], line["check"]) for line in answer.lines() if "check" in line]
    assert (answer.status, found) == (1, [("error", "paging-missing")]), answer


@pytest.mark.parametrize("words", VERIFY)
def test_a_configuration_that_names_a_missing_one(words: str, data: Path, tmp_path: Path) -> None:
    (tmp_path / "instance" / "etc").mkdir(parents=True)
    (tmp_path / "instance" / "etc" / "broker.xml").write_text(
        f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">'
        f"<paging-directory>{tmp_path}/elsewhere</paging-directory><bindings-directory>{data}/bindings"
        f"</bindings-directory><journal-directory>{data}/journal</journal-directory><large-messages-directory>"
        f"{data}/large-messages</large-messages-directory></core></configuration>"
    )
    answer = asked(f"{words} --format jsonl", tmp_path / "instance", tmp_path)
    assert [line["check"] for line in answer.lines() if "check" in line] == ["paging-missing"], answer
    assert answer.status == 1, answer


@pytest.mark.parametrize("words", VERIFY)
def test_a_broker_that_never_paged_is_sound(words: str, never_paged: Path, tmp_path: Path) -> None:
    answer = asked(f"{words} --format jsonl", never_paged, tmp_path)
    assert not [line for line in answer.lines() if "check" in line] and answer.status == 0, answer


def test_who_asks_about_the_journal_alone_is_not_told_of_pages(data: Path, tmp_path: Path) -> None:
    shutil.rmtree(data / "paging")
    assert asked("messages verify --in journal", data, tmp_path).status == 0
