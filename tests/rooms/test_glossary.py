"""Words: ``docs/glossary.md`` names classes that exist, and no name in the product is a word that it rules out."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

import pytest
from product_source import ROOT, definitions, modules

GLOSSARY = (ROOT / "docs" / "glossary.md").read_text("utf-8")
# ``Fate`` nor ``QueueFates``; and ``Kind`` alone, but ``RecordKind`` is a word.
NOWHERE = {"fate", "fates", "deed", "deeds", "fortune", "util", "utils", "helper", "helpers", "manager", "misc"}
NOT_ALONE = {"kind", "place", "asked", "told", "taken", "wanted", "named", "kept", "found", "work"}
# A finding has a place, and so has what it is about.
ATTRIBUTES = {"place"}


def words_of(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def is_ruled_out(name: str) -> bool:
    words = words_of(name)
    return bool(NOWHERE & set(words)) or (len(words) == 1 and words[0] in NOT_ALONE and name not in ATTRIBUTES)


def test_one_class_name_has_one_meaning() -> None:
    places = defaultdict(set)
    for each in definitions():
        if isinstance(each.node, ast.ClassDef):
            places[each.node.name].add(each.module)
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert twice == {}


def test_no_name_is_ruled_out() -> None:
    names = {f"{each.module}.{each.qualified}" for each in definitions()} | set(modules())
    assert {name for name in names if is_ruled_out(name.rsplit(".", 1)[-1])} == set()


@pytest.mark.parametrize(
    ("name", "out"), [("QueueFates", True), ("_told", True), ("RecordKind", False), ("Page", False)]
)
def test_words_are_told_apart(name: str, out: bool) -> None:
    assert is_ruled_out(name) is out


def test_every_class_of_the_glossary_exists() -> None:
    # Rows are ``| term | meaning | `module.Class`, … |``, or have a module alone.
    cited = re.findall(r"`((?:pagefmt|pageengine|brokerconf|pagectl)\.[\w.]+)`", GLOSSARY)
    known = set(modules()) | {f"{each.module}.{each.qualified}" for each in definitions()}
    assert len(cited) > 40
    assert [name for name in cited if name not in known] == []


def test_the_glossary_lists_the_words_that_are_ruled_out() -> None:
    listed = set(re.findall(r"`(\w+)`", GLOSSARY.split("## Words that are not used")[1]))
    assert {word.lower() for word in listed} >= NOT_ALONE | {"fate", "deed", "fortune", "utils", "helpers", "manager"}
