"""A journal file that this user may not read is not damaged: that is said, and nothing is derived from it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from harmed import no_trace, pagectl, permissions_count, without_override

COMMANDS = (
    "pages ls", "pages outstanding", "pages verify", "messages ls", "messages verify", "journal verify", "large verify",
)  # fmt: skip
DERIVED = (
    "damaged (",
    "are lost",
    "may refuse to start",
    "salvage",
    "does not start",
    "of 2 files damaged",
    "no record",
)


@pytest.mark.parametrize("file", ["journal/activemq-data-1.amq", "bindings/activemq-bindings-1.bindings"])
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_derived_from_missing_rights(tmp_path: Path, command: str, file: str) -> None:
    permissions_count()
    data = tmp_path / "data"
    shutil.copytree(GoldenCase("2.56.0", "multicast-acks").data(), data)
    (data / file).chmod(0)
    answer = pagectl(*command.split(), data, prepare=without_override)
    no_trace(answer)
    said = " ".join((answer.out + answer.err).split())
    assert answer.status == 1 and "cannot be read as " in said and Path(file).name in said, answer
    assert not [words for words in DERIVED if words in said], answer
