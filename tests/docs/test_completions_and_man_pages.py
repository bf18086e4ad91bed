"""What is made from the command tree and committed: completion scripts and manual pages."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import shells
from command_table import commands
from golden_cases import GoldenCase
from pagectl.running.statuses import STATUSES
from program import call
from renew import files
from shells import ROOT, installed, offered

from pagefmt.editions import EDITION_NAMES, PRODUCT_RELEASES

AMQ = {name for name in PRODUCT_RELEASES if name.startswith("amq")}

FILES = files()
SHELLS = ("bash", "zsh", "fish")
# typed so far, what is offered (each shell may say it as the word or as the part that is added)
OFFERS = [
    (
        "pagectl ",
        {
            "config", "convert", "export", "pages", "messages", "journal", "large", "queue", "recover", "disk",
            "replay", "completion",
        },
    ),
    ("pagectl --debug pages ver", {"verify"}),
    ("pagectl --", {"--help", "--version", "--debug"}),
    ("pagectl pages decode --format ", {"text", "json", "jsonl", "csv", "parquet", "arrow"}),
    ("pagectl pages ls --format=js", {"json", "jsonl"}),
    ("pagectl pages decode --body text,s", {"text,size", "text,sha256"}),
    ("pagectl pages compact data --ba", {"--backup-dir"}),
    ("pagectl config lint --edition hornetq", {"hornetq-2.4"}),
    ("pagectl config lint --edition a", {"auto", *EDITION_NAMES[1:], *AMQ}),
    ("pagectl config lint --ignore dla", {"dla-missing", "dla-same-limits"}),
    ("pagectl config explain min-disk", {"min-disk-free", "min-disk-free-over-volume"}),
    ("pagectl replay generate s", {"steady", "slow-consumer", "selective-consumer"}),
    ("pagectl replay run t --set global-max", {"global-max-size=", "global-max-messages="}),
    ("pagectl replay run t --set a.b:address-full", {"a.b:address-full-policy="}),
    ("pagectl replay sweep t --vary a.b:page-full-policy=", {"a.b:page-full-policy=DROP", "a.b:page-full-policy=FAIL"}),
    ("pagectl pages ls ", {"data", "one.xml", "two.jsonl", "sub"}),
    ("pagectl config diff one.xml ", {"data", "one.xml", "two.jsonl", "sub"}),
    ("pagectl pages verify data --manifest o", {"one.xml"}),
    ("pagectl pages compact data --backup-dir ", {"data", "sub"}),
    ("pagectl completion ", {"bash", "zsh", "fish"}),
    ("pagectl pages nonsense ", set()),
    ("pagectl pages decode --limit ", set()),
]  # fmt: skip


@pytest.mark.parametrize("name", sorted(FILES))
def test_committed_is_what_the_commands_say(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == FILES[name], "run: make renew"


def test_nothing_else_is_committed_there() -> None:
    for folder in ("completions", "man", "schemas/json"):
        assert {f"{folder}/{path.name}" for path in (ROOT / folder).iterdir()} == {
            name for name in FILES if name.startswith(folder)
        }


@pytest.mark.parametrize(("shell", "name"), [("bash", "pagectl.bash"), ("zsh", "_pagectl"), ("fish", "pagectl.fish")])
def test_the_command_prints_the_script(shell: str, name: str) -> None:
    answer = call("completion", shell)
    assert (answer.status, answer.out) == (0, FILES[f"completions/{name}"])


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_offers_it_without_starting_the_program(shell: str, tmp_path: Path) -> None:
    if not installed(shell):
        pytest.skip(f"{shell} is not on this machine")
    for name in ("data", "sub"):
        (tmp_path / name).mkdir()
    for name in ("one.xml", "two.jsonl"):
        (tmp_path / name).touch()
    for typed, expected in OFFERS:
        found = {_whole(word, typed, shell) for word in offered(shell, typed, tmp_path)}
        assert found == {word.rstrip("=") for word in expected}, typed
    assert not (tmp_path / ".started").exists()


def _whole(word: str, typed: str, shell: str) -> str:
    """Restore the full word of a completion, of which bash shows only the part after the last ``:`` or ``=``."""
    last = typed.split(" ")[-1]
    if last.startswith("--") and "=" in last:
        word = word.removeprefix(last.partition("=")[0] + "=")
    elif shell == "bash" and re.search("[:=]", last) and not word.startswith(last[:1]):
        word = re.sub("[^:=]*$", "", last) + word
    return word.rstrip("=/")


@pytest.mark.parametrize("name", sorted(name for name in FILES if name.startswith("man/")))
def test_manual_page_is_well_formed(name: str) -> None:
    checkers = (["mandoc", "-Tlint"], ["groff", "-ww", "-man", "-Tutf8"])
    found = [checker for checker in checkers if shutil.which(checker[0])]
    if not found:
        pytest.skip("neither mandoc nor groff is on this machine")
    for checker in found:
        done = subprocess.run([*checker, str(ROOT / name)], capture_output=True, text=True, check=False, timeout=60)
        said = done.stdout if checker[0] == "mandoc" else done.stderr
        assert not said, said


def test_every_command_has_its_statuses_and_its_place_in_a_manual_page() -> None:
    assert {one.path for one in commands()} == set(STATUSES)
    for one in commands():
        page = FILES[f"man/pagectl-{one.path[0]}.1"]
        assert rf"\fBpagectl {' '.join(one.path)}\fR".replace("-", r"\-") in page
        for option in one.options:
            assert rf"\fB{option.long.replace('-', chr(92) + '-')}\fR" in page


NAMES = [
    (
        "pagectl messages decode broker --queue ",
        {"$sys.mqtt.sessions", "all.news", "none.news", "part.news", "red.news"},
    ),
    ("pagectl messages find broker --queue r", {"red.news"}),
    ("pagectl messages find broker/data --address ", {"news"}),
    ("pagectl messages find --queue=p", {"part.news"}),
    ("pagectl messages find nowhere --queue n", {"none.news"}),
]
"""Typed in a folder with a broker, which is ``ARTEMIS_INSTANCE`` too."""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_offers_names_from_the_disk(shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not installed(shell):
        pytest.skip(f"{shell} is not on this machine")
    GoldenCase("2.56.0", "multicast-acks").lay_out(tmp_path / "broker")
    program = f'#!/bin/sh\nPYTHONPATH={":".join(sys.path)} exec {sys.executable} -m pagectl "$@"\n'
    monkeypatch.setattr(shells, "EXTRA", {"ARTEMIS_INSTANCE": str(tmp_path / "broker")})
    for typed, expected in NAMES:
        found = {_whole(word, typed, shell) for word in offered(shell, typed, tmp_path, program)}
        assert {name.replace("\\", "") for name in found} == expected, typed


@pytest.mark.parametrize(
    "words", [(), ("queue",), ("queue", "/nowhere"), ("x", "/"), ("queue", "\0"), ("address", "/dev/null")]
)
def test_names_of_what_cannot_be_read_are_none(words: tuple[str, ...]) -> None:
    from pagectl.opening.names import answer

    assert answer(list(words)) == 0


def test_names_that_need_the_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pagectl.opening.names import answer

    GoldenCase("2.56.0", "multicast-acks").lay_out(tmp_path / "from")
    (tmp_path / "broker" / "etc").mkdir(parents=True)
    text = "".join(
        f"<{name}-directory>{tmp_path}/from/data/{folder}</{name}-directory>"
        for name, folder in (("paging", "paging"), ("bindings", "bindings"), ("journal", "journal"))
    )
    (tmp_path / "broker" / "etc" / "broker.xml").write_text(
        f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{text}</core></configuration>'
    )
    assert answer(["queue", str(tmp_path / "broker")]) == 0
    said = capsys.readouterr()
    assert "red.news" in said.out.splitlines() and said.err == ""
