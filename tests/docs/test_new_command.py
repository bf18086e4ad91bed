"""``make new-command`` begins a command that runs, has a schema, and is complete but for its documentation."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from program import ROOT, environment


def test_a_new_command_runs_and_has_a_schema(tmp_path: Path) -> None:
    for folder in ("cli", "docs", "pagefmt", "pageengine", "schemas", "tests/support"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    paths = environment()["PYTHONPATH"].replace(str(ROOT), str(tmp_path))

    def python(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=environment({"PYTHONPATH": paths}),
            text=True,
            check=True,
            stdout=subprocess.PIPE,
        )
        return done.stdout

    python("docs/generators/new_command.py", "journal", "stats", "Count records by type.")
    (tmp_path / "data" / "journal").mkdir(parents=True)
    answer = json.loads(python("-m", "pagectl", "journal", "stats", str(tmp_path / "data"), "--format", "json"))
    assert answer == {"dir": str(tmp_path / "data")}
    schemas = (
        "import sys; sys.path.insert(0, 'docs/generators'); import json_schemas as made; print(made.schemas()['%s'])"
    )
    made = python("-c", schemas % "journal-stats")
    assert json.loads(made)["properties"] == {"dir": {"type": "string"}}
    calls = python("-c", "import sys; sys.path.insert(0, 'tests/support'); from every_call import CALLS; print(CALLS)")
    assert "('journal stats', 0, '{news}')" in calls and "('journal stats', 2, " in calls
