"""What an editor is told: completions, hover texts, findings with their places, fixes, decisions, the outline."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from brokerconf.editor import diagnostics
from brokerconf.editor.completion import xml_proposals
from brokerconf.editor.definition import decided_by
from brokerconf.editor.diagnostics import CheckedText, Checker
from brokerconf.editor.fixes import fixes_for
from brokerconf.editor.hover import xml_hover
from brokerconf.editor.keys import key_hover, key_proposals
from brokerconf.editor.patching import PatchedDocument
from brokerconf.editor.symbols import outline
from brokerconf.editor.text import EditedText
from brokerconf.evidence.facts import ConfigFacts
from brokerconf.instance.recognition import ConfigurationForm, form_of
from brokerconf.linting.lint import lint
from brokerconf.linting.lint_report import LintContext
from brokerconf.reading.properties import parse_properties
from brokerconf.reading.reading import read_bytes

from pagefmt.editions import NEWEST, Edition

CORE = '<configuration xmlns="urn:activemq">\n<core xmlns="urn:activemq:core">\n'
END = "\n</core>\n</configuration>\n"


def offered(marked: str, edition: Edition = NEWEST) -> dict[str, str]:
    """Return the proposals at the mark ``|``: snippets by label."""
    offset = marked.index("|")
    return {one.label: one.snippet for one in xml_proposals(marked.replace("|", "", 1), offset, edition)}


def test_elements_are_those_that_may_still_come() -> None:
    found = offered(f"{CORE}<name>x</name>\n<|\n<journal-type>NIO</journal-type>{END}")
    assert "name" not in found and "journal-type" not in found
    assert found["max-disk-usage"] == "max-disk-usage>$0</max-disk-usage>"
    assert list(offered(f"{CORE}<address-settings><ad|</address-settings>{END}").values()) == [
        'address-setting match="$1">$0</address-setting>'
    ]
    # without a "<" it comes with the name; an element that holds nothing ends at once
    inside = f"{CORE}<security-settings><security-setting match='#'>|</security-setting></security-settings>{END}"
    assert offered(inside)["permission"] == '<permission type="$1" roles="$2"/>' or "permission" in offered(inside)


def test_a_name_that_is_corrected_keeps_its_tag() -> None:
    assert offered(f"{CORE}<na|me>x</name>{END}")["name"] == "name"


def test_values_attributes_and_end_tags() -> None:
    setting = f'{CORE}<address-settings><address-setting match="#">'
    assert set(offered(f"{setting}<address-full-policy>P|</address-full-policy>")) == {"PAGE", "DROP", "FAIL", "BLOCK"}
    assert list(offered(f"{CORE}<persistence-enabled>|")) == ["true", "false"]
    assert offered(f"{CORE}<address-settings><address-setting |>") == {"match": 'match="$1"'}
    assert offered(f'{CORE}<address-settings><address-setting match="#" |>') == {}
    queue = f'{CORE}<addresses><address name="a"><anycast><queue name="q" exclusive="|"/>'
    assert list(offered(queue)) == ["true", "false"]
    assert offered(f"{CORE}<acceptors></|") == {"acceptors": "acceptors>"}
    assert offered(f"{CORE}<!-- <| -->") == {}


def test_editions_and_fragments() -> None:
    assert "diskFull" not in offered(f"{CORE}<|") and "purge-page-folders" in offered(f"{CORE}<|")
    assert "purge-page-folders" not in offered(f"{CORE}<|", Edition.ARTEMIS_1_5)
    assert "clustered" in offered('<configuration xmlns="urn:hornetq"><|', Edition.HORNETQ_2_4)
    assert list(offered("<address-settings><|")) == ["address-setting"]
    assert set(offered("<configuration><|")) == {"core", "jms"}
    assert 'xmlns="urn:activemq"' in offered("<|")["configuration"]
    assert offered("<project><|") == {}


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        ("<journal-ty|pe>NIO</journal-type>", "ASYNCIO falls back to NIO"),
        ("<max-disk-usage>9|0</max-disk-usage>", "used share of a volume"),
        ("<|bridges/>", "contains: bridge"),
        ("<addresses><address na|me='x'/></addresses>", "required"),
        ("<journal-type>NIO</journal-ty|pe>", "how the journal is written"),
    ],
)
def test_hover(marked: str, said: str) -> None:
    text = CORE + marked
    found = xml_hover(text.replace("|", ""), text.index("|"), NEWEST)
    assert found is not None and said in "\n".join(found.lines)


def test_nothing_is_said_where_nothing_is_known() -> None:
    for marked in ("<nonsen|se/>", "<name> |</name>", "<!-- na|me -->", "|"):
        text = CORE + marked
        assert xml_hover(text.replace("|", ""), text.index("|"), NEWEST) is None


def checked(text: str) -> CheckedText:
    return Checker().check(EditedText(text), "broker.xml", LintContext())


def test_findings_are_those_of_a_lint() -> None:
    text = f"{CORE}<max-disk-usage>101</max-disk-usage>\n<jornal-type>NIO</jornal-type>{END}"
    report = lint(text.encode(), "broker.xml", LintContext())
    found = checked(text)
    assert [one.finding for one in found.diagnostics] == list(report.findings)
    assert "<jornal-type" in {text[one.start : one.stop] for one in found.diagnostics}


def test_an_unfinished_file_has_the_findings_of_the_rest() -> None:
    text = f"{CORE}<jornal-type>NIO</jornal-type>\n<max-dis\n<max-disk-usage>ten</max-disk-usage>{END}"
    rules = {one.finding.rule: text[one.start : one.stop] for one in checked(text).diagnostics}
    assert "not-well-formed" in rules and rules["bad-value"] == "<max-disk-usage"
    unclosed = text.replace("<max-dis\n", "").replace("</core>", "")
    assert {"not-well-formed", "unknown-element", "bad-value"} <= {
        one.finding.rule for one in checked(unclosed).diagnostics
    }


def test_where_nothing_can_be_mended_the_last_findings_move_along() -> None:
    text = f"{CORE}<jornal-type>NIO</jornal-type>{END}"
    for broken in (f"]]>\n{text}", text.replace(END, f"]]>{END}")):
        checker = Checker()
        checker.check(EditedText(text), "broker.xml", LintContext())
        found = checker.check(EditedText(broken), "broker.xml", LintContext())
        assert found.diagnostics[0].finding.rule == "not-well-formed"
        assert "<jornal-type" in {broken[one.start : one.stop] for one in found.diagnostics}


EDITS = ["7", "x", "PAGE", " ", "M", "-1", "\n", "#", "\u20ac"]
MARKUP = ["<", "&", "]]>", "${a}", "<!-- x -->", "\t", '"']
WHOLE = f"""{CORE}<!-- pagectl: ignore disk-limit-extreme --><max-disk-usage>90</max-disk-usage>
<journal-type>NIO</journal-type><cluster-user>a</cluster-user><name/>
<connectors><connector name="c">tcp://localhost:61616</connector></connectors>
<cluster-connections><cluster-connection name="x"><connector-ref>c</connector-ref></cluster-connection>
</cluster-connections>
<address-settings>
<address-setting match="#"><max-size-bytes>10M</max-size-bytes><address-full-policy>DROP</address-full-policy>
</address-setting><address-setting match="a.b.#"><dead-letter-address>a.dead</dead-letter-address>
<page-size-bytes>1</page-size-bytes></address-setting>
<address-setting match="a.dead"><address-full-policy>FAIL</address-full-policy></address-setting>
</address-settings>
<addresses><address name="a.b"><anycast><queue name="q" max-consumers="1"/></anycast></address></addresses>{END}"""


@pytest.mark.parametrize("seed", range(4))
def test_a_large_document_that_is_not_read_again_has_the_findings_of_a_lint(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnostics, "_LARGE", 100)
    followed: list[bool] = []
    follow = PatchedDocument.follow
    monkeypatch.setattr(PatchedDocument, "follow", lambda *args: followed.append(follow(*args)) or followed[-1])
    chance, checker, text = random.Random(seed), Checker(), WHOLE
    entries = tuple(parse_properties("addressSettings.#.maxSizeBytes=5M\nmaxDiskUsage=80\n", "broker.properties"))
    context = LintContext(edition=NEWEST, entries=entries)
    for _ in range(150):
        at = chance.randrange(len(text))
        # mostly where values stand
        if chance.random() < 0.7:
            at = chance.choice([found.end() for found in re.finditer(r'[\w#]+(?=<|")', text)])
        new = chance.choice(EDITS if chance.random() < 0.85 else MARKUP)
        changed = text[: max(at - chance.choice([0, 0, 1, 2]), 0)] + new + text[at:]
        found = checker.check(EditedText(changed), "broker.xml", context)
        report = lint(changed.encode(), "broker.xml", context)
        own = [finding for finding in report.findings if finding.place.file == "broker.xml"]
        if [one.rule for one in own] != ["not-well-formed"]:
            assert [one.finding for one in found.diagnostics] == own, changed
        if chance.random() < 0.7 and new not in MARKUP and report.schema and 1000 < len(changed) < 3000:
            text = changed
        else:
            checker.check(EditedText(text), "broker.xml", context)
    assert followed.count(True) > 30 and followed.count(False) > 5


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("<jornal-type>NIO</jornal-type>", "<journal-type>NIO</journal-type>"),
        ("<journal-type>nio</journal-type>", "<journal-type>NIO</journal-type>"),
        (
            '<acceptors><acceptor nmae="a">vm://0</acceptor></acceptors>',
            '<acceptors><acceptor name="a">vm://0</acceptor></acceptors>',
        ),
        ("<name>a</name><read-whole-page>true</read-whole-page>", "<name>a</name>"),
        ("<!-- pagectl: ignore disk-limit-extrem -->", "<!-- pagectl: ignore disk-limit-extreme -->"),
    ],
)
def test_what_was_meant_is_put_in_place(wrong: str, right: str) -> None:
    text = CORE + wrong + END
    fixed = set()
    for one in checked(text).diagnostics:
        for fix in fixes_for(text, one, ConfigurationForm.XML):
            if fix.sure:
                result = text
                for edit in sorted(fix.edits, reverse=True):
                    result = result[: edit.start] + edit.new + result[edit.stop :]
                fixed.add(result)
    assert CORE + right + END in fixed


def test_a_value_without_an_end_is_read_once() -> None:
    # An unfinished element has no end tag, and the text after it may be long.
    text = CORE + "<journal-type>nio</journal-type>" + END
    (meant,) = (one for one in checked(text).diagnostics if "did you mean" in one.finding.help)
    typed = text.partition("</journal-type>")[0] + " " * 300_000
    for content in (typed, typed + "</journal-type>"):
        (fix,) = (fix for fix in fixes_for(content, meant, ConfigurationForm.XML) if fix.sure)
        assert [content[edit.start : edit.stop] for edit in fix.edits] == ["nio"]


def test_a_comment_silences_the_finding() -> None:
    text = f"{CORE}  <max-disk-usage>100</max-disk-usage>{END}".replace("\n", "\r\n")
    found = checked(text).diagnostics
    assert found
    for one in found:
        (edit,) = next(fix.edits for fix in fixes_for(text, one, ConfigurationForm.XML) if not fix.sure)
        silenced = text[: edit.start] + edit.new + text[edit.stop :]
        assert one.finding.rule not in {other.finding.rule for other in checked(silenced).diagnostics}
        assert "\n" not in silenced.replace("\r\n", "")


def test_the_line_that_decides() -> None:
    text = f"""{CORE}<address-settings>
