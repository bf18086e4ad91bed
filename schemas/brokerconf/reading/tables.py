"""Access to the tables of ``facts/``."""

from __future__ import annotations

import csv
from pathlib import Path


def read_table(name: str) -> list[list[str]]:
    """Return the rows of a table in ``facts``, without its heading."""
    text = (Path(__file__).parents[1] / "facts" / name).read_text("utf-8")
    return list(csv.reader(text.splitlines(), delimiter=";"))[1:]
