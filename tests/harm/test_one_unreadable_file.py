"""One file that the disk does not give any more: every command that reads many tells it and reads the rest."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from harmed import faults, no_trace, pagectl

CASE = GoldenCase("2.56.0", "multicast-acks")
REASON = "Input/output error"
COMMANDS = (
    "pages ls", "pages outstanding", "pages verify", "messages ls", "messages verify",
    "messages decode --outstanding --format jsonl", "messages xml --to {out}", "journal ls", "journal verify",
    "journal inspect", "large ls", "large verify", "recover", "recover --out {out}", "disk usage",
)  # fmt: skip
READS_NO_PAGES = {"journal ls", "journal inspect", "journal verify", "disk usage"}
"""Its own files are all read."""
NEEDS_BINDINGS = {"messages xml"}
"""XML names queues."""


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("kind", ["page", "journal", "bindings", "later journal"])
def test_it_is_told_and_passed_over(kind: str, words: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(CASE.data(), data)
    bad = {
        "page": "000000004.page",
        "journal": "activemq-data-1.amq",
        "bindings": "activemq-bindings-1.bindings",
        "later journal": "activemq-data-3.amq",
    }[kind]
    first, second, *rest = (*words.format(out=tmp_path / "out").split(), "")
    name = [first] if first == "recover" else [first, second]
    options = [word for word in ([second, *rest] if first == "recover" else rest) if word]
    answer = pagectl(*name, data, *options, extra=faults().reads(bad))
    no_trace(answer)
    if kind == "page" and " ".join(name) in READS_NO_PAGES:
        assert answer.status == 0, answer
        return
    if kind == "bindings" and " ".join(name) in NEEDS_BINDINGS:
        assert answer.status == 2 and REASON in answer.err and "recover" in answer.err, answer
        return
    said = " ".join((answer.out + answer.err).split())
    names = (bad, f"page {int(bad[:9])}") if kind == "page" else (bad,)
    assert any(each in said for each in names) and (REASON in said or words == "messages verify"), answer
    assert answer.status == 1 or (kind == "bindings" and words == "recover --out {out}"), answer
