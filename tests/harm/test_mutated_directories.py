"""Directories with structure changed at random: one answer, in time, in little memory, and never an internal error.

Each directory is asked in a process of its own, forked from this one. A failure names the seed; how to look at its
directory stands in ``mutated_directories``.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import watched_calls
from harmed import no_trace
from mutated_directories import MUTATIONS, mutated
from program import Answer, call
from reference_only import reference_only

SEEDS = range(5000)
PART = 100
SOME = SEEDS[:: len(SEEDS) // 20]
SECONDS = 20
"""Of processor time that one directory may take, for all questions."""
MEMORY = 64 << 20
LINES = 4
"""Of each answer in lines that are held against the schema: validation is slow."""
FORMS = {
    "ls": ("pages", "ls", "{}", "--format", "json"),
    "outstanding": ("pages", "outstanding", "{}", "--format", "json", "--positions"),
    "decode": ("pages", "decode", "{}", "--format", "jsonl", "--body", "size,sha256,text,value"),
    "decode --outstanding": (
        "messages",
        "decode",
        "--in",
        "pages",
        "{}",
        "--format",
        "jsonl",
        "--outstanding",
        "--body",
        "none",
    ),
    "compact": ("pages", "compact", "{}", "--format", "json"),
    "messages decode": ("messages", "decode", "{}", "--format", "jsonl", "--body", "size,sha256,text,value"),
}
CONFIGURATION = Path(__file__).with_name("broker.xml")
OTHERS = {
    "drift": ("config", "drift", "{}", "--config", str(CONFIGURATION), "--format", "json"),
    "verify": ("pages", "verify", "{}", "--format", "jsonl"),
    "salvage": ("pages", "salvage", "{}", "--format", "json", "--out", "{}.salvaged"),
    "messages find": ("messages", "find", "{}", "--contains", "o", "--format", "jsonl"),
    "messages ls": ("messages", "ls", "{}", "--format", "json"),
    "messages verify": ("messages", "verify", "{}", "--format", "jsonl"),
    "messages xml": ("messages", "xml", "{}", "--to", "{}.xml"),
    "messages send": ("messages", "send", "{}", "--to", "amqp://127.0.0.1:1", "--dry-run", "--format", "json"),
    "large ls": ("large", "ls", "{}", "--format", "json"),
    "large verify": ("large", "verify", "{}", "--format", "json"),
    "journal verify": ("journal", "verify", "{}", "--format", "json"),
    "journal ls": ("journal", "ls", "{}", "--format", "json"),
    "journal inspect": ("journal", "inspect", "{}", "--format", "jsonl"),
    "journal compact": ("journal", "compact", "{}", "--format", "json", "--out", "{}.compacted"),
}


def asked(words: tuple[str, ...], data: Path) -> Answer:
    answer = call(*(word.format(data) for word in words))
    no_trace(answer)
    return answer


def complaints(data: Path) -> list[str]:
    """List contradictions between the answers about a directory, and changes that calls made to it."""
    before = names_and_times(data)
    answers = {name: asked(words, data) for name, words in FORMS.items()}
    with reference_only():
        of_references = {name: asked(words, data) for name, words in FORMS.items()}
    found = [
        f"{name}: fast {short(answers[name])}, reference {short(of_references[name])}"
        for name in FORMS
        if answers[name] != of_references[name]
    ]
    answers |= {name: asked(words, data) for name, words in OTHERS.items()}
    found += [*one_verdict(answers), *one_count(answers), *dropped(data, answers["outstanding"])]
    found += [*converted(data, answers["outstanding"]), *recovered(data)]
    if names_and_times(data) != before:
        found.append("something in the directory was changed")
    return found


def one_verdict(answers: dict[str, Answer]) -> list[str]:
    """Report a directory that ``ls`` judges as damaged and ``verify`` as sound."""
    ls, verify = answers["ls"].status, answers["verify"].status
    return [f"ls ends with 1, verify with {verify}"] if ls == 1 and verify == 0 else []


def one_count(answers: dict[str, Answer]) -> list[str]:
    """Return the disagreements between what ``outstanding``, ``decode --outstanding`` and ``ls`` count."""
    if answers["outstanding"].status == 2 or answers["decode --outstanding"].status == 2:
        return []
    counted = {
        (store["folder"], *position)
        for store in json.loads(answers["outstanding"].out)["stores"]
        for queue in store["queues"]
        for position in queue.get("positions") or ()
    }
    shown = {(line["store"], line["page"], line["number"]) for line in answers["decode --outstanding"].lines()}
    found = []
    if counted != shown:
        found.append(f"outstanding counts {sorted(counted - shown)[:5]}, decode shows {sorted(shown - counted)[:5]}")
    if answers["ls"].status == 2:
        return [*found, "ls cannot, outstanding can"]
    for row in json.loads(answers["ls"].out)["stores"]:
        here = sum(folder == row["folder"] for folder, *_ in counted)
        if row["outstanding"] is not None and row["outstanding"] != here:
            found.append(f"{row['folder']}: ls says {row['outstanding']} outstanding, outstanding {here}")
    return found


def dropped(data: Path, outstanding: Answer) -> list[str]:
    """Drop one queue, and report other queues whose positions change, or output of a failed call."""
    if outstanding.status == 2:
        return []
    before = waiting(outstanding)
    name, out = next((name for _, name, _ in before), "nobody"), data.with_name(f"{data.name}.dropped")
    answer = asked(("queue", "drop", "{}", name, "--out", str(out), "--format", "json"), data)
    if answer.status == 2:
        return [f"queue drop ended with 2 and wrote {out}"] if out.exists() else []
    after = waiting(asked(FORMS["outstanding"], out))
    wrong = {key: at for key, at in before.items() if at and key[1] != name and after.get(key) != at}
    return [f"queue drop {name}: {short(answer)}: others differ: {wrong}"] if wrong else []


def converted(data: Path, outstanding: Answer) -> list[str]:
    """Convert a directory and report queues that wait for other messages afterwards.

    Pages and folders that the conversion reports as lost are left out. A refused conversion must not write anything.
    """
    out = data.with_name(f"{data.name}.converted")
    answer = asked(("convert", "{}", "--edition", "artemis-2.56", "--out", str(out), "--format", "json"), data)
    if answer.status == 2:
        return [f"convert ended with 2 and wrote {out}"] if out.exists() else []
    if outstanding.status == 2:
        return []
    lost = " ".join(json.loads(answer.out)["lost"])
    before, after = (
        {(folder, number, *each) for (folder, _, number), at in waiting(found).items() for each in at}
        for found in (outstanding, asked(FORMS["outstanding"], out))
    )
    wrong = sorted(
        (folder, number, page, each)
        for folder, number, page, each in before ^ after
        if f"paging/{folder}:" not in lost and f"paging/{folder}/{page:09d}.page" not in lost
    )
    return [f"convert: {wrong[:5]} differ; lost: {lost}"] if wrong else []


def recovered(data: Path) -> list[str]:
    """Recover a directory, and report queues whose counts differ from the plan, or output of a failed call."""
    out = data.with_name(f"{data.name}.recovered")
    answer = asked(("recover", "{}", "--out", str(out), "--format", "json"), data)
    if answer.status == 2 or not out.exists():
        return [f"recover ended with 2 and wrote {out}"] if out.exists() else []
    said = {queue["id"]: queue["messages"] for queue in json.loads(answer.out)["queues"]}
    there = json.loads(asked(("messages", "ls", "{}", "--format", "json"), out).out)["queues"]
    found = {
        queue["id"]: said.get(queue["id"], 0) if queue["unknown"] else queue["journal"] + queue["pages"]
        for queue in there
    }
    wrong = {each: (count, found.get(each)) for each, count in said.items() if count != found.get(each, 0)}
    return [f"recover: by queue, said and there: {wrong}"] if wrong else []


def waiting(outstanding: Answer) -> dict[tuple[str, str, int], list[tuple[int, int]]]:
    """Return outstanding positions by folder, queue and id."""
    return {
        (store["folder"], queue["queue"], queue["id"]): queue.get("positions") or []
        for store in json.loads(outstanding.out)["stores"]
        for queue in store["queues"]
    }


def names_and_times(data: Path) -> list[tuple[str, int, int]]:
    return sorted((str(path), path.lstat().st_size, path.lstat().st_mtime_ns) for path in data.rglob("*"))


def short(answer: Answer) -> str:
    return f"{answer.status} {answer.out[:1500]!r} {answer.err[:500]!r}"


def in_a_process(work: Callable[[], list[str]], told: Path) -> str | None:
    """Run the work in a child process with limited time and memory; return what failed, or None."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
            signal.alarm(SECONDS * 10)
            start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            found = work()
            more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) * (
                1 if sys.platform == "darwin" else 1024
            )
            if more > MEMORY:
                found.append(f"{more >> 20} MiB of memory")
            told.write_text("\n".join(found), "utf-8", "backslashreplace")
            status = 0
        except BaseException:
            told.write_text(traceback.format_exc()[-3000:], "utf-8", "backslashreplace")
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    said = told.read_text("utf-8", "replace") if told.exists() else ""
    told.unlink(missing_ok=True)
    if os.WIFSIGNALED(ended):
        return f"ended by {signal.Signals(os.WTERMSIG(ended)).name}"
    return said or None


