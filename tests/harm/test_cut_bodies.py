"""A large message whose file is shorter than the message says: every check of the whole store tells it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from program import call


def cut(tmp_path: Path) -> tuple[Path, Path, int]:
    """Truncate one large body to half; return the data directory, the body and its size before."""
    data = GoldenCase("2.56.0", "large-core").copy(tmp_path)
    rows = json.loads(call("large", "ls", data, "--format", "json").out)["files"]
    name, size = next((row["file"], row["size"]) for row in rows if row["conditions"] == ["ok"] and row["declared"])
    body = data / "large-messages" / name
    body.write_bytes(body.read_bytes()[: size // 2])
    return data, body, size


@pytest.mark.parametrize("command", ["large verify", "messages verify", "pages verify"])
def test_checks_name_the_body_and_both_sizes(tmp_path: Path, command: str) -> None:
    data, body, size = cut(tmp_path)
    answer = call(*command.split(), data, "--format", "json")
    (found,) = (one for one in json.loads(answer.out)["findings"] if one["check"] == "large-body-size")
    assert answer.status == 1 and found["place"] == f"large-messages/{body.name}", answer
    assert found["detail"] == f"{size // 2} bytes, the message says {size}"


def test_recover_counts_the_message(tmp_path: Path) -> None:
    data, body, size = cut(tmp_path)
    answer = call("recover", data, "--format", "json")
    found = json.loads(answer.out)
    (step,) = (one for one in found["steps"] if one["file"] == body.name)
    assert answer.status == 1 and step["part"] == "large-messages" and not step["mends"]
    assert step["what"] == f"{size // 2} bytes, its message says {size}" and step["lost"] == 1
    assert found["lost"] == 1 and found["named"]["lost"] >= 1
    (message,) = (one for one in found["messages"] if one["file"] == body.name)
    assert message["outcome"] == "lost" and message["id"] == int(body.stem)


def test_a_whole_store_has_no_such_finding(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "large-core").copy(tmp_path)
    for command in ("large verify", "messages verify", "pages verify", "recover"):
        assert "the message says" not in call(*command.split(), data).out
        assert "its message says" not in call(*command.split(), data).out
