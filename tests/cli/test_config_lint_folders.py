"""``pagectl config lint FOLDER``: which files are found, and that none is linted twice."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from lint_calls import CLEAN, FAULTY, found, write
from pagectl.app import run

from pagefmt.editions import NEWEST

INCLUDING = """<?xml version="1.0"?>
<configuration xmlns="urn:activemq" xmlns:xi="http://www.w3.org/2001/XInclude">
  <core xmlns="urn:activemq:core"><xi:include href="part.xml"/></core>
</configuration>
"""
PART = """<address-settings xmlns="urn:activemq:core">
  <address-setting match="#"><page-size-bytes>1K</page-size-bytes></address-setting>
</address-settings>
"""


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "NO_COLOR", "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def make(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def broker(folder: str, inside: str = CLEAN, name: str = "broker.xml") -> str:
    Path(folder).mkdir(parents=True, exist_ok=True)
    return write(Path(folder), inside, name)


def files_of(report: dict[str, object]) -> list[str]:
    return [file["file"] for file in report["files"]]  # type: ignore[attr-defined, index]


def test_finds_configurations_by_their_content(capsys: pytest.CaptureFixture[str]) -> None:
    broker("b/deep/er")
    broker("a", FAULTY, "queues.xml")
    make("pom.xml", "<project/>")
    for hidden in (".git/x", "node_modules/y", "env/lib", ".hidden"):
        broker(hidden, FAULTY)
    make("env/pyvenv.cfg", "")
    status, report = found(capsys, ".")
    assert status == 1 and files_of(report) == ["a/queues.xml", "b/deep/er/broker.xml"]
    assert found(capsys, "b")[0] == 0


def test_says_what_was_taken_and_what_was_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    broker("a")
    make("pom.xml", "<project/>")
    Path("elsewhere").symlink_to("/etc")
    run(["config", "lint", "."])
    said = capsys.readouterr().err
    assert "note: .: 1 linted: a/broker.xml; --show-files" in said and "pom.xml" not in said
    run(["config", "lint", ".", "--show-files"])
    assert capsys.readouterr().err.splitlines()[:3] == [
        "note: a/broker.xml: linted, xml",
        "note: elsewhere: skipped, a link to a folder",
        "note: pom.xml: skipped, not a broker configuration",
    ]


def test_links_are_followed_inside_the_folder_alone(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = write(tmp_path_factory.mktemp("outside"), FAULTY)
    broker("in/.data")  # as Kubernetes mounts a ConfigMap
    Path("in/mounted.xml").symlink_to(".data/broker.xml")
    Path("in/again.xml").symlink_to("mounted.xml")
    Path("in/outside.xml").symlink_to(outside)
    Path("in/dangling.xml").symlink_to("nowhere.xml")
    Path("in/loop").symlink_to(".")
    os.mkfifo("in/pipe.xml")
    run(["config", "lint", "in", "--show-files"])
    said = capsys.readouterr().err
    assert said.count("linted, xml") == 1
    for name, reason in (
        ("outside.xml", "a link that leads out of the folder"),
        ("dangling.xml", "a link to nothing"),
        ("pipe.xml", "not a file"),
        ("mounted.xml", "another name of a file that is linted"),
    ):
        assert f"in/{name}: skipped, {reason}" in said


def test_what_is_included_is_linted_once(capsys: pytest.CaptureFixture[str]) -> None:
    make("a/broker.xml", INCLUDING)
    make("a/part.xml", PART)
    _, report = found(capsys, ".")
    (file,) = report["files"]  # type: ignore[misc]
    assert file["file"] == "a/broker.xml"
    assert [finding["rule"] for finding in file["findings"]].count("page-size-tiny") == 1


def test_faults_in_what_is_included_are_told_there(capsys: pytest.CaptureFixture[str]) -> None:
    # An edition that does not follow includes would have fewer faults, but must not be chosen for that.
    make("a/broker.xml", INCLUDING)
    make("a/part.xml", '<addresses xmlns="urn:activemq:core"><address nmae="a"/><address nmae="b"/></addresses>')
    _, report = found(capsys, ".")
    (file,) = report["files"]  # type: ignore[misc]
    assert file["edition"] == NEWEST.value
    assert [finding["file"] for finding in file["findings"]].count("a/part.xml") >= 4


def test_an_instance_is_itself_but_a_repository_is_searched(capsys: pytest.CaptureFixture[str]) -> None:
    broker("one/etc")
    broker("one/other", FAULTY)
    assert files_of(found(capsys, "one")[1]) == ["one/etc/broker.xml"]
    Path("one/.git").mkdir()
    assert files_of(found(capsys, "one")[1]) == ["one/etc/broker.xml", "one/other/broker.xml"]


def test_nothing_found_is_an_error_and_others_are_linted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    named = broker("a", FAULTY)
    status, report = found(capsys, "empty", named)
    assert status == 2 and files_of(report) == [named]
    assert run(["config", "lint", "empty"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "pagectl: empty: no broker configuration below it; looked for XML" in said.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_no_all_clear(capsys: pytest.CaptureFixture[str]) -> None:
    broker("a/b")
    make("a/b.xml", "").chmod(0)
    assert run(["config", "lint", "a"]) == 2
    assert "a/b.xml: Permission denied" in capsys.readouterr().err


def test_a_huge_file_is_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    broker("a/b")
    with Path("a/huge.xml").open("wb") as stream:
        stream.truncate(1 << 40)
    assert run(["config", "lint", "a", "--show-files"]) == 0
    assert "a/huge.xml: skipped, larger than 16 MiB" in capsys.readouterr().err


def test_folders_nested_a_thousand_deep_are_searched(capsys: pytest.CaptureFixture[str]) -> None:
    broker("top/one")
    inside = os.open("top", os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=inside)
        below = os.open("d", os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = below
    os.close(inside)
    try:
        assert run(["config", "lint", "top"]) == 0
    finally:
        # what clears up after tests goes down by recursion
        subprocess.run(["rm", "-rf", "top"], check=True)
    assert "1 linted" in capsys.readouterr().err


def test_a_pipe_in_place_of_a_profile_or_beside_a_configuration_is_not_waited_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    broker("inst/etc")
    for name in ("artemis.profile", "bootstrap.xml", "pagectl.toml"):
        os.mkfifo(f"inst/etc/{name}")
    assert run(["config", "lint", "inst"]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_templates_are_passed_over_with_a_remark(capsys: pytest.CaptureFixture[str]) -> None:
    marked = "<journal-type>{{ journal }}</journal-type>"
    broker("b", CLEAN)
    broker("a", marked, "broker.xml.j2")
    broker("c", marked, "other.xml")
    make(
        "helm/templates/cr.yaml",
        "apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemis\nspec:\n  x: {{ .Values.x }}\n",
    )
    status, report = found(capsys, ".")
    assert status == 0
    rules = {file["file"]: [one["rule"] for one in file["findings"]] for file in report["files"]}  # type: ignore[attr-defined]
    assert {name for name, ids in rules.items() if ids == ["template"]} == {
        "a/broker.xml.j2",
        "c/other.xml",
        "helm/templates/cr.yaml",
    }
    assert "template" not in rules["b/broker.xml"]
    status, report = found(capsys, "c/other.xml")
    assert status == 1
    make("d/broker.xml", "{% if x %}<configuration/>{% endif %}")
    assert found(capsys, "d")[0] == 0 and found(capsys, "d/broker.xml")[0] == 1


def test_an_example_in_another_object_is_no_broker(capsys: pytest.CaptureFixture[str]) -> None:
    make("broker.yaml", "apiVersion: broker.amq.io/v1beta1\nkind: ActiveMQArtemis\nmetadata: {name: x}\nspec: {}\n")
    examples = '[{"apiVersion": "broker.amq.io/v1beta1", "kind": "ActiveMQArtemis", "spec": {}}]'
    make(
        "csv.yaml",
        f"apiVersion: o/v1\nkind: ClusterServiceVersion\nmetadata:\n  annotations:\n    a: |-\n      {examples}\n",
    )
    status, report = found(capsys, ".")
    assert status == 0 and files_of(report) == ["broker.yaml"]


def test_a_compose_file_that_is_named_is_called_one(capsys: pytest.CaptureFixture[str]) -> None:
    make("compose.yaml", "services:\n  broker:\n    image: apache/activemq-artemis\n")
    assert run(["config", "lint", "compose.yaml"]) == 2
    assert "a Docker Compose file" in capsys.readouterr().err
