"""``python docs/generators/renew.py``: writes every file of the checkout that is made and committed.

Completion scripts and manual pages of the commands, JSON schemas of the reports, XSD files of the facts, the picture of
the README, the table of message columns, and the counts in ``docs/promises.md``. Tests compare them.
"""

from __future__ import annotations

import re
from pathlib import Path

import bash
import fish
import json_schemas
import manual
import message_table
import picture
import zsh
from brokerconf.schema import xsd_writer
from command_table import groups
from pagectl.running.statuses import STATUSES

from pagefmt.editions import Edition

ROOT = Path(__file__).resolve().parents[2]
XSD = "schemas/brokerconf/xsd"


def files() -> dict[str, str]:
    """Every file that is made whole, by its path below the checkout."""
    found = groups()
    return {
        "docs/pictures/terminal.svg": picture.picture(),
        "docs/message-table.md": message_table.with_table((ROOT / "docs/message-table.md").read_text("utf-8")),
        "completions/pagectl.bash": bash.script(found),
        "completions/_pagectl": zsh.script(found),
        "completions/pagectl.fish": fish.script(found),
        **{f"schemas/json/{name}.json": text for name, text in json_schemas.schemas().items()},
        **{f"man/{name}": text for name, text in manual.pages(found).items()},
        **{f"{XSD}/{one.value}/{name}": text for one in Edition for name, text in xsd_writer.documents(one).items()},
    }


def with_counts(promises: str) -> str:
    """``docs/promises.md`` with as many commands, statuses and schemas as there are."""
    schemas = len(list((ROOT / "schemas" / "json").glob("*.json")))
    calls = f"{len(STATUSES)} commands, {sum(map(len, STATUSES.values()))} statuses"
    return re.sub(r"\d+ schemas", f"{schemas} schemas", re.sub(r"\d+ commands, \d+ statuses", calls, promises))


if __name__ == "__main__":
    promises = ROOT / "docs" / "promises.md"
    promises.write_text(with_counts(promises.read_text("utf-8")), "utf-8")
    for name, text in files().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
