"""What may stand where, by the component model of our XSDs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from brokerconf.schema.components import editions_of, element_at, places, roots
from brokerconf.schema.schema_facts import facts_of

from pagefmt.editions import NEWEST, Edition


@pytest.mark.parametrize("edition", list(Edition), ids=lambda edition: edition.value)
def test_every_element_of_the_facts_has_a_place(edition: Edition) -> None:
    documents = ("hq-core",) if edition is Edition.HORNETQ_2_4 else ("core", "jms")
    named = {fact.name for fact in facts_of(edition) if fact.kind == "element" and fact.document in documents}
    missing = {name for name in named if not places(edition, name)}
    # heads of substitution groups never stand in a document
    assert missing <= {"discovery-type"}
    for root in roots(edition).values():
        for child in root.children.values():
            assert edition in editions_of(child.path), child.path


def test_what_may_follow_depends_on_what_stands_there() -> None:
    core = roots(NEWEST)["core"]
    assert "name" in core.following([]) and "name" not in core.following(["name", "acceptors"])
    settings = element_at(NEWEST, ["configuration", "core", "address-settings"])
    assert settings is not None and settings.following(["address-setting"] * 5000) == ["address-setting"]


def test_one_of_a_substitution_group_stands_there() -> None:
    bridge = element_at(NEWEST, ["core", "bridges", "bridge"])
    assert bridge is not None
    assert {"static-connectors", "discovery-group-ref"} <= set(bridge.following(["queue-name"]))
    assert not {"static-connectors", "discovery-group-ref"} & set(bridge.following(["static-connectors"]))


def test_the_order_of_a_sequence_and_a_choice_count() -> None:
    ha = element_at(NEWEST, ["core", "ha-policy"])
    assert ha is not None and ha.order == "choice"
    assert {"replication", "live-only"} <= set(ha.following([])) and ha.following(["replication"]) == []
    down = element_at(NEWEST, ["core", "ha-policy", "live-only", "scale-down"])
    assert down is not None and down.following(["group-name"])[:1] != ["enabled"]


def test_paths_may_begin_at_a_fragment_and_an_unknown_one_leads_nowhere() -> None:
    queue = element_at(NEWEST, ["addresses", "address", "anycast", "queue"])
    assert queue is not None and queue.attributes["name"].required
    assert queue.path == ("core", "addresses", "address", "anycast", "queue")
    assert element_at(NEWEST, ["core", "nothing", "queue"]) is None
    assert element_at(NEWEST, []) is None and element_at(NEWEST, ["configuration"]) is None
    assert element_at(Edition.HORNETQ_2_4, ["configuration", "address-settings"]) is not None


def test_the_model_is_loaded_only_where_it_is_asked_for() -> None:
    code = "import sys, brokerconf.linting.lint, brokerconf.schema.components; print('xmlschema' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
