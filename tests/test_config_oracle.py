"""Fresh variants of good configurations, judged by a real broker and by us. Needs the oracle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from config_cases import configs
from test_config_verdicts import compare

CHECKOUT = Path(__file__).resolve().parent.parent
ORACLE = Path(os.environ.get("PAGECTL_ORACLE") or CHECKOUT.parent / "shared" / "oracle")
MUTATE = ORACLE.parent / "configs" / "mutate.py"
pytestmark = [
    pytest.mark.broker,
    pytest.mark.skipif(not MUTATE.exists(), reason=f"no oracle at {ORACLE}: set PAGECTL_ORACLE"),
]


@pytest.mark.parametrize("broker", ["2.56.0", "2.28.0", "1.5.6"])
def test_verdicts_on_fresh_variants(broker: str) -> None:
    folder = configs() / f"fresh-{broker}"
    bases = [str(path) for path in sorted((configs() / "valid").glob("*.xml")) if "hornetq" not in path.name]
    call = [sys.executable, str(MUTATE), "--seed", "4711", "--count", "60", "--out", str(folder), *bases]
    subprocess.run(call, check=True, capture_output=True, timeout=120)
    verdicts = [sys.executable, str(ORACLE / "config" / "verdicts.py"), str(folder), "--brokers", broker]
    subprocess.run([*verdicts, "--glob", "[0-9]*.xml"], check=True, capture_output=True, timeout=600)
    assert len(json.loads((folder / "verdicts.json").read_text("utf-8"))["files"]) == 60
    wrong, _ = compare(folder.name)
    assert wrong == []
