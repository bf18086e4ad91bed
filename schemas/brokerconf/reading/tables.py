"""The tables of ``facts/``."""

from __future__ import annotations

import csv
from pathlib import Path


def read_table(name: str) -> list[list[str]]:
    """The rows of a table without its heading."""
    text = (Path(__file__).parents[1] / "facts" / name).read_text("utf-8")
    return list(csv.reader(text.splitlines(), delimiter=";"))[1:]
