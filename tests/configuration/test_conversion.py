"""``config convert``: a configuration in another form has the same effect; what has no counterpart is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from brokerconf.properties.application import apply_all
from brokerconf.properties.writing import as_json, as_properties, as_yaml
from brokerconf.reading.document import Document
from brokerconf.reading.properties import EMPTY_XML, Entry, entries_in
from brokerconf.reading.reading import read, read_bytes
from brokerconf.settings.comparison import differences
from brokerconf.settings.conversion import as_entries, as_xml
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.overrides import apply
from config_cases import configs
from hypothesis import given
from hypothesis import strategies as st
from pagectl.app import run

from pagefmt.editions import Edition

NEW = Edition.ARTEMIS_2_56
# cannot be said by a key: it has a period and a limit beside its value
NO_COUNTERPART = {"journal-retention-directory"}
FILES = sorted((configs() / "valid").rglob("*.xml"))


def document(text: str) -> Document:
    return read_bytes(text.encode(), "broker.xml", folder=Path(), edition=NEW, properties={}, environment={})


def in_force(entries: list[Entry]) -> EffectiveSettings:
    settings = EffectiveSettings(document(EMPTY_XML))
    apply(settings, entries)
    return settings


def differing(one: EffectiveSettings, other: EffectiveSettings) -> set[str]:
    found = {each.setting for each in differences(one.broker(), other.broker())}
    for match in one.settings:
        found |= {each.setting for each in differences(one.address(match), other.address(match))}
    return found - NO_COUNTERPART


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_that_brokers_take_have_the_same_effect_as_properties_and_back(path: Path) -> None:
    try:
        given = read(path, edition=NEW)
    except Exception as err:
        pytest.skip(f"not of {NEW.value}: {err}")
    if not given.cores:
        pytest.skip("no core")
    pairs, _ = as_entries(given)
    before = EffectiveSettings(given)
    for name, raw in (
        ("x.properties", as_properties(pairs).encode("ascii")), ("x.json", as_json(pairs)[0].encode()),
        ("x.yaml", as_yaml(pairs)[0].encode()),
    ):  # fmt: skip
        entries = list(entries_in(raw, name))
        outcomes = apply_all(entries)
        assert [one.entry.key for one in outcomes if one.fault] == []
        assert differing(before, in_force(entries)) == set()
    text, _ = as_xml(outcomes, NEW)
    assert differing(in_force(entries), EffectiveSettings(document(text))) == set()


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda text: '"' not in text and not text.startswith("key.") and "${" not in text
)
VALUES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=20)


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=5))
def test_keys_and_values_survive_every_form(found: dict[str, str]) -> None:
    pairs = [(("addressSettings", match, "deadLetterAddress"), value) for match, value in found.items()]
    read_back = [
        entries_in(as_properties(pairs).encode("ascii"), "x.properties"),
        entries_in(as_json(pairs)[0].encode(), "x.json"), entries_in(as_yaml(pairs)[0].encode(), "x.yaml"),
    ]  # fmt: skip
    for entries in read_back:
        said = [
            (entry.key.removeprefix("addressSettings.").removesuffix(".deadLetterAddress"), entry.value)
            for entry in entries
        ]
        assert [(key[1:-1] if key[:1] == '"' else key, value) for key, value in said] == list(found.items())


def test_what_has_no_counterpart_is_named_and_no_secret_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside = "<cluster-password>geheim</cluster-password><acceptors><acceptor name='a'>tcp://h:1</acceptor></acceptors>"
    path = tmp_path / "broker.xml"
    path.write_text(EMPTY_XML.replace("</core>", f"{inside}</core>"), "utf-8")
    assert run(["config", "convert", str(path), "--to", "yaml"]) == 1
    out, err = capsys.readouterr()
    assert out == "clusterPassword: geheim\n"
    assert "<acceptors>: has no counterpart in yaml" in err and "geheim" not in err
    (tmp_path / "x.properties").write_text("globalMaxSize=-1\nmaxDiskUsage=70\nmaxDiskUsag=1\n", "utf-8")
    assert run(["config", "convert", str(tmp_path / "x.properties"), "--to", "xml"]) == 1
    out, err = capsys.readouterr()
    assert "<max-disk-usage>70</max-disk-usage>" in out and "global" not in out
    assert "x.properties:1:1: globalMaxSize" in err and "x.properties:3:1: maxDiskUsag:" in err
    assert run(["config", "convert", str(path), "--to", "xml"]) == 2


def test_minus_one_means_something_else_in_a_property() -> None:
    pairs, left = as_entries(document(EMPTY_XML.replace("</core>", "<global-max-size>-1</global-max-size></core>")))
    assert (pairs, left) == ([], [])


def test_a_queue_keeps_what_the_reader_of_elements_gives_it() -> None:
    inside = "<addresses><address name='a'><anycast><queue name='q' ring-size='5'><durable>false</durable></queue>"
    xml = EMPTY_XML.replace("</core>", f"{inside}</anycast></address></addresses></core>")
    pairs, left = as_entries(document(xml))
    queue = ("addressConfigurations", "a", "queueConfigs", "q")
    assert left == [] and (("addressConfigurations", "a", "routingTypes"), "ANYCAST") in pairs
    assert {steps[-1]: value for steps, value in pairs if steps[:-1] == queue} == {
        "address": "a", "routingType": "ANYCAST", "ringSize": "5", "durable": "false", "purgeOnNoConsumers": "false",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "status", "said"),
    [
        ("x.json", '{"a": x}', 2, "not JSON"), ("x.properties", "=5\n", 1, "has no counterpart"),
        ("x.properties", f"a{'.a' * 20_000}=5\n", 1, "has no counterpart"), ("x.properties", "", 0, ""),
    ],
)  # fmt: skip
def test_files_that_make_no_sense(
    name: str, text: str, status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    assert run(["config", "convert", str(path), "--to", "yaml"]) == status
    out, err = capsys.readouterr()
    assert said in err and out == ("" if status == 2 else "{}\n")
