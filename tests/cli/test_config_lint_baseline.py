"""``--baseline``: known findings stay known when lines move, new ones are told, and old entries are noticed."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from lint_calls import CLEAN, DROP, FAULTY, HEAD, TAIL, found, rules_of, write
from pagectl.app import run

SCHEMAS = Path(__file__).parents[1] / "recorded" / "output_schemas"
AGAIN = '<address-setting match="orders.#"/>'
TWICE = DROP.replace("<name>", "<max-disk-usage>100</max-disk-usage><name>").replace(
    "    </address-settings>", f"{AGAIN}\n{AGAIN}\n    </address-settings>"
)
KNOWN = ("--baseline", "known.json")


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "NO_COLOR", "ARTEMIS_INSTANCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def known(capsys: pytest.CaptureFixture[str], *paths: str) -> str:
    assert run(["config", "lint", *paths, *KNOWN, "--write-baseline"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_known_findings_are_left_out_also_when_lines_move(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = write(tmp_path, TWICE)
    before = rules_of(found(capsys, path)[1])
    assert len(before) == 6 and f"known.json: {len(before)} known findings" in known(capsys, "broker.xml")
    write(tmp_path, "\n<!-- moved -->\n" + TWICE.replace("  ", " "))
    assert run(["config", "lint", path, *KNOWN]) == 0
    said = capsys.readouterr()
    assert said.out == "" and "note: known.json: 6 known findings left out\n" in said.err


def test_new_ones_are_told_and_one_more_of_a_known_kind(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    known(capsys, write(tmp_path, TWICE))
    path = write(tmp_path, TWICE.replace(AGAIN, AGAIN + AGAIN, 1).replace(">100<", ">0<"))
    status, report = found(capsys, path, *KNOWN)
    assert status == 1 and sorted(rules_of(report)) == ["disk-limit-extreme", "duplicate-match", "shadowed-match"]


def test_stale_entries_are_counted_and_removed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    gone = write(tmp_path / "other", FAULTY, "gone.xml")
    other = write(tmp_path / "other", FAULTY)
    known(capsys, write(tmp_path, TWICE), other, gone)
    Path(gone).unlink()
    path = write(tmp_path, CLEAN)
    run(["config", "lint", path, *KNOWN])
    assert "0 known findings left out; 7 no longer occur (--write-baseline removes them)" in capsys.readouterr().err
    run(["config", "lint", path, *KNOWN, "--only", "dla-missing"])
    assert "found no more" not in capsys.readouterr().err
    # the other file was not linted now: what is known of it stays
    assert "1 known finding" in known(capsys, path)
    assert found(capsys, path, other, *KNOWN)[0] == 0


def test_the_file_is_stable_and_says_nothing_of_values(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = write(tmp_path, TWICE)
    known(capsys, path)
    first = Path("known.json").read_text()
    entries = json.loads(first)["findings"]
    assert [entry["times"] for entry in entries if entry["rule"] == "duplicate-match"] == [2]
    assert {entry["file"] for entry in entries} == {"broker.xml"}
    known(capsys, str(tmp_path))
    assert Path("known.json").read_text() == first


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 2, "findings": []}',
        '{"version": 1, "findings": [1]}',
        "[" * 100_000,
        '{"version": 1, "findings": [{"file": "a", "rule": 1, "path": "", "fingerprint": ""}]}',
        '{"version": 1, "findings": [{"file": "a", "rule": "", "path": "", "fingerprint": "", "times": true}]}',
        '{"version": 1, "findings": [{"file": "\\u0000", "rule": "", "path": "", "fingerprint": ""}]}',
        '{"version": 1, "findings": [{"files": "a"}]}',
        '{"version": 1, "findings": {"a": 1}}',
        "\x00\x01",
    ],
)
def test_what_is_no_baseline(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str) -> None:
    Path("known.json").write_text(text)
    assert run(["config", "lint", write(tmp_path, CLEAN), *KNOWN]) == 2
    assert "known.json: not a baseline" in capsys.readouterr().err


def test_it_is_written_only_from_a_whole_lint(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["config", "lint", write(tmp_path, CLEAN), "nowhere.xml", *KNOWN, "--write-baseline"]) == 2
    assert not Path("known.json").exists()
    assert run(["config", "lint", write(tmp_path, CLEAN), *KNOWN]) == 2
    assert run(["config", "lint", write(tmp_path, CLEAN), "--write-baseline"]) == 2
    assert "--write-baseline needs --baseline FILE" in capsys.readouterr().err


def gitlab(capsys: pytest.CaptureFixture[str], *argv: str) -> list[dict[str, object]]:
    run(["config", "lint", "--format", "gitlab", *argv])
    report: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    schema = json.loads((SCHEMAS / "gitlab-code-quality.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(report)
    return report


def test_gitlab_paths_begin_at_the_repository(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "deep").mkdir()
    path = write(tmp_path / "deep", TWICE + "</x>")
    monkeypatch.chdir(tmp_path / "deep")
    for named in ("broker.xml", path):
        assert {issue["location"]["path"] for issue in gitlab(capsys, named)} == {"deep/broker.xml"}  # type: ignore[index]
    assert gitlab(capsys, write(tmp_path, CLEAN)) == []


def test_gitlab_fingerprints_are_unique_and_stay_when_lines_move(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = write(tmp_path, TWICE)
    before = [issue["fingerprint"] for issue in gitlab(capsys, path)]
    Path(path).write_text(HEAD + "\n\n" + TWICE + TAIL)
    after = gitlab(capsys, path)
    assert len(set(before)) == 6 and [issue["fingerprint"] for issue in after] == before
    assert {issue["severity"] for issue in after} == {"critical", "minor", "info"}
