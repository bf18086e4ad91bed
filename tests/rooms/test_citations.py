"""A section of ``docs/spec`` that is cited anywhere exists there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from product_source import ROOT

SPEC = ROOT / "docs" / "spec"
SOURCES = ("pagefmt", "pageengine", "schemas/brokerconf", "cli", "tests", "bench")
# ``docs/spec/journal.md 3.1, 4`` or ``5.1 and 6``; ranges are two sections
SECTION = r"\d+(?:\.\d+)*"
CITATION = re.compile(rf"(docs/)?spec/([a-z-]+\.md)((?:[ ,]|\band\b|\bto\b|[-–§]|{SECTION}(?!\w))*)")


@cache
def sections(file: str) -> frozenset[str]:
    """Return the section numbers in the headings of a specification."""
    return frozenset(re.findall(rf"^#+ ({SECTION})", (SPEC / file).read_text("utf-8"), re.MULTILINE))


def citations() -> Iterator[tuple[Path, bool, str, list[str]]]:
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")):
            if path == Path(__file__):
                continue
            joined = re.sub(r"\n\s*(?:# )?", " ", path.read_text("utf-8"))
            for found in CITATION.finditer(joined):
                yield path, bool(found[1]), found[2], re.findall(SECTION, found[3])


def test_every_cited_section_exists() -> None:
    missing = []
    for path, _, file, numbers in citations():
        where = path.relative_to(ROOT)
        if not (SPEC / file).exists():
            missing.append(f"{where}: {file}")
        else:
            missing += [f"{where}: {file} {number}" for number in numbers if number not in sections(file)]
    assert missing == []


def test_citations_name_the_specification_in_the_tree() -> None:
    old = [f"{path.relative_to(ROOT)}: spec/{file}" for path, in_tree, file, _ in citations() if not in_tree]
    assert old == []
