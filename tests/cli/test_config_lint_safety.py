"""``pagectl config lint`` and files that mean harm, or that hold passwords."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lint_calls import CLEAN, DROP, write
from pagectl.app import run
from pagectl.options.formats import LintFormat

SECRET = "correct-horse"  # no password of anything


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "NO_COLOR", "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)


SECRETS = [
    f"<cluster-password>{SECRET}</cluster-password>",
    f"<cluster-password>\n{SECRET} &\n</cluster-password>",
    f"<cluster-password>ENC({SECRET})</cluster-password><nmae/>",
    f'<acceptors><acceptor name="a">tcp://h:1?keyStorePassword={SECRET};nmae=1</acceptor></acceptors>',
    f'<acceptors><acceptor nmae="a">tcp://u:{SECRET}@h:1</acceptor></acceptors>',
    f'<broker-plugins><broker-plugin class-name="x"><property key="password" valeu="1" value="{SECRET}"/>'
    "</broker-plugin></broker-plugins>",
    f"<store><database-store><jdbc-password>{SECRET}</jdbc-password><x/></database-store></store>",
    f"<cluster-password>{SECRET}<x/></cluster-password>",
    f"<cluster-pasword>{SECRET}</cluster-pasword>",
    f'<broker-plugins><broker-plugin class-name="x"><property\nvalue="{SECRET}"\nkey="password"\nx="{SECRET}"/>'
    "</broker-plugin></broker-plugins>",
]


@pytest.mark.parametrize("inside", SECRETS)
@pytest.mark.parametrize("format", LintFormat)
def test_no_password_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str], inside: str, format: str) -> None:
    run(["config", "lint", "--format", format, write(tmp_path, CLEAN + inside)])
    said = capsys.readouterr()
    assert said.out and SECRET not in said.out + said.err


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><configuration>&e;</configuration>',
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><configuration>&b;</configuration>',
        '<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/passwd" parse="text"/>'
        "</configuration>",
        '<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="../../x.xml"/></configuration>',
        '<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="http://localhost:9/x"/></configuration>',
        "<a>" * 300 + "</a>" * 300,
        "",
        "\x00\x01\x02",
        "<configuration>${a:${b:${c}}}</configuration>",
        "<configuration",
    ],
)
def test_hostile_files_are_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    path = tmp_path / "broker.xml"
    path.write_text(text, "utf-8")
    assert run(["config", "lint", "--format", "json", str(path)]) == 1
    said = capsys.readouterr()
    assert "root:" not in said.out and "Traceback" not in said.err
    assert json.loads(said.out)["summary"]["errors"] >= 1


def test_escapes_of_a_file_never_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["config", "lint", write(tmp_path, DROP.replace("orders", "a\u009b31m\u202eb"))])
    out = capsys.readouterr().out
    assert "\u009b" not in out and "\u202e" not in out and "\\x9b31m\\u202e" in out


def test_nothing_heavy_is_imported(tmp_path: Path) -> None:
    heavy = "{'rich', 'xmlschema', 'numpy', 'pyarrow', 'zipfile', 'ssl', 'pyspark', 'importlib.resources'}"
    code = "import sys; from pagectl.app import run; run(sys.argv[1:]); "
    code += f"sys.exit(','.join({heavy} & set(sys.modules)) or None)"
    call = [sys.executable, "-c", code, "config", "lint", write(tmp_path, CLEAN)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60, env=_paths())
    assert done.returncode == 0, done.stderr


def _paths() -> dict[str, str]:
    root = Path(__file__).resolve().parents[2]
    return {"PYTHONPATH": ":".join(str(part) for part in (root, root / "cli", root / "schemas"))}
