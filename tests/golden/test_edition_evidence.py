"""The likely writer of a directory, against the broker that did write it."""

from __future__ import annotations

import pytest
from editions_of import EDITION_OF
from golden_cases import GoldenCase, cases

from pagefmt.directory.edition_evidence import likely_writer
from pagefmt.editions import NEWEST, Edition
from pagefmt.outstanding.state import load_state

SHOWN = {
    Edition.HORNETQ_2_4: None,
    Edition.ARTEMIS_1_5: None,
}


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_writer_shows(case: GoldenCase) -> None:
    data = case.data()
    state = load_state(data / "paging", data / "journal", data / "bindings")
    edition = EDITION_OF[case.version]
    assert likely_writer(state.bindings, state.journal) == (
        NEWEST if edition >= Edition.ARTEMIS_2_44 else SHOWN.get(edition, edition)
    )
