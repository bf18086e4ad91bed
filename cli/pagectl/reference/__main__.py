"""``python -m pagectl.reference CHECKOUT``: writes the completion scripts and manual pages that are committed, and the
editions into the JSON schemas."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pagectl.reference import bash, fish, manual, zsh
from pagectl.reference.tree import groups
from pagefmt.editions import EDITION_NAMES

_EDITIONS = re.compile(r'(\s+)"hornetq-2\.4"(?:,\s+"artemis-[\d.]+")+')


def files() -> dict[str, str]:
    """Every file by its path below the checkout."""
    found = groups()
    return {
        "completions/pagectl.bash": bash.script(found),
        "completions/_pagectl": zsh.script(found),
        "completions/pagectl.fish": fish.script(found),
        **{f"man/{name}": text for name, text in manual.pages(found).items()},
    }


def with_editions(schema: str) -> str:
    """A JSON schema that lists the editions, brought up to date."""
    return _EDITIONS.sub(lambda found: ",".join(f'{found.group(1)}"{name}"' for name in EDITION_NAMES), schema)


if __name__ == "__main__":
    for schema in (Path(sys.argv[1]) / "schemas" / "json").glob("*.json"):
        schema.write_text(with_editions(schema.read_text("utf-8")), "utf-8")
    for name, text in files().items():
        path = Path(sys.argv[1]) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
