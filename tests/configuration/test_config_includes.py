"""XInclude as the broker of an edition follows it, and only below the configuration's folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.reading import read

from pagefmt.editions import Edition

NEWEST = Edition.ARTEMIS_2_56


def config(inner: str) -> str:
    return f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{inner}</core></configuration>'


XI = 'xmlns:xi="http://www.w3.org/2001/XInclude"'


def files(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.xml").write_text(text, "utf-8")
    return folder / "broker.xml"


def test_includes_keep_positions_and_are_replaced_in_the_tree(tmp_path: Path) -> None:
    main = files(
        tmp_path,
        broker=config(f'\n<xi:include {XI} href="part.xml"/>\n<name>n</name>'),
        part='<acceptors xmlns="urn:activemq:core">\n <acceptor name="a">tcp://${h:host}:1</acceptor></acceptors>',
    )
    core = read(main, environment={}).core
    assert core is not None
    acceptors, name = core.children
    assert acceptors.children[0].text == "tcp://host:1"
    assert acceptors.children[0].position.file.endswith("part.xml") and acceptors.children[0].position.line == 2
    assert name.position.line == 3 and name.position.file.endswith("broker.xml")


def test_includes_are_unknown_to_old_editions_and_to_the_switch(tmp_path: Path) -> None:
    main = files(tmp_path, broker=config(f'<xi:include {XI} href="nowhere.xml"/>'))
    for edition, properties in ((Edition.ARTEMIS_2_4, {}), (NEWEST, {"artemis.disableXxe": ""})):
        core = read(main, edition=edition, properties=properties, environment={}).core
        assert core is not None and core.children[0].name == "include"
    with pytest.raises(ReadingError) as err:
        read(main, environment={})
    assert err.value.rule == "include-missing" and ":1:" in str(err.value)


def test_a_fallback_stands_in_for_a_missing_file(tmp_path: Path) -> None:
    inner = f'<xi:include {XI} href="nowhere.xml"><xi:fallback><name>f</name></xi:fallback></xi:include><x/>'
    core = read(files(tmp_path, broker=config(inner)), environment={}).core
    assert core is not None and [child.name for child in core.children] == ["name", "x"]


@pytest.mark.parametrize(
    "href",
    [
        "http://127.0.0.1:9/x.xml",
        "ftp://h/x",
        "//h/x.xml",
        "../out.xml",
        "/etc/passwd",
        "file:///etc/passwd",
        "",
        "sub/../../out.xml",
        "%2e%2e/out.xml",
        "link.xml",
        "loop.xml",
        "pipe.xml",
        "a%00b",
    ],
)
def test_includes_that_lead_out_are_refused(tmp_path: Path, href: str) -> None:
    (tmp_path / "out.xml").write_text("<secret/>")
    folder = tmp_path / "conf"
    (folder / "sub").mkdir(parents=True)
    (folder / "link.xml").symlink_to(tmp_path / "out.xml")
    os.mkfifo(folder / "pipe.xml")
    main = files(
        folder, broker=config(f'<xi:include {XI} href="{href}"/>'), loop=f'<a><xi:include {XI} href="loop.xml"/></a>'
    )
    with pytest.raises(ReadingError) as err:
        read(main, environment={})
    assert err.value.rule in ("include-refused", "include-missing")
    assert "secret" not in str(err.value)


def test_includes_nest_only_so_deep(tmp_path: Path) -> None:
    chain = {f"f{n}": f'<a><xi:include {XI} href="f{n + 1}.xml"/></a>' for n in range(12)}
    main = files(tmp_path, broker=config(f'<xi:include {XI} href="f0.xml"/>'), **chain, f12="<a/>")
    with pytest.raises(ReadingError, match="nested more than"):
        read(main, environment={})


@pytest.mark.parametrize(
    "inner",
    [
        f'<xi:include {XI} href="part.xml" parse="html"/>',
        f'<xi:include {XI} href="part.xml#one"/>',
        f"<xi:fallback {XI}/>",
        f'<xi:include {XI} href="nowhere.xml"><xi:fallback/><xi:fallback/></xi:include>',
    ],
)
def test_includes_that_the_broker_cannot_read(tmp_path: Path, inner: str) -> None:
    # Each ended the start of a 2.56.0 while it read the file.
    main = files(tmp_path, broker=config(inner), part='<name xmlns="urn:activemq:core">n</name>')
    with pytest.raises(ReadingError) as err:
        read(main, edition=NEWEST, environment={})
    assert err.value.rule == "include-refused"


def test_text_between_includes_stays(tmp_path: Path) -> None:
    inner = f'<name>a<xi:include {XI} href="part.txt" parse="text"/>c<!-- -->d</name>'
    (tmp_path / "part.txt").write_text("b")
    core = read(files(tmp_path, broker=config(inner)), edition=NEWEST, environment={}).core
    assert core is not None and core.children[0].text == "abcd"
