"""Every message of every golden case, field by field against what the broker's own classes said.

Left out of the comparison, each for its reason:
* ``class`` is Java's; ``acked_by`` needs the journal.
* The harness of the old versions writes the AMQP property that is absent as a typed null and a null item of a stream as
  a null of type string, has no ``body_size`` for large messages, and shows a byte of the header block's size as the
  ``persister`` of a large message.
* Neither harness decodes large bodies; this reader does. The newer one leaves an empty map body out; here it is ``[]``.
* Decimals: the harness prints a Java hash code in their place.
* It stops at a described value whose descriptor is a string.
* 2.10.1 rewrites a non-durable AMQP message as a durable one while it reads it; here stands what is on the disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from broker_messages import as_lines_have_it, differences, explained
from editions_of import EDITION_OF
from golden_cases import GoldenCase, cases

from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import open_page
from pagefmt.describe.message_json import BodyForm, MessageOptions, record_json

FORMS = frozenset((BodyForm.SIZE, BodyForm.SHA256, BodyForm.TEXT, BodyForm.VALUE))


def messages(case: GoldenCase) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    wanted = MessageOptions(FORMS, LargeMessages(case.data() / "large-messages"), EDITION_OF[case.version])
    for store in case.manifest()["stores"]:
        for entry in store["pages"]:
            with open_page(case.data() / "paging" / store["folder"] / entry["file"]) as page:
                records = list(page.records())
                assert len(records) == len(entry["messages"]) == entry["records"]
                for (number, record), theirs in zip(records, entry["messages"], strict=True):
                    assert not isinstance(record, Damage)
                    ours = json.loads(json.dumps(record_json(entry["page"], number, record, wanted)))
                    told = {key: theirs[key] for key in theirs if key not in ("class", "acked_by")}
                    yield as_lines_have_it(told), ours


@pytest.mark.parametrize("case", cases(), ids=str)
def test_messages_are_what_the_broker_read(case: GoldenCase) -> None:
    for theirs, ours in messages(case):
        found = [
            (path, was, now)
            for path, was, now in differences(theirs, ours)
            if not explained(case.version, theirs, path, was, now)
        ]
        assert found == [], f"page {theirs['page']}, message {theirs['number']}"


def test_keys_come_in_the_promised_order() -> None:
    for theirs, ours in messages(GoldenCase("2.56.0", "amqp-sections")):
        # text of bytes is ours alone
        assert [key for key in ours if key in theirs] == list(theirs)
