"""Every command knows of a damage, or there is a reason in sight; and all of them count the same messages.

A table of damages × commands over ``broken_directories``. Broker suites judge the same damages by what brokers deliver.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from broken_directories import BREAKS, NotHere, linked_page, queue_twice
from golden_cases import GoldenCase, spread
from harmed import no_trace
from program import Answer, call

CASES = (GoldenCase("2.56.0", "multicast-acks"), GoldenCase("2.28.0", "journal-mix"), GoldenCase("2.56.0", "basic"))
DAMAGES = {**BREAKS, "page is a link": linked_page}
COMMANDS = (
    "pages ls", "pages outstanding", "pages verify", "pages compact", "messages ls", "messages verify",
    "messages decode --outstanding --format jsonl", "messages decode --outstanding --format csv",
    "messages decode --outstanding --to {out}.parquet", "messages xml --to {out}.xml",
    "messages send --to amqp://127.0.0.1:1 --dry-run --format json", "journal verify", "recover",
)  # fmt: skip
OF_PAGES = {"pages ls", "pages outstanding", "pages verify", "pages compact"}
OF_MESSAGES = {"messages ls", "messages decode", "messages xml", "messages send"}
OF_JOURNALS = {"journal verify"}
NOBODY_KNOWS = set(OF_PAGES | OF_MESSAGES | OF_JOURNALS | {"messages verify", "recover"})
PAGE_DAMAGE = {"page", "last", "record"}
NOT_TOLD: dict[str, set[str]] = {
    # what is in the other files of the journal refers to nothing that was in it
    "main journal file gone": NOBODY_KNOWS,
    # a broker deletes its first page in the course of its work
    "first page gone": NOBODY_KNOWS,
    # all records are read, only later than they should be
    "journal file id flipped": OF_PAGES | OF_MESSAGES | {"messages verify"},
    # pages are as they were
    "journal message undecodable": OF_PAGES,
    "bindings record of no type": {"pages ls", "pages verify", "messages verify"},
    # bodies are looked for by who writes or checks them
    "large bodies missing": OF_PAGES | OF_MESSAGES | OF_JOURNALS,
    "large bodies empty": OF_PAGES | OF_MESSAGES | OF_JOURNALS,
    # removing it is what compact is for
    "page empty": {"pages compact"},
    "page put aside": {"pages compact"},
    # read as far as heads and queue ids alone: verify and decode read the properties
    "properties undecodable": {"pages ls", "pages outstanding", "pages compact", "messages ls"},
}
"""By damage the commands that may end with 0, and why."""


def name_of(words: str) -> str:
    first, _, rest = words.partition(" ")
    return first if first == "recover" else f"{first} {rest.split()[0]}"


def asked(words: str, data: Path, out: Path) -> Answer:
    name = name_of(words).split()
    options = (word.format(out=out) for word in words.split()[len(name) :])
    answer = call(*name, data, *options)
    no_trace(answer)
    return answer


def messages_of(words: str, answer: Answer, out: Path) -> int | None:
    """Return how many messages a command lists as waiting, or None if it gives no such number."""
    if answer.status == 2 or "the bindings have no name for the queues" in answer.err:
        return None
    if "jsonl" in words:
        return len(answer.lines())
    if "csv" in words:
        return len(answer.out.splitlines()) - 1
    if "parquet" in words:
        return pq.read_table(f"{out}.parquet").num_rows
    if "xml" in words:
        return Path(f"{out}.xml").read_text("utf-8").count("<message ")
    return None


def references(words: str, answer: Answer) -> int | None:
    """Return how many references wait, one for each queue of a message.

    Return None if that is unknown or the command gives no such number.
    """
    if words.startswith("messages send") and answer.status != 2:
        return sum(each["messages"] for each in json.loads(answer.out)["queues"])
    if "jsonl" in words and answer.status != 2:
        states = [state for line in answer.lines() for state in line["queues_state"].values()]
        unknown = any(state["state"] is None and "no queue" not in state["why"] for state in states)
        return None if unknown else sum(state["state"] == "due" for state in states)
    return None


def broken(case: GoldenCase, change: Callable[[Path], None], to: Path) -> Path:
    data = to / "data"
    shutil.copytree(case.data(), data)
    try:
        change(data)
    except NotHere:
        pytest.skip(f"{case} has nothing that could be broken so")
    return data


@pytest.mark.parametrize(("damage", "case"), spread(product(DAMAGES, CASES), 2), ids=str)
def test_every_command_knows(damage: str, case: GoldenCase, tmp_path: Path) -> None:
    data, out = broken(case, DAMAGES[damage], tmp_path), tmp_path / "out"
    answers = {words: asked(words, data, out) for words in COMMANDS}
    silent = {name_of(words) for words, answer in answers.items() if not answer.status}
    unfit = {"journal verify"} if damage.partition(" ")[0] in PAGE_DAMAGE or "address" in damage else set()
    assert silent <= NOT_TOLD.get(damage, set()) | unfit
    counts = {words: messages_of(words, answer, out) for words, answer in answers.items()}
    assert len(set(counts.values()) - {None}) <= 1, counts
    waiting = {words: references(words, answer) for words, answer in answers.items()}
    assert len(set(waiting.values()) - {None}) <= 1, waiting


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_queue_that_is_named_twice_is_no_damage_and_counts_once(case: GoldenCase, tmp_path: Path) -> None:
    sound, twice = tmp_path / "sound", broken(case, queue_twice, tmp_path)
    shutil.copytree(case.data(), sound)
    for words in COMMANDS:
        if name_of(words) == "messages xml":
            continue
        before, after = (asked(words, data, tmp_path / "out") for data in (sound, twice))
        assert (after.status, references(words, after)) == (before.status, references(words, before)), words
        assert messages_of(words, after, tmp_path / "out") == messages_of(words, before, tmp_path / "out"), words


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_recovered_is_sound(damage: str, tmp_path: Path) -> None:
    case = CASES[0] if damage != "properties undecodable" else CASES[2]
    data, new = broken(case, DAMAGES[damage], tmp_path), tmp_path / "new"
    recovered = call("recover", data, "--out", new)
    no_trace(recovered)
    if not new.exists():
        assert recovered.status == 2 or damage in ("first page gone", "page with a bad name", "page empty"), recovered
        return
    for words in COMMANDS:
        answer = asked(words, new, tmp_path / "out")
        assert answer.status == 0 or "large bodies" in damage or damage == "page empty", (words, answer)
