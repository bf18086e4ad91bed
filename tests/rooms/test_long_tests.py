"""The tables of long tests and of seeded faults name files, functions and lines that are there."""

from __future__ import annotations

import re

import pytest
from long_tests import KEPT, LEFT_OUT, SAMPLED, SLOW
from product_source import ROOT
from seeded_faults import FAULTS


@pytest.mark.parametrize("name", sorted({*LEFT_OUT, *KEPT, *SAMPLED, *SLOW}))
def test_every_name_is_that_of_a_test(name: str) -> None:
    file, _, function = name.partition("::")
    text = (ROOT / "tests" / file).read_text("utf-8")
    assert re.search(rf"^(async )?def {function or 'test_'}", text, re.MULTILINE)


@pytest.mark.parametrize(("file", "text", "folders"), [(file, text, folders) for file, text, _, folders in FAULTS])
def test_every_seeded_fault_can_be_put_in(file: str, text: str, folders: str) -> None:
    assert text in (ROOT / file).read_text("utf-8")
    assert all((ROOT / "tests" / name).exists() for name in folders.split())
