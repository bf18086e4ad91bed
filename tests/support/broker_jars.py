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
    """The oracle's folder; skips the test where there is none."""
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
    """The broker's jars, and a logging binding, as one class path."""
    if version in LEGACY:
        lib = legacy_launcher().jars(version)
        return os.pathsep.join(str(jar) for jar in sorted(lib.glob("*.jar")))
    found: list[str] = launcher().setup(version)
    return os.pathsep.join(found)


def logging_binding() -> str:
    """What the classes of 2.28 and later log with, which the oracle keeps beside its clients."""
    jars = (Path(os.environ["ORACLE_HOME_DIR"]) / "clients.txt").read_text("utf-8").strip().split(os.pathsep)
    return os.pathsep.join(jar for jar in jars if "slf4j" in jar)


def launcher() -> ModuleType:
    """The oracle's program for brokers of today."""
    return load(oracle() / "oracle")


def legacy_launcher() -> ModuleType:
    """The oracle's program for HornetQ and the brokers up to 2.17."""
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
    """Runs a program of the oracle; what it said. Fails in words where it does not come to an end: a broker hangs at
    times, and what it was started by would leave it behind."""
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
    """A copy of the oracle's recorder of traces, built for 2.56.0."""
    source = oracle() / "replay"
    folder = Path(os.environ["ORACLE_HOME_DIR"]) / "replay"
    if not (folder / "target-2.56.0" / "classes" / "Replay.class").is_file():
        shutil.copytree(source, folder, dirs_exist_ok=True)
        for path in [folder, *folder.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
        print(ended(["sh", str(folder / "build.sh")], 900))
    return folder
