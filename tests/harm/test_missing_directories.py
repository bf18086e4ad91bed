"""A directory of the broker is missing: every command that was asked about it says so, and its status is not 0."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from harmed import golden, no_trace
from program import ROOT, Answer, call


def asked(words: str, data: Path, out: Path) -> Answer:
    """Call a command on ``data``, which is inserted after the command's name in ``words``."""
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


# ---------------------------------------------------------------- no journal

STORE = (
    "messages ls", "messages decode --format csv", "messages decode --to {out}/x.csv", "messages find --id 13",
    "messages find --id 13 --count-by address", "messages decode --in journal", "messages top", "messages check",
    "messages xml --to {out}/x.xml", "messages send --to amqp://127.0.0.1:1 --dry-run",
)  # fmt: skip


def no_journal(data: Path) -> None:
    shutil.rmtree(data / "journal")


def no_journal_files(data: Path) -> None:
    for path in (data / "journal").iterdir():
        path.unlink()


def no_bindings(data: Path) -> None:
    shutil.rmtree(data / "bindings")


def empty_folders(data: Path) -> None:
    for name in ("journal", "bindings"):
        shutil.rmtree(data / name)
        (data / name).mkdir()


@pytest.mark.parametrize(
    "spoil", [no_journal, no_journal_files, no_bindings, empty_folders], ids=lambda it: it.__name__
)
@pytest.mark.parametrize("words", STORE)
def test_a_part_of_the_store_is_missing(words: str, spoil: Callable[[Path], None], data: Path, tmp_path: Path) -> None:
    # Status 2 is only for calls without any answer; the plugin has its own statuses.
    spoil(data)
    answer = asked(words, data, tmp_path)
    missing = "bindings" if spoil is no_bindings else "journal"
    assert missing in answer.err + answer.out and "note: there" not in answer.err, answer
    expected = 3 if words == "messages check" else 1 if answer.out or list(tmp_path.glob("x.*")) else 2
    assert answer.status == expected, answer
    assert "no queue\n" not in answer.out, answer


@pytest.mark.parametrize("words", ["messages find --id 20", "messages decode --format csv", "messages ls"])
def test_pages_by_themselves(words: str, data: Path, tmp_path: Path) -> None:
    shutil.move(data / "paging", tmp_path / "paging")
    whole = asked(words, tmp_path / "paging", tmp_path)
    page = asked(words, next(tmp_path.glob("paging/*/*.page")), tmp_path)
    for answer in (whole, page):
        assert "note: no journal beside the pages: only pages are looked at" in answer.err, answer
        assert answer.status == (words == "messages ls"), answer  # it is about what is outstanding


# ---------------------------------------------------------------- the journal was not asked


@pytest.mark.parametrize("form", ["text", "jsonl", "csv"])
def test_pages_decode_names_who_reads_the_journal_too(form: str, data: Path, tmp_path: Path) -> None:
    hint = f"note: only pages were read; 'pagectl messages find {data}' looks in the journal as well"
    for message, told in ((20, True), (30, False)):
        answer = asked(f"pages decode --id {message} --format {form}", data, tmp_path)
        assert (hint in answer.err, answer.status) == (told, 0), answer
    shutil.rmtree(data / "journal")
    assert "only pages" not in asked("pages decode --id 20", data, tmp_path).err
