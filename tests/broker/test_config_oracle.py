"""Fresh variants of good configurations, judged by a real broker and by us. Needs the oracle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from broker_jars import oracle
from config_cases import configs
from config_verdicts import compare

pytestmark = pytest.mark.broker


@pytest.mark.parametrize("broker", ["2.56.0", "2.28.0", "1.5.6"])
def test_verdicts_on_fresh_variants(broker: str) -> None:
    folder = configs() / f"fresh-{broker}"
    programs = oracle()
    mutate = programs.parent / "configs" / "mutate.py"
    cache = str(Path(os.environ["ORACLE_HOME_DIR"]) / "config")
    bases = [str(path) for path in sorted((configs() / "valid").glob("*.xml")) if "hornetq" not in path.name]
    call = [sys.executable, str(mutate), "--seed", "4711", "--count", "60", "--out", str(folder), *bases]
    subprocess.run(call, check=True, capture_output=True, timeout=120)
    verdicts = [sys.executable, str(programs / "config" / "verdicts.py"), str(folder), "--brokers", broker]
    subprocess.run(
        [*verdicts, "--glob", "[0-9]*.xml"],
        check=True,
        capture_output=True,
        timeout=600,
        env={"ORACLE_CACHE": cache, **os.environ},
    )
    assert len(json.loads((folder / "verdicts.json").read_text("utf-8"))["files"]) == 60
    wrong, _ = compare(folder.name)
    assert wrong == []
