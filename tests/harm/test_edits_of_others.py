"""What other users and other processes do to a configuration while it is linted; and secrets that others may read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from harmed import as_root_or_skip, pagectl
from program import call

XML = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>
<address-setting match="a.#"><address-full-policy> Page </address-full-policy></address-setting>
</address-settings></core></configuration>
"""
BOGUS = XML.replace("</core>", "<bogus/></core>")
STRANGER = 65534


def in_place(path: Path) -> None:
    path.write_text(XML.replace("a.#", "b.#"))


def by_rename(path: Path) -> None:
    """Replace a file by a renamed new one, as editors do, and keep the former modification time."""
    status, new = path.stat(), path.with_name("new")
    in_place(new)
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    new.replace(path)


@pytest.mark.parametrize("edit", [in_place, by_rename, Path.unlink], ids=lambda edit: edit.__name__)
@pytest.mark.parametrize("when", ["after the lint", "while the repair is written"])
@pytest.mark.parametrize("folder", [True, False], ids=["a folder", "a file"])
def test_fix_leaves_an_edit_alone(
    folder: bool, when: str, edit: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pagectl.opening import linting

    from pagefmt.storage import writing

    path, other = tmp_path / "a.xml", tmp_path / "z.xml"
    path.write_text(XML)
    other.write_text(XML)
    done = []

    def edit_once() -> None:
        if not done:
            done.append(edit(path))

    lint_all, copy_rights = linting.lint_all, writing.copy_rights

    def linted(*given: object) -> object:
        reports = lint_all(*given)  # type: ignore[arg-type]
        edit_once()
        return reports

    def written(handle: int, like: Path) -> None:
        copy_rights(handle, like)
        edit_once()

    if when == "after the lint":
        monkeypatch.setattr(linting, "lint_all", linted)
    else:
        monkeypatch.setattr(writing, "copy_rights", written)
    answer = call("config", "lint", "--fix", *([tmp_path] if folder else [path, other]))
    assert done
    if edit is Path.unlink:
        assert not path.exists() and answer.status in (1, 2), answer
    else:
        assert answer.status == 2 and f"{path}: changed after it was linted, so it was left alone" in answer.err, answer
        assert path.read_text() == XML.replace("a.#", "b.#")
    assert " Page " not in other.read_text(), "the others are repaired"
    assert {each.name for each in tmp_path.iterdir()} <= {"a.xml", "z.xml"}


@pytest.mark.parametrize("name", ["pagectl.toml", "pyproject.toml"])
@pytest.mark.parametrize("owner", [0, 1000, STRANGER])
def test_a_project_file_of_another_user_is_not_followed(name: str, owner: int, tmp_path: Path) -> None:
    as_root_or_skip()
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "broker.xml").write_text(BOGUS)
    os.chown(folder, 1000, 1000)
    table = "[tool.pagectl]\n" if name == "pyproject.toml" else ""
    (tmp_path / name).write_text(table + 'ignore = ["unknown-element"]\n')
    os.chown(tmp_path / name, owner, owner)
    answer = pagectl("config", "lint", folder / "broker.xml")
    if owner == STRANGER:
        assert answer.status == 1 and "unknown-element" in answer.out, answer
        assert f"{tmp_path / name}: belongs to another user, so its settings are not used" in answer.err
    else:
        assert "unknown-element" not in answer.out and "using the settings of" in answer.err, answer


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o604])
def test_credentials_that_others_may_read_are_reported(
    mode: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pagectl.running.credentials import credentials

    path = tmp_path / "secret"
    path.write_text("user:password\n")
    path.chmod(mode)
    assert credentials(path) == b"user:password"
    err = capsys.readouterr().err
    assert ("chmod 600" in err and str(path) in err) == (mode != 0o600)
