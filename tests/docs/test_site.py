"""The site is built without a warning (menu, links, headings), is laid out, and fetches nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from doc_examples import DOCS, ROOT

LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    paths = os.pathsep.join(str(ROOT / part) for part in ("", "cli", "schemas"))
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", str(ROOT / "mkdocs.yml"), "-d", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONPATH": paths, "NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"},
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


class Loaded(HTMLParser):
    """What a browser fetches with the page, and texts that Markdown left as they were."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.paragraphs: list[str] = []
        self._text: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in LOADS and dict(attrs).get("rel") != "canonical":
            self.addresses.append(dict(attrs).get(LOADS[tag]) or "")
        if tag == "p":
            self._text = []
        elif tag == "code" and self._text is not None:
            self._text.append("code")

    def handle_endtag(self, tag: str) -> None:
        if tag == "p" and self._text is not None:
            self.paragraphs.append("".join(self._text))
            self._text = None

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)


def test_the_site_is_whole_and_fetches_nothing(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(list(DOCS.rglob("*.md")))
    wrong = []
    for page in pages:
        found = Loaded()
        found.feed(page.read_text("utf-8"))
        wrong += [(page.name, address) for address in found.addresses if re.match(r"\w+:|//", address)]
        wrong += [(page.name, text) for text in found.paragraphs if re.search(r"^(\* |- |\d+\. |\||```)", text, re.M)]
    assert wrong == [], wrong
    assert not [path for path in site.rglob("*.css") if re.search(r"url\([\"']?https?:", path.read_text("utf-8"))]