<address-setting match="#"><max-size-bytes>1</max-size-bytes></address-setting>
<address-setting match="a.#"><dead-letter-address>a.dead</dead-letter-address></address-setting>
</address-settings>
<max-disk-usage>90</max-disk-usage>
<addresses><address name="a.b"><anycast><queue name="q"/></anycast></address></addresses>{END}"""
    entries = tuple(parse_properties('addressSettings."#".maxSizeBytes=5\nmaxDiskUsage=80\n', "broker.properties"))
    document = read_bytes(text.encode(), "b.xml", folder=Path(), edition=NEWEST, properties={}, environment={})
    facts = ConfigFacts(document, document.core, properties=entries)

    def decided(mark: str) -> list[tuple[str, int]]:
        return [(at.file, at.line) for at in decided_by(facts, text, text.index(mark) + len(mark))]

    assert decided("<queue na") == decided('name="a.') == decided(">a.dea") == [("b.xml", 5), ("b.xml", 4)]
    assert decided("<max-size") == [("broker.properties", 1)]
    assert decided("<max-disk") == [("broker.properties", 2)]
    assert decided("<dead-let") == [] and decided("<addresses") == []


def test_the_outline_has_names_and_matches() -> None:
    text = f'{CORE}<addresses><address name="a"><anycast><queue name="q"/></anycast></address></addresses><x name="u"'
    (entry, begun) = outline(text)
    assert (entry.name, entry.element, begun.name) == ("a", "address", "u")
    assert [one.name for one in entry.inside] == ["q"] and text[: entry.stop].endswith("</address>")


def keys(marked: str, form: ConfigurationForm = ConfigurationForm.PROPERTIES) -> dict[str, str]:
    """Return the key proposals at the mark ``|``: texts by label."""
    offset = marked.index("|")
    return {one.label: one.text for one in key_proposals(marked.replace("|", "", 1), offset, NEWEST, form)}


def test_keys_of_properties_are_those_of_the_beans() -> None:
    found = keys("# ours\nmaxD|")
    assert found["maxDiskUsage"] == "maxDiskUsage=" and found["addressSettings"] == "addressSettings."
    assert "maxSizeBytes" not in found
    assert keys('addressSettings."a.b.#".max|')["maxSizeBytes"] == "maxSizeBytes="
    assert keys("addressSettings.|") == {} and keys("nothing.a.|") == {} and keys("# max|") == {}
    assert keys("max|DiskUsage = 20")["maxDiskUsage"] == "maxDiskUsage"
    assert list(keys("persistenceEnabled=|")) == ["true", "false"]
    assert set(keys('addressSettings."#".addressFullMessagePolicy=P|')) == {"PAGE", "DROP", "BLOCK", "FAIL"}


def test_keys_in_yaml_and_in_custom_resources() -> None:
    yaml = ConfigurationForm.YAML
    assert keys("max|", yaml)["maxDiskUsage"] == "maxDiskUsage: "
    assert keys('addressSettings:\n  "#":\n    max|', yaml)["maxSizeBytes"] == "maxSizeBytes: "
    assert "PAGE" in keys("addressSettings:\n  a.b:\n    addressFullMessagePolicy: |", yaml)
    resource = "kind: ActiveMQArtemis\nspec:\n  brokerProperties:\n    - {}\n"
    kubernetes = ConfigurationForm.KUBERNETES
    assert "maxDiskUsage" in keys(resource.replace("{}", "max|"), kubernetes)
    assert "maxSizeBytes" in keys(resource.replace("{}", '"addressSettings.#.|'), kubernetes)
    assert keys("kind: ActiveMQArtemis\nspec:\n  max|", kubernetes) == {}
    held = "kind: ConfigMap\ndata:\n  broker.properties: |\n    "
    offset = len(held)
    assert {one.label for one in key_proposals(held, offset, NEWEST, kubernetes)} >= {"maxDiskUsage"}


@pytest.mark.parametrize("marked", ["maxDisk|Usage=20", "maxDiskUsage=2|0"])
def test_hover_over_properties(marked: str) -> None:
    found = key_hover(marked.replace("|", ""), marked.index("|"), NEWEST, ConfigurationForm.PROPERTIES)
    assert found is not None and "used share of a volume" in "\n".join(found.lines)


def test_a_misspelt_key_is_replaced() -> None:
    text = 'maxDiskUsag=20\naddressSettings."#".maxSizeByte=1\n'
    found = Checker().check(EditedText(text), "broker.properties", LintContext())
    edits = {
        (text[edit.start : edit.stop], edit.new)
        for one in found.diagnostics
        for fix in fixes_for(text, one, ConfigurationForm.PROPERTIES)
        if fix.sure
        for edit in fix.edits
    }
    assert edits == {("maxDiskUsag", "maxDiskUsage"), ("maxSizeByte", "maxSizeBytes")}


OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n"
RESOURCE = "apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemis\nmetadata: {name: a}\nspec:\n"


@pytest.mark.parametrize(
    ("name", "text", "comments"),
    [
        ("broker.properties", "maxDiskUsage=100\nmaxDiskUsag=1\n", True),
        ("broker.properties", "globalMaxSize=1\r\n  max\\\r\nDiskUsag \\\r\n = 1", True),
        ("broker.yaml", "maxDiskUsag: 1\naddressSettings:\n  a.#:\n    maxSizeByte: 1\n", True),
        ("broker.yaml", "addressSettings: {a: {maxSizeByte: 1}}\n", True),
        ("cr.yaml", f"{RESOURCE}  brokerProperties:\n    - maxDiskUsag=1\n  unknown: 1\n", True),
        ("cm.yaml", f"{OBJECT}  broker.properties: |\n    maxDiskUsag=1\n", True),
        (
            "cm.yaml",
            f"{OBJECT}  broker.xml: |\n    <core xmlns='urn:activemq:core'>\n    <unknown/>\n    </core>\n",
            False,
        ),
        ("broker.json", '{"maxDiskUsag": 1}\n', False),
    ],
)
def test_a_comment_silences_a_finding_in_lines(name: str, text: str, comments: bool) -> None:
    form = form_of(name, text.encode())

    def rules_in(text: str) -> list[str]:
        return sorted(one.finding.rule for one in Checker().check(EditedText(text), name, LintContext()).diagnostics)

    found = [one for one in Checker().check(EditedText(text), name, LintContext()).diagnostics if one.finding.why]
    assert found
    for one in found:
        edits = [fix.edits[0] for fix in fixes_for(text, one, form) if not fix.sure]
        assert len(edits) == comments
        for edit in edits:
            silenced = text[: edit.start] + edit.new + text[edit.stop :]
            left = rules_in(text)
            left.remove(one.finding.rule)
            assert rules_in(silenced) == left
            assert "\r" not in text or "\n" not in silenced.replace("\r\n", "")


@pytest.mark.parametrize("line", ["a" + " " * 100_000, "a.b" * 50_000, '"' * 100_000, "\\" * 100_000, "a:" * 50_000])
@pytest.mark.timeout(60)
def test_a_key_in_a_huge_line_does_not_hold_up(line: str) -> None:
    for form in (ConfigurationForm.PROPERTIES, ConfigurationForm.YAML, ConfigurationForm.KUBERNETES):
        for offset in (0, len(line) // 2, len(line)):
            list(key_proposals(f"x:\n  {line}", offset + 5, NEWEST, form))
