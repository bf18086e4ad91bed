"""Reading a configuration as the broker does: sizes, placeholders, encodings, includes, positions; hostile files."""

from __future__ import annotations

import contextlib
import os
import pwd
import socket
from pathlib import Path

import pytest
from brokerconf.instance.instance import bases_of, directories, find_instance
from brokerconf.reading.document import Document, FileKind
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.reading import read, read_bytes
from brokerconf.reading.secrets import hidden_in_markup, masked, without
from brokerconf.reading.sizes import SizeError, parse_boolean, parse_int, parse_size
from brokerconf.reading.substitution import PlaceholderValues, SubstitutionError, substitute
from brokerconf.schema.validation import judge
from hypothesis import given
from hypothesis import strategies as st

from pagefmt.editions import Edition

NEWEST = Edition.ARTEMIS_2_56


def document(text: str | bytes, edition: Edition | None = None, **properties: str) -> Document:
    raw = text if isinstance(text, bytes) else text.encode()
    return read_bytes(raw, "b.xml", folder=Path(), edition=edition, properties=properties, environment={})


def config(inner: str) -> str:
    return f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{inner}</core></configuration>'


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("10", 10),
        ("10b", 10),
        ("+10", 10),
        ("10K", 10240),
        ("10kb", 10240),
        ("10ki", 10240),
        ("10KiB", 10240),
        (" 10 m ", 10485760),
        ("10 MB", 10485760),
        ("10MiB", 10485760),
        ("10G", 10737418240),
        ("-1", -1),
        ("9999999999G", -7709325834783293440),
        ("9223372036854775807", 2**63 - 1),
        ("8589934592G", -(2**63)),
        ("00000000000000000000000000000000000000000000000001k", 1024),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text).value == size


@pytest.mark.parametrize(
    "text",
    ["-1M", "10T", "1.5G", "10g b", "10bytes", "1_000", "0x10", "", "1,000", "10i", "9" * 10000, "10\u00a0M", "k"],
)
def test_no_sizes(text: str) -> None:
    with pytest.raises(SizeError):
        parse_size(text)


def test_sizes_by_edition() -> None:
    with pytest.raises(SizeError, match=r"2\.28"):
        parse_size("10MiB", Edition.ARTEMIS_2_17)
    with pytest.raises(SizeError):
        parse_size("10M", Edition.HORNETQ_2_4)
    assert parse_size("8589934592G").overflowed


def test_numbers_and_booleans() -> None:
    assert parse_int(" 007 ") == 7
    with pytest.raises(SizeError):
        parse_int("2147483648")
    assert [parse_boolean(text) for text in (" TRUE ", "1", "yes", "")] == [True, False, False, False]


@given(st.text())
def test_sizes_raise_nothing_else(text: str) -> None:
    for edition in (Edition.HORNETQ_2_4, NEWEST):
        with contextlib.suppress(SizeError):
            assert -(2**63) <= parse_size(text, edition).value < 2**63


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${a:b}", "b"),
        ("${ a : b:c }", "b:c"),
        ("${a}", ""),
        ("${set:x}", "value"),
        ("x${a:1}y${b:2}z", "x1y2z"),
        ("${a:${b:c}}", "c"),
        ("${a", "${a"),
        ("<!-- ${ -->${b:2}", "<!-- 2"),
        ("${ref}", "value"),
        ("no", "no"),
    ],
)
def test_placeholders(text: str, expected: str) -> None:
    values = PlaceholderValues({"set": "value", "ref": "${set}"}, {})
    assert substitute(text, values).text == expected


def test_placeholders_that_never_end() -> None:
    with pytest.raises(SubstitutionError, match="never ends"):
        substitute("${a}", PlaceholderValues({"a": "${a}"}, {}))
    with pytest.raises(SubstitutionError, match="never ends"):
        substitute("${a}", PlaceholderValues({"a": "${b}", "b": "${a}"}, {}))
    with pytest.raises(SubstitutionError):
        substitute("${:x}", PlaceholderValues({}, {}))


