"""``pagectl config lint`` called from tests: a clean configuration and faulty ones, and what the lint says as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pagectl.app import run

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<configuration xmlns="urn:activemq">\n  <core xmlns="urn:activemq:core">\n'
)
TAIL = "  </core>\n</configuration>\n"
CLEAN = """    <name>one</name>
    <address-settings>
      <address-setting match="#">
        <dead-letter-address>DLQ</dead-letter-address>
        <expiry-address>Expiry</expiry-address>
      </address-setting>
    </address-settings>
"""
DROP = CLEAN.replace(
    "</address-settings>",
    """  <address-setting match="orders.#">
        <address-full-policy>DROP</address-full-policy>
      </address-setting>
    </address-settings>""",
)
FAULTY = CLEAN.replace("<name>", "<nmae>").replace("</name>", "</nmae>")


def write(folder: Path, inside: str, name: str = "broker.xml") -> str:
    path = folder / name
    path.write_text(HEAD + inside + TAIL, "utf-8")
    return str(path)


def found(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, object]]:
    status = run(["config", "lint", "--format", "json", *argv])
    return status, json.loads(capsys.readouterr().out)


def rules_of(report: object) -> list[str]:
    assert isinstance(report, dict)
    return [finding["rule"] for file in report["files"] for finding in file["findings"]]
