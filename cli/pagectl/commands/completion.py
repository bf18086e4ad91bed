"""``pagectl completion``: the completion script of a shell."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """Shells with a completion script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def command(shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    """Print the completion script of a shell. Completion itself does not start Python.

    bash: pagectl completion bash > ~/.local/share/bash-completion/completions/pagectl

    zsh: pagectl completion zsh > ~/.zfunc/_pagectl (with ~/.zfunc in fpath before compinit)

    fish: pagectl completion fish > ~/.config/fish/completions/pagectl.fish
    """
    from pagectl.reference import bash, fish, zsh
    from pagectl.reference.tree import groups

    scripts = {Shell.bash: bash.script, Shell.zsh: zsh.script, Shell.fish: fish.script}
    sys.stdout.write(scripts[shell](groups()))
