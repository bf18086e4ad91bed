"""Coverage-guided fuzzing of every codec (atheris): ``python tests/fuzz/run.py --seconds 60 [--target NAME …]``.

Each target runs in a process of its own. A finding is written to ``tests/fuzz/findings/`` and makes the status 1;
``--replay FILE --target NAME`` runs it again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT), str(HERE), str(HERE.parent / "support")]
FINDINGS = HERE / "findings"
LONGEST = 4096


def main() -> int:
    options = _options()
    if options.inside:
        return _fuzz(options.target[0], options.seconds)
    import targets

    names = options.target or list(targets.TARGETS)
    if options.replay:
        targets.feed(names[0], Path(options.replay).read_bytes())
        return 0
    FINDINGS.mkdir(exist_ok=True)
    return max(_spawn(name, options.seconds) for name in names)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--replay", help="a finding")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _spawn(name: str, seconds: int) -> int:
    command = [sys.executable, __file__, "--inside", "--target", name, "--seconds", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    tail = [line for line in done.stderr.splitlines() if line.startswith(("#", "Done")) or "stat::" in line][-1:]
    print(f"{name}: {'ok' if done.returncode == 0 else 'FINDING'} {' '.join(tail)}", flush=True)
    if done.returncode:
        print(done.stderr[-3000:])
    return min(done.returncode, 1)


def _fuzz(name: str, seconds: int) -> int:
    import atheris

    with atheris.instrument_imports(include=["pagefmt"]):
        import targets
    with tempfile.TemporaryDirectory() as corpus:
        for n, seed in enumerate(targets.seeds(name)):
            (Path(corpus) / f"{n:04d}").write_bytes(seed[:LONGEST])
        flags = [
            f"-max_total_time={seconds}",
            f"-max_len={LONGEST}",
            "-timeout=10",
            f"-artifact_prefix={FINDINGS}/{name}-",
        ]
        atheris.Setup([sys.argv[0], *flags, corpus], lambda raw: targets.feed(name, raw))
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
