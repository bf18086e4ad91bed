"""``python tests/support/answers.py FOLDER [N]``: what every command answers, a file for each call.

Two checkouts answer alike if ``diff -r`` finds nothing between their folders. The calls are those of ``every_call`` in
each format, and the commands that read on about N directories (4) of every broker version. The clock stands still;
paths of the checkout and of the folder are replaced.
"""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "cli"), str(ROOT / "schemas"), str(ROOT / "docs" / "generators")]

from command_table import commands  # noqa: E402
from every_call import CALLS, make_world  # noqa: E402
from golden_cases import VERSIONS, cases  # noqa: E402
from program import call  # noqa: E402

NOW = 1_800_000_000.0
LEFT_OUT = ("config serve", "disk exporter", "disk watch", "pages browse", "export", "disk check", "disk forecast")
"""They do not end, need a terminal or Spark, or say how full this machine's disk is."""
READ = (
    "pages ls", "pages outstanding", "pages outstanding --positions", "pages decode", "pages verify", "pages inspect",
    "pages compact", "pages salvage --dry-run", "messages ls", "messages top", "messages check", "messages decode",
    "messages decode --count-by queue", "messages find --priority 4", "messages verify", "messages send --to "
    "amqp://localhost --dry-run", "journal ls", "journal inspect", "journal verify", "journal compact", "large ls",
    "large ls --orphans", "large verify", "recover", "disk usage", "config drift", "config lint", "config effective",
    "convert --edition artemis-2.56",
)  # fmt: skip
MORE = (
    "config effective {sound} orders --all", "config explain max-size-bytes", "config explain bridge",
    "config explain page-limit-unused", "config explain AMQ222039", "config lint {news} {wrong}",
    "config capacity {news} --heap 2G --disk 10G --data {news}", "config diff {news} {candlepin}",
    "replay sweep {trace} --config {sound} --vary #:max-size-bytes=100K,1M", "pages inspect {news} --page 12 --hex",
    "messages top {news} {candlepin}", "messages check {news} -w messages=1 -c held=1", "pages outstanding {torn}",
)  # fmt: skip


def formats() -> dict[str, tuple[str, ...]]:
    """Map each command to its formats, without binary ones and Prometheus; a command without formats has ``""``."""
    found: dict[str, tuple[str, ...]] = {}
    for command in commands():
        words = next((one.value.words for one in command.options if one.long == "--format" and one.value), ("",))
        found[" ".join(command.path)] = tuple(word for word in words if word not in ("parquet", "arrow", "prometheus"))
    return found


def record(out: Path, each: int) -> int:
    """Write the answers below ``out``; return how many calls there were."""
    world_folder, known, calls = out / "world", formats(), 0
    world_folder.mkdir(parents=True)
    world = {name: str(path) for name, path in make_world(world_folder, lambda *words: call(*words).status).items()}
    asked = [(command, words.format(**world)) for command, _, words in CALLS]
    asked += [(" ".join(line.split()[:2]), " ".join(line.format(**world).split()[2:])) for line in MORE]
    some = [case for version in VERSIONS for case in cases(version)[:: max(1, len(cases(version)) // each)]]
    asked += [(_path(line), f"{case.root()}{line[len(_path(line)) :]}") for case in some for line in READ]
    for command, words in asked:
        for form in known.get(command, ()) if command not in LEFT_OUT else ():
            answer = call(*command.split(), *words.split(), *(["--format", form] if form else []))
            text = f"{command} {words} {form}\nstatus {answer.status}\n{answer.out}--\n{answer.err}"
            calls += 1
            (out / f"{calls:05}-{command.replace(' ', '-')}.{form or 'text'}").write_text(
                _same_everywhere(text, out), "utf-8"
            )
    return calls


def _path(line: str) -> str:
    """Return the command of a line: its first word for ``recover`` and ``convert``, otherwise two words."""
    words = line.split()
    return words[0] if words[0] in ("recover", "convert") else " ".join(words[:2])


def _same_everywhere(text: str, out: Path) -> str:
    text = text.replace(str(out), "OUT").replace(str(ROOT), "ROOT")
    text = re.sub(
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b\d+(\.\d+)? (ns|us|ms|s)\b", "…", text
    )
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


if __name__ == "__main__":
    os.environ["COLUMNS"] = "200"
    time.time = lambda: NOW  # type: ignore[assignment]
    folder = Path(sys.argv[1]).resolve()
    print(f"{record(folder, int((*sys.argv, 4)[2]))} answers in {folder}")
