"""Converted configurations, given to the broker's own classes over the file that they come from. Needs the oracle."""

from __future__ import annotations

from pathlib import Path

import pytest
from brokerconf.properties.application import apply_all
from brokerconf.properties.writing import as_properties
from brokerconf.reading.properties import entries_in
from brokerconf.reading.reading import read
from brokerconf.settings.conversion import as_entries, as_xml
from config_cases import configs
from property_verdicts import ask

from pagefmt.editions import Edition

pytestmark = pytest.mark.broker

# an element of the journal is for the kind in use, a property for one kind; the oracle has no libaio
OF_THE_OTHER_JOURNAL = ("journalBufferTimeout_", "journalBufferSize_", "journalMaxIO_", "journalType")


@pytest.mark.parametrize("path", sorted((configs() / "valid").glob("[0-9]*.xml")), ids=lambda path: path.name)
def test_brokers_take_what_is_converted_and_it_changes_nothing(path: Path, tmp_path: Path) -> None:
    try:
        given = read(path, edition=Edition.ARTEMIS_2_56)
    except Exception as err:
        pytest.skip(f"not of 2.56: {err}")
    if not given.cores:
        pytest.skip("no core")
    raw = as_properties(as_entries(given).pairs).encode("ascii")
    properties, back = tmp_path / "x.properties", tmp_path / "back.xml"
    properties.write_bytes(raw)
    back.write_text(as_xml(apply_all(entries_in(raw, "x.properties")), Edition.ARTEMIS_2_56)[0], "utf-8")
    for xml in (path, back):
        said = ask("2.56.0", [properties], "--xml", str(xml))["x.properties"]
        assert (said.get("xml_exception"), said.get("exception"), said["errors"]) == (None, None, [])
        assert [line for line in said["changed"] if not line.startswith(OF_THE_OTHER_JOURNAL)] == []
