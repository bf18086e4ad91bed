"""Messages sent into real brokers: a client is given there what it would have been given by the old broker.

A core client and one of AMQP take all messages of each queue from a copy of the old directory, and from two copies of
the one that they were sent to. Compared is each field and property with its kind, the body, of AMQP messages the bytes
of the bare message but for the duplicate id, in the order of delivery within each priority. What 2.28 is sent is
converted, so that a core client there reads other properties; one of AMQP is given what the broker itself would make.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest
from sent_queues import PAIRS, Given, Source, Takers, given_after, given_before, golden_sources

pytest.importorskip("proton", reason="the extra pagectl[amqp] is not installed")
from amqp_taker import Said, said, taken

pytestmark = [pytest.mark.broker, pytest.mark.timeout(3600)]
OTHERWISE = {
    "without its file before": rf"\|false\|.*{sha256().hexdigest()}|^0x70 \(False(?!.* 0x7[567] (?!b''))",
    "with a wrong body before": r"^\d\|.*\|\d+ 00537|Conversion to AMQP error",
    "compressed before": "_AMQ_LARGE_COMPRESSED",
    "told as lost": r"\('_AMQ_DUPL_ID', b",
}
"""What clients of the old broker were not given: bodies of large messages that are not durable, whose files it deletes
when it starts; values that it does not know, of which it reads some other bytes of the message; bodies that it
passes on compressed. And duplicate ids of bytes, which become text."""
_OF_AMQP = re.compile(r"\d\|.*(JMS_AMQP_|NATIVE_MESSAGE_ID)")
_EXPIRATION = re.compile(r"\d\|[^|]*\|\d\|\w+\|\d{13}")


TAKERS: Takers[Said] = {
    "core": lambda broker, name: [Said(b"", line, int(line[0])) for line in broker.dump(name.partition("::")[2])],
    "amqp": lambda broker, name: map(said, taken(broker.url, name, broker.count(name.partition("::")[2]))),
}


@cache
def before(version: str, folder: Path) -> dict[Source, dict[str, Given[Said]]]:
    return given_before(version, folder, golden_sources(version), TAKERS)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_client_is_given_the_same(source: str, target: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    old = before(source, tmp_path_factory.getbasetemp() / source)
    counts: Counter[str] = Counter()
    for case, sent in given_after(target, tmp_path_factory.mktemp("target"), old, TAKERS):
        for name, one in old[case].items():
            if name in sent.refused:
                assert target == "2.28.0", sent.said
                counts["refused queues"] += 1
                continue
            kinds = ("amqp",) if target == "2.28.0" else ("core", "amqp")
            found = compared(name, one, sent.given[name], kinds, len({source, target}))
            counts += found
            if any("equal" not in each for each in found):
                print(case.name, name, dict(found), sent.said, flush=True)
    print(f"{source} into {target}: {dict(counts)}")
    assert all(re.search("equal|before$|after alone|refused|as lost", each) for each in counts if counts[each]), counts


def compared(name: str, before: Given[Said], after: Given[Said], kinds: Iterable[str], releases: int) -> Counter[str]:
    """Count the verdicts on messages received before and after, by kind of client.

    Equal messages also agree in the bytes of the bare AMQP message, into which brokers convert other messages.
    """
    found: Counter[str] = Counter()
    queue = name.partition("::")[2]
    for kind in kinds:
        one, other = (sorted(each.by[kind], key=lambda each: -each.priority) for each in (before, after))
        mine, others = ({_number(each, queue): each for each in given} for given in (one, other))
        gone = {
            number
            for number, each in mine.items()
            if number not in others and re.search(OTHERWISE["without its file before"], each.text)
        }
        if before.scheduled or gone or len(one) != len(other):
            rest = mine.keys() - gone
            found[f"{kind} without its file before"] += len(gone)
            found[f"{kind} given before alone"] += len(rest - others.keys())
            found[f"{kind} given after alone"] += len(others.keys() - rest) - len(gone)
            numbers = sorted(rest & others.keys())
            one, other = [mine[each] for each in numbers], [others[each] for each in numbers]
        for a, b in zip(one, other, strict=True):
            if a == b:
                verdict = "equal"
            elif a.text == _as_before(a.text, b.text, queue):
                verdict = "equal values"
            elif kind == "core" and releases > 1 and _OF_AMQP.match(a.text):
                verdict = "converted by another release than before"
            else:
                verdict = next((why for why, how in OTHERWISE.items() if re.search(how, a.text)), "different")
            found[f"{kind} {verdict}"] += 1
            if verdict == "different" and found[f"{kind} {verdict}"] < 3:
                print(f"   - {a.text[:1500]}\n   + {b.text[:1500]}")
    return found


def _number(each: Said, queue: str) -> str:
    found = re.search(r"\bseq(?:=Integer |', int32\()(\d+)", each.text)
    return found[1] if found else each.text.replace(f"::{queue}", "")


def _as_before(before: str, after: str, queue: str) -> str:
    """Return ``after`` without the queue name in addresses and with the expiration of ``before``.

    A broker counts the expiration from the arrival, so it may differ slightly.
    """
    for text in (queue, repr(queue)[1:-1]):
        after = after.replace(f"::{text}", "")
    one, other = (found and found[0] for found in map(_EXPIRATION.match, (before, after)))
    return after.replace(other, one, 1) if one and other and one[:-13] == other[:-13] else after
