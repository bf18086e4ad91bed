"""The JSON Schemas themselves: well-formed, strict, one for each JSON output; ``watched_calls`` holds the outputs."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_table import commands
from golden_cases import GoldenCase, cases
from jsonschema import Draft202012Validator
from pagectl.decoding.columns import COLUMNS
from program import ROOT, call
from watched_calls import SCHEMAS, command_of, schema_of, validate

from pageengine.trace.generate import TrafficShape

NAMES = sorted(path.name.removesuffix(".json") for path in SCHEMAS.glob("*.json"))
# Files that a command writes beside its answer.
WRITTEN = {"replay-outcome.line", "replay-trace.line"}


def test_every_json_output_has_one_and_there_is_no_other() -> None:
    wanted = set(WRITTEN) | {"pages-seal.line", "pages-decode.columns.line"}
    wanted |= {f"messages-{name}.counts{line}" for name in ("decode", "find") for line in ("", ".line")}
    for command in commands():
        formats = next((one.value.words for one in command.options if one.long == "--format" and one.value), ())
        name = "-".join(command.path)
        wanted |= {name} if "json" in formats else set()
        wanted |= {f"{name}.line"} if "jsonl" in formats else set()
    assert set(NAMES) == wanted


def test_chosen_columns_are_all_there() -> None:
    schema = json.loads((SCHEMAS / "pages-decode.columns.line.json").read_text("utf-8"))
    assert list(schema["properties"]) == list(COLUMNS)


@pytest.mark.parametrize("name", NAMES)
def test_schema_is_strict(name: str) -> None:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:pagectl:{name}" and schema["title"]
    for part in objects(schema):
        extra = part.get("additionalProperties")
        assert extra is False or isinstance(extra, dict), part
        assert "properties" not in part or "required" in part


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every part of a schema that describes an object."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def test_a_key_more_or_less_is_found() -> None:
    good = {
        "trace": "t",
        "source": "audit-log",
        "files": [],
        "sends": {"logged": 0, "left_out": 0},
        "operations": {},
        "unknown": {},
        "never_known": [],
        "unused_records": 0,
    }
    validate("replay-import", json.dumps(good))
    for bad in (good | {"more": 1}, {key: value for key, value in good.items() if key != "trace"}):
        with pytest.raises(AssertionError):
            validate("replay-import", json.dumps(bad))


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    subprocess.run(["sh", str(ROOT / "examples" / "unpack.sh"), str(folder)], check=True)
    return folder


READ = [
    "pages ls --format json", "pages ls --format jsonl", "pages outstanding --format json",
    "pages outstanding --format json --positions", "pages decode --format jsonl",
    "pages decode --format jsonl --body size,sha256,text,value,base64,hex --inflate", "pages verify --format jsonl",
    "pages seal", "pages inspect --format jsonl --hex --record 0", "pages compact --format json",
    "disk usage --format json", "disk check --max-disk-usage 100 --format json",
]  # fmt: skip
SOME = [
    ("2.56.0", "amqp-sections"), ("2.56.0", "large-core"), ("2.56.0", "core-types"), ("hornetq-2.3.25", "torn"),
    ("2.56.0", "large-compressed"),
]  # fmt: skip


@pytest.mark.parametrize("words", READ)
def test_reading_commands_on_the_examples(examples: Path, words: str) -> None:
    for name in ("news", "torn"):
        assert call(*words.split(), examples / name).out


@pytest.mark.parametrize("words", READ)
def test_reading_commands_on_golden_directories(words: str) -> None:
    # ``watched_calls`` compares the output of each call with its schema.
    for case in (GoldenCase(*each) for each in SOME):
        assert call(*words.split(), case.data()).out


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=str)
def test_every_line_on_every_golden_directory(case: GoldenCase) -> None:
    for words in READ:
        answer = call(*words.split(), case.data())
        if schema := schema_of(command_of(words.split()), words.split()):
            for line in answer.out.splitlines(keepends=True) if schema.endswith(".line") else ():
                validate(schema, line)


@pytest.mark.parametrize("shape", [shape.value for shape in TrafficShape])
def test_trace_of_generate(shape: str, tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    assert call("replay", "generate", shape, "--to", trace, "--messages", "100").status == 0
    validate("replay-trace.line", trace.read_text("utf-8"))


@pytest.mark.parametrize("log", ["audit-message", "plugin-debug", "plugin-info"])
def test_trace_of_import(log: str, tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    logs = ROOT / "tests" / "recorded" / "replays" / "traffic-logs"
    assert call("replay", "import", logs / f"{log}.log.gz", "--to", trace).status == (log == "plugin-info")
    validate("replay-trace.line", trace.read_text("utf-8"))


def test_outcome_of_a_replay(examples: Path, tmp_path: Path) -> None:
    trace, outcome = tmp_path / "t.jsonl", tmp_path / "o.jsonl.gz"
    assert call("replay", "generate", "transactions", "--to", trace, "--messages", "300").status == 0
    config = examples / "news" / "etc" / "broker.xml"
    assert call("replay", "run", trace, "--config", config, "--outcome", outcome, "--format", "json").status == 0
    text = gzip.decompress(outcome.read_bytes()).decode("utf-8")
    validate("replay-outcome.line", text)
    validate("replay-outcome.line", text.splitlines()[-1] + "\n")
