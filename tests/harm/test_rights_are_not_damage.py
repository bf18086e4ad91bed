"""What this user may not read is not damaged: that is said once, and nothing is derived from it."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from harmed import no_trace, pagectl, pages_of, permissions_count, snapshot, without_override
from program import Answer, environment

USER = pwd.getpwuid(os.geteuid()).pw_name
DERIVED = (
    "damaged (",
    "are lost",
    "may refuse to start",
    "salvage",
    "does not start",
    "of 2 files damaged",
    "no record",
    "BAD",
    "is damaged",
    "lost:",
    "page damaged",
    "nobody",
    "beyond the last",
    "no readable record",
    "the broker skips",
)


@dataclass(frozen=True, slots=True)
class Closed:
    """A directory in which some paths have no rights. ``shown``: what of them an answer has to name."""

    data: Path
    paths: tuple[Path, ...]

    @contextmanager
    def without_rights(self) -> Iterator[None]:
        modes = [path.stat().st_mode for path in self.paths]
        for path in self.paths:
            path.chmod(0)
        try:
            yield
        finally:
            for path, mode in zip(self.paths, modes, strict=True):
                path.chmod(mode)

    def call(self, words: str, out: Path) -> Answer:
        split = words.replace("{out}", str(out)).split()
        at = 1 if split[0] in ("recover", "convert", "export") else 2
        with self.without_rights():
            return pagectl(*split[:at], self.data, *split[at:], prepare=without_override)


def one_page(data: Path) -> tuple[Path, ...]:
    return (pages_of(data)[1],)


def several_pages(data: Path) -> tuple[Path, ...]:
    return tuple(pages_of(data)[1:3])


def one_store(data: Path) -> tuple[Path, ...]:
    return (pages_of(data)[0].parent,)


def address_file(data: Path) -> tuple[Path, ...]:
    return (pages_of(data)[0].parent / "address.txt",)


def paging(data: Path) -> tuple[Path, ...]:
    return (data / "paging",)


def one_body(data: Path) -> tuple[Path, ...]:
    return (data / "large-messages" / "19.msg",)


def bodies(data: Path) -> tuple[Path, ...]:
    return (data / "large-messages",)


PAGES: dict[str, Callable[[Path], tuple[Path, ...]]] = {
    "one page": one_page, "several pages": several_pages, "one store": one_store, "address": address_file,
}  # fmt: skip
BODIES: dict[str, Callable[[Path], tuple[Path, ...]]] = {"one body": one_body, "large-messages": bodies}


def closed(tmp_path: Path, case: str, which: Callable[[Path], tuple[Path, ...]]) -> Closed:
    permissions_count()
    data = tmp_path / "data"
    shutil.copytree(GoldenCase("2.56.0", case).data(), data)
    return Closed(data, which(data))


def assert_reported_once(answer: Answer, first: Path) -> None:
    """Assert that one line names file, cause and remedy, and that no consequence is reported."""
    no_trace(answer)
    # paths may be broken where a line is folded
    said = " ".join((answer.out + answer.err).split())
    assert said.count(f"cannot be read as {USER} (Permission denied)") == 1, answer
    assert first.name in said and "run as a user who may" in said, answer
    assert not [words for words in DERIVED if words in said], answer


# ---------------------------------------------------------------- journals

COMMANDS = (
    "pages ls", "pages outstanding", "pages verify", "messages ls", "messages verify", "journal verify", "large verify",
)  # fmt: skip


@pytest.mark.parametrize(
    "file", ["journal/activemq-data-1.amq", "bindings/activemq-bindings-1.bindings", "journal", "bindings"]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_derived_from_missing_rights(tmp_path: Path, command: str, file: str) -> None:
    found = closed(tmp_path, "multicast-acks", lambda data: (data / file,))
    answer = found.call(command, tmp_path / "out")
    no_trace(answer)
    said = " ".join((answer.out + answer.err).split())
    nothing = (command, file) == ("pages outstanding", "journal")  # it is about acknowledgements alone
    assert answer.status == (2 if nothing else 1), answer
    assert "cannot be read as " in said and Path(file).name in said and ("run as a user" in said) >= nothing, answer
    assert not [words for words in DERIVED if words in said], answer


FILES = ["journal/activemq-data-1.amq", "bindings/activemq-bindings-1.bindings", "journal", "bindings"]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("words", ["messages ls", "messages top", "messages check", "disk usage", "pages ls"])
def test_what_is_not_read_is_not_counted(words: str, file: str, tmp_path: Path) -> None:
    found = closed(tmp_path, "basic", lambda data: (data / file,))
    answer = found.call(f"{words} --format json", tmp_path / "out")
    no_trace(answer)
    if words == "messages top" and file == "journal":
        assert answer.status == 2 and not answer.out, answer
        return
    assert answer.status == (3 if words == "messages check" else 1), answer
    document = json.loads(answer.out)
    if words == "disk usage":
        assert document["journal_content"] is None or file.startswith("bindings"), answer
        return
    key = {"messages check": "backlogs", "pages ls": "stores"}.get(words, "queues")
    numbers = ("outstanding",) if key == "stores" else ("messages", "journal")
    assert {row[each] for row in document.get(key, []) for each in numbers} <= {None}, answer
    assert f"cannot be read as {USER}" in answer.out, answer


# ---------------------------------------------------------------- pages and large messages

READ_PAGES = (
    "pages ls", "pages outstanding", "pages verify", "pages decode --format csv", "messages ls", "messages top",
    "messages verify", "messages find --where true --format csv", "messages decode --outstanding --format csv",
    "messages xml --to {out}", "large ls", "large verify", "journal verify",
)  # fmt: skip
NEED_ALL = (
    "pages compact", "pages compact --out {out}", "pages compact --in-place", "journal compact --out {out}",
    "pages salvage --out {out}", "queue drop alpha", "queue drop alpha --out {out}",
    "queue purge alpha --all --out {out}", "recover", "recover --out {out}",
    "convert --edition 2.56", "convert --edition 2.56 --out {out}",
)  # fmt: skip
READ_BODIES = (
    "pages verify", "pages decode --format jsonl --body base64", "messages decode --format jsonl --body sha256",
    "messages xml --to {out}", "large ls", "large verify", "messages verify",
)  # fmt: skip


@pytest.mark.parametrize("which", PAGES)
@pytest.mark.parametrize("words", READ_PAGES)
def test_the_rest_of_the_pages_is_shown(words: str, which: str, tmp_path: Path) -> None:
    found = closed(tmp_path, "two-addresses", PAGES[which])
    answer = found.call(words, tmp_path / "out")
    assert_reported_once(answer, found.paths[0])
    assert answer.status == 1, answer
    assert answer.out or (tmp_path / "out").exists(), "nothing was shown"
    assert len(found.paths) == 1 or "and 1 other" in " ".join((answer.out + answer.err).split()), answer


@pytest.mark.parametrize("which", [*PAGES, "paging"])
def test_a_plugin_does_not_know(which: str, tmp_path: Path) -> None:
    found = closed(tmp_path, "two-addresses", PAGES.get(which, paging))
    answer = found.call("messages check -c messages=1000", tmp_path / "out")
    assert_reported_once(answer, found.paths[0])
    assert answer.status == 3 and "UNKNOWN" in answer.out, answer


@pytest.mark.parametrize("words", READ_PAGES)
def test_a_paging_directory_without_rights(words: str, tmp_path: Path) -> None:
    found = closed(tmp_path, "two-addresses", paging)
    answer = found.call(words, tmp_path / "out")
    assert_reported_once(answer, found.paths[0])
    assert answer.status == (2 if words.startswith("pages ") else 1), answer


@pytest.mark.parametrize("which", [*PAGES, "paging"])
@pytest.mark.parametrize("words", NEED_ALL)
def test_nothing_is_made_of_a_part(words: str, which: str, tmp_path: Path) -> None:
    found = closed(tmp_path, "two-addresses", PAGES.get(which, paging))
    before = snapshot(found.data)
    answer = found.call(words, tmp_path / "out")
    assert_reported_once(answer, found.paths[0])
    assert answer.status == 2 and not answer.out, answer
    assert snapshot(found.data) == before and not (tmp_path / "out").exists()


@pytest.mark.parametrize("which", BODIES)
@pytest.mark.parametrize("words", READ_BODIES)
def test_bodies_without_rights(words: str, which: str, tmp_path: Path) -> None:
    found = closed(tmp_path, "large-core", BODIES[which])
    answer = found.call(words, tmp_path / "out")
    no_trace(answer)
    said = " ".join((answer.out + answer.err).split())
    only_listed = which == "one body" and words in ("pages verify", "messages verify")  # bodies are not read there
    assert only_listed or said.count("run as a user who may") == 1, answer
    assert not [words for words in DERIVED if words in said], answer
    nothing = which == "large-messages" and words.startswith("large ")
    assert answer.status == (2 if nothing else 1), answer
    if "--format jsonl" in words:
        whole = GoldenCase("2.56.0", "large-core").data()
        assert len(answer.lines()) == len(pagectl(*words.split()[:2], whole, "--format", "jsonl").lines())
        mine = [line for line in answer.lines() if line["large"]]
        wrong = [line for line in mine if f"cannot be read as {USER}" in line.get("body_error", "")]
        assert [line["id"] for line in wrong] == ([19] if which == "one body" else [line["id"] for line in mine])


@pytest.mark.parametrize("words", ["pages compact --out {out}", "queue drop big --out {out}", "pages compact"])
@pytest.mark.parametrize("which", BODIES)
def test_bodies_are_not_left_out_of_a_copy(which: str, words: str, tmp_path: Path) -> None:
    found = closed(tmp_path, "large-core", BODIES[which])
    answer = found.call(words, tmp_path / "out")
    assert_reported_once(answer, found.paths[0])
    assert answer.status == 2 and not (tmp_path / "out").exists(), answer


def test_pages_that_cannot_be_read_are_known_by_their_listing(tmp_path: Path) -> None:
    found = closed(tmp_path, "scattered-acks", one_page)
    answer = found.call("pages ls --format json", tmp_path / "out")
    (row,) = json.loads(answer.out)["stores"]
    assert (row["condition"], row["conditions"], row["outstanding"]) == ("not permitted", ["not permitted"], None)
    assert re.fullmatch(rf"000000002\.page: cannot be read as {USER} \(Permission denied\)", row["remarks"][0])
    assert row["pages"] == 6


@pytest.mark.parametrize("which", ["one store", "one page"])
def test_disk_usage_knows_sizes_of_files_it_may_not_read(which: str, tmp_path: Path) -> None:
    found = closed(tmp_path, "two-addresses", PAGES[which])
    answer = found.call("disk usage", tmp_path / "out")
    if which == "one store":
        assert_reported_once(answer, found.paths[0])
        assert answer.status == 1
    else:
        assert answer.status == 0 and not answer.err, answer


@pytest.mark.parametrize("which", [*PAGES, *BODIES])
def test_an_export_says_what_is_not_in_the_table(which: str, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    found = closed(tmp_path, "large-core" if which in BODIES else "two-addresses", {**PAGES, **BODIES}[which])
    answer = found.call("export --body text --to {out}", tmp_path / "out")
    assert_reported_once(answer, found.paths[0])
    assert answer.status == 1, answer


@pytest.mark.parametrize(
    "name", ["journal/activemq-data-1.amq", "bindings/activemq-bindings-1.bindings", "journal", "bindings"]
)
def test_the_exporter_does_not_call_it_damage(name: str, tmp_path: Path) -> None:
    # There is no sample for a journal that cannot be read.
    found = closed(tmp_path, "scattered-acks", lambda data: (data / name,))
    program = (
        "import sys; from pathlib import Path; from pagefmt.directory.locate import locate;"
        "from pagefmt.vectors import watch_pages; from pagectl.outputs.page_metrics import page_metrics;"
        "seen = watch_pages(locate(Path(sys.argv[1]))).look();"
        "print(*(gauge.samples for gauge in page_metrics(seen, 1) if gauge.name == 'artemis_journal_damaged'))"
    )
    with found.without_rights():
        done = subprocess.run(
            [sys.executable, "-c", program, found.data],
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
            preexec_fn=without_override,
        )
    assert done.stdout == "()\n", done
