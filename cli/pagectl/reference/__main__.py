"""``python -m pagectl.reference CHECKOUT``: writes the completion scripts and manual pages that are committed."""

from __future__ import annotations

import sys
from pathlib import Path

from pagectl.reference import bash, fish, manual, zsh
from pagectl.reference.tree import groups


def files() -> dict[str, str]:
    """Every file by its path below the checkout."""
    found = groups()
    return {
        "completions/pagectl.bash": bash.script(found),
        "completions/_pagectl": zsh.script(found),
        "completions/pagectl.fish": fish.script(found),
        **{f"man/{name}": text for name, text in manual.pages(found).items()},
    }


if __name__ == "__main__":
    for name, text in files().items():
        path = Path(sys.argv[1]) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
