"""``pagectl completion``: the completion script of a shell."""

from __future__ import annotations

import sys
from enum import StrEnum
from importlib import resources
from typing import Annotated

import typer


class Shell(StrEnum):
    """Shells with a completion script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


# file names in the folder of completion scripts, which is part of the package
_SCRIPTS = {Shell.bash: "pagectl.bash", Shell.zsh: "_pagectl", Shell.fish: "pagectl.fish"}


EXAMPLES = (
    ("bash", "completion bash > ~/.local/share/bash-completion/completions/pagectl"),
    ("zsh, with ~/.zfunc in fpath before compinit", "completion zsh > ~/.zfunc/_pagectl"),
    ("fish", "completion fish > ~/.config/fish/completions/pagectl.fish"),
)


def command(shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    """Print the completion script for a shell. Completion runs the program only for names of queues and addresses."""
    script = resources.files("pagectl") / "completions" / _SCRIPTS[shell]
    sys.stdout.write(script.read_text("utf-8"))
