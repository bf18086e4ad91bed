"""Class path of a real broker for tests marked ``broker``: asks the oracle's own launchers for it.

The oracle lies at ``../shared/oracle`` beside the checkout, or where ``PAGECTL_ORACLE`` says. Its build products go
to ``ORACLE_HOME_DIR`` and ``LEGACY_HOME``; without these, to a folder under the user's cache.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
CURRENT = ("2.56.0", "2.44.0", "2.28.0")
LEGACY = ("2.17.0", "2.10.1", "artemis-1.5.6")


def oracle() -> Path:
    """Return the oracle's folder, or skip the test if it or a program that it needs is missing."""
    folder = Path(os.environ.get("PAGECTL_ORACLE", ROOT.parent / "shared" / "oracle"))
    if not (folder / "oracle").is_file():
        pytest.skip(f"no oracle at {folder}")
    for program in ("java", "javac", "mvn"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pagectl-oracle"
    os.environ.setdefault("ORACLE_HOME_DIR", str(cache))
    os.environ.setdefault("LEGACY_HOME", str(Path(os.environ["ORACLE_HOME_DIR"]) / "legacy"))
    return folder


def class_path(version: str) -> str:
    """Return the class path of a release's jars and a logging binding."""
    if version in LEGACY:
        lib = legacy_launcher().jars(version)
        return os.pathsep.join(str(jar) for jar in sorted(lib.glob("*.jar")))
    found: list[str] = launcher().setup(version)
    return os.pathsep.join(found)


def logging_binding() -> str:
    """Return the class path of SLF4J, with which 2.28 and later log; the oracle keeps it with its clients."""
    jars = (Path(os.environ["ORACLE_HOME_DIR"]) / "clients.txt").read_text("utf-8").strip().split(os.pathsep)
    return os.pathsep.join(jar for jar in jars if "slf4j" in jar)


def launcher() -> ModuleType:
    """Load the oracle's launcher for brokers after 2.17."""
    return load(oracle() / "oracle")


def legacy_launcher() -> ModuleType:
    """Load the oracle's launcher for HornetQ and brokers up to 2.17."""
    return load(oracle() / "legacy" / "legacy.py")


def load(path: Path) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(f"oracle_{path.stem}", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def compiled(source: Path, jars: str, out: Path) -> str:
    """Compile one Java file; the class path to run it with."""
    done = subprocess.run(
        ["javac", "-nowarn", "-proc:none", "-encoding", "UTF-8", "-cp", jars, "-d", str(out), str(source)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return os.pathsep.join([str(out), jars])


def ended(words: list[str], seconds: int) -> str:
    """Run a program of the oracle and return its output; fail the test if it takes longer than ``seconds``.

    All processes of its session are killed in the end, because a hanging broker would outlive the program that started
    it.
    """
    with tempfile.TemporaryFile("w+") as told:
        running = subprocess.Popen(words, stdout=told, stderr=told, text=True, start_new_session=True)
        try:
            status = running.wait(seconds)
        except subprocess.TimeoutExpired:
            pytest.fail(f"{' '.join(words)}: did not come to an end within {seconds} s; ended")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        told.seek(0)
        said = told.read()
    assert status == 0, f"{' '.join(words)}: status {status}: {said[-2000:]}"
    return said


def recorder() -> Path:
    """Build a copy of the oracle's trace recorder for 2.56.0, unless it exists, and return its folder."""
    source = oracle() / "replay"
    folder = Path(os.environ["ORACLE_HOME_DIR"]) / "replay"
    if not (folder / "target-2.56.0" / "classes" / "Replay.class").is_file():
        shutil.copytree(source, folder, dirs_exist_ok=True)
        for path in [folder, *folder.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
        print(ended(["sh", str(folder / "build.sh")], 900))
    return folder
