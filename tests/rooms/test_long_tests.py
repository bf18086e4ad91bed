"""The tables of long tests name files and functions that are there."""

from __future__ import annotations

import re

import pytest
from long_tests import KEPT, LEFT_OUT, SAMPLED, SLOW
from product_source import ROOT


@pytest.mark.parametrize("name", sorted({*LEFT_OUT, *KEPT, *SAMPLED, *SLOW}))
def test_every_name_is_that_of_a_test(name: str) -> None:
    file, _, function = name.partition("::")
    text = (ROOT / "tests" / file).read_text("utf-8")
    assert re.search(rf"^(async )?def {function or 'test_'}", text, re.MULTILINE)
