"""YAML as a tree with places: bounded, and each character of a scalar found where it stands."""

from __future__ import annotations

import pytest
import yaml
from brokerconf.kubernetes.placed_text import PlacedText
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.yaml_nodes import ScalarText, YamlNode
from brokerconf.reading.yaml_tree import LARGEST_YAML, MOST_NODES, YamlDocuments, read_yaml
from hypothesis import given
from hypothesis import strategies as st

from pagefmt.findings import Position

TEXTS = st.text(alphabet="ab'\"\\:#{}[] \n\té€😀-=|>%@&*!,?0x", max_size=40)


def read(text: str) -> YamlDocuments:
    return read_yaml(text.encode("utf-8", "surrogatepass"), "broker.yaml")


def scalars(node: YamlNode) -> list[YamlNode]:
    below = [part for pair in node.entries for part in pair] + node.items
    return [found for each in below for found in scalars(each)] if node.type in ("object", "array") else [node]


@given(TEXTS, st.sampled_from([None, "'", '"', "|", ">"]), st.sampled_from([10, 25, 80]), st.booleans())
def test_each_character_is_found_where_it_stands(value: str, style: str | None, width: int, plain: bool) -> None:
    written = yaml.dump({"a": {"b": [value, "z"]}, "c": value}, default_style=style, width=width, allow_unicode=plain)
    documents = read(written)
    original = documents.source.original
    for node in scalars(documents.roots[0]):
        text = ScalarText(documents.source, node)
        for at, character in enumerate(text.text):
            if not character.isspace():
                there = original[text.offset(at)]
                assert there == character or (there == "\\" and node.style == '"')


def test_lines_of_a_block_have_their_line_and_column() -> None:
    documents = read("data:\n  broker.properties: |\n    # sizes\n\n    a=1\n      b=2\n")
    node = documents.roots[0].get("data", "broker.properties")
    assert node is not None
    text = PlacedText().add(node.text, ScalarText(documents.source, node).position)
    assert str(text.of_line(Position("", 3, 1))) == "broker.yaml:5:5"
    assert str(text.of_line(Position("", 4, 3))) == "broker.yaml:6:7"


def test_lines_with_carriage_returns() -> None:
    documents = read("a: |\r\n  x=1\r\n  y=2\r\nb: c\r\n d\r\n")
    node = documents.roots[0].get("a")
    assert node is not None
    text = PlacedText().add(node.text, ScalarText(documents.source, node).position)
    assert str(text.of_line(Position("", 2, 1))) == "broker.yaml:3:3"


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("1", "integer"),
        ("0x1F", "integer"),
        ("1.5", "number"),
        ("yes", "boolean"),
        ("~", "null"),
        ("'1'", "string"),
        ("1Gi", "string"),
        ("!!str 1", "string"),
        ("2024-01-01", "string"),
        ("12:30:45", "string"),
        ("-", "array"),
    ],
)
def test_types_are_those_that_kubernetes_sees(written: str, kind: str) -> None:
    node = read(f"a:\n  {written}\n").roots[0].get("a")
    assert node is not None
    assert node.type == kind


def test_merged_keys_stand_behind_those_that_are_written() -> None:
    root = read("base: &b {p: 1, q: 2}\nall:\n  <<: *b\n  q: 3\n").roots[0]
    assert (root.text_at("all", "p"), root.text_at("all", "q")) == ("1", "3")


def test_a_key_twice_is_a_finding() -> None:
    (finding,) = read("a: 1\nb: 2\na: 3\n").findings
    assert (finding.rule, str(finding.place)) == ("yaml-duplicate-key", "broker.yaml:3:1")


BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
)


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("[" * 100_000, "too-deep"),
        ("- " * 20_000, "too-deep"),
        ("&a [*a]", "yaml-aliases"),
        ("a: *b", "yaml-syntax"),
        ("a:\n\tb: 1", "yaml-syntax"),
        ("a: \0", "yaml-syntax"),
        ("{{ .Values.x }}", "yaml-syntax"),
        (BOMB, "yaml-aliases"),
        ("a: \ud800", "encoding"),
        ("a: [", "yaml-syntax"),
        ("a: 'x", "yaml-syntax"),
    ],
)
def test_what_cannot_be_read_is_refused(written: str, rule: str) -> None:
    with pytest.raises(ReadingError) as refused:
        read(written)
    assert refused.value.rule == rule
    assert refused.value.position.line > 0


def test_a_file_beyond_the_limit_is_refused() -> None:
    with pytest.raises(ReadingError) as refused:
        read_yaml(b" " * (LARGEST_YAML + 1), "huge.yaml")
    assert refused.value.rule == "too-large"


def test_the_bound_of_aliases_leaves_large_files_alone() -> None:
    count = 50_000
    assert read("".join(f"- a: {n}\n" for n in range(count))).roots[0].size == 1 + 3 * count < MOST_NODES


def test_several_documents_and_empty_ones() -> None:
    assert [root.text_at("a") for root in read("---\na: 1\n---\n# nothing\n---\n\n...\n---\na: 2\n").roots] == [
        "1",
        "2",
    ]
