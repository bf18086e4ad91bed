"""Our XSDs: another reader of XSDs sees in them what the facts say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import brokerconf
import pytest
from brokerconf.reading.reading import read_bytes
from brokerconf.schema.schema_facts import facts, members, root_type
from brokerconf.schema.validation import REFERRING_ATTRIBUTE, REFERRING_ELEMENT, judge, schemas_of
from brokerconf.schema.xsd_writer import documents
from brokerconf.settings.settings_model import Scope, in_scope

from pagefmt.editions import Edition

COMMITTED = Path(brokerconf.__file__).parent / "xsd"


def test_every_edition_has_its_files() -> None:
    committed = {(path.parent.name, path.name) for path in COMMITTED.glob("*/*.xsd")}
    assert committed == {(edition.value, name) for edition in Edition for name in documents(edition)}
    assert len(committed) == 3 * len(Edition) - 1


@pytest.mark.parametrize("edition", list(Edition), ids=lambda edition: edition.value)
def test_lxml_compiles_every_schema(edition: Edition) -> None:
    schemas = schemas_of(edition)
    assert schemas.name == edition.value
    assert (schemas.jms is None) == (edition is Edition.HORNETQ_2_4)


@pytest.mark.parametrize("edition", [Edition.HORNETQ_2_4, Edition.ARTEMIS_2_17, Edition.ARTEMIS_2_56])
def test_xmlschema_sees_the_names_types_and_defaults_of_the_facts(edition: Edition) -> None:
    import xmlschema

    schema: Any = xmlschema.XMLSchema10(str(COMMITTED / edition.value / "core.xsd"))
    known = members(edition)[root_type(edition)]
    root = schema.elements["configuration" if edition is Edition.HORNETQ_2_4 else "core"]
    seen = {child.local_name: child for child in root.type.content.iter_elements()}
    assert set(seen) == {name for name in known if not name.startswith("@")}
    for name, fact in known.items():
        if fact.default:
            assert seen[name].default == fact.default
        assert (seen[name].min_occurs, seen[name].max_occurs) == (int(fact.min), int(fact.max)), name


def test_settings_begin_where_the_schemas_have_them() -> None:
    for edition in Edition:
        types = members(edition).values()
        own = next(inside for inside in types if "@match" in inside and "max-size-bytes" in inside)
        in_setting = {name for name in own if not name.startswith("@")}
        assert in_setting == {name for name, one in in_scope(Scope.ADDRESS).items() if one.known_in(edition)}, edition


@pytest.mark.parametrize("edition", [edition for edition in Edition if edition > Edition.HORNETQ_2_4])
def test_a_dangling_reference_is_found(edition: Edition) -> None:
    text = b"""<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
    <cluster-connections><cluster-connection name="c"><connector-ref>x</connector-ref>
    <discovery-group-ref discovery-group-name="nowhere"/></cluster-connection></cluster-connections>
    </core></configuration>"""
    document = read_bytes(text, "b.xml", folder=Path(), edition=edition, properties={}, environment={})
    found = [violation.rule for violation in judge(document).broker]
    assert "cvc-id.1" in found


def test_references_are_known_by_their_names() -> None:
    names = {(fact.kind, fact.name) for fact in facts() if fact.type == "IDREF"}
    assert names == {("element", REFERRING_ELEMENT), ("attribute", REFERRING_ATTRIBUTE)}
