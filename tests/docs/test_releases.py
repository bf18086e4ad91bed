"""Version, changelog and what the pages say of tags agree; the workflows are sound."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from doc_examples import DOCS, README, ROOT
from pagectl import __version__

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_version_and_changelog_agree() -> None:
    head = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d|unreleased)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert head and head[1] == __version__ and re.fullmatch(r"\d+\.\d+\.\d+", __version__)


def test_pages_name_the_tag_of_this_version() -> None:
    pages = [README, *DOCS.rglob("*.md"), *(ROOT / "examples" / "config").glob("*.y*ml")]
    tags = [tag for page in pages for tag in re.findall(r"(?:pagectl@|rev: )v([\d.]+\d)", page.read_text("utf-8"))]
    assert len(tags) >= 4 and set(tags) == {__version__}


def steps(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in document["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_sound(path: Path) -> None:
    document = yaml.safe_load(path.read_text("utf-8"))
    assert {"name", True, "permissions", "jobs"} == set(document)  # YAML takes 'on' for true
    assert document["permissions"] == {"contents": "read"}, "more is for the job that needs it"
    jobs = document["jobs"]
    for job in jobs.values():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)
    for step in steps(document):
        assert ("uses" in step) != ("run" in step)
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40}", step["uses"]), "a tag can be moved, a commit cannot"
            assert re.search(rf"{step['uses']}  # v\d+\.\d+\.\d+\n", path.read_text("utf-8")), "with its release"
        else:
            assert "${{" not in step["run"], "an expression inside of a script would be carried out"
            subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)
        for name, file in step.get("with", {}).items():
            assert name not in ("file", "dockerfile") or (ROOT / file).is_file()
            assert not re.search(r"\$\{\{ *secrets\.(?!GITHUB_TOKEN)", str(file)), "no secret of ours"


def test_what_workflows_call_is_there() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for path in WORKFLOWS:
        for step in steps(yaml.safe_load(path.read_text("utf-8"))):
            assert set(re.findall(r"make (\w+)", step.get("run", ""))) <= targets
            assert all((ROOT / name).is_file() for name in re.findall(r"bash (\.\S+)", step.get("run", "")))


def test_notes_of_a_release_are_its_part_of_the_changelog(tmp_path: Path) -> None:
    (script,) = [
        step["run"]
        for step in steps(yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text("utf-8")))
        if "notes.md" in step.get("run", "")
    ]
    (tmp_path / "CHANGELOG.md").write_text(f"## {__version__} (today)\n\n* new\n\n## 0.0.1 (x)\n\n* old\n")
    package = tmp_path / "cli" / "pagectl" / "__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text((ROOT / "cli" / "pagectl" / "__init__.py").read_text())
    for tag, status in ((f"v{__version__}", 0), ("v9.9.9", 1)):
        called = ["bash", "-ec", "gh() { :; }\n" + script]
        done = subprocess.run(called, cwd=tmp_path, env={"TAG": tag, "PATH": "/usr/bin:/bin"}, check=False)
        assert done.returncode == status
    assert (tmp_path / "notes.md").read_text().split() == ["##", __version__, "(today)", "*", "new"]
