"""Real shells at a terminal of their own: what pressing Tab offers."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "completions"
READLINE = (
    "show-all-if-ambiguous on", "match-hidden-files off", "page-completions off", "completion-query-items 0",
    "completion-display-width 0", "enable-bracketed-paste off", "colored-stats off",
)  # fmt: skip
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07|[\r\x07\x08]")


TRACE = "#!/bin/sh\ntouch .started\n"
EXTRA: dict[str, str] = {}


def offered(shell: str, typed: str, folder: Path, program: str = TRACE) -> set[str]:
    """Return the words that a shell offers after the typed text, or the completed line if only one word fits.

    ``program`` replaces ``pagectl`` and leaves a trace if it is started.
    """
    tools = folder / ".tools"
    tools.mkdir(exist_ok=True)
    (tools / "pagectl").write_text(program.replace(".started", f"'{folder}/.started'"))
    (tools / "pagectl").chmod(0o755)
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](typed, folder)


def installed(shell: str) -> bool:
    return shutil.which(shell) is not None


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": f"{folder / '.tools'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm",
        "XDG_CONFIG_HOME": str(folder / ".config"),
        "XDG_DATA_HOME": str(folder / ".local"),
        **EXTRA,
    }


def _fish(typed: str, folder: Path) -> set[str]:
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source {SCRIPTS / 'pagectl.fish'}; complete -C $argv[1]", typed],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not done.stderr, done.stderr
    return {line.split("\t")[0] for line in done.stdout.splitlines()}


def _bash(typed: str, folder: Path) -> set[str]:
    setting = "; ".join(f"bind 'set {it}'" for it in READLINE)
    start = f"PS1='READY> '; {setting}; source {SCRIPTS / 'pagectl.bash'}; stty cols 4000"
    # afterwards the line, as completed, becomes a word of echo
    text = _at_terminal(
        ["bash", "--norc", "--noprofile", "-i"], start, f"{typed}\t\x01echo 'LINE=\x05' ; echo EN''DED\n", folder
    )
    listing, line = text.split("LINE=", 1)[0], text.rsplit("LINE=", 1)[1].split("\n")[0]
    listed = {word for row in listing.split("\n")[1:] if "READY>" not in row for word in row.split()}
    return listed or ({line.split()[-1]} if line.strip() != typed.strip() else set())


# every match that is added is printed as well, between two marks
ZSH_PRINTS = r"""
before_all() { print BE''GIN }; after_all() { print EN''DED }
compprefuncs=(before_all); comppostfuncs=(after_all)
compadd() {
    local -a found; local -A before
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
    builtin compadd -A found "$@"
    zparseopts -E p:=before
    (( $#found )) && print -rl -- "$IPREFIX${before[-p]}"$^found
    builtin compadd "$@"
}
"""


def _zsh(typed: str, folder: Path) -> set[str]:
    script = folder / ".zsh"
    script.write_text(
        f"fpath=({SCRIPTS} $fpath)\nautoload -Uz compinit && compinit -C -d {folder}/.zcompdump\n{ZSH_PRINTS}"
        "unsetopt promptsp\nPS1='READY> '\n"
    )
    text = _at_terminal(["zsh", "-f", "-i"], f"source {script}", f"{typed}\t", folder)
    return {line.strip() for line in text.split("BEGIN", 1)[1].split("ENDED")[0].split("\n") if line.strip()}


def _at_terminal(command: list[str], start: str, keys: str, folder: Path) -> str:
    """Type keys at a shell's terminal and return its output until ENDED."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe(command[0], command, _environment(folder))
    try:
        os.write(terminal, f"{start}; echo SET''TLED\n".encode())
        _read_until(terminal, "SETTLED.*READY> ")
        os.write(terminal, keys.encode())
        return _read_until(terminal, "ENDED")
    finally:
        os.kill(process, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(process, 0)


def _read_until(terminal: int, mark: str) -> str:
    text, end = "", time.monotonic() + 60
    while not re.search(mark, text, re.DOTALL):
        ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"no {mark} in {text!r}"
        text += ESCAPES.sub("", os.read(terminal, 1 << 16).decode("utf-8", "replace"))
    return text
