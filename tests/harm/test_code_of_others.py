"""Nothing that lies in the working folder is run, by the program or by a process that it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from program import environment

OTHERS = ("numpy", "pyarrow", "pyspark", "py4j", "pagefmt", "pageengine", "brokerconf", "lxml", "msgspec", "crc32c")


def python(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *map(str, words)], cwd=folder, env=environment(), capture_output=True, text=True
    )


@pytest.fixture
def traps(tmp_path: Path) -> Path:
    """Create a working folder full of modules that record their import.

    Their names are all that Python has not yet imported when it begins to run a program.
    """
    folder = tmp_path / "above" / "here"
    folder.mkdir(parents=True)
    (folder / "pagectl_names.py").write_text("import sys; print(*sys.modules)")
    early = python("pagectl_names", folder=folder).stdout.split()
    assert "runpy" in early or "os" in early
    text = f"open({str(tmp_path / 'run')!r}, 'a').write(__name__ + ' ')\n"
    for name in {*sys.stdlib_module_names, *OTHERS, "sitecustomize", "usercustomize"} - {*early, "antigravity", "this"}:
        (folder / f"{name}.py").write_text(text)
    submit = tmp_path / "above" / "bin" / "spark-submit"
    submit.parent.mkdir()
    (tmp_path / "above" / "jars").mkdir()
    submit.write_text(f"#!/bin/sh\necho spark-submit >> {tmp_path / 'run'}\n")
    submit.chmod(0o755)
    return folder


def assert_untouched(traps: Path, *words: str | Path) -> None:
    done = python("pagectl", *words, folder=traps)
    ran = traps.parents[1] / "run"
    assert not ran.exists(), (ran.read_text(), done)
    assert done.returncode in (0, 1), done


def test_the_traps_work(traps: Path) -> None:
    subprocess.run([sys.executable, "-c", "import socket"], cwd=traps, env=environment())
    assert "socket" in (traps.parents[1] / "run").read_text()


def test_the_version(traps: Path) -> None:
    assert_untouched(traps, "--version")


def test_workers_of_spark(traps: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")
    data = GoldenCase("2.56.0", "multicast-acks").copy(tmp_path)
    assert_untouched(traps, "export", data, "--to", tmp_path / "out", "--master", "local[1]")
    assert (tmp_path / "out" / "_SUCCESS").exists()


def test_workers_of_a_sweep(traps: Path, tmp_path: Path) -> None:
    settings = GoldenCase("2.56.0", "multicast-acks").root() / "broker.xml"
    assert_untouched(traps, "replay", "generate", "steady", "--to", tmp_path / "trace.jsonl", "--messages", "50")
    trace = tmp_path / "trace.jsonl"
    vary = ("--vary", "#:max-size-bytes=1M,2M")
    assert_untouched(traps, "replay", "sweep", trace, "--config", settings, *vary, "--jobs", "2")
