"""The GitHub action, the pre-commit hooks and the examples for CI, run as far as that goes without the service."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from doc_examples import DOCS, ROOT
from lint_calls import CLEAN, DROP, FAULTY, write

EXAMPLES = ROOT / "examples" / "config"
SOURCE = "git+https://git.example.com/tools/pagectl@v0.1.0"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
PAGECTL = f'#!/bin/sh\nexec "{sys.executable}" -m pagectl "$@"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create a repository beside stand-ins for ``pagectl``, ``python3`` and ``pip``; the last two log their calls."""
    programs, temporary = tmp_path / "programs", tmp_path / "temp" / "pagectl" / "bin"
    for made in (programs, temporary, tmp_path / "repository" / ".git"):
        made.mkdir(parents=True)
    note = f'#!/bin/sh\nprintf "%s\\n" "$(basename "$0")" "$@" >> "{tmp_path}/called"\n'
    for file, text in (
        (programs / "python3", note),
        (programs / "pip", note),
        (programs / "pagectl", PAGECTL),
        (temporary / "pip", note),
        (temporary / "pagectl", PAGECTL),
    ):
        file.write_text(text)
        file.chmod(0o755)
    return tmp_path / "repository"


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a CI runner runs a ``shell: bash`` step."""
    step = folder.parent / "step.sh"
    step.write_text(script)
    path = f"{folder.parent / 'programs'}:{os.environ['PATH']}"
    paths = os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas"))
    runner = {"PATH": path, "PYTHONPATH": paths, "RUNNER_TEMP": str(folder.parent / "temp")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(step)],
        cwd=folder,
        env=runner | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def action(step: int, folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run one step of the action with these inputs and the defaults of all others."""
    values = {f"inputs.{name}": given.get(name, spec["default"]) for name, spec in ACTION["inputs"].items()}
    values["github.action_path"] = "/action"
    found = ACTION["runs"]["steps"][step]
    variables = {name: values[re.fullmatch(r"\$\{\{ (.+) \}\}", text)[1]] for name, text in found["env"].items()}  # type: ignore[index]
    return shell(found["run"], folder, **variables)


def test_the_action_is_one() -> None:
    assert ACTION["runs"]["using"] == "composite" and all(
        ACTION["inputs"][name]["description"] for name in ACTION["inputs"]
    )
    assert {"paths", "args", "fail-on"} == set(ACTION["inputs"])
    for step in ACTION["runs"]["steps"]:
        # an expression inside of a script would be carried out
        assert step["shell"] == "bash" and "${{" not in step["run"]


def test_the_action_installs_itself(folder: Path) -> None:
    # The action installs the release of its own tag, and no package from an index.
    assert action(0, folder).returncode == 0
    called = (folder.parent / "called").read_text().splitlines()
    assert called[-4:] == ["pip", "install", "--quiet", "/action"]


def test_the_action_lints(folder: Path) -> None:
    (folder / "a b").mkdir()
    write(folder / "a b", FAULTY)
    write(folder, DROP, "other.xml")
    done = action(1, folder)
    assert done.returncode == 1 and done.stdout.startswith(
        "::error file=a b/broker.xml,line=4,col=5,title=unknown-element::"
    )
    assert action(1, folder, paths="other.xml\n").returncode == 0
    assert action(1, folder, paths="other.xml\na b\n").returncode == 1
    failing = action(1, folder, **{"paths": "other.xml", "fail-on": "warning"})
    assert failing.returncode == 1 and "drop-policy" in failing.stdout
    options = {"paths": "other.xml", "fail-on": "warning", "args": "--edition artemis-2.44\n--ignore drop-policy"}
    assert action(1, folder, **options).returncode == 0


@pytest.mark.parametrize("hostile", ["$(touch x)", "`touch x`", "; touch x", "--help", "*", "a\\nb", '"'])
def test_nothing_in_an_input_is_carried_out(folder: Path, hostile: str) -> None:
    write(folder, CLEAN)
    for name in ("paths", "args", "fail-on"):
        action(1, folder, **{name: hostile})
    assert sorted(path.name for path in folder.iterdir()) == [".git", "broker.xml"]
    assert "no such" in action(1, folder, paths="--help").stderr.lower()


def test_the_hook_takes_configurations_of_any_form() -> None:
    takes = re.compile(HOOKS["pagectl-config-lint"]["files"])
    taken = [
        "broker.xml",
        "a/broker.xml",
        "hornetq-configuration.xml",
        "broker.properties",
        "x/prod-broker.properties",
        "broker-prod.xml",
        "my.broker.json",
        "broker.yaml",
        "broker-cr.yml",
    ]
    assert all(map(takes.search, taken))
    assert not any(map(takes.search, ["pom.xml", "brokers.xml", "mybroker.xml", "broker.xml.bak", "broker.txt"]))
    assert set(HOOKS["pagectl-config-lint"]["types_or"]) == {"xml", "java-properties", "json", "yaml"}


@pytest.mark.parametrize("hook", sorted(HOOKS))
def test_the_hooks_run(folder: Path, hook: str) -> None:
    names = "" if HOOKS[hook].get("pass_filenames") is False else " broker.xml"
    write(folder, CLEAN)
    assert shell(HOOKS[hook]["entry"] + names, folder).returncode == 0
    write(folder, FAULTY)
    assert shell(HOOKS[hook]["entry"] + names, folder).returncode == 1


def commands(document: Any) -> list[str]:
    """Collect the shell commands of a workflow or pipeline at any depth."""
    if isinstance(document, dict):
        found = document["script"] if "script" in document else [document["run"]] if "run" in document else []
        return [*found, *(each for value in document.values() for each in commands(value))]
    return [each for value in document for each in commands(value)] if isinstance(document, list) else []


@pytest.mark.parametrize("name", ["github-workflow.yml", "gitlab-ci.yml"])
def test_the_examples_run(folder: Path, name: str) -> None:
    write(folder, FAULTY)
    script = commands(yaml.safe_load((EXAMPLES / name).read_text("utf-8")))
    assert len(script) == 2
    shell("\n".join(script), folder)
    assert (folder.parent / "called").read_text().split() == ["pip", "install", SOURCE]
    (report,) = [path for path in folder.iterdir() if path.suffix in (".json", ".sarif")]
    assert "unknown-element" in report.read_text() and json.loads(report.read_text())
    assert report.name in (EXAMPLES / name).read_text("utf-8").partition(f"> {report.name}")[2]


def test_the_examples_name_what_there_is() -> None:
    for page in (EXAMPLES / "pre-commit-config.yaml", DOCS / "jobs" / "ci.md"):
        hooks = re.findall(r"- id: (pagectl-[\w-]+)", page.read_text("utf-8"))
        assert hooks and set(hooks) <= set(HOOKS)
    workflow = yaml.safe_load((EXAMPLES / "github-workflow.yml").read_text("utf-8"))
    (used,) = [step for step in workflow["jobs"]["annotations"]["steps"] if "with" in step]
    assert set(used["with"]) <= set(ACTION["inputs"])
    assert shlex.split(used["with"]["args"])
