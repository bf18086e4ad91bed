"""The ten tasks of ``docs/jobs/README.md``: each is there, and what is typed for it is in the help of its command.

That the transcripts are true is tested with all other pages.
"""

from __future__ import annotations

import re
import shlex

import pytest
from command_table import TOP, Command, commands
from doc_examples import DOCS, examples

TEXT = (DOCS / "jobs" / "README.md").read_text("utf-8")
TASKS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT.split("\n## All jobs\n")[0], re.MULTILINE | re.DOTALL))
# what answers each, whatever else is shown
ANSWERS = {
    "Who fills the disk?": "messages top",
    "The power failed: what is lost?": "pages salvage",
    "Mail from cron at 85 %": "disk check",
    "Lint in CI": "config lint",
    "The messages of one queue and hour, as CSV": "messages decode",
    "Find a message by its id": "messages find",
    "Would these limits have held?": "replay sweep",
    "Parquet every night, and a query": "messages decode",
    "Compact, and change one's mind": "pages restore",
    "Move the messages of a queue out": "queue drop",
}
BY_PATH = {" ".join(command.path): command for command in commands()}


def calls(body: str) -> list[tuple[Command, list[str]]]:
    """Return each pagectl command that a task's examples call, with its arguments."""
    found = []
    for example in examples(body):
        words = shlex.split(example.command)
        if not example.program and words[0] == "pagectl":
            path = next(path for path in (" ".join(words[1:3]), words[1]) if path in BY_PATH)
            end = next((n for n, word in enumerate(words) if word in ("|", ">")), len(words))
            found.append((BY_PATH[path], words[1 + len(path.split()) : end]))
    return found


def test_all_are_there() -> None:
    assert list(TASKS) == list(ANSWERS)


@pytest.mark.parametrize("task", TASKS)
def test_the_help_has_what_is_typed(task: str) -> None:
    found = calls(TASKS[task])
    assert ANSWERS[task] in {" ".join(command.path) for command, _ in found}
    for command, words in found:
        options = {name for option in (*command.options, *TOP) for name in option.names}
        typed = {word for word in words if re.match(r"--?[a-z]", word)}
        assert typed <= options, f"{task}: {typed - options}"
        assert command.examples, "the help shows how it is called"
