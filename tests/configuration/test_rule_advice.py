"""The advice of a finding is about the file at hand: it names the match that is meant, and one that would do."""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext, RuleSelection

from pagefmt.editions import Edition
from pagefmt.findings import Finding

CORE = '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{}</core></configuration>'


def of_rule(core: str, rule: str) -> list[Finding]:
    return [one for one in lint(CORE.format(core).encode(), "b.xml", LintContext()).findings if one.rule == rule]


def matched(match: str, inside: str = "<max-size-bytes>777</max-size-bytes>", core: str = "") -> str:
    setting = f'<address-setting match="{match}">{inside}</address-setting>'
    return f"{core}<address-settings>{setting}</address-settings>"


SLASH = "<wildcard-addresses><delimiter>/</delimiter></wildcard-addresses>"


@pytest.mark.parametrize(
    ("match", "core", "start"),
    [
        ("/tmp/#", "", "write '.tmp.#', as the broker turns the '/' of MQTT topics into '.'"),
        ("sensors/a/#", "", "write 'sensors.a.#'"),
        ("sensors/a#", "", "write 'sensors.a.#'"),
        ("abc#", "", "write 'abc.#'"),
        ("abc.#", SLASH, "write 'abc/#': the delimiter is '/'"),
        ("abc#", SLASH, "write 'abc/#'"),
    ],
)
def test_the_match_that_was_meant(match: str, core: str, start: str) -> None:
    (one,) = of_rule(matched(match, core=core), "match-hash-inside-word")
    assert one.help.startswith(start)
    assert ("<delimiter>/</delimiter>" in one.help) is ("/" in match)
    meant = one.help.split("'")[1]
    assert of_rule(matched(meant, core=core), "match-hash-inside-word") == []


def test_the_match_that_has_page_is_named() -> None:
    paging = '<address-setting match="{}"><address-full-policy>PAGE</address-full-policy></address-setting>'
    block = '<address-setting match="#"><address-full-policy>BLOCK</address-full-policy></address-setting>'
    off = "<persistence-enabled>false</persistence-enabled>"
    for matches in (["in.#"], ["in.#", "out.#"]):
        settings = "".join(paging.format(match) for match in matches)
        (one,) = of_rule(f"{off}<address-settings>{settings}{block}</address-settings>", "persistence-off-paging-on")
        assert all(f"'{match}'" in one.help and f"'{match}'" in one.message for match in matches)
        assert "'#'" not in one.help
    (one,) = of_rule(off, "persistence-off-paging-on")
    assert "'#'" in one.help


def test_queues_are_looked_at_once_each() -> None:
    # For four times the queues, a queue costs at most 1.4 times as many executed lines of the rule.
    def lines(count: int) -> int:
        queue = '<address name="a.{0}"><anycast><queue name="q{0}"/></anycast></address>'
        queues = "".join(queue.format(number) for number in range(count))
        setting = matched("a.#", "<default-ring-size>5</default-ring-size>")
        text = CORE.format(f"{setting}<addresses>{queues}</addresses>").encode()
        only = RuleSelection(frozenset({"default-not-for-declared-queues"}))
        walked = 0

        def count_lines(frame: FrameType, event: str, argument: object) -> object:
            nonlocal walked
            if not frame.f_code.co_filename.endswith(("without_effect.py", "default_not_for_declared_queues.py")):
                return None
            walked += event == "line"
            return count_lines

        before = sys.gettrace()
        sys.settrace(count_lines)
        try:
            (one,) = lint(text, "broker.xml", LintContext(edition=Edition.ARTEMIS_2_56), only).findings
        finally:
            sys.settrace(before)
        assert "default-ring-size 5 of 'a.#'" in one.message
        return walked

    assert 100 < lines(400) <= 4 * 1.4 * lines(100)
