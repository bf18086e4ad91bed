"""Examples around ``disk exporter``: rules, dashboard and manifests name metrics, options and fields that exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from golden_cases import GoldenCase
from pagectl.app import root
from pagectl.opening.watched_broker import WatchedBroker
from pagectl.options.disk import DiskOptions, disk_query
from pagectl.outputs.disk_metrics import forecast_metrics, metrics
from pagectl.outputs.page_metrics import OF_ADDRESS, OF_QUEUE, TOGETHER, WAITING, send_metrics
from pagectl.serving.metrics import BrokerCollector
from program import ROOT, call
from prometheus_client import generate_latest

WHERE = ROOT / "examples" / "monitoring"
KUBERNETES = "1.30"


def served(tmp_path: Path) -> set[str]:
    """Return the names of all metrics that the exporter can serve."""
    found = {"pagectl_up", "pagectl_look_age_seconds", "artemis_broker_running", "artemis_journal_damaged"}
    broker = WatchedBroker(disk_query(tmp_path, DiskOptions(any_path=True)), 1.0)
    broker.disks.once()
    seen = broker.disks.seen().value
    assert seen is not None
    gauges = [*metrics(seen.report), *forecast_metrics(seen.forecast)]
    gauges += send_metrics({})
    return found | set(OF_ADDRESS) | set(OF_QUEUE) | {WAITING, TOGETHER} | {gauge.name for gauge in gauges}


@pytest.mark.parametrize("name", ["exporter.rules.yml", "exporter.rules.test.yml", "grafana-dashboard.json"])
def test_every_metric_is_served(name: str, tmp_path: Path) -> None:
    used = set(re.findall(r"\b(?:pagectl|artemis)_\w+", (WHERE / name).read_text("utf-8")))
    assert used and used <= served(tmp_path)


def test_every_metric_of_the_page_is_served(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "jobs" / "monitoring.md").read_text("utf-8")
    named = set(re.findall(r"`((?:pagectl|artemis)_\w+)`", text)) - {"pagectl_look_cpu_seconds"}
    assert {name for name in served(tmp_path) if name.startswith("artemis")} <= named <= served(tmp_path)


def test_promtool() -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed")
    scrape = generate_latest(BrokerCollector([looked_at()]))  # type: ignore[arg-type]
    assert b"artemis_held_page_files{" in scrape and b"pagectl_disk_margin_bytes{" in scrape
    done = subprocess.run(["promtool", "check", "metrics"], input=scrape, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    for words in ("check rules exporter.rules.yml", "test rules exporter.rules.test.yml"):
        subprocess.run(["promtool", *words.split()], cwd=WHERE, check=True, capture_output=True)


def looked_at() -> WatchedBroker:
    data = GoldenCase("2.56.0", "scattered-acks").data()
    broker = WatchedBroker(disk_query(data, DiskOptions()), 1.0)
    broker.disks.once()
    broker.pages.once()
    return broker


def test_the_dashboard_is_one() -> None:
    board = json.loads((WHERE / "grafana-dashboard.json").read_text("utf-8"))
    panels = board["panels"]
    assert [panel["id"] for panel in panels] == list(range(1, len(panels) + 1))
    variables = {variable["name"] for variable in board["templating"]["list"]}
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        for target in panel["targets"]:
            assert set(re.findall(r"\$(\w+)", target["expr"])) <= variables
            assert target["expr"].count("(") == target["expr"].count(")")


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((WHERE / name).read_text("utf-8")))


def pod(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["spec"]["template"]["spec"]
    return found


def sidecars() -> list[dict[str, Any]]:
    (custom,), (_, stateful) = documents("operator.yaml"), documents("sidecar.yaml")
    (template,) = custom["spec"]["resourceTemplates"]
    return [pod(template["patch"])["containers"][0], pod(stateful)["containers"][1]]


def test_manifests_fit_the_schemas_of_kubernetes() -> None:
    service, stateful = documents("sidecar.yaml")
    (custom,) = documents("operator.yaml")
    for document in (service, stateful):
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    pod(stateful)["containers"] = pod(custom["spec"]["resourceTemplates"][0]["patch"])["containers"]
    kubernetes_validate.validate(stateful, KUBERNETES, strict=True)
    pod(stateful)["containers"][0]["volumeMount"] = []
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(stateful, KUBERNETES, strict=True)


def test_the_custom_resource_is_one() -> None:
    answer = call("config", "lint", WHERE / "operator.yaml")
    assert answer.status == 0, answer.out


def test_what_the_image_is_made_of_is_there() -> None:
    text = (WHERE / "Containerfile").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert (ROOT / re.findall(r"-f (\S+)", text)[0]).samefile(WHERE / "Containerfile")
    ((source, target),) = re.findall(r"^COPY (\S+) (\S+)$", text, re.MULTILINE)
    assert source == "." and re.search(rf"pip install .* {target} ", text)
    (python,) = re.findall(r"^FROM \S+/python:3\.(\d+)-slim$", text, re.MULTILINE)
    assert int(python) >= int(project["project"]["requires-python"].removeprefix(">=3."))
    kept_out = (ROOT / ".dockerignore").read_text("utf-8").split()
    built = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = [*built["only-include"], *built["shared-data"], *project["project"]["license-files"], "README.md"]
    for path in needed:
        assert (ROOT / path).exists()
        assert not [pattern for pattern in kept_out if fnmatch(path.partition("/")[0], pattern)], path


def calls() -> list[list[str]]:
    text = (WHERE / "Containerfile").read_text("utf-8")
    (entry,), (words,) = (
        re.findall(r"^ENTRYPOINT (.*)", text, re.MULTILINE),
        re.findall("^CMD (.*)", text, re.MULTILINE),
    )
    assert json.loads(entry) == ["pagectl"]
    return [json.loads(words), *(container["args"] for container in sidecars())]


@pytest.mark.parametrize("words", calls(), ids=" ".join)
def test_calls_are_understood(words: list[str]) -> None:
    leaf: Any = root()
    for name in words[:2]:
        leaf = leaf.get_command(None, name)
    parsed = leaf.make_context("", words[2:]).params
    assert parsed["listen"].rpartition(":")[2] == "9872"


def test_what_is_scraped_and_probed_is_served() -> None:
    service, stateful = documents("sidecar.yaml")
    assert stateful["spec"]["template"]["metadata"]["annotations"]["prometheus.io/port"] == "9872"
    assert {"name": "metrics", "port": 9872} in service["spec"]["ports"]
    for container in sidecars():
        assert container["ports"] == [{"name": "metrics", "containerPort": 9872}]
        assert container["readinessProbe"]["httpGet"] == {"path": "/-/ready", "port": "metrics"}
        assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "metrics"}
        (mount,) = container["volumeMounts"]
        assert mount["readOnly"] and container["args"][2].startswith(mount["mountPath"])
