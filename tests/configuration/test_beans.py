"""The table of beans that ``broker.properties`` reaches: whole, and as the classes of real brokers say it."""

from __future__ import annotations

import pytest
from brokerconf.schema.beans import ROOT, bean_properties, beans, editions_with
from brokerconf.settings.settings_model import Scope, in_scope

from pagefmt.editions import Edition

# a bean that 1.x had, and one that is reached through the policy of high availability
ELSEWHERE = {"lastValueQueue", "maxSavedReplicatedJournalsSize"}
WITH_FILES = tuple(edition for edition in Edition if edition >= Edition.ARTEMIS_2_28)


@pytest.mark.parametrize("edition", WITH_FILES, ids=lambda edition: edition.value)
def test_every_class_that_is_made_is_described(edition: Edition) -> None:
    known = beans(edition)
    made = {one.made for properties in known.values() for one in properties.values() if one.made not in ("", "-")}
    assert made <= set(known)
    assert ROOT in known


def test_a_property_has_one_row_in_an_edition() -> None:
    rows = [(one.owner, one.name, edition) for one in bean_properties() for edition in one.editions]
    assert len(rows) == len(set(rows)) > 2000


def test_settings_are_named_as_the_beans_are() -> None:
    for scope, owner in ((Scope.BROKER, ROOT), (Scope.ADDRESS, "AddressSettings")):
        for setting in in_scope(scope).values():
            for edition in WITH_FILES:
                if setting.bean not in {"", *ELSEWHERE} and setting.known_in(edition):
                    # 2.28 has no setter for what is a Boolean or an Integer there
                    access = beans(edition)[owner][setting.bean].access
                    assert "w" in access or edition is Edition.ARTEMIS_2_28, (setting.name, edition)


def test_what_a_newer_edition_knows() -> None:
    assert editions_with("AddressSettings", "diskFullMessagePolicy") == tuple(
        edition for edition in Edition if edition >= Edition.ARTEMIS_2_56
    )
    assert editions_with(ROOT, "maxDiskUsage") == WITH_FILES
    assert editions_with(ROOT, "maxDiskUsag") == ()


@pytest.mark.broker
def test_the_table_is_what_the_classes_say() -> None:
    import beans as maker

    assert maker.TABLE.read_text("utf-8") == maker.made()