@given(st.lists(st.sampled_from(["${", "}", ":", "a", "b", " ", "\n", "${a:b}"]), max_size=12))
def test_the_way_back_leads_to_the_same_text(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        done = substitute(text, PlaceholderValues({"a": "12345"}, {}))
    except SubstitutionError:
        return
    for after, before, verbatim in done.pieces:
        if verbatim:
            assert done.text[after] == text[before] and done.before(after) == before


def test_environment_by_edition() -> None:
    text = config("<name>${HOST:none}</name>")
    for edition, name in ((NEWEST, "web"), (Edition.ARTEMIS_2_17, "none")):
        found = read_bytes(
            text.encode(), "b", folder=Path(), edition=edition, properties={}, environment={"HOST": "web"}
        )
        assert found.core and found.core.children[0].text == name


@pytest.mark.parametrize("edition", list(Edition)[1:])
def test_placeholders_in_markup_by_edition(edition: Edition) -> None:
    # Between 2.8.0 and 2.10.1 only values and attributes are replaced, not the text of the file.
    text = config("<name>${x:a</name><name>b}</name>")
    try:
        names = [node.text for node in document(text, edition).cores[0].children]
    except ReadingError:
        names = ["refused"]
    assert names == (["refused"] if edition is Edition.ARTEMIS_2_10 else ["a", "b"])


def test_positions_survive_replacement() -> None:
    text = (
        '<configuration xmlns="urn:activemq">\n  <core xmlns="urn:activemq:core"><name>${a:a\nvery\nlong}</name>\n'
        "    <max-disk-usage>é 5</max-disk-usage>\n</core></configuration>"
    )
    core = document(text).core
    assert core is not None
    name, usage = core.children
    assert str(name.position) == "b.xml:2:35" and name.raw_text == "${a:a\nvery\nlong}"
    assert str(usage.position) == "b.xml:5:5" and str(usage.text_position) == "b.xml:5:21"
    assert str(core.attribute_position("xmlns")) == "b.xml:2:9"
    assert usage.path == "/configuration/core/max-disk-usage"


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (config("").encode("utf-16"), "encoding"),
        (config("").encode("utf-16-le"), "encoding"),
        (b"\xef\xbb\xbf" + config("").encode(), "encoding"),
        (b'<?xml version="1.0"?>' + config("<name>").encode(), "not-well-formed"),
        (b"", "not-well-formed"),
        (b"\0" * 50, "not-well-formed"),
        (b"<!DOCTYPE a><a/>", "document-type"),
        (b'<?xml version="1.0"?>\n<!-- c --><?p i?>\n<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "document-type"),
        (config("<d>" * 300 + "</d>" * 300).encode(), "too-deep"),
        (config("&unknown;").encode(), "not-well-formed"),
        (config("<name>${:x}</name>").encode(), "placeholder"),
    ],
)
def test_refused(raw: bytes, rule: str) -> None:
    with pytest.raises(ReadingError) as err:
        document(raw)
    assert err.value.rule == rule
    assert "\n" not in str(err.value) and err.value.finding().place.line >= 1


def test_the_declared_encoding_is_not_looked_at() -> None:
    for declared in ("ISO-8859-1", "nonsense-9", "UTF-16"):
        raw = f'<?xml version="1.0" encoding="{declared}"?>{config("<name>é</name>")}'.encode()
        core = document(raw).core
        assert core and core.children[0].text == "é"
    assert document(config("<name>é</name>").encode("latin-1")).badly_decoded


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(12))


def test_billion_laughs_and_external_entities_open_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    for subset in (
        f'<!ENTITY l0 "x">{LAUGHS}',
        '<!ENTITY l12 SYSTEM "http://127.0.0.1:9/">',
        "<!ENTITY % p SYSTEM 'f'>%p;",
    ):
        text = f"<!DOCTYPE configuration [{subset}]>{config('<name>&l12;</name>')}"
        with pytest.raises(ReadingError) as err:
            document(text)
        assert err.value.rule == "document-type"


def test_a_document_type_brought_in_by_a_placeholder_is_refused() -> None:
    with pytest.raises(ReadingError) as err:
        document("${x}" + config(""), NEWEST, x="<!DOCTYPE a>")
    assert err.value.rule == "document-type"


@given(st.binary(max_size=300))
def test_bytes_raise_nothing_but_reading_errors(raw: bytes) -> None:
    for edition in (Edition.HORNETQ_2_4, Edition.ARTEMIS_2_10, NEWEST):
        with contextlib.suppress(ReadingError):
            document(raw, edition)


