"""Selectors over messages that real brokers paged: what the broker's own filter said of each of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from golden_cases import GoldenCase, cases
from page_questions import questions

from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import open_page
from pagefmt.selector import SelectorError, parse
from pagefmt.selector.message import source_of

HERE = Path(__file__).resolve().parents[1]
GOLDEN = json.loads((HERE / "golden" / "page_selectors.json").read_text("utf-8"))


def pages(case: GoldenCase) -> list[Path]:
    return sorted((case.data() / "paging").glob("*/*.page"))


def digits(case: GoldenCase, asked: list[str]) -> str:
    """Answer the questions for each page in the judge's format, one line per page."""
    return "\n".join(" ".join(_of_page(page, asked)) for page in pages(case))


def _of_page(path: Path, asked: list[str]) -> list[str]:
    selectors = []
    for text in asked:
        try:
            selectors.append(parse(text))
        except SelectorError:
            selectors.append(None)
    found = []
    with open_page(path) as page:
        for _, record in page.records():
            assert not isinstance(record, Damage)
            source = source_of(record.message)
            found.append("".join("-" if one is None else str(int(one.matches(source))) for one in selectors))
    return found


@pytest.mark.parametrize("name", sorted(GOLDEN["cases"]))
def test_as_the_broker_answered(name: str) -> None:
    version, case = name.split("/")
    asked, answers = GOLDEN["cases"][name]["selectors"], GOLDEN["cases"][name]["answers"]
    assert digits(GoldenCase(version, case), asked) == answers


def judged(case: GoldenCase, asked: list[str], class_path: str, tmp_path: Path) -> str:
    listed = tmp_path / "selectors"
    listed.write_text("".join(f"{text.encode('utf-16-be', 'surrogatepass').hex()}\n" for text in asked))
    done = subprocess.run(
        ["java", "-Xmx300m", "-XX:+UseSerialGC", "-cp", class_path, "PageSelectorJudge", str(listed)],
        input="".join(f"{page}\n" for page in pages(case)),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return "\n".join(done.stdout.splitlines())


@pytest.mark.broker
@pytest.mark.parametrize("version", ["2.56.0", "2.44.0", "2.28.0"])
def test_as_a_broker_answers_now(version: str, tmp_path: Path) -> None:
    from broker_jars import class_path, compiled

    path = compiled(HERE / "oracle_java" / "PageSelectorJudge.java", class_path(version), tmp_path)
    wrong = []
    for case in cases(version):
        # 2.28 hands out an AMQP correlation id in its own type, not as JMS has it, throws where a user id is asked for
        # and absent, and gives large AMQP messages an address property while reading. Ours is the newest one's answer.
        later = ("JMSCorrelationID", "AMQUserID", "_AMQ_AD") if version == "2.28.0" else ()
        asked = [text for text in questions(case) if not any(name in text for name in later)]
        if asked and digits(case, asked) != judged(case, asked, path, tmp_path):
            wrong.append(str(case))
    assert wrong == []