@pytest.fixture(autouse=True)
def few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_calls, "FIRST_LINES", LINES)


def wrong_answers(seeds: Any, folder: Path) -> dict[str, str]:
    wrong: dict[str, str] = {}
    _, warm = mutated(0)
    complaints(warm.write(folder / "warm"))  # what is imported once is no memory of one directory
    for seed in seeds:
        said, directory = mutated(seed)
        data = directory.write(folder / "data")
        found = in_a_process(lambda data=data: complaints(data), folder / "told")
        if found is not None:
            wrong[said] = found
        for left in folder.glob("data*"):
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()
    return wrong


@pytest.mark.parametrize("seeds", [SOME[at : at + 5] for at in range(0, len(SOME), 5)], ids=lambda seeds: str(seeds[0]))
def test_some_directories(seeds: Any, tmp_path: Path) -> None:
    assert wrong_answers(seeds, tmp_path) == {}


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "seeds", [SEEDS[at : at + PART] for at in range(0, len(SEEDS), PART)], ids=lambda seeds: str(seeds[0])
)
def test_five_thousand_directories(seeds: Any, tmp_path: Path) -> None:
    assert wrong_answers(seeds, tmp_path) == {}


def test_every_mutation_is_used() -> None:
    said = " ".join(mutated(seed)[0] for seed in SEEDS[:600])
    assert [mutation.__name__ for mutation in MUTATIONS if mutation.__name__ not in said] == []
    assert mutated(17)[1] == mutated(17)[1]
