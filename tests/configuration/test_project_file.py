"""``pagectl.toml`` and ``[tool.pagectl]``: what they say, where they count, and what is said of a mistake in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from brokerconf.linting.lint_report import RuleSelection
from brokerconf.linting.project_file import ProjectError, ProjectFile, project_of
from doc_examples import DOCS
from lint_calls import CLEAN, DROP, FAULTY, found, rules_of, write
from pagectl.app import run

from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Severity

WHOLE = """
edition = "artemis-2.44"
heap = "4G"
fail-on = "warning"
ignore = ["drop-policy"]
only = []

[severity]
page-size-tiny = "error"
both-disk-limits = "off"

[[per-path]]
path = "legacy/**"
ignore = ["dla-missing"]
edition = "artemis-1.5"

[[per-path]]
path = "legacy/*/new"
edition = "artemis-2.4"
"""


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "NO_COLOR", "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def project(text: str, name: str = "pagectl.toml") -> ProjectFile | None:
    Path(name).write_text(text, "utf-8")
    return project_of(Path())


def tool_table(text: str) -> str:
    lines = (line.replace("[[", "[[tool.pagectl.").replace("\n[", "\n[tool.pagectl.") for line in text.splitlines())
    named = [line if not line.startswith("[sev") else line.replace("[", "[tool.pagectl.") for line in lines]
    return "[project]\nname = 'a'\n[tool.pagectl]\n" + "\n".join(named)


@pytest.mark.parametrize("name", ["pagectl.toml", "pyproject.toml"])
def test_what_it_says(name: str) -> None:
    read = project(WHOLE if name == "pagectl.toml" else tool_table(WHOLE), name)
    assert read is not None and read.heap == 4 << 30 and read.fail_on == "warning"
    assert read.edition_of(Path("a/broker.xml")) is Edition.ARTEMIS_2_44
    assert read.edition_of(Path("legacy/a/broker.xml")) is Edition.ARTEMIS_1_5
    assert read.edition_of(Path("legacy/a/new/broker.xml")) is Edition.ARTEMIS_2_4
    selection = read.selection(Path("a/broker.xml"), RuleSelection())
    assert selection.ignored == {"drop-policy", "both-disk-limits"}
    assert selection.severities == {"page-size-tiny": Severity.ERROR}
    assert "dla-missing" in read.selection(Path("legacy/broker.xml"), RuleSelection()).ignored


def test_what_is_typed_wins() -> None:
    read = project(WHOLE)
    assert read is not None
    only = read.selection(Path("legacy/b.xml"), RuleSelection(only=frozenset({"dla-missing"})))
    assert only.takes("dla-missing") and not only.takes("page-size-tiny")
    ignored = read.selection(Path("b.xml"), RuleSelection(ignored=frozenset({"page-size-tiny"})))
    assert (
        ignored.takes("drop-policy") and not ignored.takes("page-size-tiny") and not ignored.takes("both-disk-limits")
    )


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("legacy/**", ["legacy/a.xml", "legacy/b/c.xml"], ["legacy.xml", "x/legacy/a.xml"]),
        ("**/legacy", ["legacy/a.xml", "x/y/legacy/a.xml"], ["x/legacy.xml"]),
        ("*.xml", ["a.xml"], ["b/a.xml", "a-xml"]),
        ("a?/b.xml", ["ab/b.xml"], ["a/b.xml", "a//b.xml"]),
        ("/dir/", ["dir/a"], ["a/dir/a"]),
    ],
)
def test_patterns(pattern: str, fitting: list[str], others: list[str]) -> None:
    read = project(f'[[per-path]]\npath = "{pattern}"\nignore = ["drop-policy"]\n')
    assert read is not None
    (one,) = read.per_path
    assert all(map(one.fits, fitting)) and not any(map(one.fits, others))


def test_the_nearest_counts_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    project("edition = 'artemis-2.4'")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert project_of(inner) == project_of(tmp_path)
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\n[tool.pagectl-not]\n")
    assert project_of(inner) == project_of(tmp_path)
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.pagectl]\nedition = 'artemis-2.10'\n")
    nearest = project_of(inner)
    assert nearest is not None and nearest.edition is Edition.ARTEMIS_2_10
    (inner / ".git").mkdir()
    assert project_of(inner) is None


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("edition = 'artemis-2.44'\nheep = '4G'", 2, "no key 'heep' is known; did you mean 'heap'?"),
        ("\nedition = 'hornetq-2.5'", 2, "did you mean 'hornetq-2.4'?"),
        ("edition = 2.44", 1, "edition: no edition of that name is known"),
        ("heap = 4", 1, 'heap: a size above 0 is needed, such as "512M" or "4G"'),
        ("heap = 'much'", 1, "heap: a size above 0"),
        ("fail-on = true", 1, "fail-on: one of error, warning, never is needed"),
        ("ignore = 'drop-policy'", 1, "ignore: a list of rules is needed"),
        ("ignore = [\n  'drop-polizy']", 1, "'drop-polizy' is not a rule; did you mean 'drop-policy'?"),
        ("only = [1]", 1, "only: a list of rules is needed"),
        ("[severity]\na = 1\n", 2, "'a' is not a rule"),
        ("[severity]\n\ndrop-policy = 'fatal'\n", 3, "severity of drop-policy: one of off, error, warning, info"),
        ("severity = 'off'", 1, "severity: a table is needed"),
        ("[per-path]\npath = 'a'", 1, "write it as [[per-path]]"),
        ("[[per-path]]\npath='a'\n[[per-path]]\nignore=[]", 3, "path is needed"),
        ("[[per-path]]\npath='a'\n[[per-path]]\npath='b'\nignores=[]", 5, "no key 'ignores' is known here"),
        ("heap = '4G'\nheap = '4G'", 2, "not TOML"),
        ("heap = ", 1, "not TOML"),
        ("heap = '4G'\n\0", 2, "not TOML"),
        ("a = " + "[" * 100_000, 1, "not TOML"),
    ],
)
def test_mistakes_are_told_with_their_line(text: str, line: int, said: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as raised:
        project(text)
    assert str(raised.value).startswith(f"{tmp_path / 'pagectl.toml'}:{line}: ") and said in str(raised.value)


def test_lines_of_a_shared_file(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"pyproject.toml:5: no key 'heep'"):
        project("[project]\nheep = 1\n\n[tool.pagectl]\nheep = 1\n", "pyproject.toml")
    with pytest.raises(ProjectError, match=r"pyproject.toml:1: pagectl: a table"):
        project("tool.pagectl = 1\n", "pyproject.toml")
    Path("pagectl.toml").write_bytes(b"# \xff")
    with pytest.raises(ProjectError, match="not UTF-8 from byte 2 on"):
        project_of(tmp_path)


def test_a_lint_obeys(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for folder in ("legacy", "new"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, DROP.replace("<name>", "<max-disk-usage>100</max-disk-usage><name>"), "b.xml")
    Path("pagectl.toml").write_text(
        "fail-on = 'warning'\nedition = 'artemis-2.28'\n[severity]\ndisk-limit-extreme = 'off'\n"
        "[[per-path]]\npath = 'legacy'\nignore = ['drop-policy']\nedition = 'artemis-2.17'\n"
    )
    status, report = found(capsys, ".")
    assert status == 1 and rules_of(report) == ["drop-policy"]
    editions = [file["edition"] for file in report["files"]]  # type: ignore[attr-defined]
    assert editions == ["artemis-2.17", "artemis-2.28"]
    assert found(capsys, "legacy")[0] == 0
    assert found(capsys, ".", "--fail-on", "never")[0] == 0
    report = found(capsys, ".", "--edition", "auto", "--only", "disk-limit-extreme")[1]
    assert rules_of(report) == ["disk-limit-extreme"] * 2
    assert {file["edition"] for file in report["files"]} == {NEWEST.value}  # type: ignore[attr-defined]


def test_severities_count(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    Path("pagectl.toml").write_text(
        "[severity]\ndrop-policy = 'error'\nunknown-element = 'info'\nnot-well-formed = 'off'"
    )
    assert found(capsys, write(tmp_path, DROP))[0] == 1
    assert found(capsys, write(tmp_path, FAULTY))[0] == 0
    assert found(capsys, write(tmp_path, "<"))[0] == 0


def test_that_of_the_page_is_understood(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", (DOCS / "jobs" / "ci.md").read_text("utf-8"), re.DOTALL)
    read = project(block)
    assert read is not None and read.heap and read.severities and read.per_path and read.ignored and read.fail_on


def test_a_mistake_is_status_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    Path("pagectl.toml").write_text("heep = 1")
    assert run(["config", "lint", write(tmp_path, CLEAN)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "pagectl.toml:1: no key 'heep' is known; did you mean 'heap'?" in said.err
