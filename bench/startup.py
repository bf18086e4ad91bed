"""CPU time from start to finish of calls that should answer at once, as ratios to what they cannot do without.

    python bench/startup.py [--rounds 15]

Each call is made once beforehand (so that bytecode is there), then all of them by turns; the smallest of the rounds
counts. CPU seconds of the whole process tree, so that other load matters little.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BROKER_XML = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
<paging-directory>data/paging</paging-directory><max-disk-usage>99</max-disk-usage>
<address-settings><address-setting match="#"><address-full-policy>PAGE</address-full-policy></address-setting>
</address-settings></core></configuration>"""
TAB = (
    "source {script}; COMP_WORDS=(pagectl pages decode --format ''); COMP_CWORD=4; _pagectl; "
    '[[ "${{COMPREPLY[*]}}" == "text jsonl csv parquet arrow" ]]'
)


def calls(folder: Path) -> dict[str, list[str]]:
    """Return the calls by name: the first two of Python, then pagectl's, the last two of bash."""
    python = sys.executable
    pagectl = [python, "-m", "pagectl"]
    (folder / "etc").mkdir()
    (folder / "etc" / "broker.xml").write_text(BROKER_XML)
    (folder / "data" / "paging").mkdir(parents=True)
    return {
        "python -c pass": [python, "-c", "pass"],
        "python -c 'import typer'": [python, "-c", "import typer"],
        "pagectl --version": [*pagectl, "--version"],
        "pagectl --help": [*pagectl, "--help"],
        "pagectl pages --help": [*pagectl, "pages", "--help"],
        "pagectl pages decode --help": [*pagectl, "pages", "decode", "--help"],
        "pagectl disk check, limits as flags": [*pagectl, "disk", "check", str(folder), "--max-disk-usage", "100"],
        "pagectl disk check, broker.xml": [*pagectl, "disk", "check", str(folder)],
        "pagectl messages check, nothing there": [*pagectl, "messages", "check", str(folder)],
        "pagectl pages ls, nothing there": [*pagectl, "pages", "ls", str(folder)],
        "bash -c true": ["bash", "-c", "true"],
        "bash: Tab, all that the script does": ["bash", "-c", TAB.format(script=ROOT / "completions" / "pagectl.bash")],
    }


def cpu(command: list[str]) -> float:
    """Return the CPU milliseconds of a command and its children."""
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "cli", ROOT / "schemas")))
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPATH": paths}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="bench-startup-") as folder:
        asked = calls(Path(folder))
        spent = {name: cpu(command) for name, command in asked.items()}
        for _ in range(rounds):
            for name, command in asked.items():
                spent[name] = min(spent[name], cpu(command))
    bare, typer = (spent[name] for name in list(asked)[:2])
    print(f"{'':<38} {'CPU ms':>7} {'x python':>9} {'x typer':>8}")
    for name, value in spent.items():
        ratios = "" if name.startswith("bash") else f"{value / bare:9.1f} {value / typer:8.2f}"
        print(f"{name:<38} {value:7.1f} {ratios}")


if __name__ == "__main__":
    main()
