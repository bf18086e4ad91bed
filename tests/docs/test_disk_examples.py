"""The monitoring examples: every command line in them runs, every unit verifies, every metric in an alert exists."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from pagectl.app import run
from pagectl.options.disk_thresholds import Thresholds
from pagectl.outputs.disk_metrics import metrics
from pagectl.outputs.disk_report import DiskReport

from pageengine.disk.monitor import DiskSettings
from pageengine.disk.state import DiskState
from pagefmt.editions import NEWEST
from pagefmt.storage.filesystems import FileSystem

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def lines_with_pagectl() -> list[str]:
    """Collect the ``pagectl disk`` lines of the systemd unit, the cron table and the Nagios configuration."""
    found = []
    for name in ("systemd/pagectl-disk@.service", "cron/pagectl", "nagios/pagectl.cfg"):
        text = (EXAMPLES / name).read_text()
        found += [line for line in text.splitlines() if re.search(r"pagectl disk \w+ ", line) and line[0] != "#"]
    return found


@pytest.mark.parametrize("text", lines_with_pagectl())
def test_every_command_line_runs(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data" / "paging").mkdir(parents=True)
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    words = shlex.split(text[text.index("disk ") :])
    for n, argument in enumerate(("/var/lib/x", "5G:" if "check" in words else "6h", "1h"), 1):
        words = [word.replace(f"$ARG{n}$", argument) for word in words]
    places = {"/var/lib/x": tmp_path / "data", "/var/lib/%i": tmp_path / "data", "/var/lib/mybroker": tmp_path / "data"}
    words = [str(places.get(word, word)) for word in words]
    words = [str(tmp_path / "x.prom") if word.endswith(".prom") else word for word in words]
    assert not any(re.search(r"\$|%i|/var", word) for word in words), words
    assert run(words) in (0, 1, 2)


def test_the_icinga_arguments_are_options(capsys: pytest.CaptureFixture[str]) -> None:
    text = (EXAMPLES / "icinga2" / "pagectl.conf").read_text()
    assert text.count("{") == text.count("}")
    commands = re.findall(r'object CheckCommand "[^"]+" \{(.+?)\n\}', text, re.DOTALL)
    assert len(commands) == 2
    for body in commands:
        verb = re.search(r'"disk", "(\w+)"', body)
        assert verb
        run(["disk", verb[1], "--help"])
        known = capsys.readouterr().out
        options = re.findall(r'"(--[a-z-]+)"', body)
        assert options
        assert [option for option in options if option not in known] == []
        used = set(re.findall(r'"\$(\w+)\$"', body)) - {"broker_instance", "broker_disk_critical"}
        assert used == set(re.findall(r"vars\.(\w+) =", body))


def test_nagios_services_name_commands_that_are_there() -> None:
    text = (EXAMPLES / "nagios" / "pagectl.cfg").read_text()
    blocks = re.findall(r"^define (\w+) \{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE)
    entries = [(kind, dict(line.split(None, 1) for line in body.splitlines())) for kind, body in blocks]
    commands = {entry["command_name"]: entry["command_line"] for kind, entry in entries if kind == "command"}
    services = [entry for kind, entry in entries if kind == "service"]
    assert len(services) == len(commands) == 2
    for service in services:
        name, *arguments = service["check_command"].split("!")
        assert sorted(set(re.findall(r"\$ARG(\d)\$", commands[name]))) == [str(n + 1) for n in range(len(arguments))]


def test_alerts_use_metrics_that_are_there() -> None:
    state = DiskState.of(DiskSettings(), NEWEST, [FileSystem("/", ("path",), 50, 50, 100, 10, 5)])
    names = {metric.name for metric in metrics(DiskReport(state, Thresholds()))}
    rules = (EXAMPLES / "prometheus" / "pagectl.rules.yml").read_text()
    used = set(re.findall(r"pagectl_disk_\w+", rules))
    assert used
    assert used <= names
    assert (
        set(re.findall(r"pagectl_disk_\w+", (EXAMPLES / "prometheus" / "pagectl.rules.test.yml").read_text())) <= names
    )


def test_promtool(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed")
    where = EXAMPLES / "prometheus"
    subprocess.run(["promtool", "check", "rules", "pagectl.rules.yml"], cwd=where, check=True, capture_output=True)
    subprocess.run(["promtool", "test", "rules", "pagectl.rules.test.yml"], cwd=where, check=True, capture_output=True)


def test_units_verify(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    for unit in (EXAMPLES / "systemd").iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("/usr/local/bin/pagectl", "/bin/true"))
    units = [str(tmp_path / f"pagectl-disk@broker.{kind}") for kind in ("service", "timer")]
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_cron_file_has_five_times_a_user_and_a_command() -> None:
    text = (EXAMPLES / "cron" / "pagectl").read_text()
    jobs = [line.split(None, 6) for line in text.splitlines() if line[:1].isdigit() or line[:1] == "*"]
    assert len(jobs) == 4
    for *times, user, command in jobs:
        assert all(re.fullmatch(r"[\d*/,-]+", part) for part in times)
        changes = "compact" in command
        assert (len(times), user) == (5, "root" if changes else "artemis")
        expected = (
            "systemctl stop artemis && { pagectl pages " if changes else ("pagectl disk ", "pagectl messages check ")
        )
        assert command.startswith(expected)
        assert "%" not in command, "cron takes a percent sign for the end of the line"
