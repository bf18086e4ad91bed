"""``config convert``: a configuration in another form has the same effect; what has no counterpart is named."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from brokerconf.evidence.queue_declarations import declared_values, queue_declarations
from brokerconf.properties.application import apply_all
from brokerconf.properties.writing import as_json, as_properties, as_yaml
from brokerconf.reading.document import Document
from brokerconf.reading.properties import EMPTY_XML, entries_in
from brokerconf.reading.property_entries import Entry
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
NETTY = "org.apache.activemq.artemis.core.remoting.impl.netty.NettyAcceptorFactory"
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
    return found


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
        ("x.properties", as_properties(pairs).encode("ascii")),
        ("x.json", as_json(pairs)[0].encode()),
        ("x.yaml", as_yaml(pairs)[0].encode()),
    ):
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
        entries_in(as_json(pairs)[0].encode(), "x.json"),
        entries_in(as_yaml(pairs)[0].encode(), "x.yaml"),
    ]
    for entries in read_back:
        said = [
            (entry.key.removeprefix("addressSettings.").removesuffix(".deadLetterAddress"), entry.value)
            for entry in entries
        ]
        assert [(key[1:-1] if key[:1] == '"' else key, value) for key, value in said] == list(found.items())


WORDS = st.text(
    st.characters(codec="utf-8", categories=["L", "N"], include_characters="-_/:=&<>'!~@;%"), min_size=1, max_size=9
).filter(lambda text: text != "-")
SAFE = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,8}", fullmatch=True)


def tags(tag: str, values: dict[str, object]) -> str:
    return f"<{tag} " + " ".join(f"{name}={quoteattr(str(value))}" for name, value in values.items())


@st.composite
def configurations(draw: st.DrawFn) -> str:
    """Draw a configuration with address settings, roles, diverts, queues, acceptors and connectors."""
    some = st.integers(0, 3)
    inside = "<max-disk-usage>77</max-disk-usage><address-settings>"
    for match in draw(st.lists(WORDS, max_size=3, unique=True)):
        inside += tags("address-setting", {"match": f"{match}.#"})
        size, letter = draw(st.integers(1, 2**40)), draw(WORDS)
        inside += f"><max-size-bytes>{size}</max-size-bytes><dead-letter-address>{escape(letter)}</dead-letter-address>"
        inside += (
            f"<auto-create-queues>{draw(st.sampled_from(['true', 'false']))}</auto-create-queues></address-setting>"
        )
    inside += "</address-settings><security-settings>"
    for match in draw(st.lists(WORDS, max_size=3, unique=True)):
        inside += tags("security-setting", {"match": match}) + ">"
        for right in draw(st.lists(st.sampled_from(["send", "consume", "browse"]), min_size=1, unique=True)):
            roles = ",".join(draw(st.lists(WORDS, min_size=1, max_size=3, unique=True)))
            inside += tags("permission", {"type": right, "roles": roles}) + "/>"
        inside += "</security-setting>"
    inside += "</security-settings><diverts>"
    for name in draw(st.lists(WORDS, max_size=3, unique=True)):
        inside += tags("divert", {"name": name}) + f"><address>{escape(draw(WORDS))}</address><forwarding-address>b"
        inside += f"</forwarding-address><filter string={quoteattr(draw(WORDS))}/></divert>"
    inside += "</diverts><addresses>"
    for number, address in enumerate(draw(st.lists(WORDS, max_size=3, unique=True))):
        inside += tags("address", {"name": address}) + f"><{(kind := draw(st.sampled_from(['anycast', 'multicast'])))}>"
        for queue in range(draw(some)):
            given_values = draw(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "max-consumers": st.integers(-1, 9),
                        "purge-on-no-consumers": st.sampled_from(["true", "false"]),
                        "ring-size": st.integers(-1, 99),
                        "last-value-key": WORDS,
                    },
                )
            )
            inside += tags("queue", {"name": f"{address}.{number}.{queue}", **given_values}) + ">"
            inside += (
                draw(st.sampled_from(["", "<durable>false</durable>", "<filter string='a &lt; 1'/>"])) + "</queue>"
            )
        inside += f"</{kind}></address>"
    inside += "</addresses>"
    for block in ("acceptor", "connector"):
        inside += f"<{block}s>"
        for name in draw(st.lists(WORDS, max_size=3, unique=True)):
            uri = f"tcp://{draw(SAFE)}:{draw(st.integers(0, 65535))}"
            keys = draw(st.dictionaries(st.sampled_from(["sslEnabled", "protocols", "amqpCredits", "port2"]), SAFE))
            uri = f"{uri}?" + ";".join(f"{key}={value}" for key, value in keys.items()) if keys else uri
            uri = draw(st.sampled_from([uri, "vm://3"]))
            inside += tags(block, {"name": name}) + f">{uri}</{block}>"
        inside += f"</{block}s>"
    return EMPTY_XML.replace("</core>", f"{inside}</core>")


def declared(settings: EffectiveSettings, entries: list[Entry]) -> object:
    found = queue_declarations(settings, apply_all(entries))
    queues = {
        key: (one.routing, one.filter, one.durable, declared_values(settings, one)) for key, one in found.queues.items()
    }
    return queues, set(found.addresses), found.routing


@given(configurations())
def test_whole_configurations_survive_every_form_and_the_way_back(xml: str) -> None:
    before = document(xml)
    pairs, left = as_entries(before)
    assert left == []
    settings = EffectiveSettings(before)
    for name, raw in (
        ("x.properties", as_properties(pairs).encode("ascii")),
        ("x.json", as_json(pairs)[0].encode()),
        ("x.yaml", as_yaml(pairs)[0].encode()),
    ):
        entries = list(entries_in(raw, name))
        text, left = as_xml(apply_all(entries), NEW)
        after = document(text)
        assert left == [] and sorted(as_entries(after).pairs) == sorted(pairs)
        assert differing(settings, in_force(entries)) == differing(settings, EffectiveSettings(after)) == set()
        assert declared(settings, []) == declared(in_force(entries), entries) == declared(EffectiveSettings(after), [])


@pytest.mark.parametrize(
    "entries",
    [
        "a.params.host=h",
        "a.factoryClassName=x.Y\nacceptorConfigurations.a.params.host=h",
        *(
            f"a.factoryClassName={NETTY}\nacceptorConfigurations.a.params.host=h\n"
            f"acceptorConfigurations.a.params.port=1\nacceptorConfigurations.a.{more}"
            for more in (
                "params.amqpCredits=5",
                "extraParams.sslEnabled=true",
                "params.keyStorePassword=a;b",
                "name=b",
                "params.x= \\u0001",
            )
        ),
    ],
)
def test_a_transport_that_no_address_says_is_left_out_as_a_whole(entries: str) -> None:
    found = list(entries_in(f"acceptorConfigurations.{entries}\n".encode(), "x.properties"))
    text, left = as_xml(apply_all(found), NEW)
    assert "tcp:" not in text and len(left) == len(found)


def test_a_role_that_is_renamed_gives_no_rights_to_the_old_name() -> None:
    lines = "securityRoles.m.r.send=true\nsecurityRoles.m.r.name=z\nsecurityRoles.m.s.send=true\n"
    text, left = as_xml(apply_all(entries_in(lines.encode(), "x.properties")), NEW)
    assert 'roles="s"' in text and len(left) == 2


@pytest.mark.parametrize(
    "uri", ["(tcp://a:1,tcp://b:1)", "tcp://a:1?b=%20", "tcp://a:1#tcp://b:2", "vm://0?bufferPooling=false"]
)
def test_an_address_that_no_keys_say_is_named(uri: str) -> None:
    xml = EMPTY_XML.replace("</core>", f"<connectors><connector name='a'>{uri}</connector></connectors></core>")
    pairs, left = as_entries(document(xml))
    assert pairs == [] and "<connector>" in left[0]


def test_names_that_no_key_holds_are_named_and_brackets_stand_between_quotes() -> None:
    inside = "".join(
        f"<address name={quoteattr(name)}><{kind}/></address>"
        for name, kind in (('a"b', "anycast"), ("c(d", "anycast"), ("e[f", "multicast"))
    )
    xml = EMPTY_XML.replace("</core>", f"<cluster-user>-</cluster-user><addresses>{inside}</addresses></core>")
    pairs, left = as_entries(document(xml))
    assert [one.partition(" ")[0] for one in left] == ["clusterUser", 'addressConfigurations.a"b.routingTypes']
    assert [steps[1] for steps, _ in pairs] == ["c(d", "e[f"]
    for raw, name in ((as_properties(pairs), "x.properties"), (as_json(pairs)[0], "x.json")):
        outcomes = apply_all(entries_in(raw.encode(), name))
        assert [(one.path[1], one.fault) for one in outcomes] == [("c(d", None), ("e[f", None)]


def test_what_a_queue_takes_from_its_address_is_not_said_by_an_element() -> None:
    lines = "addressConfigurations.q.routingTypes=ANYCAST\naddressConfigurations.q.queueConfigs.q.routingType=ANYCAST\n"
    text, left = as_xml(apply_all(entries_in(lines.encode(), "x.properties")), NEW)
    assert left == [] and '<queue name="q" />' in text
    lines += 'addressSettings."#".defaultRingSize=5\n'
    text, left = as_xml(apply_all(entries_in(lines.encode(), "x.properties")), NEW)
    assert "<queue" not in text and len(left) == 1


def test_a_security_setting_without_rights_is_named() -> None:
    inside = "<security-settings><security-setting match='a'/></security-settings>"
    pairs, left = as_entries(document(EMPTY_XML.replace("</core>", f"{inside}</core>")))
    assert pairs == [] and "<security-setting>" in left[0]


def test_what_has_no_counterpart_is_named_and_no_secret_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside = "<cluster-password>geheim</cluster-password>"
    inside += "<cluster-connections><cluster-connection-uri name='a' address='b'/></cluster-connections>"
    path = tmp_path / "broker.xml"
    path.write_text(EMPTY_XML.replace("</core>", f"{inside}</core>"), "utf-8")
    assert run(["config", "convert", str(path), "--to", "yaml", "--anyway"]) == 1
    out, err = capsys.readouterr()
    assert out == "clusterPassword: geheim\n"
    assert (
        "<cluster-connection-uri> (the broker creates it from its address when it reads a file): has no counterpart "
        "in yaml"
        in err
        and "geheim" not in err
    )
    (tmp_path / "x.properties").write_text("globalMaxSize=-1\nmaxDiskUsage=70\nmaxDiskUsag=1\n", "utf-8")
    assert run(["config", "convert", str(tmp_path / "x.properties"), "--to", "xml"]) == 1
    out, err = capsys.readouterr()
    assert "<max-disk-usage>70</max-disk-usage>" in out and "global" not in out
    assert "x.properties:1:1: globalMaxSize" in err and "x.properties:3:1: maxDiskUsag:" in err
    assert run(["config", "convert", str(path), "--to", "xml", "--anyway"]) == 2


def test_a_file_of_hornetq_has_no_counterpart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The schema of HornetQ nests whole servers without limit.
    path = tmp_path / "hornetq-configuration.xml"
    path.write_text('<configuration xmlns="urn:hornetq"><journal-min-files>10</journal-min-files></configuration>')
    assert run(["config", "convert", str(path), "--to", "json"]) == 1
    assert "<journal-min-files> (hornetq-2.4 reads no properties): has no counterpart" in capsys.readouterr().err


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
        "address": "a",
        "routingType": "ANYCAST",
        "ringSize": "5",
        "durable": "false",
        "purgeOnNoConsumers": "false",
    }


@pytest.mark.parametrize(
    ("name", "text", "status", "said"),
    [
        ("x.json", '{"a": x}', 2, "not JSON"),
        ("x.properties", "=5\n", 1, "has no counterpart"),
        ("x.properties", f"a{'.a' * 20_000}=5\n", 1, "has no counterpart"),
        ("x.properties", "", 0, ""),
    ],
)
def test_files_that_make_no_sense(
    name: str, text: str, status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    assert run(["config", "convert", str(path), "--to", "yaml"]) == status
    out, err = capsys.readouterr()
    assert said in err and out == ("" if status == 2 else "{}\n")
