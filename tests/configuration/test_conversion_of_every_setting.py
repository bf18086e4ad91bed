"""``config convert`` of all that an edition knows: each element and property is converted or named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from brokerconf.properties.application import apply_all
from brokerconf.properties.writing import as_json, as_properties, as_yaml
from brokerconf.reading.properties import entries_in
from brokerconf.reading.reading import read_bytes
from brokerconf.schema.beans import ROOT, beans
from brokerconf.schema.schema_facts import SchemaFact, members, root_type
from brokerconf.settings.conversion import as_entries, as_xml
from hypothesis import given
from hypothesis import strategies as st

from pagefmt.editions import NEWEST, Edition

EVERY_EDITION = pytest.mark.parametrize("edition", Edition, ids=lambda edition: edition.value)
DEEPEST = 6
VALUES = {"boolean": "true", "string": "x"}


def value_of(fact: SchemaFact, variant: int) -> str:
    words = [word for word in fact.enum.split("|") if word]
    return words[variant % len(words)] if words else VALUES.get(fact.type, "1")


def written(fact: SchemaFact, name: str, edition: Edition, variant: int, depth: int = 0) -> str:
    """Write an element with all attributes and one of each child element, down to the depth ``DEEPEST``."""
    inner = members(edition).get(fact.type_name, {})
    attributes = "".join(f' {key[1:]}="{value_of(one, variant)}"' for key, one in inner.items() if key.startswith("@"))
    elements = [(key, one) for key, one in inner.items() if not key.startswith("@") and depth < DEEPEST]
    content = "".join(written(one, key, edition, variant, depth + 1) for key, one in elements)
    return f"<{name}{attributes}>{content or value_of(fact, variant)}</{name}>"


def whole(content: str, edition: Edition) -> str:
    if edition is Edition.HORNETQ_2_4:
        return f'<configuration xmlns="urn:hornetq">{content}</configuration>'
    return f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{content}</core></configuration>'


def configurations(edition: Edition) -> Iterator[str]:
    """Yield configurations with each element alone, with all, and with all plain ones except one.

    Leaving one out shows which other elements require it.
    """
    known = {name: fact for name, fact in members(edition)[root_type(edition)].items() if not name.startswith("@")}
    for variant in (0, 1):
        texts = {name: written(fact, name, edition, variant) for name, fact in known.items()}
        yield from texts.values()
        yield "".join(texts.values())
        plain = [name for name, fact in known.items() if not fact.type_name]
        for absent in plain:
            yield "".join(texts[name] for name in plain if name != absent)


def check_forms(pairs: list[tuple[tuple[str, ...], str]]) -> None:
    """Assert that all three forms read back as the same entries.

    Entries that JSON and YAML cannot contain must be listed as left out.
    """
    whole_text, (as_tree, left), (in_yaml, also_left) = as_properties(pairs), as_json(pairs), as_yaml(pairs)
    forms = (("x.properties", whole_text), ("x.json", as_tree), ("x.yaml", in_yaml))
    lines, tree, yaml = ({one.key: one.value for one in entries_in(text.encode(), name)} for name, text in forms)
    assert tree == yaml
    assert left == also_left
    assert {key: value for key, value in lines.items() if key not in left} == tree


@EVERY_EDITION
def test_every_element_of_the_schema_is_converted_or_named(edition: Edition) -> None:
    for content in configurations(edition):
        text = whole(content, edition)
        document = read_bytes(
            text.encode(), "broker.xml", folder=Path(), edition=edition, properties={}, environment={}
        )
        pairs, left = as_entries(document)
        assert pairs or left, content
        check_forms(pairs)


@EVERY_EDITION
def test_every_property_of_a_bean_is_converted_or_named(edition: Edition) -> None:
    values = {"boolean": "true", "Boolean": "true", "int": "1", "long": "1", "Integer": "1", "Long": "1"}
    keys: list[tuple[str, str]] = []
    for name, one in beans(edition).get(ROOT, {}).items():
        keys.append((name, values.get(one.type, "x")))
        for below, inner in beans(edition).get(one.made.strip("-"), {}).items():
            keys += [
                (f"{name}.x.{below}", values.get(inner.type, "x")),
                (f"{name}.{below}", values.get(inner.type, "x")),
            ]
    text = "".join(f"{key}={value}\n" for key, value in keys)
    entries = list(entries_in(text.encode(), "x.properties", edition))
    for chosen in (entries, *([one] for one in entries)):
        made, left = as_xml(apply_all(chosen, edition), edition)
        assert made
        assert len(left) <= len(chosen)


KEY = ("addressConfigurations", "a", "queueConfigs")
STEERING = "\x00\x07\x1b\x7f\x85\x9b\xad\u061c\u180e\u200b\u200e\u2028\u202e\u2066\ufeff\ufff9\U000e0041"
ODD_TEXT = st.text(st.one_of(st.sampled_from(STEERING), st.characters(codec="utf-8")), min_size=1, max_size=12)


@given(st.lists(ODD_TEXT, min_size=1, max_size=4))
def test_no_form_has_a_character_that_steers_a_terminal(values: list[str]) -> None:
    pairs = [((*KEY, f"q{n}", "filterString"), value) for n, value in enumerate(values)]
    for name, text in (
        ("x.properties", as_properties(pairs)),
        ("x.json", as_json(pairs)[0]),
        ("x.yaml", as_yaml(pairs)[0]),
    ):
        assert all(letter.isprintable() or letter == "\n" for letter in text), name
        assert [one.value for one in entries_in(text.encode(), name)] == values, name


@given(st.lists(ODD_TEXT, min_size=1, max_size=4))
def test_xml_has_no_character_that_steers_a_terminal(values: list[str]) -> None:
    pairs = [((*KEY, f"q{n}", "filterString"), value) for n, value in enumerate(values)]
    text, left = as_xml(apply_all(entries_in(as_properties(pairs).encode(), "x.properties")), NEWEST)
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    filters = [node.get("string") for node in ElementTree.fromstring(text).iter("{urn:activemq:core}filter")]
    assert len(filters) + len(left) == len(values)
    assert [value for value in values if value in filters] == filters
