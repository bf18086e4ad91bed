"""The examples of each ``--help`` are calls that work, on a broker where they say that it is."""

from __future__ import annotations

import gzip
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_table import Command, commands
from pagectl.app import root
from program import ROOT, call
from recorded_histories import HistoryCase

BROKER = "/var/lib/broker"
# not carried out: what they wait for, or need
PARSED_ALONE = {
    "config serve": "an editor", "disk watch": "a terminal", "pages browse": "a terminal",
    "disk exporter": "a scrape",
    "export": "Spark, which its own tests start",
    "pages salvage": "damage", "pages restore": "a compaction", "pages drop-backup": "a compaction",
}  # fmt: skip
NEEDS_A_HOST = {"--credentials", "--jolokia", "--spark"}


def calls(command: Command) -> list[list[str]]:
    """Split each example in a command's help into words, up to a pipe or redirection."""
    found = []
    for line in command.examples.replace("\\\n", "").splitlines():
        if line.startswith("    pagectl "):
            words = shlex.split(line)[1:]
            found.append(words[: next((n for n, word in enumerate(words) if word in (">", "|")), len(words))])
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the files named by the examples."""
    where = tmp_path_factory.mktemp("examples")
    subprocess.run(["sh", str(ROOT / "examples" / "unpack.sh"), str(where)], check=True)
    for name in ("broker.xml", "new.xml"):
        (where / name).write_bytes((where / "news" / "etc" / "broker.xml").read_bytes())
    shutil.copytree(HistoryCase("2.56.0", "core").root() / "history", where / "news" / "history")
    log = ROOT / "tests" / "recorded" / "replays" / "traffic-logs" / "audit-message.log.gz"
    (where / "audit.log").write_bytes(gzip.decompress(log.read_bytes()))
    call("replay", "generate", "steady", "--messages", "200", "--to", where / "friday.jsonl")
    (where / "traces.csv").write_text("name,path,config\nfriday,friday.jsonl,broker.xml\n")
    call("pages", "seal", where / "news", "--to", where / "pages.seal")
    call("messages", "xml", where / "news", "--to", where / "messages.xml")
    return where


@pytest.mark.parametrize("command", list(commands()), ids=lambda one: " ".join(one.path))
def test_examples_work(command: Command, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = calls(command)
    assert found, "every command shows how it is called"
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "here"))
    for words in found:
        length = len(command.path)
        assert words[:length] == list(command.path)
        here = ["red.news" if word == "DLQ" else word.replace(BROKER, "news") for word in words]
        if " ".join(command.path) in PARSED_ALONE or not NEEDS_A_HOST.isdisjoint(words):
            leaf: Any = root()
            for name in command.path:
                leaf = leaf.get_command(None, name)
            leaf.make_context("", here[length:])
        else:
            answer = call(*here)
            as_full_as_the_disk = words[:2] == ["disk", "check"]
            assert answer.status in (0, 1, 2)[: 2 + as_full_as_the_disk], (words, answer.err)