def test_kinds_and_directories(tmp_path: Path) -> None:
    etc = tmp_path / "broker" / "etc"
    etc.mkdir(parents=True)
    (etc / "broker.xml").write_text(config("<paging-directory>${data.dir:data}/p</paging-directory>"))
    (etc / "artemis.profile").write_text(
        "ARTEMIS_HOME='/opt/artemis'\nARTEMIS_DATA_DIR=/srv/d\nJAVA_ARGS=\"-Xms1G -Xmx3G -Da=b\"\n"
    )
    instance = find_instance(tmp_path / "broker")
    assert (instance.heap, instance.home, instance.properties["a"]) == (3 << 30, Path("/opt/artemis"), "b")
    found = directories(read(instance.config, properties=instance.properties), (instance.root,))
    assert found.paging == Path("/srv/d/p")
    assert found.large_messages == tmp_path / "broker" / "data" / "largemessages"


def test_eap6_messaging_is_found_in_every_profile() -> None:
    server = (
        '<subsystem xmlns="urn:jboss:domain:messaging:1.4"><hornetq-server><paging-directory path="p"/>'
        "</hornetq-server></subsystem>"
    )
    profiles = f"<profile>{server}</profile>" * 2
    text = f'<domain xmlns="urn:jboss:domain:1.7"><profiles>{profiles}</profiles></domain>'
    found = document(text)
    assert found.kind is FileKind.EAP6 and len(found.cores) == 2
    own = find_instance(Path("/e/standalone/configuration/standalone.xml"))
    assert bases_of(own, FileKind.EAP6) == (Path("/e/standalone/data"),)
    assert directories(found, (Path("/d"),)).paging == Path("/d/p")
    assert directories(found, (Path("/d"),)).journal == Path("/d/messagingjournal")


@pytest.mark.parametrize(
    ("text", "name", "shown"),
    [
        ("abc", "cluster-password", "****"),
        ("tcp://u:pw@h:1?keyStorePassword=pw;x=1", "", "tcp://u:****@h:1?keyStorePassword=****;x=1"),
        ("ENC(pw)", "", "ENC(****)"),
        ("10M", "max-size-bytes", "10M"),
        ("org.Codec", "password-codec", "org.Codec"),
    ],
)
def test_passwords_are_hidden(text: str, name: str, shown: str) -> None:
    assert masked(text, name) == shown


def test_passwords_are_hidden_in_lines() -> None:
    for line in (
        "<cluster-password>pw</cluster-password>",
        '<upstream name="a" password="pw">',
        "<acceptor>tcp://h?trustStorePassword=pw",
        '<property key="dbPassword" value="pw"/>',
        "<jdbc-password>ENC(pw)</jdbc-password>",
    ):
        shown = without(line, hidden_in_markup(line))
        assert "pw" not in shown and "****" in shown


@pytest.mark.parametrize(
    "inner",
    [
        "<x " + " ".join(f'a{n}="1"' for n in range(5000)) + "/>",
        "${a:" * 5000 + "}" * 5000,
        "<x/>" * 20_000,
        "<name>" + "x" * 2_000_000 + "</name>",
        "<!--" + "${" * 50_000 + "-->",
        "<name>${a:b}</name>" * 5_000,
    ],
    ids=["attributes", "nested", "wide", "long", "open", "many"],
)
@pytest.mark.timeout(30)
def test_hostile_sizes_end(inner: str) -> None:
    try:
        judge(document(config(inner)))
    except ReadingError as err:
        assert "\n" not in str(err)


def test_what_every_java_machine_knows_is_filled_in() -> None:
    text = config("<name>${user.name}-${user.home:x}${file.separator}</name>")
    user = pwd.getpwuid(os.getuid())
    found = read_bytes(text.encode(), "b.xml", folder=Path(), properties={}, environment={"USER": "u", "HOME": "/h"})
    assert found.core is not None and found.core.children[0].text == f"{user.pw_name}-{user.pw_dir}/"


def test_an_empty_section_is_no_value() -> None:
    found = document(config("<create-bindings-dir><![CDATA[]]></create-bindings-dir>"))
    assert judge(found).document == ()


@pytest.mark.parametrize("behind", ["M<a/>", "<a/>", "x"])
def test_what_stands_behind_a_document_with_an_odd_name_space_is_seen(behind: str) -> None:
    odd = '<configuration xmlns="urn:activemq\u20ac"><core xmlns="urn:activemq:core"/></configuration>'
    read_bytes(odd.encode(), "b.xml", folder=Path(), edition=NEWEST, properties={}, environment={})
    with pytest.raises(ReadingError) as err:
        read_bytes((odd + behind).encode(), "b.xml", folder=Path(), edition=NEWEST, properties={}, environment={})
    assert err.value.rule == "not-well-formed"
